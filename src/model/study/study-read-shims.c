/*
 * "trial.shims" of study.json: the trackers of experiments in whose place hpotune
 * stands for the programs of trials.
 */

#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/study/study-internal.h"

static bool
shims_has(char *const *list, const char *name)
{
	for (; *list != NULL; list++)
		if (strcmp(*list, name) == 0)
			return true;
	return false;
}

int
study_read_shims(struct study_trial *t, const struct json *list, struct err *e)
{
	static char *const known[] = { "mlflow", "tensorboard", "wandb", NULL };
	struct strv names = { 0 };
	const struct json *j;
	const char *text;

	if (list == NULL)
		return 0;
	if (json_want(list, JSON_ARRAY, e) != 0)
		return -1;
	t->shims = names.v = xcalloc(1, sizeof *names.v);
	for (j = json_first(list); j != NULL; j = json_next(j)) {
		if (json_read_string(j, &text, e) != 0)
			return -1;
		if (!shims_has(known, text))
			return json_err(j, e,
			    "expected \"wandb\", \"mlflow\" or "
			    "\"tensorboard\"");
		if (shims_has(t->shims, text))
			return json_err(j, e, "is in the list twice");
		strv_add(&names, xstrdup(text));
		t->shims = names.v;
	}
	if (names.n > 0 && t->pack > 0)
		return json_err_key(list, e,
		    "cannot be combined with trial.pack, whose program reads "
		    "its trials from standard input");
	return 0;
}
