/*
 * Events of launchers -> rows.  Called from inside collect, between the begin
 * and the commit of one turn.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fail.h"
#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "src/model/study/study.h"
#include "src/server/tuner/tuner-internal.h"

/*
 * Metrics of one attempt, beside the objective; more are a mistake, a number
 * in the name perhaps, and would be kept for ever.
 */
#define METRIC_NAMES_MAX 1024

/*
 * Reports of one attempt: of the objective, whose curve is held in memory, and
 * of all other metrics together.  No training comes near them; a loop without
 * a pause would fill the disk.
 */
#define OBJECTIVE_REPORTS_MAX INT64_C(10000000)
#define OTHERS_MOST INT64_C(100000000)

/* Whether there is room for one more; the first that has none is told of. */
static bool
report_counted(struct tuner *t, struct live_trial *l, bool objective)
{
	int64_t most = objective ? OBJECTIVE_REPORTS_MAX : OTHERS_MOST;

	if (fail_bug("bug.few_reports"))
		most = 20;
	if (l->reports[objective] < most) {
		l->reports[objective]++;
		return true;
	}
	if (!l->warned_reports[objective])
		tuner_event(t, "warning", "report", l->row.number,
		    l->att.attempt,
		    "it has reported %s%s %" PRId64
		    " times: further reports are not recorded",
		    objective ? "" : "metrics beside ", t->study->metric, most);
	l->warned_reports[objective] = true;
	return false;
}

static struct live_metric *
name_known(struct live_trial *l, const char *name)
{
	size_t i, k;

	for (k = 0; k < l->n_names; k++) {
		i = (l->next_name + k) % l->n_names;
		if (strcmp(l->names[i].name, name) == 0) {
			l->next_name = i + 1;
			return &l->names[i];
		}
	}
	return NULL;
}

/* NULL: there are too many already. */
static struct live_metric *
name_find(struct tuner *t, struct live_trial *l, const char *name)
{
	struct live_metric *known = name_known(l, name);

	if (known != NULL)
		return known;
	if (l->n_names >= METRIC_NAMES_MAX && !outcome_has_metric(t, name)) {
		if (!l->warned_names)
			tuner_event(t, "warning", "report", l->row.number,
			    l->att.attempt,
			    "it reports more than %d metrics: the others are "
			    "not recorded",
			    METRIC_NAMES_MAX);
		l->warned_names = true;
		return NULL;
	}
	l->names = xreallocarray(l->names, l->n_names + 1, sizeof *l->names);
	l->names[l->n_names] = (struct live_metric){ .name = xstrdup(name) };
	return &l->names[l->n_names++];
}

static void
on_event_place(struct live_trial *l, const char *place)
{
	if (place == NULL ||
	    (l->att.place != NULL && strcmp(l->att.place, place) == 0))
		return;
	free(l->att.place);
	l->att.place = xstrdup(place);
	l->att_dirty = true;
}

static void
on_event_up(
    struct tuner *t, struct live_trial *l, const struct launch_event *ev)
{
	if (l->row.state == TRIAL_STARTING)
		live_trial_set_state(t, l, TRIAL_EV_UP, NULL);
	start_failures_begun(t, l, true);
	l->att.started_us =
	    ev->u.up.started_us != 0 ? ev->u.up.started_us : t->turn_us;
	on_event_place(l, ev->u.up.place);
	l->att_dirty = true;
}

static bool
better(const struct tuner *t, double a, double b)
{
	if (!isfinite(b))
		return isfinite(a);
	return isfinite(a) && (t->study->maximize ? a > b : a < b);
}

/* A report of the objective: history, rules, the trial's own row. */
static void
on_event_objective(
    struct tuner *t, struct live_trial *l, int64_t step, double value)
{
	char why[64];
	bool is_new;

	is_new = history_report(t->history, l->row.number, step, value);
	stop_rule_set_observe(t->rules, t->history, l->row.number, step);
	median_view_observe(t, l->row.number, step);
	median_view_touch(t, l->row.number, step);
	if (l->row.attempts > 1 && l->att.resumed_step < 0) {
		l->att.resumed_step = step;
		l->att_dirty = true;
	}
	/* Steps said again are no progress. */
	if (is_new)
		l->row.free_retries = 0;
	l->row.reports += is_new;
	if (t->study->value_last ? step >= l->row.last_step
				 : better(t, value, l->row.objective))
		l->row.objective = value;
	if (step > l->row.last_step)
		l->row.last_step = step;
	l->row_dirty = true;
	if (is_new)
		stopping_judge(t, l, step);
	if (live_trial_segment_done(l) && l->row.cause == STOP_NONE) {
		(void)snprintf(why, sizeof why,
		    "its segment ends at step %" PRId64, l->row.until);
		live_trial_stop(t, l, STOP_RULE, why);
	}
}

static void
on_event_report(
    struct tuner *t, struct live_trial *l, const struct launch_event *ev)
{
	struct live_metric *name = name_find(t, l, ev->u.report.name);
	bool objective = strcmp(ev->u.report.name, t->study->metric) == 0;
	struct err e = ERR_INIT;
	int64_t step, time_us = ev->u.report.time_us;

	if (name == NULL)
		return;
	if (ev->u.report.again && time_us != 0 && !fail_bug("bug.hear_again") &&
	    report_dedup_known(t, l, name, ev))
		return;
	if (!report_counted(t, l, objective))
		return;
	step = ev->u.report.has_step ? ev->u.report.step : name->last_step + 1;
	if (step > name->last_step)
		name->last_step = step;
	if (store_metric_add(t->store, l->row.number, l->att.attempt,
		ev->u.report.name, step, ev->u.report.value,
		time_us != 0 ? time_us : t->turn_us, &e) != 0) {
		tuner_store_failed(t, &e);
		return;
	}
	if (name->reports_seen_read)
		report_dedup_add(name, time_us, ev->u.report.value);
	outcome_report(t, l, ev->u.report.name, step, ev->u.report.value);
	if (objective)
		on_event_objective(t, l, step, ev->u.report.value);
}

/* The last step that it has reported of any metric, or 0. */
static int64_t
last_step(const struct live_trial *l)
{
	int64_t step = 0;
	size_t i;

	for (i = 0; i < l->n_names; i++)
		if (l->names[i].last_step > step)
			step = l->names[i].last_step;
	return step;
}

void
tuner_hear_speed(struct tuner *t, struct live_trial *l)
{
	static const char name[] = "steps_per_second";
	int64_t step = last_step(l);
	struct err e = ERR_INIT;
	double value;
	int rc;

	if (t->store_failed || !outcome_has_metric(t, name))
		return;
	rc =
	    store_metric_last(t->store, l->row.number, name, &step, &value, &e);
	if (rc == 0)
		rc = store_speed(t->store, l->row.number, &value, &e);
	else if (rc > 0)
		return; /* it is reported */
	if (rc > 0)
		/* Of no attempt: so it is told from what a trial says. */
		rc = store_metric_add(t->store, l->row.number, 0, name, step,
			 value, t->turn_us, &e) == 0
			 ? 1
			 : -1;
	if (rc < 0)
		tuner_store_failed(t, &e);
	if (rc <= 0)
		return;
	outcome_report(t, l, name, step, value);
	if (strcmp(name, t->study->metric) == 0)
		on_event_objective(t, l, step, value);
}

static void
on_event_read(struct live_trial *l, const struct launch_cursor *c)
{
	if (fail_bug("bug.no_cursor"))
		return;
	if (fail_bug("bug.forget_cursor"))
		return;
	l->att.log_offset = c->log;
	l->att.metrics_offset = c->metrics;
	l->att.log_skip = c->log_skip;
	l->att.metrics_skip = c->metrics_skip;
	l->att_dirty = true;
}

static void
on_event_usage(struct live_trial *l, const struct launch_usage *u)
{
	l->att.usage = (struct store_usage){
		.gpus = u->gpus,
		.energy = u->energy,
		.memory = u->memory,
		.busy = u->busy,
		.seen = u->seen,
	};
	l->att_dirty = true;
}

static void
on_event_artifacts(struct tuner *t, const struct launch_event *ev)
{
	struct err e = ERR_INIT;

	if (store_artifacts_put(t->store, ev->trial, ev->attempt,
		ev->u.left.model, ev->u.left.output, &e) != 0)
		tuner_store_failed(t, &e);
}

static void
on_event_gpu(struct tuner *t, const struct launch_gpu *g)
{
	struct err e = ERR_INIT;
	struct store_gpu row = {
		.uuid = g->uuid,
		.index = g->index,
		.name = g->name,
		.state = g->state,
		.why = g->why,
		.owner = g->owner,
		.trials = g->trials,
		.memory = g->memory,
		.used = g->used,
		.temperature = g->temperature,
		.utilization = g->utilization,
		.power = g->power,
		.time_us = t->turn_us,
	};

	if (store_gpu_put(t->store, &row, &e) != 0)
		tuner_store_failed(t, &e);
}

/* Its trial may have gone on, or be over. */
static void
on_event_cost(struct tuner *t, const struct launch_event *ev)
{
	struct live_trial *l = live_trial_find(t, ev->trial);
	struct err e = ERR_INIT;

	if (store_attempt_cost(
		t->store, ev->trial, ev->attempt, ev->u.cost, &e) != 0)
		tuner_store_failed(t, &e);
	if (l != NULL && !l->open && l->att.attempt == ev->attempt &&
	    l->att.priced)
		l->att.cost = ev->u.cost;
}

/* Some launcher has another number of slots: who runs goes on. */
static void
on_event_slots(struct tuner *t)
{
	struct backend *b;
	int k, n;

	for (k = 0; k < t->n_backends; k++) {
		b = &t->backends[k];
		n = b->launcher->slots(b->ctx);
		/* Machines came, or came back: their slots are as new. */
		if (n > 0 && b->launcher->ready != NULL)
			slots_restore(&b->slots);
		if (n == b->slots.n)
			continue;
		tuner_event(t, "info", "slot", 0, 0,
		    "%s: %d slot%s now, before %d", b->launcher->name, n,
		    n == 1 ? "" : "s", b->slots.n);
		slots_resize(&b->slots, n);
	}
}

void
tuner_on_event(void *arg, const struct launch_event *ev)
{
	static const char *const levels[] = { [LAUNCH_INFO] = "info",
		[LAUNCH_WARNING] = "warning",
		[LAUNCH_ERROR] = "error" };
	struct tuner *t = arg;
	struct live_trial *l;

	if (t->store_failed)
		return;
	if (ev->kind == LAUNCH_SLOTS) {
		on_event_slots(t);
		return;
	}
	if (ev->kind == LAUNCH_GPU) {
		on_event_gpu(t, &ev->u.gpu);
		return;
	}
	if (ev->kind == LAUNCH_NOTE && ev->trial == 0) {
		tuner_event(t, levels[ev->u.note.level], "launch", 0, 0, "%s",
		    ev->u.note.text);
		return;
	}
	if (ev->kind == LAUNCH_COST) {
		on_event_cost(t, ev);
		return;
	}
	l = live_trial_find(t, ev->trial);
	if (l == NULL || !l->open || l->att.attempt != ev->attempt)
		return;
	switch (ev->kind) {
	case LAUNCH_PLACE:
		on_event_place(l, ev->u.place);
		break;
	case LAUNCH_ACCEPTED:
		start_failures_begun(t, l, true);
		break;
	case LAUNCH_UP:
		on_event_up(t, l, ev);
		break;
	case LAUNCH_REPORT:
		on_event_report(t, l, ev);
		break;
	case LAUNCH_READ:
		on_event_read(l, &ev->u.cursor);
		break;
	case LAUNCH_NOTE:
		tuner_event(t, levels[ev->u.note.level], "launch", ev->trial,
		    ev->attempt, "%s", ev->u.note.text);
		break;
	case LAUNCH_ARTIFACTS:
		on_event_artifacts(t, ev);
		break;
	case LAUNCH_USAGE:
		on_event_usage(l, &ev->u.usage);
		break;
	case LAUNCH_GPU:
	case LAUNCH_SLOTS:
	case LAUNCH_COST:
		break;
	case LAUNCH_EXIT:
		attempt_end_handle(t, l, &ev->u.exit, NULL);
		break;
	case LAUNCH_LOST:
		attempt_end_handle(t, l, NULL, ev->u.lost.why);
		break;
	}
}
