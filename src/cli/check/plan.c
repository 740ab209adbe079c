/* Computes a plan from the study and a dry run of its strategy. */

#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/folder.h"
#include "src/base/mem.h"
#include "src/cli/check/plan.h"
#include "src/model/history/history.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/model/tried-settings.h"
#include "src/plugins/plugins.h"
#include "src/store/store.h"
#include "strategies/strategy.h"
#include "trials/backend.h"

static int
strategy_ask(const struct plan *plan, const struct history *history,
    int64_t trial, double *x, struct err *e)
{
	struct strategy_ask ask = { .space = plan->study->space,
		.history = history,
		.seed = plan->study->has_seed ? plan->study->seed : 1,
		.trial = trial };
	struct suggestion out = { .x = x, .made_by = "cpu" };

	return strategy_suggest(plan->plugins->strategy, &out, &ask,
	    plan->plugins->strategy_options, e);
}

/* The command as trial 1 could get it. */
static int
plan_example(
    struct plan *plan, const struct history *history, double *x, struct err *e)
{
	const struct space *space = plan->study->space;
	struct study_command_vars vars = { .trial = 1,
		.attempt = 1,
		.checkpoint_dir = "CHECKPOINT_DIR",
		.output_dir = "OUTPUT_DIR",
		.model_dir = "MODEL_DIR" };
	struct value *values;

	if (strategy_ask(plan, history, 1, x, e) == -1)
		return -1;
	values = xcalloc(space->n + 1, sizeof *values);
	space_snap(space, x);
	space_decode(space, x, values);
	vars.batch = study_batch(plan->study, values) /
		     plugins_replicas(&plan->plugins->backends[0], plan->study);
	plan->command = study_command(plan->study, values, &vars);
	plan->workdir = study_workdir(plan->study, values, &vars);
	free(values);
	return 0;
}

/* The number of trials: the limit, or all that the strategy has. */
static int
plan_trials(
    struct plan *plan, const struct history *history, double *x, struct err *e)
{
	int64_t low = 0, high = plan->study->limits.trials, middle, limit;
	int rc;

	if (plan->max_trials > 0)
		high = plan->max_trials;
	limit = plan->trials = high;
	if (high == 0)
		high = INT64_C(1) << 32;
	if ((rc = strategy_ask(plan, history, high, x, e)) == -1)
		return -1;
	if (rc == 0)
		return 0;
	while (high - low > 1) {
		middle = low + (high - low) / 2;
		rc = strategy_ask(plan, history, middle, x, e);
		if (rc == -1)
			return -1;
		if (rc == 0)
			low = middle;
		else
			high = middle;
	}
	plan->exhausted = true;
	plan->trials = low + (int64_t)plan->study->n_enqueue;
	if (limit > 0 && plan->trials > limit)
		plan->trials = limit;
	return 0;
}

/* No setting is tried twice, unless the strategy repeats them by design. */
static void
plan_settings(struct plan *plan)
{
	struct tried_settings *none = tried_settings_new(plan->study->space, 0);
	int64_t n = (int64_t)tried_settings_count(none);

	tried_settings_free(none);
	if (n == 0 || plan->plugins->strategy->repeats ||
	    (plan->trials > 0 && plan->trials <= n))
		return;
	plan->trials = n;
	plan->exhausted = true;
}

/* How many trials the GPUs of this machine hold. */
static int
plan_gpus(struct plan *plan, struct err *e)
{
	const struct plugin_backend *b;
	size_t i;

	for (i = 0; i < plan->plugins->n_backends && plan->gpu_places == 0;
	     i++) {
		b = &plan->plugins->backends[i];
		if (b->type->gpus != NULL)
			plan->gpu_places = b->type->gpus(
			    &plan->study->trial, b->options, &plan->gpus, e);
	}
	return plan->gpu_places < 0 ? -1 : 0;
}

/* Cores that this process may use. */
static int64_t
plan_cores(void)
{
	cpu_set_t set;
	int64_t n;

	if (sched_getaffinity(0, sizeof set, &set) == 0)
		n = CPU_COUNT(&set);
	else
		n = sysconf(_SC_NPROCESSORS_ONLN);
	return n > 0 ? n : 1;
}

/* How many programs of packed trials this machine has room for. */
static int64_t
machine_places(const struct plan *plan)
{
	int64_t per = study_cores(&plan->study->trial);

	if (plan->gpu_places > 0)
		return plan->gpu_places;
	return plan_cores() >= per ? plan_cores() / per : 1;
}

/* The sum of the defaults of all backends; 0 = one of them is not known. */
static int64_t
plan_parallel(const struct plan *plan)
{
	const struct backend_type *type;
	int64_t sum = 0;
	size_t i;

	for (i = 0; i < plan->plugins->n_backends; i++) {
		type = plan->plugins->backends[i].type;
		if (type->parallel == NULL)
			return 0;
		sum += type->parallel(&plan->study->trial);
	}
	return sum;
}

/*
 * Trials at a time: by the GPUs or cores of this machine when all trials run on
 * it; with jobs elsewhere limits.parallel, or the default of their backends.
 */
static int64_t
plan_slots(const struct plan *plan)
{
	const struct study *study = plan->study;
	int64_t pack = study->trial.pack > 0 ? study->trial.pack : 1, n;
	int64_t parallel = study->limits.parallel;
	size_t i;

	for (i = 0; i < plan->plugins->n_backends; i++)
		if (plan->plugins->backends[i].type->strays != NULL)
			return parallel > 0 ? parallel : plan_parallel(plan);
	n = machine_places(plan) * pack;
	/* More slots than cores, but not more than GPUs hold. */
	if (parallel > 0 && (plan->gpu_places == 0 || parallel < n))
		return parallel;
	return n;
}

/* Programs of packed trials: some on each GPU, or as few as hold all. */
static int64_t
plan_programs(const struct plan *plan)
{
	const struct study *study = plan->study;
	int64_t pack = study->trial.pack, n;

	if (pack == 0)
		return 0;
	n = (plan->slots + pack - 1) / pack;
	if (plan->gpu_places > 0)
		n = machine_places(plan);
	return n < plan->slots ? n : plan->slots;
}

/* The longest attempt of any backend; 0 = unlimited. */
static int64_t
attempt_ms(const struct plan *plan)
{
	int64_t ms, most = 0;
	size_t i;

	for (i = 0; i < plan->plugins->n_backends; i++) {
		ms = plugins_worst_ms(&plan->plugins->backends[i], plan->study);
		if (ms == 0)
			return 0;
		most = ms > most ? ms : most;
	}
	return most;
}

/*
 * Assume that each attempt of each trial takes its full time; -1 = unlimited.
 */
static int64_t
plan_worst(const struct plan *plan)
{
	const struct study_trial *trial = &plan->study->trial;
	int64_t wall = plan->study->limits.wall_time_ms;
	int64_t each = plan->attempt_ms;
	double rounds, ms;

	if (each == 0 || plan->trials == 0)
		return wall > 0 ? wall + trial->grace_ms : -1;
	rounds = ceil(
	    (double)plan->trials / (double)(plan->slots > 0 ? plan->slots : 1));
	ms = rounds * (double)(trial->retries + 1) * (double)each;
	if (wall > 0 && ms > (double)(wall + trial->grace_ms))
		return wall + trial->grace_ms;
	return ms < 9e18 ? (int64_t)ms : -1;
}

/*
 * Assume that each attempt of each trial costs as much as its most expensive
 * backend.
 */
static void
plan_cost(struct plan *plan)
{
	double limit = plan->study->limits.cost, cost;
	int64_t gpus;
	size_t i;

	plan->attempt_cost = 0;
	plan->attempt_gpus = 0;
	for (i = 0; i < plan->plugins->n_backends; i++) {
		gpus = plugins_attempt_gpus(
		    &plan->plugins->backends[i], plan->study);
		if (gpus > plan->attempt_gpus)
			plan->attempt_gpus = gpus;
	}
	for (i = 0; i < plan->plugins->n_backends; i++) {
		cost = plugins_worst_cost(
		    &plan->plugins->backends[i], plan->study);
		if (isnan(cost) || cost > plan->attempt_cost)
			plan->attempt_cost = cost;
		if (isnan(cost))
			break;
	}
	plan->worst_cost = plan->attempt_cost *
			   (double)(plan->study->trial.retries + 1) *
			   (double)plan->trials;
	if (plan->trials == 0 && plan->attempt_cost > 0)
		plan->worst_cost = INFINITY;
	if (limit > 0 && plan->worst_cost > limit)
		plan->worst_cost = limit;
}

/*
 * Before any trial has ended: one attempt of each trial with all of its time, or
 * as many as limits.wall_time has room for, where the first machine is the dearest.
 */
static void
plan_likely(struct plan *plan)
{
	const struct study_limits *limits = &plan->study->limits;
	int64_t ms, each_ms = 0;
	double trials = plan->trials > 0	? (double)plan->trials
			: limits->completed > 0 ? (double)limits->completed
						: INFINITY;
	double cost, each = 0, fit;
	struct buf on = { 0 }, first = { 0 };
	size_t i;

	plan->likely.dollars = NAN;
	for (i = 0; i < plan->plugins->n_backends; i++) {
		buf_clear(&first);
		cost = plugins_usual_cost(
		    &plan->plugins->backends[i], plan->study, &ms, &first);
		if (!(cost > each))
			continue;
		each = cost;
		each_ms = ms;
		buf_clear(&on);
		buf_puts(&on, buf_str(&first));
	}
	if (limits->wall_time_ms > 0 && plan->slots > 0 && each_ms > 0) {
		fit = ceil((double)limits->wall_time_ms / (double)each_ms) *
		      (double)plan->slots;
		trials = fmin(trials, fit);
	}
	if (each > 0 && isfinite(trials)) {
		plan->likely.dollars = each * trials;
		buf_printf(&plan->likely.why,
		    "%.0f trial%s of one attempt with all of max_run on %s, "
		    "because none has shown its pace and its savings yet",
		    trials, trials == 1 ? "" : "s", buf_str(&on));
		if (limits->cost > 0 && plan->likely.dollars > limits->cost) {
			plan->likely.dollars = limits->cost;
			buf_puts(&plan->likely.why, "; limits.cost ends it");
		}
	}
	buf_free(&first);
	buf_free(&on);
}

int
plan_pace(struct plan *plan, const char *db, struct err *e)
{
	struct study_limits limits = plan->study->limits;
	struct likely_cost paced = { .dollars = NAN };
	struct store *store;
	bool there;
	int rc;

	if (plan->attempt_cost == 0)
		return 0;
	if (store_exists(&there, db, e) != 0)
		return -1;
	if (!there)
		return 0;
	if (store_open(&store, db, STORE_READ, e) != 0)
		return -1;
	limits.trials = plan->trials;
	rc = likely_cost_read(&paced, store, &limits, e);
	store_close(store);
	if (rc == 0 && !isnan(paced.dollars)) {
		buf_free(&plan->likely.why);
		plan->likely = paced;
	} else
		buf_free(&paced.why);
	return rc;
}

void
plan_put_cost(struct buf *out, const struct plan *plan)
{
	if (isnan(plan->attempt_cost)) {
		buf_puts(out,
		    "unknown: a price is missing (backend.price_per_hour)");
		return;
	}
	if (isinf(plan->worst_cost)) {
		buf_printf(out,
		    "unlimited: limits.cost or limits.trials would limit "
		    "it; an attempt costs at most $%.2f",
		    plan->attempt_cost);
		return;
	}
	buf_printf(out, "at most $%.2f", plan->worst_cost);
	if (plan->worst_cost == plan->study->limits.cost)
		buf_puts(out, " (limits.cost)");
	else
		buf_printf(out,
		    " (%" PRId64 " trials of %" PRId64
		    " attempts, each at most $%.2f)",
		    plan->trials, plan->study->trial.retries + 1,
		    plan->attempt_cost);
}

/* Assume that each attempt of each trial takes its full time. */
static double
worst_gpu_hours(const struct plan *plan)
{
	double limit = plan->study->limits.gpu_hours;
	double hours = INFINITY;
	int64_t ms = plan->attempt_ms;

	if (ms > 0 && plan->trials > 0)
		hours = (double)plan->attempt_gpus * (double)ms / 3.6e6 *
			(double)(plan->study->trial.retries + 1) *
			(double)plan->trials;
	return limit > 0 && hours > limit ? limit : hours;
}

/* Once for the folder of the study, and for each that a backend uses. */
static void
exposed_put(struct plan *plan, const char *dir)
{
	struct buf why = { 0 };

	if (dir != NULL && folder_exposed(dir, &why) &&
	    (plan->exposed.len == 0 ||
		strstr(buf_str(&plan->exposed), buf_str(&why)) == NULL))
		buf_printf(&plan->exposed, "%s%s",
		    plan->exposed.len > 0 ? "; " : "", buf_str(&why));
	buf_free(&why);
}

static void
plan_starts(struct plan *plan)
{
	const struct backend_type *type = plan->plugins->backends[0].type;
	const struct plugin_backend *backend;
	struct err e = ERR_INIT;
	size_t i;

	if (type->starts != NULL)
		type->starts(&plan->study->trial, &plan->starts);
	exposed_put(plan, plan->study->dir);
	for (i = 0; i < plan->plugins->n_backends; i++) {
		backend = &plan->plugins->backends[i];
		if (backend->type->folder != NULL)
			exposed_put(
			    plan, backend->type->folder(backend->options));
		if (backend->type->asks != NULL)
			backend->type->asks(
			    &plan->study->trial, backend->options, &plan->asks);
		if (backend->type->misses != NULL)
			backend->type->misses(&plan->study->trial,
			    backend->options, &plan->misses);
	}
	if (plugins_check_programs(plan->plugins, plan->study, &e) != 0)
		(void)snprintf(
		    plan->missing, sizeof plan->missing, "%s", e.text);
}

int
plan_make(struct plan *plan, struct err *e)
{
	const struct space *space = plan->study->space;
	struct history *history =
	    history_new(space->n, plan->study->maximize, HISTORY_POINTS);
	double *x = xcalloc(space->n + 1, sizeof *x);
	int rc;

	rc = plan_example(plan, history, x, e);
	if (rc == 0)
		rc = plan_trials(plan, history, x, e);
	if (rc == 0)
		plan_settings(plan);
	history_free(history);
	free(x);
	if (rc == -1 || plan_gpus(plan, e) != 0)
		return -1;
	plan->slots = plan_slots(plan);
	plan->programs = plan_programs(plan);
	plan->attempt_ms = attempt_ms(plan);
	plan->worst_ms = plan_worst(plan);
	plan_cost(plan);
	plan_likely(plan);
	plan->worst_gpu_hours = worst_gpu_hours(plan);
	plan_starts(plan);
	return 0;
}

void
plan_warn(struct plan *plan)
{
	const struct plugin_backend *b;
	size_t i;

	for (i = 0; i < plan->plugins->n_backends; i++) {
		b = &plan->plugins->backends[i];
		if (b->type->warns != NULL)
			b->type->warns(&plan->study->trial, b->options,
			    plan->study->dir, &plan->warns);
	}
}

void
plan_fini(struct plan *plan)
{
	strv_free(plan->command);
	free(plan->workdir);
	buf_free(&plan->starts);
	buf_free(&plan->asks);
	buf_free(&plan->warns);
	buf_free(&plan->misses);
	buf_free(&plan->exposed);
	buf_free(&plan->gpus);
	buf_free(&plan->likely.why);
}
