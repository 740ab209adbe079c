/*
 * Resolves the names in study.json to plug-ins with their options, from the
 * three lists, and checks that they accept the study, beyond their tables of
 * options.  Starts nothing.
 */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/model/foreign-words.h"
#include "src/model/plugin-options.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/plugins/plugins.h"
#include "src/plugins/template-files.h"
#include "strategies/stopper.h"
#include "strategies/strategy.h"
#include "trials/backend.h"
#include "trials/metric-files/metric-files.h"
#include "trials/metric-line/metric-line.h"

enum {
	NAMES_MAX = 64 /* plug-ins of one kind */
};

/* An error at the position of a plug-in in study.json, when it has one. */
static int
plugin_err(const struct study_plugin *plug, struct err *e, const char *text)
{
	if (plug->where != NULL)
		return json_err(plug->where, e, "%s", text);
	return err_set(e, ERR_USAGE, "%s", text);
}

/* "no strategy named x: did you mean y?" */
static int
plugin_unknown(const struct study_plugin *plug, const char *kind,
    enum foreign_value what, const char *const *names, struct err *e)
{
	const char *ours = foreign_words_value(what, plug->name);
	const char *near = text_nearest(plug->name, names);
	struct buf text = { 0 };
	size_t i;

	buf_printf(&text, "no %s named \"%s\": ", kind, plug->name);
	if (ours != NULL)
		buf_printf(&text, "here it is %s", ours);
	else if (near != NULL)
		buf_printf(&text, "did you mean \"%s\"?", near);
	else {
		buf_puts(&text, "expected ");
		for (i = 0; names[i] != NULL; i++)
			buf_printf(&text, "%s%s",
			    i == 0		   ? ""
			    : names[i + 1] == NULL ? " or "
						   : ", ",
			    names[i]);
	}
	(void)plugin_err(plug, e, buf_str(&text));
	buf_free(&text);
	return -1;
}

/* "the strategy x searches for one objective: expected y or z" */
static int
several_read(
    const struct plugins *plugins, const struct study *study, struct err *e)
{
	struct buf text = { 0 };
	const char *between = "";
	size_t i;

	if (study->n_objectives == 1 || plugins->strategy->several)
		return 0;
	for (i = 0; strategies[i] != NULL; i++) {
		if (!strategies[i]->several)
			continue;
		buf_printf(&text, "%s%s", between, strategies[i]->name);
		between = " or ";
	}
	json_err(study->strategy.where != NULL
		     ? study->strategy.where
		     : json_get(json_root(study->doc), "objectives"),
	    e, "the strategy %s searches for one objective: expected %s",
	    plugins->strategy->name, buf_str(&text));
	buf_free(&text);
	return -1;
}

static int
strategy_read(struct plugins *plugins, const struct study *study, struct err *e)
{
	const struct study_plugin *plug = &study->strategy;
	const char *names[NAMES_MAX + 1];
	struct err why = ERR_INIT;
	size_t i;

	plugins->strategy = strategy_find(plug->name);
	if (plugins->strategy == NULL) {
		for (i = 0; i < NAMES_MAX && strategies[i] != NULL; i++)
			names[i] = strategies[i]->name;
		names[i] = NULL;
		return plugin_unknown(
		    plug, "strategy", FOREIGN_STRATEGY_NAME, names, e);
	}
	if (plugin_options_read(&plugins->strategy_options,
		plugins->strategy->options, plug->block, study_strategy_keys,
		e) != 0 ||
	    several_read(plugins, study, e) != 0)
		return -1;
	if (plugins->strategy->check == NULL ||
	    plugins->strategy->check(
		plugins->strategy_options, study->space, &why) == 0)
		return 0;
	if (plug->where == NULL || !json_err_placed(plug->where, &why))
		return plugin_err(plug, e, why.text);
	return err_set(e, ERR_USAGE, "%s", why.text);
}

static int
rule_read(
    struct plugins *plugins, const struct study_plugin *plug, struct err *e)
{
	static const char *const except[] = { "rule", "veto", NULL };
	struct plugin_rule *rule = &plugins->rules[plugins->n_rules];
	const char *names[NAMES_MAX + 1];
	const struct json *veto;
	size_t i;

	rule->stopper = stopper_find(plug->name);
	if (rule->stopper == NULL) {
		for (i = 0; i < NAMES_MAX && stoppers[i] != NULL; i++)
			names[i] = stoppers[i]->name;
		names[i] = NULL;
		return plugin_unknown(
		    plug, "stopping rule", FOREIGN_RULE_NAME, names, e);
	}
	if (plugin_options_read(&rule->options, rule->stopper->options,
		plug->block, except, e) != 0)
		return -1;
	plugins->n_rules++;
	veto = json_get(plug->block, "veto");
	if (veto != NULL && !json_bool(veto, &rule->veto))
		return json_err(veto, e, "expected true or false");
	return 0;
}

static int
backend_read(
    struct plugins *plugins, const struct study_plugin *plug, struct err *e)
{
	static const char *const except[] = { "name", NULL };
	struct plugin_backend *backend =
	    &plugins->backends[plugins->n_backends];
	const char *names[NAMES_MAX + 1];
	size_t i;

	backend->type = backend_type_find(plug->name);
	if (backend->type == NULL) {
		for (i = 0; i < NAMES_MAX && backend_types[i] != NULL; i++)
			names[i] = backend_types[i]->name;
		names[i] = NULL;
		return plugin_unknown(
		    plug, "backend", FOREIGN_BACKEND_NAME, names, e);
	}
	if (plugin_options_read(&backend->options, backend->type->options,
		plug->block, except, e) != 0)
		return -1;
	plugins->n_backends++;
	return 0;
}

/* limits.convergence: needs a single objective and a strategy with a model. */
static int
convergence_read(
    struct plugins *plugins, const struct study *study, struct err *e)
{
	const struct study_limits *l = &study->limits;

	if (!l->convergence)
		return 0;
	if (study->n_objectives > 1 || study->n_constraints > 0)
		return json_err(l->convergence_where, e,
		    "it is for studies with one objective and no constraints");
	return plugin_options_read(&plugins->convergence,
	    strategy_convergence.options, l->convergence_block, NULL, e);
}

/* The value of a key of a top-level block of study.json, or NULL. */
static const struct json *
study_key(const struct study *study, const char *block, const char *key)
{
	const struct json *j = json_get(json_root(study->doc), block);

	return json_get(j, key);
}

/* Whether a report line can contain this metric. */
static bool
metric_is_reported(const char *metric)
{
	struct metric_line *report = xcalloc(1, sizeof *report);
	char *line = xasprintf("hpotune: %s=1", metric);
	bool good;

	good = metric_line_parse(report, NULL, line, strlen(line)) &&
	       strcmp(report->values[0].name, metric) == 0;
	free(line);
	free(report);
	return good;
}

/* Metrics that no report line can contain would never be reported. */
static int
metric_check(const struct study *study, struct err *e)
{
	const struct json *where = NULL;
	size_t i;

	for (i = 0; i < study->n_objectives && where == NULL; i++)
		if (!metric_is_reported(study->objectives[i].metric))
			where = study->objectives[i].where;
	for (i = 0; i < study->n_constraints && where == NULL; i++)
		if (!metric_is_reported(study->constraints[i].metric))
			where = study->constraints[i].where;
	if (where == NULL)
		return 0;
	return json_err(where, e,
	    "the name of a metric is a letter or _, then letters, digits, _ - "
	    ". / and :");
}

/* Whether each value of a parameter is divisible by shares. */
static bool
param_divides(const struct param *p, int64_t n)
{
	size_t i;

	if (p->type == PARAM_INT)
		return fmod(p->min, (double)n) == 0 &&
		       (p->min == p->max || fmod(p->step, (double)n) == 0);
	for (i = 0; i < p->n_values; i++)
		if (p->values[i].integer % n != 0)
			return false;
	return true;
}

/* The global batch must be divisible by the number of replicas. */
static int
batch_check(const struct plugin_backend *backend, const struct study *study,
    struct err *e)
{
	const struct backend_type *type = backend->type;
	const struct json *where = study_key(study, "trial", "batch");
	int64_t n = plugins_replicas(backend, study), global;
	const char *name = study->trial.batch_param;

	where = json_get(where, "global");
	global = study->trial.batch_global;
	if (name != NULL &&
	    !param_divides(
		&study->space->params[space_find(study->space, name)], n))
		return json_err(where, e,
		    "not every value of %s divides by the %" PRId64
		    " replicas of the backend %s",
		    name, n, type->name);
	if (name == NULL && global % n != 0)
		return json_err(where, e,
		    "%" PRId64 " does not divide by the %" PRId64
		    " replicas of the backend %s",
		    global, n, type->name);
	return 0;
}

/* A backend whose trials run in folders that this machine does not see. */
static int
far_check(const struct plugin_backend *backend, const struct study *study,
    struct err *e)
{
	const char *name = backend->type->name;
	const struct json *where = study_key(study, "trial", "reads");

	if (backend->type->dirs == NULL)
		return 0;
	if (study->trial.n_files > 0)
		return json_err(where != NULL
				    ? where
				    : study_key(study, "trial", "metrics"),
		    e,
		    "files are read for trials on this machine and on Slurm: "
		    "the backend %s has only their log",
		    name);
	if (study_command_has_params_file(&study->trial))
		return json_err(study_key(study, "trial", "command"), e,
		    "{params_file} is written for trials on this machine and "
		    "on Slurm: with the backend %s they have $HPOTUNE_PARAMS",
		    name);
	if (study->trial.n_templates > 0)
		return json_err_key(study_key(study, "trial", "files"), e,
		    "files are written for trials on this machine and on "
		    "Slurm: with the backend %s they have $HPOTUNE_PARAMS",
		    name);
	if (study_command_has_names(study->trial.workdir_text))
		return json_err(study_key(study, "trial", "workdir"), e,
		    "the backend %s runs all trials in one folder", name);
	return 0;
}

/* Programs and folders missing on this machine, or on the remote one. */
static int
backend_check(const struct plugin_backend *backend,
    const struct strategy *strategy, const struct study_plugin *plug,
    const struct study *study, struct err *e)
{
	const struct backend_type *type = backend->type;
	const struct json *gpus = study_key(study, "trial", "gpus");
	struct err why = ERR_INIT;

	if (study->trial.launcher != STUDY_LAUNCHER_NONE &&
	    type->replicas == NULL)
		return json_err(study_key(study, "trial", "launcher"), e,
		    "the backend %s starts one process per trial: expected "
		    "none",
		    type->name);
	if (study->trial.launcher != STUDY_LAUNCHER_NONE &&
	    type->replicas(&study->trial, backend->options) == 0)
		return json_err(study_key(study, "trial", "launcher"), e,
		    "the number of processes of a trial is missing: "
		    "expected trial.processes, or trial.gpus above 1");
	if (study->trial.pack > 0 && !type->packs)
		return json_err_key(study_key(study, "trial", "pack"), e,
		    "the backend %s does not run several trials in one "
		    "program",
		    type->name);
	if (study->trial.shims != NULL && study->trial.shims[0] != NULL &&
	    !type->shims)
		return json_err_key(study_key(study, "trial", "shims"), e,
		    "the backend %s does not change the path of Python",
		    type->name);
	if (study->trial.source.git != NULL && !type->sources)
		return json_err_key(study_key(study, "trial", "source"), e,
		    "the backend %s runs no files of a commit", type->name);
	if (strategy->continues && !type->continues)
		return json_err(plug->where, e,
		    "the backend %s cannot begin a trial with the checkpoint "
		    "of another one, which the strategy %s needs",
		    type->name, strategy->name);
	if (type->check != NULL &&
	    type->check(&study->trial, backend->options, &why) != 0) {
		if (why.kind != ERR_USAGE)
			return json_err(gpus != NULL ? gpus : plug->where, e,
			    "%s", why.text);
		/*
		 * A backend without a block has no position of its own in
		 * study.json.
		 */
		if (plug->block == NULL || json_count(plug->block) <= 1)
			return json_err(plug->where, e, "%s", why.text);
		*e = why;
		return -1;
	}
	if (far_check(backend, study, e) != 0)
		return -1;
	return batch_check(backend, study, e);
}

/* limits.cost requires an upper bound of the cost of an attempt. */
static int
cost_check(
    const struct plugins *plugins, const struct study *study, struct err *e)
{
	const struct json *where = study_key(study, "limits", "cost");
	double worst, least = INFINITY;
	bool any = false;
	size_t i;

	if (study->limits.cost <= 0)
		return 0;
	for (i = 0; i < plugins->n_backends; i++) {
		worst = plugins_worst_cost(&plugins->backends[i], study);
		least = fmin(least, worst);
		if (plugins->backends[i].type->worst_cost == NULL)
			continue;
		any = true;
		if (isnan(worst))
			return json_err(where, e,
			    "a limit of dollars needs every price, and the "
			    "backend %s has no upper bound for the cost of an "
			    "attempt",
			    plugins->backends[i].type->name);
	}
	if (!any)
		return json_err(
		    where, e, "no backend of this study costs anything");
	if (least > study->limits.cost)
		return json_err(where, e,
		    "no trial could be started: one attempt may cost "
		    "$%.2f (price_per_hour for all of max_run, and what "
		    "is billed before and after it)",
		    least);
	return 0;
}

/* limits.gpu_hours needs GPUs that are counted. */
static int
gpu_hours_check(
    const struct plugins *plugins, const struct study *study, struct err *e)
{
	const struct json *where = study_key(study, "limits", "gpu_hours");
	int64_t n, most = 0;
	size_t i;

	if (study->limits.gpu_hours <= 0)
		return 0;
	for (i = 0; i < plugins->n_backends; i++) {
		n = plugins_attempt_gpus(&plugins->backends[i], study);
		if (n < 0)
			return json_err(where, e,
			    "the GPUs of the backend %s are not counted",
			    plugins->backends[i].type->name);
		most = n > most ? n : most;
	}
	if (most == 0)
		return json_err(where, e, "no trial has GPUs");
	return 0;
}

/* A paused trial would resume after its member has continued elsewhere. */
static int
promote_check(const struct plugin_rule *rule, const struct strategy *strategy,
    const struct study_plugin *plug, struct err *e)
{
	const struct stopper *s = rule->stopper;

	if (!strategy->continues || s->promote == NULL ||
	    plugin_option_number(rule->options, "promote") == 0)
		return 0;
	return json_err(plug->where, e,
	    "%s with promote cannot be combined with the "
	    "strategy %s, whose trials run in segments",
	    s->name, strategy->name);
}

void
plugins_second_look(const struct plugin_rule *rule, double *share, bool *given)
{
	const struct option_value *o;

	for (o = rule->options; o->name != NULL; o++) {
		if (strcmp(o->name, "second_look") != 0 || !o->is_set ||
		    rule->veto)
			continue;
		*share = *given && *share > o->number ? *share : o->number;
		*given = true;
	}
}

/* The checkpoint of a stopped member is where another one went on. */
static int
second_look_check(const struct plugin_rule *rule,
    const struct strategy *strategy, const struct study_plugin *plug,
    struct err *e)
{
	bool given = false;
	double share = 0;

	plugins_second_look(rule, &share, &given);
	if (!strategy->continues || share <= 0)
		return 0;
	return json_err(plug->where, e,
	    "second_look cannot be combined with the strategy %s, whose "
	    "trials run in segments",
	    strategy->name);
}

/* The text of an option that not every rule has, or NULL. */
static const struct option_value *
rule_option(const struct plugin_rule *rule, const char *name)
{
	const struct option_value *o;

	for (o = rule->options; o->name != NULL; o++)
		if (strcmp(o->name, name) == 0 && o->is_set)
			return o;
	return NULL;
}

/* Rules on other metrics, by seconds or by cost: can they be read? */
static int
series_check(const struct plugin_rule *rule, const struct plugins *plugins,
    const struct study *study, struct err *e)
{
	static const char *const names[] = { "metric", "against" };
	const struct option_value *o, *by = rule_option(rule, "by");
	const struct plugin_backend *b;
	size_t i;

	for (i = 0; i < sizeof names / sizeof names[0]; i++) {
		o = rule_option(rule, names[i]);
		if (o != NULL && !metric_is_reported(o->text))
			return json_err(o->json, e,
			    "the name of a metric is a letter or _, then "
			    "letters, digits, _ - . / and :");
	}
	for (i = 0; by != NULL && strcmp(by->text, "cost") == 0 &&
		    i < plugins->n_backends;
	     i++) {
		b = &plugins->backends[i];
		if (plugins_worst_cost(b, study) > 0 &&
		    plugins_worst_ms(b, study) > 0)
			continue;
		return json_err(by->json, e,
		    "the trials of the backend %s have no price: expected "
		    "seconds or steps",
		    b->type->name);
	}
	return 0;
}

/* What cannot be combined with replicates of settings. */
static int
replicates_check(
    const struct plugins *plugins, const struct study *study, struct err *e)
{
	const struct json *where = study->replicates.where;

	if (study->replicates.count == 0)
		return 0;
	if (plugins->strategy->continues || plugins->strategy->outside)
		return json_err_key(where, e,
		    "cannot be combined with the strategy %s, which "
		    "decides which trials follow each other",
		    plugins->strategy->name);
	if (study->duplicates == STUDY_DUPLICATES_REUSE)
		return json_err_key(where, e,
		    "cannot be combined with strategy.duplicates reuse: a "
		    "setting has several results");
	if (study->limits.convergence)
		return json_err_key(where, e,
		    "cannot be combined with limits.convergence, which "
		    "counts trials");
	if (study->n_warm_start > 0)
		return json_err_key(where, e,
		    "cannot be combined with warm_start: trials of other "
		    "studies are no replicates");
	return 0;
}

/* The second half of plugins_read: checks that open plug-ins. */
static int
plugins_check(
    const struct plugins *plugins, const struct study *study, struct err *e)
{
	struct stop_rule_set *rules;
	struct metric_patterns *patterns;
	size_t i;

	if (metric_check(study, e) != 0 ||
	    replicates_check(plugins, study, e) != 0)
		return -1;
	for (i = 0; i < plugins->n_backends; i++)
		if (backend_check(&plugins->backends[i], plugins->strategy,
			&study->backends[i], study, e) != 0)
			return -1;
	for (i = 0; i < plugins->n_rules; i++)
		if (promote_check(&plugins->rules[i], plugins->strategy,
			&study->stopping[i], e) != 0 ||
		    second_look_check(&plugins->rules[i], plugins->strategy,
			&study->stopping[i], e) != 0 ||
		    series_check(&plugins->rules[i], plugins, study, e) != 0)
			return -1;
	if (cost_check(plugins, study, e) != 0 ||
	    gpu_hours_check(plugins, study, e) != 0 ||
	    plugins_open_rules(&rules, plugins, study, e) != 0)
		return -1;
	stop_rule_set_free(rules);
	if (metric_patterns_new(&patterns, &study->trial, e) != 0)
		return -1;
	metric_patterns_free(patterns);
	return 0;
}

int
plugins_check_programs(
    const struct plugins *plugins, const struct study *study, struct err *e)
{
	const struct backend_type *type;
	size_t i;

	if (template_files_check(study, e) != 0)
		return -1;
	for (i = 0; i < plugins->n_backends; i++) {
		type = plugins->backends[i].type;
		if (type->finds != NULL && type->finds(&study->trial, e) != 0)
			return -1;
	}
	return 0;
}

int
plugins_check_access(
    const struct plugins *plugins, const struct study *study, struct err *e)
{
	const struct plugin_backend *b;
	size_t i;

	for (i = 0; i < plugins->n_backends; i++) {
		b = &plugins->backends[i];
		if (b->type->admits != NULL &&
		    b->type->admits(&study->trial, b->options, e) != 0)
			return err_add(e, "backend %s", b->type->name);
	}
	return 0;
}

int
plugins_replicas(
    const struct plugin_backend *backend, const struct study *study)
{
	const struct backend_type *type = backend->type;
	int n = 1;

	if (type->replicas != NULL)
		n = type->replicas(&study->trial, backend->options);
	return n > 0 ? n : 1;
}

const char *
plugins_cold(const struct plugin_backend *b, const struct study *study)
{
	if (!study->trial.warm)
		return NULL;
	if (b->type->cold == NULL)
		return "each trial is a job, which starts an interpreter";
	return b->type->cold(&study->trial, b->options);
}

double
plugins_worst_cost(
    const struct plugin_backend *backend, const struct study *study)
{
	if (backend->type->worst_cost == NULL)
		return 0;
	return backend->type->worst_cost(&study->trial, backend->options);
}

double
plugins_usual_cost(const struct plugin_backend *backend,
    const struct study *study, int64_t *ms, struct buf *on)
{
	if (backend->type->usual_cost == NULL)
		return NAN;
	return backend->type->usual_cost(
	    &study->trial, backend->options, ms, on);
}

int64_t
plugins_attempt_gpus(
    const struct plugin_backend *backend, const struct study *study)
{
	if (backend->type->attempt_gpus == NULL)
		return -1;
	return backend->type->attempt_gpus(&study->trial, backend->options);
}

int64_t
plugins_worst_ms(
    const struct plugin_backend *backend, const struct study *study)
{
	const struct study_trial *trial = &study->trial;

	if (backend->type->worst_ms != NULL)
		return backend->type->worst_ms(trial, backend->options);
	return trial->max_run_ms > 0 ? trial->max_run_ms + trial->grace_ms : 0;
}

int
plugins_read(struct plugins *plugins, const struct study *study, struct err *e)
{
	size_t i;

	memset(plugins, 0, sizeof *plugins);
	plugins->rules = xcalloc(study->n_stopping + 1, sizeof *plugins->rules);
	plugins->backends =
	    xcalloc(study->n_backends + 1, sizeof *plugins->backends);
	if (metric_files_check(&study->trial, e) != 0 ||
	    strategy_read(plugins, study, e) != 0)
		goto fail;
	for (i = 0; i < study->n_stopping; i++)
		if (rule_read(plugins, &study->stopping[i], e) != 0)
			goto fail;
	for (i = 0; i < study->n_backends; i++)
		if (backend_read(plugins, &study->backends[i], e) != 0)
			goto fail;
	if (convergence_read(plugins, study, e) != 0 ||
	    plugins_check(plugins, study, e) != 0)
		goto fail;
	return 0;
fail:
	plugins_free(plugins);
	return -1;
}

void
plugins_free(struct plugins *plugins)
{
	size_t i;

	if (plugins->strategy != NULL)
		plugin_options_free(plugins->strategy_options);
	plugin_options_free(plugins->convergence);
	for (i = 0; i < plugins->n_rules; i++)
		plugin_options_free(plugins->rules[i].options);
	for (i = 0; i < plugins->n_backends; i++)
		plugin_options_free(plugins->backends[i].options);
	free(plugins->rules);
	free(plugins->backends);
	memset(plugins, 0, sizeof *plugins);
}

int
plugins_open_rules(struct stop_rule_set **out, const struct plugins *plugins,
    const struct study *study, struct err *e)
{
	struct stopper_env env = { .max_steps = study->trial.max_steps,
		.maximize = study->maximize,
		.study = study->name,
		.metric = study->metric };
	struct stop_rule_set *set = stop_rule_set_new();
	const struct plugin_rule *rule;
	struct err why = ERR_INIT;
	size_t i;

	for (i = 0; i < plugins->n_rules; i++) {
		rule = &plugins->rules[i];
		if (stop_rule_set_add(set, rule->stopper, rule->options, &env,
			rule->veto, &why) == 0)
			continue;
		stop_rule_set_free(set);
		return plugin_err(&study->stopping[i], e, why.text);
	}
	*out = set;
	return 0;
}

bool
plugins_strategy_continues(const char *name)
{
	const struct strategy *strategy = strategy_find(name);

	return strategy != NULL && strategy->continues;
}
