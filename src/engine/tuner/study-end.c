/*
 * When a study is over: targets, limits, slots that are all drained, a server
 * that shuts down; and how it is recorded.  Decides only; effects follow after
 * the commit.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/engine/announce/hooks.h"
#include "src/engine/announce/notices.h"
#include "src/engine/attempts/slots.h"
#include "src/engine/tuner/capacity.h"
#include "src/engine/tuner/limits.h"
#include "src/engine/tuner/live-trial.h"
#include "src/engine/tuner/outcome.h"
#include "src/engine/tuner/paused.h"
#include "src/engine/tuner/study-end.h"
#include "src/engine/tuner/tuner-internal.h"
#include "src/model/study/study.h"

static void
study_over(struct tuner *t, bool failed, const char *why)
{
	t->end.over = true;
	t->end.failed = failed;
	text_cut(t->end.why, sizeof t->end.why, why);
	tuner_event(t, failed ? LOG_LEVEL_ERROR : LOG_LEVEL_INFO, "study", 0, 0,
	    "%s", why);
}

/*
 * End a trial that waits: one that waits for its second look is stopped as
 * before, another one is cancelled.
 */
static void
study_end_cancel_waiting(struct tuner *t, struct live_trial *l, const char *why)
{
	char text[320];

	(void)snprintf(text, sizeof text, "%s%s",
	    l->looked ? "its second look ended: " : "", why);
	outcome_move(
	    t, l, l->looked ? TRIAL_EV_STOPPED : TRIAL_EV_CANCELLED, text);
	outcome_finish(t, l);
	live_set_remove(&t->live, l);
}

static void
study_end_on_verdict(void *arg, const struct contest *c)
{
	static const char *const texts[CONTEST_VERDICTS] = {
		[CONTEST_BETTER] = "is better than",
		[CONTEST_WORSE] = "is worse than",
		[CONTEST_NOT_SHOWN] = "is not shown to be better than",
		[CONTEST_KEPT] = "is kept in the place of",
		[CONTEST_DISCARDED] = "is discarded for",
		[CONTEST_UNDECIDED] = "is neither better nor worse than",
	};
	struct tuner *t = arg;

	tuner_event(t, LOG_LEVEL_INFO, c->proposal ? "propose" : "confirm", 0,
	    0,
	    "setting %" PRId64 " %s the baseline, setting %" PRId64
	    ", by %s: %s",
	    c->challenger, texts[c->verdict], c->baseline, c->metric, c->why);
	t->durable = true;
}

/* Whether the trial is of no use any more: its setting, or contest, is over. */
static bool
study_end_is_moot(
    const struct tuner *t, const struct live_trial *l, char *why, size_t n)
{
	int64_t trial = l->row.number;

	if (l->external)
		return false;
	return replicates_is_held(&t->replicates, trial)
		   ? contests_over(&t->contests, trial, why, n)
		   : replicates_over(&t->replicates, trial, why, n);
}

/* Replicates that another program runs go on. */
void
study_end_replicates(struct tuner *t)
{
	struct live_trial *l;
	char why[160];
	size_t i;

	if (t->replicates.count == 0)
		return;
	contests_judge(
	    &t->contests, t->store, t->turn_us, study_end_on_verdict, t);
	if (t->env.hold)
		return;
	for (i = t->live.n; i-- > 0;) {
		l = t->live.list[i];
		if (!study_end_is_moot(t, l, why, sizeof why))
			continue;
		if (!trial_state_placed(l->row.state))
			study_end_cancel_waiting(t, l, why);
		else if (l->row.cause == STOP_NONE)
			live_trial_stop(t, l, STOP_LIMIT, why);
	}
	replicates_race(&t->replicates);
}

/*
 * When nothing of the search is left to run, the best setting is confirmed,
 * unless it was: the server goes on for that.
 */
bool
study_end_confirm(struct tuner *t)
{
	int64_t best, baseline;

	if (t->study->confirm.pairs == 0 || store_failed(t->store) ||
	    t->end.over || t->end.shutdown || t->paused || t->looks.due ||
	    t->suggesting || t->live.n > 0 || t->paused_set.n > 0 ||
	    (t->env.hold && t->study->trial.command[0] != NULL) ||
	    limits_allow_new(t) || contests_any_open(&t->contests))
		return false;
	best = contests_best(&t->contests);
	baseline = contests_baseline(&t->contests);
	if (best == 0 || baseline == 0 || best == baseline ||
	    contests_find(&t->contests, best) != NULL)
		return false;
	(void)contests_begin(&t->contests, t->store, best, t->turn_us);
	tuner_event(t, LOG_LEVEL_INFO, "confirm", 0, 0,
	    "the best setting, %" PRId64
	    ", runs again beside the baseline, setting %" PRId64,
	    best, baseline);
	t->durable = true;
	loop_wake(t->env.loop);
	return true;
}

/*
 * A limit ended the study: all running trials are stopped for good.  Those that
 * another program runs go on, unless this server is there for them.
 */
static void
limit_reached(struct tuner *t, bool failed, const char *why)
{
	struct live_trial *l;
	size_t i;

	study_over(t, failed, why);
	for (i = t->live.n; i-- > 0;) {
		l = t->live.list[i];
		if (l->external && !t->env.asked)
			continue;
		if (trial_state_placed(l->row.state)) {
			live_trial_stop(t, l, STOP_LIMIT, why);
			continue;
		}
		study_end_cancel_waiting(t, l, why);
	}
	paused_end_all(t);
}

/*
 * The cost is about to exceed the limit: stop training attempts while that can
 * still keep it; they continue when it is raised.  Uploads cannot be stopped.
 */
static void
cost_reached(struct tuner *t, double dollars)
{
	struct live_trial *l;
	char why[160];
	size_t i;

	(void)snprintf(why, sizeof why,
	    "limits.cost is reached: if all running trials are stopped "
	    "now, the study costs $%.2f of $%.2f",
	    dollars, t->study->limits.cost);
	study_over(t, false, why);
	t->end.awaits = true;
	for (i = t->live.n; i-- > 0;) {
		l = t->live.list[i];
		if (l->trains && trial_state_placed(l->row.state))
			live_trial_stop(t, l, STOP_SHUTDOWN, why);
	}
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

/*
 * Whether limits.cost is all that prevents the start of waiting and new trials;
 * why then holds the reason.
 */
static bool
cost_blocks(struct tuner *t, char *why, size_t n)
{
	double dollars, limit = t->study->limits.cost;
	bool any = limits_allow_new(t);
	struct judgement j;
	const struct live_trial *l;
	size_t i;

	if (limit <= 0 || t->paused || live_set_n_placed(&t->live) > 0)
		return false;
	dollars = capacity_committed(t);
	if (any && capacity_money_for(t, NULL, dollars))
		return false;
	for (i = 0; i < t->live.n; i++) {
		if (t->live.list[i]->row.state != TRIAL_WAITING)
			continue;
		if (capacity_money_for(t, t->live.list[i], dollars))
			return false;
		any = true;
	}
	if ((l = paused_next(t, NULL, &j)) != NULL) {
		if (capacity_money_for(t, l, dollars))
			return false;
		any = true;
	}
	(void)snprintf(why, n,
	    "limits.cost would be exceeded: $%.2f of $%.2f are "
	    "spent or committed",
	    dollars, limit);
	return any;
}

/* Whether limits.gpu_hours is reached; else it is looked at again when due. */
static bool
gpu_hours_reached(struct tuner *t, char *why, size_t n)
{
	double limit = t->study->limits.gpu_hours * 3600, rate;
	double used = limits_gpu_seconds(t, &rate);

	if (limit <= 0)
		return false;
	if (used >= limit) {
		(void)snprintf(why, n,
		    "limits.gpu_hours was reached: %.3g of %.3g", used / 3600,
		    limit / 3600);
		return true;
	}
	if (rate > 0)
		tuner_wake_in(t, (int64_t)((limit - used) / rate * 1000) + 1);
	return false;
}

/* Whether nothing runs, and nothing more could: a clause. */
static bool
nothing_starts(const struct tuner *t, char *why, size_t n)
{
	if (live_set_n_placed(&t->live) > 0)
		return false;
	if (limits_hopeless(t, why, n))
		return true;
	if (*t->refused == '\0' || !all_drained(t))
		return false;
	(void)snprintf(why, n, "%.250s", t->refused);
	return true;
}

void
study_end_check(struct tuner *t)
{
	const struct study_limits *lim = &t->study->limits;
	double dollars = 0;
	char why[256];
	int64_t left;
	bool failed;

	capacity_put_costs(t, &dollars);
	if (t->end.over || t->end.shutdown || t->env.hold)
		return;
	if (limits_result(t, &failed, why, sizeof why))
		limit_reached(t, failed, why);
	else if (gpu_hours_reached(t, why, sizeof why))
		limit_reached(t, false, why);
	else if (lim->cost > 0 && dollars >= lim->cost)
		cost_reached(t, dollars);
	else if (nothing_starts(t, why, sizeof why)) {
		/*
		 * Waiting trials have retries left: the next start continues
		 * them.
		 */
		study_over(t, true, why);
	} else if (cost_blocks(t, why, sizeof why)) {
		/* Waiting trials continue when the limit is raised. */
		study_over(t, false, why);
		t->end.awaits = true;
	} else if (lim->wall_time_ms > 0) {
		left = lim->wall_time_ms - tuner_elapsed_ms(t);
		if (left <= 0)
			limit_reached(t, false, "limits.wall_time was reached");
		else
			tuner_wake_in(t, left);
	}
}

void
tuner_shutdown(struct tuner *t, bool now)
{
	t->end.shutdown_now = now;
	t->end.shutdown = true;
	loop_wake(t->env.loop);
}

static bool
live_slow(const struct tuner *t, const struct live_trial *l)
{
	return l->open && !l->external &&
	       t->backends[l->backend].type->slow_end;
}

int
tuner_shutdown_pending(const struct tuner *t)
{
	const struct backend *b;
	int k, n = 0;
	size_t i;

	for (k = 0; k < t->n_backends; k++) {
		b = &t->backends[k];
		if (b->type->stops_pending != NULL)
			n += b->type->stops_pending(b->ctx);
	}
	/* The stop of an attempt whose state is unknown was not sent either. */
	for (i = 0; i < t->live.n; i++)
		n += live_slow(t, t->live.list[i]) &&
		     t->live.list[i]->start == LIVE_START_UNKNOWN &&
		     t->live.list[i]->row.cause != STOP_NONE;
	return n;
}

bool
tuner_shutdown_is_slow(const struct tuner *t)
{
	size_t i;

	for (i = 0; i < t->live.n; i++)
		if (live_slow(t, t->live.list[i]))
			return true;
	return false;
}

/* Whether a trial still needs this server in order to end. */
static bool
shutdown_any_live(const struct tuner *t)
{
	const struct live_trial *l;
	size_t i;

	if (!t->end.shutdown_now || tuner_shutdown_pending(t) > 0)
		return live_set_n_placed(&t->live) > 0;
	for (i = 0; i < t->live.n; i++) {
		l = t->live.list[i];
		if (trial_state_placed(l->row.state) && !l->external &&
		    !(live_slow(t, l) && l->asked))
			return true;
	}
	return false;
}

/* Whether programs that ask run trials whose reports this server awaits. */
static bool
asked_any_runs(const struct tuner *t)
{
	size_t i;

	if (!t->env.asked || t->end.shutdown_now)
		return false;
	for (i = 0; i < t->live.n; i++)
		if (t->live.list[i]->external && t->live.list[i]->open)
			return true;
	return false;
}

bool
tuner_done(const struct tuner *t)
{
	size_t i;

	if (shutdown_any_live(t) || asked_any_runs(t))
		return false;
	if (t->end.shutdown || t->end.over)
		return true;
	if (t->paused || t->requests.n > t->requests.n_served)
		return false;
	for (i = 0; i < t->live.n; i++)
		if (t->live.list[i]->row.state == TRIAL_WAITING)
			return false;
	/* The next turn finds none to resume and ends them. */
	return t->paused_set.n == 0 && !limits_allow_new(t) && !t->looks.due;
}

void
study_end_stop_all(struct tuner *t)
{
	struct live_trial *l;
	size_t i;

	for (i = 0; i < t->live.n; i++) {
		l = t->live.list[i];
		if (!trial_state_placed(l->row.state) ||
		    (l->external && !t->env.asked))
			continue;
		live_trial_stop(
		    t, l, STOP_SHUTDOWN, "the server is shutting down");
		if (t->end.shutdown_now)
			tuner_effect(t, EFFECT_KILL, l);
	}
}

static bool
no_improvement(const struct tuner *t)
{
	int64_t most = t->study->limits.no_improvement;

	return most > 0 && t->outcomes.since_better >= most;
}

/* The reason of the end, if none is recorded: a clause. */
static void
study_end_put_why(const struct tuner *t, char *why, size_t n)
{
	if (t->end.shutdown)
		(void)snprintf(why, n, "interrupted");
	else if (limits_target(t, why, n))
		return;
	else if (t->suggestions.exhausted)
		limits_exhausted_text(t, why, n);
	else if (no_improvement(t))
		(void)snprintf(why, n,
		    "%" PRId64 " trials in a row were no better",
		    t->outcomes.since_better);
	else if (limits_converged(t))
		(void)snprintf(why, n, "%s", t->convergence.why);
	else if (t->study->limits.completed > 0 && limits_completed(t))
		(void)snprintf(why, n,
		    "%" PRId64 " of %" PRId64
		    " trials have completed (limits.completed)",
		    t->outcomes.n_completed, t->n_trials);
	else if (live_set_n_external(&t->live) > 0)
		(void)snprintf(why, n,
		    "nothing is left to run here; %zu of %" PRId64
		    " trials run elsewhere",
		    live_set_n_external(&t->live), t->n_trials);
	else
		(void)snprintf(
		    why, n, "all %" PRId64 " trials are done", t->n_trials);
}

/* A study in which no trial was any good has failed. */
static void
study_end_check_failed(struct tuner *t)
{
	char nothing[128];

	if (t->end.shutdown || t->end.over ||
	    t->outcomes.n_failed != limits_trials(t))
		return;
	t->end.failed = true;
	limits_exhausted_text(t, nothing, sizeof nothing);
	(void)snprintf(t->end.why, sizeof t->end.why,
	    "all %" PRId64 " trials failed%s%s", t->n_trials,
	    t->suggestions.exhausted ? "; " : "",
	    t->suggestions.exhausted ? nothing : "");
}

static enum study_state
study_end_state(const struct tuner *t)
{
	if (t->end.shutdown &&
	    (!t->end.over || live_set_n_placed(&t->live) > 0))
		return t->paused ? STUDY_PAUSED : STUDY_INTERRUPTED;
	return t->end.failed ? STUDY_FAILED : STUDY_FINISHED;
}

void
study_end_reopen(struct tuner *t)
{
	/* In this transaction: the next server is to announce the next end. */
	if (t->row.ended_us != 0)
		t->clock.flush_due = true;
	t->row.ended_us = 0;
}

void
study_end_record(struct tuner *t)
{
	struct announce_facts facts;

	study_end_check_failed(t);
	t->row.state = study_end_state(t);
	if (*t->end.why == '\0')
		study_end_put_why(t, t->end.why, sizeof t->end.why);
	free(t->row.why);
	t->row.why = xstrdup(t->end.why);
	/* The study was over before, and nothing was started: keep its end. */
	if (t->row.ended_us == 0) {
		t->row.ended_us = t->turn_us;
		facts = tuner_facts(t, t->end.why);
		notices_end(t->notices, &facts, t->end.awaits);
		hooks_end(t->hooks, &facts);
	}
	t->durable = true;
}

void
study_end_failed(struct tuner *t, const char *why)
{
	t->end.over = t->end.failed = true;
	text_cut(t->end.why, sizeof t->end.why, why);
}
