/*
 * Builds what an attempt is given: argv, environment, folders.  The variables
 * are those of hpotune-trial(7) and SageMaker's own, so that a script runs
 * unchanged locally and there.
 */

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/engine/attempts/attempt-spec.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/plugins/plugins.h"
#include "src/plugins/template-files.h"
#include "src/store/store.h"

/* SM_HP_NAME: upper case, "-" and "." as "_". */
static void
env_put_param(struct strv *list, const char *name, const struct value *value)
{
	struct buf b = { 0 };
	size_t i;

	buf_puts(&b, "SM_HP_");
	for (i = 0; name[i] != '\0'; i++)
		buf_putc(&b, isalnum((unsigned char)name[i])
				 ? (char)toupper((unsigned char)name[i])
				 : '_');
	buf_putc(&b, '=');
	param_value_put(&b, value);
	strv_add(list, buf_take(&b));
}

/* The trial's folders: on this machine, or as its backend names them. */
struct places {
	char *checkpoint, *output, *model, *params, *metrics;
	char *params_dir; /* NULL: far */
};

/* dir is the trial's folder, attempt_dir that of one attempt. */
static struct places
places_below(const char *dir, const char *attempt_dir)
{
	return (struct places){
		.checkpoint = xasprintf("%s/checkpoint", dir),
		.output = xasprintf("%s/output", dir),
		.model = xasprintf("%s/output/model", dir),
		.params = xasprintf("%s/params.json", attempt_dir),
		.params_dir = xstrdup(attempt_dir),
		.metrics = xasprintf("%s/metrics.jsonl", attempt_dir),
	};
}

static struct places
places_make(const struct attempt_spec_facts *f, const char *dir)
{
	const struct launch_dirs *far = f->backend->type->dirs;
	struct places places;
	char *attempt_dir;

	if (far != NULL)
		return (struct places){ .checkpoint = xstrdup(far->checkpoint),
			.output = xstrdup(far->output),
			.model = xstrdup(far->model),
			.params = xstrdup(far->params),
			.metrics = xstrdup(far->metrics) };
	attempt_dir = xasprintf("%s/attempt-%d", dir, f->att->attempt);
	places = places_below(dir, attempt_dir);
	free(attempt_dir);
	return places;
}

static void
attempt_spec_places_free(struct places *p)
{
	free(p->checkpoint);
	free(p->output);
	free(p->model);
	free(p->params);
	free(p->params_dir);
	free(p->metrics);
}

/* Inputs of the environment variables. */
struct run {
	const struct study *study;
	const struct store_trial *row;
	int attempt;
	bool far; /* another machine sets host name and GPUs */
	int64_t batch; /* per replica; 0 = not given */
};

static void
env_put_places(struct strv *list, const struct run *run, const struct places *p)
{
	int64_t gpus = run->study->trial.gpus > 0 ? run->study->trial.gpus : 0;

	strv_add(list, xasprintf("HPOTUNE_STUDY=%s", run->study->name));
	strv_add(list, xasprintf("HPOTUNE_TRIAL=%" PRId64, run->row->number));
	strv_add(list, xasprintf("HPOTUNE_ATTEMPT=%d", run->attempt));
	if (run->row->commit != NULL)
		strv_add(
		    list, xasprintf("HPOTUNE_COMMIT=%s", run->row->commit));
	strv_add(list, xasprintf("HPOTUNE_CHECKPOINT_DIR=%s", p->checkpoint));
	strv_add(list, xasprintf("HPOTUNE_OUTPUT_DIR=%s", p->output));
	strv_add(list, xasprintf("HPOTUNE_METRICS=%s", p->metrics));
	strv_add(list, xasprintf("HPOTUNE_PARAMS=%s", p->params));
	strv_add(list, xasprintf("SM_MODEL_DIR=%s", p->model));
	strv_add(list, xasprintf("SM_OUTPUT_DATA_DIR=%s", p->output));
	if (run->far)
		return;
	strv_add(list, xasprintf("SM_NUM_GPUS=%" PRId64, gpus));
	strv_add(list, xstrdup("SM_HOSTS=[\"algo-1\"]"));
	strv_add(list, xstrdup("SM_CURRENT_HOST=algo-1"));
}

static char **
attempt_spec_env_make(const struct run *run, const struct places *places,
    const struct value *values)
{
	const struct space *space = run->study->space;
	struct strv list = { 0 };
	size_t i;

	env_put_places(&list, run, places);
	if (run->batch > 0) {
		strv_add(&list, xasprintf("HPOTUNE_GLOBAL_BATCH=%" PRId64,
				    study_batch(run->study, values)));
		strv_add(
		    &list, xasprintf("HPOTUNE_BATCH=%" PRId64, run->batch));
	}
	if (run->row->until > 0)
		strv_add(&list,
		    xasprintf("HPOTUNE_UNTIL_STEP=%" PRId64, run->row->until));
	strv_add(&list, xasprintf("SM_HPS=%s", run->row->params));
	for (i = 0; i < space->n; i++)
		if (values[i].kind != VALUE_NONE)
			env_put_param(&list, space->params[i].name, &values[i]);
	return list.v;
}

/* The batch of one replica; 0 = no batch is given. */
static int
batch_share(const struct attempt_spec_facts *f, const struct value *values,
    int64_t *batch, struct err *e)
{
	int64_t global = study_batch(f->study, values);
	int n = plugins_replicas(f->backend, f->study);

	*batch = global / n;
	if (global % n == 0)
		return 0;
	return err_set(e, ERR_LAUNCH,
	    "trial.batch: %" PRId64 " does not divide by the %d replicas of "
	    "the backend %s",
	    global, n, f->backend->type->name);
}

static struct launch_spec
spec_make(const struct attempt_spec_facts *f, const struct attempt_spec *te)
{
	const struct store_attempt *att = f->att;

	return (struct launch_spec){
		.trial = f->row->number,
		.attempt = att->attempt,
		.slot = att->slot,
		.study = f->study->name,
		.uuid = att->uuid,
		.trial_dir = te->trial_dir,
		.argv = te->argv,
		.env = te->env,
		.own_env = te->own_env,
		.workdir = te->workdir,
		.files = te->files,
		.params_files = te->params_files,
		.params_json = f->row->params,
		.commit = f->row->commit,
		.refs = te->refs,
		.settings = &f->study->trial,
		.from = f->row->from,
		.from_dir = te->from_dir,
		.past = f->past,
		.cursor = {
			.log = att->log_offset,
			.metrics = att->metrics_offset,
			.log_skip = att->log_skip,
			.metrics_skip = att->metrics_skip,
		},
		.usage = att->usage,
		.up = att->started_us != 0,
		.stopping = f->row->cause != STOP_NONE,
		.gpu_memory = f->gpu_memory,
	};
}

static struct study_command_vars
vars_make(const struct run *run, const struct places *places)
{
	return (struct study_command_vars){
		.trial = run->row->number,
		.attempt = run->attempt,
		.checkpoint_dir = places->checkpoint,
		.output_dir = places->output,
		.model_dir = places->model,
		.params_dir = places->params_dir,
		.batch = run->batch,
	};
}

/*
 * The folder of a trial.  A backend may keep them elsewhere: NAME.d/trials is
 * then a link, and jobs on other machines need the path behind it.
 */
static char *
trial_dir_make(const char *state_dir, int64_t trial)
{
	char *trials = xasprintf("%s/trials", state_dir), to[PATH_MAX], *dir;
	ssize_t n = readlink(trials, to, sizeof to - 1);

	if (n > 0)
		to[n] = '\0';
	dir =
	    xasprintf("%s/%" PRId64, n > 0 && *to == '/' ? to : trials, trial);
	free(trials);
	return dir;
}

static void
spec_fill(struct attempt_spec *te, const struct attempt_spec_facts *f,
    const struct run *run, const struct value *values)
{
	struct study_command_vars vars;
	struct places places;

	te->trial_dir = trial_dir_make(f->state_dir, f->row->number);
	if (!f->study->trial.source.passing)
		te->refs = xasprintf("refs/hpotune/%s", f->study_id);
	if (f->row->from > 0)
		te->from_dir = trial_dir_make(f->state_dir, f->row->from);
	places = places_make(f, te->trial_dir);
	vars = vars_make(run, &places);
	te->argv = study_command(f->study, values, &vars);
	te->own_env = study_env(f->study, values, &vars);
	te->workdir = study_workdir(f->study, values, &vars);
	te->params_files = study_params_files(f->study, values);
	te->files = study_file_paths(f->study, values, &vars);
	te->env = attempt_spec_env_make(run, &places, values);
	te->spec = spec_make(f, te);
	attempt_spec_places_free(&places);
}

int
attempt_spec_make(
    struct attempt_spec *te, const struct attempt_spec_facts *f, struct err *e)
{
	const struct study *study = f->study;
	struct value *own = NULL;
	const struct value *values = f->values;
	struct run run = { .study = study,
		.row = f->row,
		.attempt = f->att->attempt,
		.far = f->backend->type->dirs != NULL };
	int rc = 0;

	*te = (struct attempt_spec){ 0 };
	if (values == NULL) {
		own = xcalloc(study->space->n, sizeof *own);
		rc = space_parse_values(study->space, f->row->params, own, e);
		values = own;
	}
	if (rc == 0 && study->trial.source.git != NULL &&
	    f->row->commit == NULL)
		rc = err_set(e, ERR_LAUNCH,
		    "trial.source: no commit is recorded for the trial");
	if (rc == 0)
		rc = batch_share(f, values, &run.batch, e);
	if (rc == 0)
		spec_fill(te, f, &run, values);
	free(own);
	return rc;
}

/* Replace a list of names and texts by one with the templates, too. */
static int
attempt_spec_files_add(char ***files, const struct study *study,
    const struct value *values, struct err *e)
{
	struct strv list = { 0 };
	int rc;

	strv_add_all(&list, *files);
	rc = template_files_fill(&list, study, values, e);
	strv_free(*files);
	*files = list.v;
	return rc;
}

int
attempt_spec_add_templates(struct attempt_spec *te, const struct study *study,
    const struct value *values, struct err *e)
{
	int rc = attempt_spec_files_add(&te->params_files, study, values, e);

	te->spec.params_files = te->params_files;
	return rc;
}

int
attempt_spec_rerun(struct attempt_rerun *again, const struct study *study,
    const struct store_trial *row, const char *dir, struct err *e)
{
	int64_t n = study_processes(&study->trial);
	struct value *values = xcalloc(study->space->n, sizeof *values);
	struct run run = { .study = study, .row = row, .attempt = 1 };
	struct study_command_vars vars;
	struct places places;
	int rc;

	*again = (struct attempt_rerun){ 0 };
	rc = space_parse_values(study->space, row->params, values, e);
	if (rc == 0) {
		run.batch = study_batch(study, values) / (n > 0 ? n : 1);
		places = places_below(dir, dir);
		vars = vars_make(&run, &places);
		again->argv = study_command(study, values, &vars);
		again->own_env = study_env(study, values, &vars);
		again->workdir = study_workdir(study, values, &vars);
		again->params_files = study_params_files(study, values);
		rc = attempt_spec_files_add(
		    &again->params_files, study, values, e);
		again->env = attempt_spec_env_make(&run, &places, values);
		attempt_spec_places_free(&places);
	}
	free(values);
	return rc;
}

void
attempt_spec_rerun_free(struct attempt_rerun *again)
{
	strv_free(again->env);
	strv_free(again->own_env);
	free(again->workdir);
	strv_free(again->params_files);
	strv_free(again->argv);
	*again = (struct attempt_rerun){ 0 };
}

void
attempt_spec_free(struct attempt_spec *te)
{
	strv_free(te->env);
	strv_free(te->own_env);
	free(te->workdir);
	strv_free(te->files);
	strv_free(te->params_files);
	strv_free(te->argv);
	free(te->trial_dir);
	free(te->from_dir);
	free(te->refs);
	*te = (struct attempt_spec){ 0 };
}
