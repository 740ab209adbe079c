/* The study.json of another tool is checked before it is written. */

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/cli/import/imported-study.h"
#include "src/model/study/study.h"
#include "src/plugins/plugins.h"

int
imported_study_check(const struct buf *text, const char *to, struct err *e)
{
	struct study *study;
	struct plugins plugins;
	int rc = study_parse(
	    &study, text->data, text->len, to != NULL ? to : "study.json", e);

	if (rc == 0) {
		rc = plugins_read(&plugins, study, e);
		if (rc == 0)
			plugins_free(&plugins);
		study_free(study);
	}
	return rc;
}

int
imported_study_valid(const struct buf *text, const char *to, struct err *e)
{
	if (imported_study_check(text, to, e) == 0)
		return 0;
	return err_add(e, "import: the study that it would be is not valid");
}
