/* The key keep of study.json: which checkpoints stay. */

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/plugin-options.h"
#include "src/model/study/study-internal.h"
#include "src/model/study/study.h"

int
study_read_keep(struct keep_rule *rule, const struct json *block, struct err *e)
{
	static const char *const known[] = { "best", "last", "bytes", NULL };
	const struct json *j;

	if (json_want(block, JSON_OBJECT, e) != 0 ||
	    json_only(block, known, e) != 0)
		return -1;
	*rule = (struct keep_rule){ .given = true, .best = 1 };
	j = json_get(block, "best");
	if (j != NULL &&
	    json_read_integer(j, 0, STUDY_COUNT_MAX, &rule->best, e) != 0)
		return -1;
	j = json_get(block, "last");
	if (j != NULL &&
	    json_read_integer(j, 0, STUDY_COUNT_MAX, &rule->last, e) != 0)
		return -1;
	j = json_get(block, "bytes");
	if (j != NULL && size_read(&rule->bytes, j, e) != 0)
		return -1;
	if (j != NULL && rule->bytes == 0)
		return json_err(j, e, "expected a size above 0");
	return 0;
}
