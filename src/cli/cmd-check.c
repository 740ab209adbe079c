/*
 * hpotune check: read study.json as "start" would, and print the plan.  Runs
 * and creates nothing, unless --checkpoint runs a trial.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/mem.h"
#include "src/cli/check/check-checkpoint.h"
#include "src/cli/check/plan.h"
#include "src/cli/check/read-log.h"
#include "src/cli/check/study-schema.h"
#include "src/cli/common/caller-env.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/load-study.h"
#include "src/cli/source/source.h"
#include "src/engine/study-row.h"
#include "src/engine/suggest/suggest.h"
#include "src/engine/warmstart/warmstart.h"
#include "src/model/goal.h"
#include "src/model/plugin-options.h"
#include "src/model/prior.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/model/when.h"
#include "src/model/where.h"
#include "src/plugins/plugins.h"
#include "src/store/store.h"
#include "src/study-files/study-files.h"
#include "src/view/memory-fit.h"
#include "src/view/shell-word.h"
#include "src/view/status.h"
#include "src/view/table.h"
#include "strategies/stopper.h"
#include "strategies/strategy.h"
#include "trials/backend.h"

enum {
	WHERE_SAMPLE = 1000 /* random settings, for the share that is allowed */
};

/* What is printed. */
struct check {
	struct plan plan;
	struct warmstart warm;
	int64_t taken; /* trials of warm_start recorded; -1 = not started yet */
	struct strv changes; /* since the last start */
	struct buf starts; /* what a start costs a trial; "" = not known */
	struct buf memory; /* what is likely to fit; "" = none ran out of it */
	struct buf cold; /* where trial.warm is of no use; "" = nowhere */
};

static void
param_put_values(struct buf *out, const struct param *p)
{
	size_t i;

	if (p->type == PARAM_CHOICE || p->type == PARAM_FIXED) {
		for (i = 0; i < p->n_values; i++) {
			buf_puts(out, i > 0 ? ", " : "");
			param_value_put(out, &p->values[i]);
		}
		buf_puts(out, p->weights != NULL ? "; " : "");
		prior_put(out, p);
		return;
	}
	buf_printf(out, "%.15g to %.15g", p->min, p->max);
	if (p->step != 0 && !(p->type == PARAM_INT && p->step == 1))
		buf_printf(out, " by %.15g", p->step);
	buf_puts(out, p->sd > 0 ? "; " : "");
	prior_put(out, p);
}

static void
param_put_when(
    struct buf *out, const struct space *space, const struct param *p)
{
	if (p->when == NULL)
		return;
	buf_puts(out, "when ");
	when_put(out, p->when, space);
}

static void
cmd_check_params_put(
    struct buf *out, const struct space *space, const struct cli *cli)
{
	static const char *const types[] = { [PARAM_FLOAT] = "float",
		[PARAM_INT] = "int",
		[PARAM_CHOICE] = "choice",
		[PARAM_FIXED] = "fixed" };
	static const char *const scales[] = { [SCALE_LINEAR] = "",
		[SCALE_LOG] = "log",
		[SCALE_REVERSE_LOG] = "reverse-log" };
	struct table *table = table_new();
	struct buf text = { 0 };
	size_t i;

	table_column(table, "parameter", TABLE_LEFT);
	table_column(table, "type", TABLE_LEFT);
	table_column(table, "values", TABLE_SHRINK);
	table_column(table, "scale", TABLE_LEFT);
	table_column(table, "condition", TABLE_SHRINK);
	for (i = 0; i < space->n; i++) {
		table_cell(table, space->params[i].name, TABLE_PLAIN);
		buf_clear(&text);
		buf_printf(&text, "%s%s", types[space->params[i].type],
		    space->params[i].guessed ? " (guessed)" : "");
		table_cell(table, buf_str(&text), TABLE_PLAIN);
		buf_clear(&text);
		param_put_values(&text, &space->params[i]);
		table_cell(table, buf_str(&text), TABLE_PLAIN);
		table_cell(table, scales[space->params[i].scale], TABLE_PLAIN);
		buf_clear(&text);
		param_put_when(&text, space, &space->params[i]);
		table_cell(table, buf_str(&text), TABLE_PLAIN);
	}
	table_put(out, table, cli->width, cli->colour, true);
	table_free(table);
	buf_free(&text);
}

/*
 * Show the conditions of where.  When few settings meet them, a strategy is
 * slow: it redraws.
 */
static void
where_put(struct buf *out, const struct space *space)
{
	size_t i, n = where_count(space);
	double share = n > 0 ? where_share(space, 1, WHERE_SAMPLE) : 1;

	for (i = 0; i < n; i++) {
		buf_puts(out, i == 0 ? "where      " : "           ");
		cli_put_text(out, where_text(space, i));
		buf_putc(out, '\n');
	}
	if (n > 0 && share < 1.0 / WHERE_SAMPLE)
		buf_puts(out, "           (less than 0.1 % of all settings)\n");
	else if (n > 0)
		buf_printf(out, "           (%s%.3g %% of all settings)\n",
		    share < 1 ? "about " : "", 100 * share);
}

static void
cmd_check_rules_put(struct buf *out, const struct plugins *plugins)
{
	size_t i;

	for (i = 0; i < plugins->n_rules; i++)
		buf_printf(out, "%s%s%s", i > 0 ? ", " : "",
		    plugins->rules[i].stopper->name,
		    plugins->rules[i].veto ? " (veto)" : "");
}

/* Whether the server sees, or study.json says, that there are checkpoints. */
static bool
backend_keeps(const struct plugin_backend *b)
{
	return b->type->keeps == NULL || b->type->keeps(b->options);
}

/* What becomes of the stopped ones at the end. */
static void
cmd_check_looks_put(struct buf *out, const struct plan *plan)
{
	const struct plugins *plugins = plan->plugins;
	bool given = false, seen = false;
	double share = 0;
	size_t i;

	for (i = 0; i < plugins->n_rules; i++)
		plugins_second_look(&plugins->rules[i], &share, &given);
	for (i = 0; i < plugins->n_backends; i++)
		seen = seen || backend_keeps(&plugins->backends[i]);
	if (given && share > 0)
		buf_printf(out, "; second looks for %.15g %% of the cost",
		    100 * share);
	else if (given)
		buf_puts(out, "; no second looks");
	else if (!seen && plugins->n_rules > 0 &&
		 plugins->rules[0].stopper->options != NULL)
		buf_printf(out,
		    "; no second looks, as the backend %s does not see which "
		    "trials have checkpoints (second_look begins them)",
		    plugins->backends[0].type->name);
}

static void
cmd_check_backends_put(struct buf *out, const struct plugins *plugins)
{
	size_t i;

	for (i = 0; i < plugins->n_backends; i++)
		buf_printf(out, "%s%s", i > 0 ? ", then " : "",
		    plugins->backends[i].type->name);
}

static void
worst_put(struct buf *out, const struct plan *plan)
{
	if (plan->worst_ms < 0) {
		buf_puts(out,
		    "unlimited: limits.wall_time or trial.max_run would "
		    "limit it");
		return;
	}
	buf_puts(out, "at most ");
	duration_put(out, plan->worst_ms);
	if (plan->study->limits.wall_time_ms > 0 &&
	    plan->worst_ms ==
		plan->study->limits.wall_time_ms + plan->study->trial.grace_ms)
		buf_puts(out, " (limits.wall_time and one grace)");
	else
		buf_puts(out, " (every attempt takes all its time)");
}

static void
cmd_check_trials_put(struct buf *out, const struct plan *plan)
{
	int64_t completed = plan->study->limits.completed;

	if (plan->trials > 0)
		buf_printf(out, "%" PRId64, plan->trials);
	else if (completed == 0)
		buf_puts(out, "until a limit is reached");
	if (completed > 0)
		buf_printf(out,
		    "%suntil %" PRId64 " have completed, whatever fails or is "
		    "stopped",
		    plan->trials > 0 ? ", or " : "", completed);
	if (plan->exhausted)
		buf_puts(out, ": then the strategy has tried all settings");
	if (plan->study->n_enqueue > 0)
		buf_printf(
		    out, "; %zu of them enqueued", plan->study->n_enqueue);
}

static void
aims_put(struct buf *out, const struct plan *plan)
{
	const struct study *study = plan->study;
	const struct study_constraint *c;
	size_t i;

	for (i = 0; i < study->n_objectives; i++)
		buf_printf(out, "%-10s %s %s\n", i == 0 ? "objective" : "",
		    goal_name(study->objectives[i].maximize),
		    study->objectives[i].metric);
	for (i = 0; i < study->n_constraints; i++) {
		c = &study->constraints[i];
		buf_printf(
		    out, "%-10s %s", i == 0 ? "constraint" : "", c->metric);
		if (isfinite(c->min))
			buf_printf(out, " at least %.15g", c->min);
		if (isfinite(c->max))
			buf_printf(out, "%s at most %.15g",
			    isfinite(c->min) ? " and" : "", c->max);
		buf_putc(out, '\n');
	}
	if (study->n_constraints > 0 && !plan->plugins->strategy->constraints)
		buf_printf(out,
		    "warning    the strategy %s ignores constraints: "
		    "they only decide which trial is best\n",
		    plan->plugins->strategy->name);
}

static void
warm_put_text(struct buf *out, const struct check *c)
{
	size_t i;

	if (c->taken >= 0)
		buf_printf(out,
		    "\nwarm start %" PRId64 " trials, taken at the first start",
		    c->taken);
	for (i = 0; i < c->warm.n_sources; i++) {
		buf_puts(out, "\nwarm start ");
		warmstart_put_source(out, &c->warm.sources[i]);
	}
	if ((c->taken > 0 || c->warm.n > 0) &&
	    !c->plan.plugins->strategy->wants_points)
		buf_printf(out, "; %s does not use them",
		    c->plan.plugins->strategy->name);
}

static void
warm_put_json(struct json_writer *w, const struct check *c)
{
	const struct warmstart_source *s;
	size_t i;

	json_writer_array(w, "warm_start");
	for (i = 0; i < c->warm.n_sources; i++) {
		s = &c->warm.sources[i];
		json_writer_object(w, NULL);
		json_writer_text(w, "source", s->name);
		json_writer_integer(w, "trials", s->trials);
		json_writer_integer(w, "taken", s->taken);
		json_writer_end(w);
	}
	json_writer_end(w);
}

/*
 * The parameters that stand in no argument: that the program reads them cannot
 * be seen from here.  Where it gets some as arguments, this is a warning.
 */
static void
ungiven_put(struct buf *out, const struct plan *plan)
{
	const struct study *study = plan->study;
	const struct space *space = study->space;
	size_t i, n = 0;

	/* Where trials are programs of their own: others get all of them. */
	for (i = 0; i < plan->plugins->n_backends; i++)
		if (study->trial.pack > 0 ||
		    !plan->plugins->backends[i].type->packs)
			return;
	for (i = 0; i < space->n; i++)
		n += !study_command_gives(study, space->params[i].name);
	if (n == 0)
		return;
	buf_puts(out, n < space->n ? "\nwarning    " : "\nparameters ");
	for (i = 0, n = 0; i < space->n; i++) {
		if (study_command_gives(study, space->params[i].name))
			continue;
		buf_puts(out, n++ > 0 ? ", " : "");
		cli_put_text(out, space->params[i].name);
	}
	buf_printf(out,
	    " %s in no argument: the program has to read HPOTUNE_PARAMS or a "
	    "variable SM_HP_NAME",
	    n == 1 ? "stands" : "stand");
}

static void
warns_put(struct buf *out, const char *lines)
{
	const char *end;
	char *line;

	for (; *lines != '\0'; lines = end + (*end != '\0')) {
		end = strchrnul(lines, '\n');
		line = xstrndup(lines, (size_t)(end - lines));
		buf_puts(out, "\nwarning    ");
		cli_put_text(out, line);
		free(line);
	}
}

/* The longest attempt, in the units that its numbers have come to. */
static void
attempt_put(struct buf *out, const struct study_trial *t)
{
	if (t->max_run_ms == 0)
		return;
	buf_puts(out, "\nattempt    at most ");
	duration_put(out, t->max_run_ms);
	buf_puts(out, " (trial.max_run), then SIGTERM, and SIGKILL after ");
	duration_put(out, t->grace_ms);
}

static void
command_put(struct buf *out, const struct plan *plan)
{
	if (plan->command[0] == NULL) {
		buf_puts(out, "\ncommand    none: for hpotune ask and tell");
		return;
	}
	buf_puts(out, "\ncommand    ");
	cli_put_argv(out, plan->command);
	buf_puts(out, "\n           (for example) in ");
	shell_word_put(out, plan->workdir, SHELL_WORD_SHOWN);
	ungiven_put(out, plan);
	if (plan->starts.len > 0) {
		buf_puts(out, "\nlauncher   ");
		cli_put_text(out, buf_str(&plan->starts));
	}
	attempt_put(out, &plan->study->trial);
	if (plan->asks.len > 0) {
		buf_puts(out, "\njob        ");
		cli_put_text(out, buf_str(&plan->asks));
	}
	warns_put(out, buf_str(&plan->warns));
	if (plan->misses.len > 0) {
		buf_puts(out, "\nmissing    ");
		cli_put_text(out, buf_str(&plan->misses));
	}
	if (plan->exposed.len > 0) {
		buf_puts(out, "\nwarning    ");
		cli_put_text(out, buf_str(&plan->exposed));
		buf_puts(out,
		    ": its users can replace what the study runs and reads; "
		    "chmod +t prevents it");
	}
}

/* Where trials start cold although the study has trial.warm. */
static void
starts_cold_make(struct buf *out, const struct check *c)
{
	const struct plugins *plugins = c->plan.plugins;
	const char *why;
	size_t i;

	for (i = 0; i < plugins->n_backends; i++) {
		why = plugins_cold(&plugins->backends[i], c->plan.study);
		if (why == NULL)
			continue;
		if (out->len > 0)
			buf_puts(out, "; ");
		buf_printf(out, "cold with the backend %s: %s",
		    plugins->backends[i].type->name, why);
	}
}

/* What a start costs, as measured, or how to measure it. */
static void
starts_put(struct buf *out, const struct check *c)
{
	const struct plugin_backend *b = &c->plan.plugins->backends[0];
	const struct backend_type *type = b->type;
	const struct study_trial *t = &c->plan.study->trial;
	bool local = strcmp(type->name, "local") == 0;

	if (c->starts.len > 0) {
		buf_puts(out, "\nstarts     ");
		buf_puts(out, buf_str(&c->starts));
	} else if (t->warm_at > 0 &&
		   (local || (!t->warm && type->cold != NULL &&
				 type->cold(t, b->options) == NULL)))
		buf_printf(out,
		    "\nstarts     %s; hpotune try measures what imports cost",
		    t->warm ? "warm" : "cold");
	else if (t->warm && c->cold.len == 0)
		buf_puts(out,
		    "\nstarts     warm: the trials of a job after its "
		    "first ones");
	if (c->cold.len > 0) {
		buf_puts(out, "\nstarts     ");
		buf_puts(out, buf_str(&c->cold));
	}
}

/* Which checkpoints stay. */
static void
keep_put(struct buf *out, const struct keep_rule *keep)
{
	if (!keep->given)
		return;
	buf_printf(out, "\ncheckpoints of the %" PRId64 " best", keep->best);
	if (keep->last > 0)
		buf_printf(out, " and the %" PRId64 " last trials", keep->last);
	else
		buf_printf(out, " trial%s", keep->best == 1 ? "" : "s");
	buf_puts(out, " are kept");
	if (keep->bytes > 0)
		buf_printf(out, ", at most %" PRId64 " bytes", keep->bytes);
}

/* The programs of the user, and when they run. */
static void
hooks_put(struct buf *out, const struct study_hooks *hooks)
{
	const char *between = "\nhooks      ";
	int i;

	for (i = 0; i < STUDY_HOOKS; i++) {
		if (hooks->argv[i] == NULL)
			continue;
		buf_printf(out, "%s%s: ", between,
		    study_hook_name((enum study_hook)i));
		cli_put_argv(out, hooks->argv[i]);
		between = "\n           ";
	}
}

/* Destinations of notices, and their moments. */
static void
notify_put(struct buf *out, const struct study_notify *to)
{
	const char *between = "\nnotices    ";
	int i;

	for (i = 0; i < STUDY_CHANNELS; i++) {
		if (to->channels[i].to == NULL)
			continue;
		buf_printf(out, "%s%s %s", between,
		    study_channel_name((enum study_channel)i),
		    to->channels[i].to);
		if (strncmp(to->channels[i].to, "arn:", 4) != 0)
			buf_printf(out, " in %s", to->channels[i].region);
		between = " and ";
	}
	if (*between == '\n')
		return;
	between = ": ";
	for (i = 0; i < STUDY_MOMENTS; i++) {
		if (!to->on[i])
			continue;
		buf_printf(out, "%s%s", between,
		    study_moment_name((enum study_moment)i));
		between = ", ";
	}
}

/* "replicates seed is 1, 2, 3: the mean counts; …" */
static void
replicates_put(struct buf *out, const struct study *study)
{
	const struct study_replicates *r = &study->replicates;
	const struct param *p;
	size_t i;

	if (r->count == 0 || study->confirm.own)
		return;
	p = &study->space->params[r->param];
	buf_printf(out, "\nreplicates %s is ", p->name);
	for (i = 0; i < r->count; i++) {
		buf_puts(out, i > 0 ? ", " : "");
		param_value_put(out, &p->values[i]);
	}
	if (isnan(r->quantile))
		buf_puts(out, ": the mean counts");
	else
		buf_printf(out, ": the quantile %g counts (1 is the worst)",
		    r->quantile);
	if (r->racing)
		buf_puts(out,
		    "; all of them only for settings that may be the best");
}

/* "confirm    loss of the best setting, beside trial 7: up to 10 pairs; …" */
static void
confirm_put(struct buf *out, const struct study *study)
{
	const struct study_confirm *c = &study->confirm;
	size_t first = study->replicates.count + 1;

	if (c->pairs == 0)
		return;
	buf_printf(
	    out, "\nconfirm    %s of the best setting, beside ", c->metric);
	if (c->baseline > 0)
		buf_printf(out, "trial %" PRId64, c->baseline);
	else
		buf_puts(out, "the defaults");
	buf_printf(out, ": up to %zu pairs, %s from %zu on, at alpha %g",
	    c->pairs, study->space->params[study->replicates.param].name, first,
	    c->alpha);
}

static void
changes_put(struct buf *out, const struct strv *changes)
{
	size_t i;

	for (i = 0; i < changes->n; i++) {
		buf_puts(out, i == 0 ? "changed    " : "           ");
		cli_put_text(out, changes->v[i]);
		buf_putc(out, '\n');
	}
}

static void
gpu_hours_put(struct buf *out, const struct plan *plan)
{
	double hours = plan->worst_gpu_hours;

	if (isinf(hours)) {
		buf_printf(out,
		    "unlimited: limits.gpu_hours, or limits.trials with "
		    "trial.max_run, would limit them; an attempt has %" PRId64
		    " GPU%s",
		    plan->attempt_gpus, plan->attempt_gpus == 1 ? "" : "s");
		return;
	}
	buf_printf(out, "at most %.4g", hours);
	if (hours == plan->study->limits.gpu_hours)
		buf_puts(out, " (limits.gpu_hours, and one grace)");
	else
		buf_printf(out,
		    " (%" PRId64 " trials of %" PRId64
		    " attempts, each at most %.4g)",
		    plan->trials, plan->study->trial.retries + 1,
		    (double)plan->attempt_gpus * (double)plan->attempt_ms /
			3.6e6);
}

static void
slots_put(struct buf *out, const struct plan *plan)
{
	const struct backend_type *type = plan->plugins->backends[0].type;

	if (plan->slots == 0) {
		buf_puts(out, "as many as the backend has");
		return;
	}
	buf_printf(out, "%" PRId64, plan->slots);
	if (plan->study->limits.parallel == plan->slots)
		return;
	if (type->strays == NULL)
		buf_puts(out, " on this machine");
	else
		buf_printf(out,
		    ", the default with %s (limits.parallel changes it)",
		    type->name);
}

enum { STEPS_FEW = 100 }; /* of a short training, at most */

/* Whether a parameter has the name of a schedule of the learning rate. */
static bool
has_schedule(const struct space *space)
{
	static const char *const words[] = { "schedul", "warmup", "warm_up",
		"anneal", "cosine", "decay_steps", NULL };
	size_t i, k;

	for (i = 0; i < space->n; i++)
		for (k = 0; words[k] != NULL; k++)
			if (strcasestr(space->params[i].name, words[k]) != NULL)
				return true;
	return false;
}

/* Which rule may suit the study better than the default, where it has that. */
static void
advice_put(struct buf *out, const struct study *study)
{
	if (study->n_stopping != 1 || study->stopping[0].where != NULL ||
	    strcmp(study->stopping[0].name, "none") == 0)
		return;
	if (study->trial.max_steps == 0)
		buf_puts(out,
		    "\n           trial.max_steps is not known: half of all "
		    "trials may run to their ends");
	else if (has_schedule(study->space))
		buf_puts(out,
		    "\n           careful loses fewer good trials where "
		    "schedules fall late");
	else if (study->trial.max_steps <= STEPS_FEW)
		buf_puts(out,
		    "\n           short saves more where curves cross "
		    "little");
}

static void
likely_put(struct buf *out, const struct check *c)
{
	if (isnan(c->plan.likely.dollars))
		return;
	buf_puts(out, "\n           ");
	likely_cost_put(out, &c->plan.likely);
}

static void
cmd_check_plan_put(
    struct buf *out, const struct check *c, const struct cli *cli)
{
	const struct plan *plan = &c->plan;
	const struct study *study = plan->study;

	buf_printf(out, "%s: ", study->name);
	cli_put_text(out, study->path);
	buf_printf(out, "%s\n\n",
	    plan->missing[0] == '\0' ? " is right" : " cannot be started");
	cmd_check_params_put(out, study->space, cli);
	buf_putc(out, '\n');
	where_put(out, study->space);
	aims_put(out, plan);
	buf_printf(out, "strategy   %s, seed ", plan->plugins->strategy->name);
	if (study->has_seed)
		buf_printf(out, "%" PRIu64 "\n", study->seed);
	else
		buf_puts(out, "drawn at the first start\n");
	buf_puts(out, "stopping   ");
	cmd_check_rules_put(out, plan->plugins);
	cmd_check_looks_put(out, plan);
	advice_put(out, study);
	replicates_put(out, study);
	confirm_put(out, study);
	buf_puts(out, "\nbackend    ");
	cmd_check_backends_put(out, plan->plugins);
	command_put(out, plan);
	starts_put(out, c);
	buf_puts(out, "\ntrials     ");
	cmd_check_trials_put(out, plan);
	warm_put_text(out, c);
	buf_puts(out, "\nslots      ");
	slots_put(out, plan);
	if (plan->programs > 0)
		buf_printf(out,
		    ": %" PRId64 " program%s of up to %" PRId64 " trials",
		    plan->programs, plan->programs == 1 ? "" : "s",
		    study->trial.pack);
	if (plan->gpus.len > 0)
		buf_printf(out, "\nGPUs       %s", buf_str(&plan->gpus));
	if (c->memory.len > 0)
		buf_printf(out, "\nmemory     %s", buf_str(&c->memory));
	notify_put(out, &study->notify);
	keep_put(out, &study->keep);
	hooks_put(out, &study->hooks);
	if (study->provenance.packages != NULL) {
		buf_puts(out, "\npackages   as printed by: ");
		cli_put_argv(out, study->provenance.packages);
	}
	buf_puts(out, "\ntime       ");
	worst_put(out, plan);
	buf_putc(out, '\n');
	changes_put(out, &c->changes);
	if (plan->attempt_gpus > 0) {
		buf_puts(out, "GPU hours  ");
		gpu_hours_put(out, plan);
		buf_putc(out, '\n');
	}
	if (plan->attempt_cost == 0)
		return;
	buf_puts(out, "cost       ");
	plan_put_cost(out, plan);
	likely_put(out, c);
	buf_putc(out, '\n');
}

static void
aims_put_json(struct json_writer *w, const struct study *study)
{
	size_t i;

	json_writer_array(w, "objectives");
	for (i = 0; i < study->n_objectives; i++) {
		json_writer_object(w, NULL);
		json_writer_text(w, "metric", study->objectives[i].metric);
		json_writer_text(
		    w, "goal", goal_name(study->objectives[i].maximize));
		json_writer_end(w);
	}
	json_writer_end(w);
	json_writer_array(w, "constraints");
	for (i = 0; i < study->n_constraints; i++) {
		json_writer_object(w, NULL);
		json_writer_text(w, "metric", study->constraints[i].metric);
		json_writer_number(w, "min", study->constraints[i].min);
		json_writer_number(w, "max", study->constraints[i].max);
		json_writer_end(w);
	}
	json_writer_end(w);
}

static void
head_put_json(struct json_writer *w, const struct study *study)
{
	size_t i;

	json_writer_text(w, "study", study->name);
	json_writer_text(w, "file", study->path);
	json_writer_array(w, "parameters");
	for (i = 0; i < study->space->n; i++)
		json_writer_text(w, NULL, study->space->params[i].name);
	json_writer_end(w);
	aims_put_json(w, study);
}

static void
plugins_put_json(struct json_writer *w, const struct plugins *plugins)
{
	size_t i;

	json_writer_text(w, "strategy", plugins->strategy->name);
	json_writer_bool(
	    w, "minds_constraints", plugins->strategy->constraints);
	json_writer_array(w, "stopping");
	for (i = 0; i < plugins->n_rules; i++)
		json_writer_text(w, NULL, plugins->rules[i].stopper->name);
	json_writer_end(w);
	json_writer_array(w, "backend");
	for (i = 0; i < plugins->n_backends; i++)
		json_writer_text(w, NULL, plugins->backends[i].type->name);
	json_writer_end(w);
}

/* The text of a buffer, unless it is empty. */
static void
some_put_json(struct json_writer *w, const char *key, const struct buf *text)
{
	if (text->len > 0)
		json_writer_text(w, key, buf_str(text));
}

static void
plan_put_json(struct buf *out, const struct check *c)
{
	struct json_writer w = { .out = out };
	const struct plan *plan = &c->plan;
	size_t i;

	json_writer_object(&w, NULL);
	head_put_json(&w, plan->study);
	plugins_put_json(&w, plan->plugins);
	json_writer_text(&w, "workdir", plan->workdir);
	cli_put_argv_json(&w, "command", plan->command);
	some_put_json(&w, "launcher", &plan->starts);
	some_put_json(&w, "job", &plan->asks);
	some_put_json(&w, "starts", &c->starts);
	some_put_json(&w, "starts_cold", &c->cold);
	some_put_json(&w, "warnings", &plan->warns);
	some_put_json(&w, "missing", &plan->misses);
	some_put_json(&w, "exposed", &plan->exposed);
	json_writer_number(
	    &w, "trials", plan->trials > 0 ? (double)plan->trials : NAN);
	json_writer_number(&w, "completed",
	    plan->study->limits.completed > 0
		? (double)plan->study->limits.completed
		: NAN);
	warm_put_json(&w, c);
	json_writer_array(&w, "changes");
	for (i = 0; i < c->changes.n; i++)
		json_writer_text(&w, NULL, c->changes.v[i]);
	json_writer_end(&w);
	json_writer_number(
	    &w, "slots", plan->slots > 0 ? (double)plan->slots : NAN);
	if (plan->programs > 0) {
		json_writer_integer(&w, "programs", plan->programs);
		json_writer_integer(&w, "pack", plan->study->trial.pack);
	}
	some_put_json(&w, "gpus", &plan->gpus);
	some_put_json(&w, "memory", &c->memory);
	json_writer_number(&w, "worst_seconds",
	    plan->worst_ms < 0 ? NAN : (double)plan->worst_ms / 1e3);
	if (plan->attempt_gpus > 0)
		json_writer_number(
		    &w, "worst_gpu_hours", plan->worst_gpu_hours);
	json_writer_number(&w, "attempt_cost", plan->attempt_cost);
	json_writer_number(&w, "worst_cost", plan->worst_cost);
	json_writer_number(&w, "likely_cost", c->plan.likely.dollars);
	some_put_json(&w, "likely_cost_why", &c->plan.likely.why);
	json_writer_text(
	    &w, "missing", plan->missing[0] != '\0' ? plan->missing : NULL);
	json_writer_end(&w);
	buf_putc(out, '\n');
}

/*
 * The trials that a first start would learn from, or that are recorded; and what
 * the recorded ones say of their starts.
 */
static int
check_warm(struct check *c, const struct study_files *found, struct err *e)
{
	struct store *store;
	bool there;
	int rc;

	c->taken = -1;
	if (found->study->n_warm_start == 0 && found->study->trial.warm_at == 0)
		return 0;
	if (store_exists(&there, found->db, e) != 0)
		return -1;
	if (!there)
		return found->study->n_warm_start == 0
			   ? 0
			   : warmstart_read(
				 &c->warm, found->study, found->db, e);
	if (store_open(&store, found->db, STORE_READ, e) != 0)
		return -1;
	rc = status_put_start(&c->starts, store, e);
	if (rc == 0 && found->study->n_warm_start > 0)
		rc = store_warm_count(store, &c->taken, e);
	store_close(store);
	return rc;
}

/* The most memory that is likely to fit, where trials have run out of it. */
static int
check_memory(struct check *c, const struct study_files *found, struct err *e)
{
	struct memory_fit *fit;
	struct store *store;
	bool there;
	int rc;

	if (store_exists(&there, found->db, e) != 0)
		return -1;
	if (!there)
		return 0;
	if (store_open(&store, found->db, STORE_READ, e) != 0)
		return -1;
	rc = memory_fit_overrun(&fit, found->study->space, store, e);
	if (rc == 0 && fit != NULL)
		memory_fit_put(&c->memory, fit);
	memory_fit_free(fit);
	store_close(store);
	return rc;
}

static int
check_print(struct cli *cli, struct check *c, const struct study_files *found,
    struct err *e)
{
	struct buf out = { 0 };
	struct err why = ERR_INIT;

	if (plan_make(&c->plan, e) != 0 ||
	    plan_pace(&c->plan, found->db, e) != 0 ||
	    check_memory(c, found, e) != 0 ||
	    (c->plan.missing[0] == '\0' &&
		study_row_check(found->db, found->study, &c->changes, e) != 0))
		return -1;
	plan_warn(&c->plan);
	if (c->plan.missing[0] == '\0' &&
	    source_look(found->study, found->db, &why) != 0)
		(void)snprintf(
		    c->plan.missing, sizeof c->plan.missing, "%s", why.text);
	starts_cold_make(&c->cold, c);
	if (cli->json)
		plan_put_json(&out, c);
	else
		cmd_check_plan_put(&out, c, cli);
	(void)cli_print(&out);
	if (c->plan.missing[0] != '\0')
		return err_set(e, ERR_FILE, "%s", c->plan.missing);
	return 0;
}

static int
cmd_check_study(struct cli *cli, const struct study_files *found, struct err *e)
{
	struct check c = { .plan.study = found->study };
	struct plugins plugins;
	int rc;

	study_row_keep_former(found->db, found->study);
	if (plugins_read(&plugins, found->study, e) != 0)
		return -1;
	c.plan.plugins = &plugins;
	rc = suggest_check(&plugins, found->study, e);
	if (rc == 0)
		rc = check_warm(&c, found, e);
	if (rc == 0)
		rc = check_print(cli, &c, found, e);
	warmstart_free(&c.warm);
	strv_free(c.changes.v);
	buf_free(&c.starts);
	buf_free(&c.cold);
	buf_free(&c.memory);
	plan_fini(&c.plan);
	plugins_free(&plugins);
	return rc;
}

/* Print what a log is read as; false when an objective is missing. */
static int
check_log(struct cli *cli, const struct study *study, const char *path,
    bool *whole, struct err *e)
{
	struct buf out = { 0 };
	struct json_writer w = { .out = &out, .spacing = JSON_SPACED };
	struct read_log *reader;

	if (read_log_new(&reader, study, e) != 0)
		return -1;
	if (read_log_file(reader, path, cli->json ? NULL : stdout, e) != 0) {
		read_log_free(reader);
		return err_add(e, "--log");
	}
	*whole = read_log_is_whole(reader);
	if (cli->json) {
		json_writer_object(&w, NULL);
		read_log_put_json(reader, &w);
		json_writer_end(&w);
		buf_putc(&out, '\n');
	} else
		read_log_put_sum(reader, &out, cli->width, cli->colour);
	(void)cli_print(&out);
	read_log_free(reader);
	return 0;
}

static int
check_run(struct cli *cli)
{
	const char *log = cli_value(cli, "log");
	struct study_files found;
	struct err e = ERR_INIT;
	struct buf schema = { 0 };
	bool whole = true;
	int rc;

	if (cli_has(cli, "schema")) {
		study_schema_put(&schema);
		cli_print_json(buf_str(&schema));
		buf_free(&schema);
		return CLI_DONE;
	}
	if (load_study_find(cli, &found, NULL, &e) != 0)
		return cli_fail(&e);
	if (cli_has(cli, "checkpoint") && log != NULL) {
		study_files_fini(&found);
		(void)err_set(&e, ERR_USAGE,
		    "check: --checkpoint runs a trial: omit --log");
		return cli_fail(&e);
	}
	if (cli_has(cli, "checkpoint")) {
		rc = check_checkpoint(cli, found.study, &e);
		study_files_fini(&found);
		return rc == -1 ? cli_fail(&e) : rc;
	}
	caller_env_note(&found);
	if (log != NULL)
		rc = check_log(cli, found.study, log, &whole, &e);
	else
		rc = cmd_check_study(cli, &found, &e);
	study_files_fini(&found);
	if (rc == -1)
		return cli_fail(&e);
	return whole ? CLI_DONE : CLI_FAILED;
}

static const struct cli_option check_options[] = {
	{ "schema", 0, NULL,
	    "print the JSON Schema of study.json, for editors" },
	{ "log", 0, "FILE",
	    "show what is read of this output of a trial, - is standard "
	    "input" },
	{ "checkpoint", 0, NULL,
	    "run a trial with and without a stop, and compare the curves" },
	{ .name = NULL },
};

const struct cli_command cmd_check = {
	.name = "check",
	.args = "[STUDY]",
	.about = "validate study.json and print the plan",
	.options = check_options,
	.max_operands = 1,
	.json = true,
	.run = check_run,
};
