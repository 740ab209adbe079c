/*
 * What an attempt is given.  The names are those of interface.md section 3 and
 * SageMaker's own, so that one script runs here and there.
 */

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json.h"
#include "src/base/mem.h"
#include "src/model/space.h"
#include "src/model/study.h"
#include "src/server/trial-env.h"
#include "src/store/store.h"

struct env_list {
	char **names;
	size_t n;
};

static void
env_put(struct env_list *list, char *entry)
{
	list->names =
	    xreallocarray(list->names, list->n + 2, sizeof *list->names);
	list->names[list->n++] = entry;
	list->names[list->n] = NULL;
}

/* SM_HP_NAME: upper case, "-" and "." as "_". */
static void
env_put_param(
    struct env_list *list, const char *name, const struct value *value)
{
	struct buf b = { 0 };
	size_t i;

	buf_puts(&b, "SM_HP_");
	for (i = 0; name[i] != '\0'; i++)
		buf_putc(&b, isalnum((unsigned char)name[i])
				 ? (char)toupper((unsigned char)name[i])
				 : '_');
	buf_putc(&b, '=');
	value_put(&b, value);
	env_put(list, buf_take(&b));
}

static void
env_put_places(struct env_list *list, const struct study *study,
    const struct trial_env *te, int attempt)
{
	int64_t gpus = study->trial.gpus > 0 ? study->trial.gpus : 0;
	const char *dir = te->trial_dir;

	env_put(list, xasprintf("HPOTUNE_STUDY=%s", study->name));
	env_put(list, xasprintf("HPOTUNE_TRIAL=%" PRId64, te->spec.trial));
	env_put(list, xasprintf("HPOTUNE_ATTEMPT=%d", attempt));
	env_put(list, xasprintf("HPOTUNE_CHECKPOINT_DIR=%s/checkpoint", dir));
	env_put(list, xasprintf("HPOTUNE_OUTPUT_DIR=%s/output", dir));
	env_put(list, xasprintf("HPOTUNE_METRICS=%s/attempt-%d/metrics.jsonl",
			  dir, attempt));
	env_put(list, xasprintf("HPOTUNE_PARAMS=%s/attempt-%d/params.json", dir,
			  attempt));
	env_put(list, xasprintf("SM_MODEL_DIR=%s/output/model", dir));
	env_put(list, xasprintf("SM_OUTPUT_DATA_DIR=%s/output", dir));
	env_put(list, xasprintf("SM_NUM_GPUS=%" PRId64, gpus));
	env_put(list, xstrdup("SM_HOSTS=[\"algo-1\"]"));
	env_put(list, xstrdup("SM_CURRENT_HOST=algo-1"));
}

static char **
env_make(const struct study *study, const struct trial_env *te,
    const struct value *values, int attempt)
{
	const struct space *space = study->space;
	struct env_list list = { 0 };
	size_t i;

	env_put_places(&list, study, te, attempt);
	env_put(&list, xasprintf("SM_HPS=%s", te->spec.params_json));
	for (i = 0; i < space->n; i++)
		if (values[i].kind != VALUE_NONE)
			env_put_param(&list, space->params[i].name, &values[i]);
	return list.names;
}

int
trial_env_make(struct trial_env *te, const struct study *study,
    const struct store_trial *row, const struct store_attempt *att,
    const char *state_dir, struct err *e)
{
	struct value *values = xcalloc(study->space->n, sizeof *values);
	struct json_doc *doc = NULL;
	struct study_command_vars vars;
	char *checkpoint, *output;
	int rc = -1;

	*te = (struct trial_env){ 0 };
	if (json_parse(
		&doc, row->params, strlen(row->params), NULL, false, e) != 0 ||
	    space_read_values(study->space, json_root(doc), values, e) != 0)
		goto out;
	te->trial_dir = xasprintf("%s/trials/%" PRId64, state_dir, row->number);
	checkpoint = xasprintf("%s/checkpoint", te->trial_dir);
	output = xasprintf("%s/output", te->trial_dir);
	vars = (struct study_command_vars){
		.trial = row->number,
		.attempt = att->attempt,
		.checkpoint_dir = checkpoint,
		.output_dir = output,
	};
	te->argv = study_command(study, values, &vars);
	free(checkpoint);
	free(output);
	te->spec = (struct launch_spec){
		.trial = row->number,
		.attempt = att->attempt,
		.slot = att->slot,
		.study = study->name,
		.uuid = att->uuid,
		.trial_dir = te->trial_dir,
		.argv = te->argv,
		.params_json = row->params,
		.settings = &study->trial,
		.cursor = {
			.log = att->log_offset,
			.metrics = att->metrics_offset,
			.log_skip = att->log_skip,
			.metrics_skip = att->metrics_skip,
		},
	};
	te->env = env_make(study, te, values, att->attempt);
	te->spec.env = te->env;
	rc = 0;
out:
	json_free(doc);
	free(values);
	return rc;
}

void
trial_env_free(struct trial_env *te)
{
	size_t i;

	for (i = 0; te->env != NULL && te->env[i] != NULL; i++)
		free(te->env[i]);
	free(te->env);
	study_command_free(te->argv);
	free(te->trial_dir);
	*te = (struct trial_env){ 0 };
}
