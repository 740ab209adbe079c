/*
 * Reports and stopping by rules: a report is judged when it is recorded, and
 * the verdict is carried out when everything that there was to read in the turn
 * is read.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/base/loop.h"
#include "src/engine/median-view.h"
#include "src/engine/replicates/proposals.h"
#include "src/engine/tuner/attempt-metrics.h"
#include "src/engine/tuner/live-trial.h"
#include "src/engine/tuner/outcome.h"
#include "src/engine/tuner/stopping.h"
#include "src/engine/tuner/tuner-internal.h"
#include "src/model/evidence/proposal-rule.h"
#include "src/model/history/history.h"
#include "src/model/study/study.h"

static enum store_verdict
verdict_row(enum verdict v)
{
	switch (v) {
	case VERDICT_KEEP:
		return STORE_KEEP;
	case VERDICT_STOP:
		return STORE_STOP;
	case VERDICT_PAUSE:
		return STORE_PAUSE;
	case VERDICT_SUSPENDED:
		break;
	}
	return STORE_SUSPENDED;
}

void
stopping_record(struct tuner *t, const struct live_trial *l, int64_t step,
    const struct judgement *j, enum store_verdict verdict)
{
	struct store_stop row = {
		.trial = l->row.number,
		.step = step,
		.rule = j->rule,
		.value = j->value,
		.threshold = j->threshold,
		.pool = j->pool,
		.verdict = verdict,
		.why = j->why,
		.time_us = t->turn_us,
		.metric = j->metric,
		.unit = j->unit,
		.at = j->at,
	};

	(void)store_stop_add(t->store, &row, NULL);
}

/* Whether a verdict could still end the trial. */
static bool
stopping_judges(const struct tuner *t, const struct live_trial *l)
{
	int64_t max = live_trial_steps(t, l);

	return l->row.cause == STOP_NONE && !l->verdict_due &&
	       (max == 0 || l->row.reports < max) &&
	       !live_trial_segment_done(l);
}

/* Record a verdict; it ends the trial when this turn's reports are read. */
static void
stopping_verdict(
    struct tuner *t, struct live_trial *l, int64_t step, struct judgement *j)
{
	/* Only what diverges is stopped twice, or in a contest. */
	if ((l->looked || replicates_is_held(&t->replicates, l->row.number)) &&
	    !j->diverged)
		return;
	/* A trial that another program runs cannot be resumed. */
	if (l->external && j->verdict == VERDICT_PAUSE)
		j->verdict = VERDICT_STOP;
	live_trial_set_verdict(l, j);
	if (j->verdict != VERDICT_KEEP)
		stopping_record(t, l, step, j, verdict_row(j->verdict));
}

/* Rules name steps of the longest trial: add which one of this trial it is. */
static void
judgement_name_step(const struct tuner *t, const struct live_trial *l,
    int64_t step, int64_t at, struct judgement *j)
{
	char why[sizeof j->why];

	if (at == step)
		return;
	j->unit = "step";
	j->at = at;
	if (*j->why == '\0')
		return;
	memcpy(why, j->why, sizeof why);
	(void)snprintf(j->why, sizeof j->why,
	    "%.140s (of %" PRId64 ": step %" PRId64 " of its %" PRId64 ")", why,
	    t->study->trial.max_steps, step, live_trial_steps(t, l));
}

/* A run of a proposal ends when it is far behind the baseline. */
static void
stopping_proposal(struct tuner *t, struct live_trial *l, int64_t step)
{
	struct judgement j = { .verdict = VERDICT_STOP,
		.rule = "propose",
		.pool = PROPOSAL_RULE_BAND };

	if (!proposals_behind(&t->contests, l->row.number, step, &j.value,
		&j.threshold, j.why, sizeof j.why))
		return;
	live_trial_set_verdict(l, &j);
	stopping_record(t, l, step, &j, STORE_STOP);
}

/* Ask the rules about a report that is recorded. */
static void
stopping_judge(struct tuner *t, struct live_trial *l, int64_t step)
{
	struct judgement j = { .verdict = VERDICT_KEEP, .threshold = NAN };
	int64_t trial = l->row.number, at = judged_at(&t->judged, trial, step);

	if (!stopping_judges(t, l) || step < l->row.last_step ||
	    step <= l->judged_step || at < 0 ||
	    (l->judged_step >= 0 &&
		at == judged_at(&t->judged, trial, l->judged_step)))
		return;
	live_trial_set_judged(l, step);
	stop_rule_set_judge(judged_rules(&t->judged, trial),
	    judged_history(&t->judged, trial), trial, at, &j);
	judgement_name_step(t, l, step, at, &j);
	t->doubts.compared |= !isnan(j.threshold);
	if (replicates_is_held(&t->replicates, l->row.number) && !j.diverged)
		stopping_proposal(t, l, step);
	else
		stopping_verdict(t, l, step, &j);
}

/* Whether some rule reads this metric by another axis, or beside the objective. */
static bool
stopping_reads(const struct tuner *t, const char *metric)
{
	const char *const *name = stop_rule_set_metrics(t->judged.rules);

	while (*name != NULL && strcmp(*name, metric) != 0)
		name++;
	return *name != NULL;
}

/*
 * A report of this step that is recorded, for the rules that read more than the
 * objective.
 */
static void
stopping_series(struct tuner *t, struct live_trial *l,
    const struct stop_report *report, int64_t step)
{
	struct stop_rule_set *rules = judged_rules(&t->judged, report->trial);
	struct judgement j;

	if (report->step < 0 || !stopping_reads(t, report->metric) ||
	    !stop_rule_set_report(rules, report) || !stopping_judges(t, l))
		return;
	stop_rule_set_judge_metric(rules,
	    judged_history(&t->judged, report->trial), report->trial,
	    report->metric, &j);
	stopping_verdict(t, l, step, &j);
}

static void
verdict_carry_out(struct tuner *t, struct live_trial *l)
{
	const struct judgement *j = &l->verdict;

	live_trial_verdict_taken(l);
	live_trial_stop(t, l, j->diverged ? STOP_DIVERGED : STOP_RULE, j->why);
}

void
stopping_verdict_late(struct tuner *t, struct live_trial *l)
{
	live_trial_verdict_late(l);
	(void)store_stop_late(t->store, l->row.number, NULL);
}

void
stopping_settle(struct tuner *t, struct live_trial *l)
{
	if (!l->verdict_due)
		return;
	if (live_trial_all_steps(t, l) || live_trial_segment_done(l))
		stopping_verdict_late(t, l);
	else
		verdict_carry_out(t, l);
}

/* The rules and the medians get a step of the history that they read. */
static void
stopping_observe(void *arg, int64_t trial, int64_t at)
{
	struct tuner *t = arg;

	stop_rule_set_observe(judged_rules(&t->judged, trial),
	    judged_history(&t->judged, trial), trial, at);
	if (judged_compares(&t->judged, trial))
		median_view_report(&t->medians, trial, at);
}

/* The trial may say how many steps it has: what it reported is judged then. */
static void
report_own_steps(
    struct tuner *t, struct live_trial *l, const struct launch_event *ev)
{
	const char *metric = t->study->trial.own_metric;
	int64_t steps;

	if (metric == NULL || l->row.own_steps != 0 ||
	    strcmp(ev->u.report.name, metric) != 0)
		return;
	steps = study_own_steps_of(ev->u.report.value);
	if (steps == 0)
		return;
	live_trial_set_own_steps(l, steps);
	(void)store_own_steps_put(t->store, l->row.number, steps, NULL);
	judged_set_own(&t->judged, l->row.number, steps, stopping_observe, t);
	if (l->row.last_step >= 0)
		stopping_judge(t, l, l->row.last_step);
}

/*
 * A report of the objective: update the history, the rules and the trial's row.
 */
static void
report_objective(
    struct tuner *t, struct live_trial *l, int64_t step, double value)
{
	char why[64];
	int64_t at = judged_at(&t->judged, l->row.number, step);
	bool is_new;

	is_new = judged_report(&t->judged, l->row.number, step, value);
	if (at >= 0)
		stopping_observe(t, l->row.number, at);
	live_trial_report(t, l, step, value, is_new);
	if (is_new)
		stopping_judge(t, l, step);
	if (live_trial_segment_done(l) && l->row.cause == STOP_NONE) {
		(void)snprintf(why, sizeof why,
		    "its segment ends at step %" PRId64, l->row.until);
		live_trial_stop(t, l, STOP_RULE, why);
	}
}

void
stopping_report(
    struct tuner *t, struct live_trial *l, const struct launch_event *ev)
{
	bool objective = strcmp(ev->u.report.name, t->study->metric) == 0;
	int64_t step, time_us = ev->u.report.time_us;
	struct stop_report report = { .trial = l->row.number,
		.metric = ev->u.report.name,
		.value = ev->u.report.value };
	struct attempt_metric *metric;

	metric = attempt_metrics_accept(t, l, ev,
	    outcome_has_metric(&t->outcomes, ev->u.report.name), &step);
	if (metric == NULL)
		return;
	time_us = time_us != 0 ? time_us : t->turn_us;
	(void)store_metric_add(t->store, l->row.number, l->att.attempt,
	    ev->u.report.name, step, ev->u.report.value, time_us, NULL);
	report_own_steps(t, l, ev);
	report.step = judged_at(&t->judged, l->row.number, step);
	if (stop_rule_set_reads_spent(t->judged.rules) &&
	    stopping_reads(t, ev->u.report.name)) {
		report.spent = attempt_metrics_spent(t, l, time_us);
		(void)store_spent_add(
		    t->store, report.spent.seconds, report.spent.dollars, NULL);
	}
	attempt_metrics_recorded(metric, ev);
	t->doubts.stepped |= ev->u.report.has_step;
	if (l->had_checkpoint && attempt_metrics_reports(&l->metrics) == 1)
		study_doubts_begun(&t->doubts, l->row.number, l->att.attempt,
		    l->row.last_step, ev->u.report.has_step, step);
	if (objective &&
	    attempt_metrics_begins_again(metric, step, ev->u.report.value))
		study_doubts_repeated(
		    &t->doubts, l->row.number, l->att.attempt, step);
	outcome_report(t, l, ev->u.report.name, step, ev->u.report.value);
	if (objective)
		report_objective(t, l, step, ev->u.report.value);
	stopping_series(t, l, &report, step);
}

void
stopping_add_speed(struct tuner *t, struct live_trial *l)
{
	static const char name[] = "steps_per_second";
	int64_t step = attempt_metrics_last_step(&l->metrics);
	double value;

	/* A trial may report steps_per_second itself. */
	if (!outcome_has_metric(&t->outcomes, name) ||
	    store_metric_last(
		t->store, l->row.number, name, &step, &value, NULL) != 0 ||
	    store_speed(t->store, l->row.number, &value, NULL) <= 0)
		return;
	/* Attempt 0: computed from the trial's reports. */
	(void)store_metric_add(
	    t->store, l->row.number, 0, name, step, value, t->turn_us, NULL);
	outcome_report(t, l, name, step, value);
	if (strcmp(name, t->study->metric) == 0)
		report_objective(t, l, step, value);
}

enum {
	HANGS_LOOK_MS = 1000,
	HANGS_LEAST_MS = 5000 /* also with a shorter grace */
};

/*
 * Whether a trial has nothing left to report, and its backend sees its
 * processes.
 */
static bool
stopping_may_hang(const struct tuner *t, const struct live_trial *l)
{
	return l->open && !l->external && !l->asked &&
	       l->row.state == TRIAL_RUNNING && l->row.cause == STOP_NONE &&
	       t->backends[l->backend].type->still_ms != NULL &&
	       outcome_whole(t, l);
}

static void
stopping_end_hang(struct tuner *t, struct live_trial *l, int64_t still_ms)
{
	/* Each is in the view events, one is a warning. */
	tuner_event(t, t->warned_hangs ? LOG_LEVEL_INFO : LOG_LEVEL_WARN,
	    "report", l->row.number, l->att.attempt,
	    "it reported all of its steps and does not end: it has printed "
	    "nothing and used no processor time for %" PRId64
	    " s; it is stopped, and completed",
	    still_ms / 1000);
	t->warned_hangs = true;
	tuner_effect(t, EFFECT_STOP, l);
	live_trial_set_asked(l, true);
}

void
stopping_look_hangs(struct tuner *t)
{
	int64_t now = loop_now_ms(t->env.loop), ms;
	int64_t grace = t->study->trial.grace_ms;
	const struct backend *b;
	struct live_trial *l;
	bool due = now >= t->hangs_at_ms, any = false;
	size_t i;

	if (t->study->trial.max_steps == 0)
		return;
	for (i = 0; i < t->live.n; i++) {
		l = t->live.list[i];
		if (!stopping_may_hang(t, l))
			continue;
		any = true;
		if (!due)
			continue;
		b = &t->backends[l->backend];
		ms = b->type->still_ms(b->ctx, l->row.number, l->att.attempt);
		if (ms >= grace && ms >= HANGS_LEAST_MS)
			stopping_end_hang(t, l, ms);
	}
	if (any && due)
		t->hangs_at_ms = now + HANGS_LOOK_MS;
	if (any)
		tuner_wake_in(t, t->hangs_at_ms - now);
}
