/*
 * Verdicts: of the rules on a report, and of the life cycle on the end of an
 * attempt.  Decides; what follows is done after the commit.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fail.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/model/history.h"
#include "src/model/study.h"
#include "src/server/tuner-parts.h"

/* Lost attempts in a row, without a report between, that are still retried. */
#define FREE_RETRIES_MAX 10

void
tuner_judge(struct tuner *t, struct live *l, int64_t step)
{
	struct judgement j = { .verdict = VERDICT_KEEP };
	struct store_stop row;
	struct err e = ERR_INIT;
	int64_t max = t->study->trial.max_steps;

	if (l->row.cause != STOP_NONE || step < l->row.last_step ||
	    step <= l->judged_step || (max > 0 && l->row.reports >= max))
		return;
	l->judged_step = step;
	stopper_set_judge(t->rules, t->history, l->row.number, step, &j);
	if (j.verdict == VERDICT_KEEP)
		return;
	row = (struct store_stop){
		.trial = l->row.number,
		.step = step,
		.rule = j.rule,
		.value = j.value,
		.threshold = j.threshold,
		.pool = j.pool,
		.verdict = j.verdict == VERDICT_STOP ? "stop" : "suspended",
		.why = j.why,
		.time_us = t->turn_us,
	};
	if (store_stop_add(t->store, &row, &e) != 0) {
		tuner_break(t, &e);
		return;
	}
	if (j.verdict == VERDICT_STOP)
		live_stop(t, l, j.diverged ? STOP_DIVERGED : STOP_RULE, j.why);
}

/*
 * Somebody else told it to end, the machine's shutdown perhaps: whatever it
 * said to that is not the end of its work, unless all steps are there.
 */
static bool
end_from_outside(
    const struct tuner *t, const struct live *l, const struct launch_exit *x)
{
	int64_t max = t->study->trial.max_steps;

	return x->stopped && l->row.cause == STOP_NONE &&
	       !(x->signal == 0 && x->exit_code == 0 && max > 0 &&
		   l->row.reports >= max);
}

/* What an attempt's end was, as the world tells it, whoever asked for it. */
static enum end_class
end_classify(const struct tuner *t, const struct live *l,
    const struct launch_exit *x, char *why, size_t n)
{
	*why = '\0';
	if (x == NULL)
		return END_LOST;
	(void)snprintf(why, n, "%s", x->why);
	if (x->timeout) {
		if (*why == '\0')
			(void)snprintf(why, n, "max_run was reached");
		return END_TIMEOUT;
	}
	if (x->oom) {
		if (*why == '\0')
			(void)snprintf(why, n, "the kernel ran out of memory");
		return END_OOM;
	}
	if (!x->ran)
		return END_ERROR;
	if (end_from_outside(t, l, x)) {
		(void)snprintf(why, n, "it was told to end from outside");
		return END_LOST;
	}
	if (x->signal != 0) {
		if (*why == '\0')
			(void)snprintf(why, n, "ended by signal %d (%s)",
			    x->signal, strsignal(x->signal));
		return END_ERROR;
	}
	if (x->exit_code != 0) {
		if (*why == '\0')
			(void)snprintf(why, n, "exit status %d", x->exit_code);
		return END_ERROR;
	}
	if (l->row.reports == 0) {
		(void)snprintf(why, n, "it ended without a report");
		return END_NO_REPORT;
	}
	if (!isfinite(l->row.objective)) {
		(void)snprintf(why, n, "no report was a finite number");
		return END_DIVERGED;
	}
	return END_OK;
}

/* The best or last report of the curve as it stands after replacements. */
static double
objective_of_curve(const struct tuner *t, int64_t trial)
{
	struct curve c = history_curve(t->history, trial);
	double best = NAN;
	size_t i;

	if (c.n == 0)
		return NAN;
	if (t->study->value_last)
		return history_turn(t->history, c.values[c.n - 1]);
	for (i = 0; i < c.n; i++)
		if (isfinite(c.values[i]) && !(c.values[i] >= best))
			best = c.values[i];
	return history_turn(t->history, best);
}

/* Milliseconds to wait before attempt n + 1 of a trial that failed at once. */
static int64_t
retry_pause_ms(int n)
{
	if (n < 1)
		return 0;
	return n < 7 ? INT64_C(1000) << (n - 1) : RETRY_PAUSE_MOST_MS;
}

/* Whether there will be another attempt, and when; else false. */
static bool
retry_plan(struct tuner *t, struct live *l, enum end_class c,
    const struct launch_exit *x)
{
	int64_t ran_ms = (l->att.ended_us - l->att.started_us) / 1000;
	int n = 0;

	switch (end_class_retry(c)) {
	case RETRY_NEVER:
		if (!fail_bug("bug.retry_always"))
			return false;
		break;
	case RETRY_ALONE:
		l->row.alone = true;
		/* FALLTHROUGH */
	case RETRY_COUNTED:
		if (x != NULL && !x->ran)
			return false;
		if (l->row.failures >= t->study->trial.retries)
			return false;
		n = ++l->row.failures;
		break;
	case RETRY_FREE:
		if (l->row.free_retries >= FREE_RETRIES_MAX)
			return false;
		n = l->row.free_retries++;
		break;
	}
	l->row.not_before_us =
	    ran_ms < SLOTS_FAST_MS ? t->turn_us + 1000 * retry_pause_ms(n) : 0;
	return true;
}

/* The move that follows an end of this class when nobody asked for it. */
static enum trial_event
end_event(struct tuner *t, struct live *l, enum end_class c,
    const struct launch_exit *x, char *why, size_t n)
{
	size_t len = strlen(why);

	if (c == END_OK) {
		*why = '\0';
		return TRIAL_EV_COMPLETE;
	}
	if (!retry_plan(t, l, c, x))
		return TRIAL_EV_FAIL;
	(void)snprintf(why + len, n - len, "; attempt %d follows%s",
	    l->row.attempts + 1, l->row.alone ? " alone" : "");
	return TRIAL_EV_RETRY;
}

/* The move, and the class of the attempt, when a stop was on its way. */
static enum trial_event
stopped_event(
    struct tuner *t, struct live *l, enum end_class *c, char *why, size_t n)
{
	int64_t max = t->study->trial.max_steps;

	switch (l->row.cause) {
	case STOP_RULE:
		*c = END_STOPPED;
		break;
	case STOP_DIVERGED:
		*c = END_DIVERGED;
		break;
	case STOP_USER:
		*c = END_USER;
		(void)snprintf(why, n, "stopped by the user");
		return TRIAL_EV_CANCELLED;
	case STOP_LIMIT:
		*c = END_STOPPED;
		/* After a restart only its own row knows. */
		(void)snprintf(why, n, "%s",
		    *t->why != '\0'	 ? t->why
		    : l->row.why != NULL ? l->row.why
					 : "");
		return TRIAL_EV_CANCELLED;
	case STOP_SHUTDOWN:
		if (*c == END_OK && max > 0 && l->row.reports >= max) {
			*why = '\0';
			return TRIAL_EV_COMPLETE;
		}
		*c = END_USER;
		(void)snprintf(
		    why, n, "interrupted; the next start resumes it");
		return TRIAL_EV_RETRY;
	case STOP_NONE:
	case STOP_CAUSES:
		break;
	}
	(void)snprintf(why, n, "%s", l->row.why != NULL ? l->row.why : "");
	return TRIAL_EV_STOPPED;
}

static void
attempt_close(struct tuner *t, struct live *l, const struct launch_exit *x,
    enum end_class c, const char *why)
{
	l->att.state = TRIAL_STATES;
	l->att.end_class = c;
	l->att.exit_code = x != NULL && x->ran ? x->exit_code : -1;
	l->att.signal = x != NULL ? x->signal : 0;
	l->att.max_rss = x != NULL ? x->max_rss : 0;
	l->att.cpu_us = x != NULL ? x->cpu_us : 0;
	free(l->att.why);
	l->att.why = *why != '\0' ? xstrdup(why) : NULL;
	l->att_dirty = true;
	live_write(t, l);
	l->open = false;
}

static void
slot_ended(struct tuner *t, struct live *l, bool bad)
{
	struct slots *s = &t->backends[l->backend].slots;
	int64_t ran_ms = (l->att.ended_us - l->att.started_us) / 1000;

	bad = bad && ran_ms < SLOTS_FAST_MS && l->row.reports == 0;
	if (!slots_ended(s, l->att.slot, l->row.number, bad))
		return;
	(void)snprintf(t->last_bad, sizeof t->last_bad,
	    ", trial %" PRId64 " with: %s", l->row.number,
	    l->att.why != NULL ? l->att.why : "no reason given");
	tuner_event(t, "error", "slot", l->row.number, l->att.attempt,
	    "slot %d is drained: its last %d trials failed at once, the last "
	    "one with: %s",
	    l->att.slot, SLOTS_DRAIN_AFTER,
	    l->att.why != NULL ? l->att.why : "no reason given");
}

void
tuner_attempt_ended(struct tuner *t, struct live *l,
    const struct launch_exit *x, const char *lost_why)
{
	char why[400], end_why[256];
	enum trial_event ev;
	enum end_class c, seen;

	l->row.objective = objective_of_curve(t, l->row.number);
	if (l->att.started_us == 0)
		l->att.started_us = x != NULL && x->started_us != 0
					? x->started_us
					: t->turn_us;
	l->att.ended_us =
	    x != NULL && x->ended_us != 0 ? x->ended_us : t->turn_us;
	seen = c = end_classify(t, l, x, end_why, sizeof end_why);
	if (x == NULL)
		(void)snprintf(end_why, sizeof end_why, "%s", lost_why);
	(void)snprintf(why, sizeof why, "%s", end_why);
	if (l->row.cause != STOP_NONE)
		ev = stopped_event(t, l, &c, why, sizeof why);
	else
		ev = end_event(t, l, c, x, why, sizeof why);
	attempt_close(t, l, x, seen == END_LOST ? seen : c, end_why);
	slot_ended(t, l,
	    l->row.cause == STOP_NONE &&
		(c == END_ERROR || c == END_NO_REPORT));
	l->row.cause = STOP_NONE;
	l->asked = l->unsent = l->unknown = l->said = false;
	free(l->start_error);
	l->start_error = NULL;
	live_move(t, l, ev, why);
	if (!trial_state_final(l->row.state)) {
		history_retry(t->history, l->row.number);
		return;
	}
	live_finish(t, l);
	live_remove(t, l);
}

static void
study_over(struct tuner *t, bool failed, const char *why)
{
	t->over = true;
	t->failed = failed;
	(void)snprintf(t->why, sizeof t->why, "%s", why);
	tuner_event(t, failed ? "error" : "info", "study", 0, 0, "%s", why);
}

/* A limit ended the study: everything that runs is stopped for good. */
static void
limit_reached(struct tuner *t, bool failed, const char *why)
{
	struct live *l;
	size_t i;

	study_over(t, failed, why);
	for (i = t->n_live; i-- > 0;) {
		l = t->live[i];
		if (trial_state_placed(l->row.state)) {
			live_stop(t, l, STOP_LIMIT, why);
			continue;
		}
		live_move(t, l, TRIAL_EV_CANCELLED, why);
		live_finish(t, l);
		live_remove(t, l);
	}
}

static bool
target_reached(const struct tuner *t)
{
	double best;

	if (!t->study->has_target || isnan(t->best_loss))
		return false;
	best = history_turn(t->history, t->best_loss);
	return t->study->maximize ? best >= t->study->target
				  : best <= t->study->target;
}

static bool
all_drained(const struct tuner *t)
{
	int i;

	for (i = 0; i < t->n_backends; i++)
		if (!slots_all_drained(&t->backends[i].slots))
			return false;
	return true;
}

void
tuner_check_limits(struct tuner *t)
{
	const struct study_limits *lim = &t->study->limits;
	char why[256];
	int64_t left;

	if (t->over || t->shutdown || t->env.hold)
		return;
	if (target_reached(t)) {
		(void)snprintf(why, sizeof why,
		    "the target %g was reached by trial %" PRId64,
		    t->study->target, t->best_trial);
		limit_reached(t, false, why);
	} else if (lim->failed_trials > 0 &&
		   t->n_failed >= lim->failed_trials) {
		(void)snprintf(why, sizeof why,
		    "%" PRId64 " trials failed (limits.failed_trials)",
		    t->n_failed);
		limit_reached(t, true, why);
	} else if (all_drained(t) && live_placed(t) == 0) {
		(void)snprintf(why, sizeof why,
		    "every slot is drained: trial after trial failed at "
		    "once%.160s",
		    t->last_bad);
		/* What waits has retries left: the next start takes it up. */
		study_over(t, true, why);
	} else if (lim->wall_time_ms > 0) {
		left = lim->wall_time_ms - tuner_elapsed_ms(t);
		if (left <= 0)
			limit_reached(t, false, "limits.wall_time was reached");
		else
			tuner_wake_in(t, left);
	}
}
