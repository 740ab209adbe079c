/* Runs one study again: the rule decides which of its records are missing. */

#include <math.h>
#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "src/model/study/study.h"
#include "src/replay/replay-rerun.h"
#include "src/replay/replay.h"
#include "strategies/stop/second-look/second-look.h"
#include "strategies/stopper.h"

int
replay_rerun_open(struct replay_rerun *r, const struct replay_rule *rule,
    const struct stopper_env *env, bool value_last, struct err *e)
{
	*r = (struct replay_rerun){ .value_last = value_last,
		.max_steps = env->max_steps,
		.last_step = env->last_step,
		.look_share = replay_rule_second_look(rule) };
	if (replay_rule_open(&r->set, rule, env, e) != 0)
		return -1;
	r->history = history_new(0, env->maximize, HISTORY_CURVES);
	return 0;
}

void
replay_rerun_close(struct replay_rerun *r)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		free(r->trials[i].rest);
	stop_rule_set_free(r->set);
	history_free(r->history);
	free(r->trials);
}

struct replay_rerun_trial *
replay_rerun_trial(struct replay_rerun *r, int64_t trial)
{
	while ((int64_t)r->n < trial) {
		XGROW(r->trials, r->n, r->cap);
		r->trials[r->n++] = (struct replay_rerun_trial){ .full = NAN,
			.found = NAN,
			.weight = 1,
			.known = -1,
			.last = INT64_MIN };
		history_add(r->history, (int64_t)r->n, NULL);
	}
	return &r->trials[trial - 1];
}

/* Update a trial's result by one report. */
static double
result_after(const struct replay_rerun *r, double before, double value)
{
	if (r->value_last)
		return value;
	if (!isfinite(value) || before <= value)
		return before;
	return value;
}

void
replay_rerun_begin(struct replay_rerun *r, int64_t trial)
{
	(void)replay_rerun_trial(r, trial);
}

void
replay_rerun_set_stop(
    struct replay_rerun *r, int64_t trial, int64_t step, bool late)
{
	struct replay_rerun_trial *t = replay_rerun_trial(r, trial);

	t->known = step;
	t->late = late;
}

void
replay_rerun_set_own(struct replay_rerun *r, int64_t trial, int64_t own)
{
	replay_rerun_trial(r, trial)->own = own;
}

/* Where a step of the trial is on the axis of the rules; -1: nowhere. */
static int64_t
trial_at(const struct replay_rerun *r, const struct replay_rerun_trial *t,
    int64_t step)
{
	return t->own < 0 ? -1 : study_axis_step(r->max_steps, t->own, step);
}

/* Whether n reports are all that the trial has steps for. */
static bool
trial_is_whole(
    const struct replay_rerun *r, const struct replay_rerun_trial *t, size_t n)
{
	int64_t most = t->own > 0 ? t->own : r->max_steps;

	return most > 0 && (int64_t)n >= most;
}

void
replay_rerun_leave_out(struct replay_rerun *r, int64_t trial)
{
	replay_rerun_trial(r, trial)->left_out = true;
}

static void
replay_rerun_stop(struct replay_rerun *r, int64_t trial, int64_t step)
{
	struct replay_rerun_trial *t = replay_rerun_trial(r, trial);

	t->judged = true;
	if (step == t->known && t->late)
		return;
	t->stopped = true;
	t->really = step == t->known;
	if (t->really)
		return;
	history_end(r->history, trial, TRIAL_STOPPED,
	    history_flip_sign(r->history, t->found));
	stop_rule_set_ended(r->set, r->history, trial);
}

/*
 * Whether the server would have judged this report: only new steps, in order.
 */
static bool
replay_rerun_judges(struct replay_rerun *r, struct replay_rerun_trial *t,
    int64_t step, bool is_new, size_t n)
{
	bool newest = step > t->last;

	if (newest)
		t->last = step;
	return is_new && newest && !t->judged &&
	       (r->last_step == 0 || step < r->last_step) &&
	       !trial_is_whole(r, t, n);
}

/* Keep a report that the rule skips. */
static void
report_keep(struct replay_rerun_trial *t, int64_t step, double value)
{
	XGROW(t->rest, t->n_rest, t->cap_rest);
	t->rest[t->n_rest++] = (struct replay_report){ step, value };
}

bool
replay_rerun_report(
    struct replay_rerun *r, int64_t trial, int64_t step, double value)
{
	struct replay_rerun_trial *t = replay_rerun_trial(r, trial);
	double turned = history_flip_sign(r->history, value);
	int64_t at = trial_at(r, t, step);
	struct judgement j;
	struct curve c;
	bool is_new;

	r->greatest = at > r->greatest ? at : r->greatest;
	t->reports++;
	t->full = result_after(r, t->full, turned);
	if (t->stopped && !t->really) {
		t->skipped++;
		report_keep(t, at, value);
		return true;
	}
	t->found = result_after(r, t->found, turned);
	if (at < 0)
		return t->stopped;
	is_new = history_report(r->history, trial, at, value);
	stop_rule_set_observe(r->set, r->history, trial, at);
	c = history_curve(r->history, trial);
	if (!replay_rerun_judges(r, t, at, is_new, c.n))
		return t->stopped;
	stop_rule_set_judge(r->set, r->history, trial, at, &j);
	/* What a promoted trial would have reported is unknown. */
	if (j.verdict == VERDICT_STOP || j.verdict == VERDICT_PAUSE) {
		t->diverged = j.diverged;
		replay_rerun_stop(r, trial, step);
	}
	return t->stopped;
}

void
replay_rerun_series(struct replay_rerun *r, const struct stop_report *report)
{
	struct replay_rerun_trial *t = replay_rerun_trial(r, report->trial);
	struct stop_report seen = *report;
	struct judgement j;
	struct curve c;

	if (t->stopped && !t->really)
		return;
	seen.step = trial_at(r, t, report->step);
	if (seen.step < 0 || !stop_rule_set_report(r->set, &seen) || t->judged)
		return;
	c = history_curve(r->history, report->trial);
	if (trial_is_whole(r, t, c.n))
		return;
	stop_rule_set_judge_metric(
	    r->set, r->history, report->trial, report->metric, &j);
	if (j.verdict == VERDICT_STOP) {
		t->diverged = j.diverged;
		replay_rerun_stop(r, report->trial, report->step);
	}
}

void
replay_rerun_revive(struct replay_rerun *r, int64_t trial)
{
	const struct replay_rerun_trial *t = replay_rerun_trial(r, trial);

	if (t->stopped && !t->really)
		return;
	history_retry(r->history, trial);
	stop_rule_set_ended(r->set, r->history, trial);
}

void
replay_rerun_end(struct replay_rerun *r, int64_t trial, bool completed)
{
	struct replay_rerun_trial *t = replay_rerun_trial(r, trial);

	t->failed = !completed;
	if (t->stopped && !t->really) {
		if (!completed || t->skipped > 0)
			return;
		t->stopped = t->diverged = false;
		history_retry(r->history, trial);
	}
	history_end(r->history, trial,
	    completed ? TRIAL_COMPLETED : TRIAL_STOPPED,
	    history_flip_sign(r->history, t->found));
	stop_rule_set_ended(r->set, r->history, trial);
}

/* The stopped trials, as second_look_decide takes them; returns the number. */
static size_t
look_list(const struct replay_rerun *r, struct second_look_trial *list)
{
	const struct replay_rerun_trial *t;
	size_t i, n = 0;

	for (i = 0; i < r->n; i++) {
		t = &r->trials[i];
		if (!t->stopped)
			continue;
		list[n++] = (struct second_look_trial){
			.trial = (int64_t)i + 1,
			.step = t->last,
			/* What a trial never reported cannot be replayed. */
			.candidate = t->n_rest > 0 && !t->diverged,
			.checkpoint = true,
		};
	}
	return n;
}

/* All further reports of the trial, and its end. */
static void
look_resume(struct replay_rerun *r, int64_t trial)
{
	struct replay_rerun_trial *t = &r->trials[trial - 1];
	size_t i;

	history_retry(r->history, trial);
	for (i = 0; i < t->n_rest; i++)
		history_report(
		    r->history, trial, t->rest[i].step, t->rest[i].value);
	history_end(r->history, trial,
	    t->failed ? TRIAL_STOPPED : TRIAL_COMPLETED,
	    history_flip_sign(r->history, t->full));
	t->resumed = true;
}

void
replay_rerun_look(struct replay_rerun *r)
{
	struct second_look_trial *list = xcalloc(r->n + 1, sizeof *list);
	struct second_look_study study = { .history = r->history,
		.max_steps = r->max_steps,
		.share = r->look_share,
		.stopped = list };
	struct second_look look;
	size_t i;

	study.n_stopped = look_list(r, list);
	second_look_hurt(&r->hurt, r->history, r->max_steps);
	for (;;) {
		second_look_decide(&look, &study);
		if (look.trial == 0)
			break;
		look_resume(r, look.trial);
		for (i = 0; list[i].trial != look.trial; i++)
			;
		list[i].price = look.price;
		list[i].candidate = false;
	}
	free(list);
}
