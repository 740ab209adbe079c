/* Values that several keys of study.json have. */

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/plugin-options.h"
#include "src/model/study/study-internal.h"
#include "src/model/study/study.h"

int
study_read_duration(int64_t *ms, const struct json *j, struct err *e)
{
	if (duration_read(ms, j, e) != 0)
		return -1;
	if (*ms == 0)
		return json_err(j, e, "expected a duration above 0");
	return 0;
}

int
study_read_text(
    char **out, const struct json *block, const char *key, struct err *e)
{
	const struct json *j = json_get(block, key);
	const char *text;

	if (j == NULL)
		return 0;
	if (json_read_string(j, &text, e) != 0)
		return -1;
	if (*text == '\0')
		return json_err(j, e, "expected a text that is not empty");
	*out = xstrdup(text);
	return 0;
}
