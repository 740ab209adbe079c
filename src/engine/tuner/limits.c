/*
 * What the limits of a study, its results and its user allow: questions only,
 * which change nothing.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "src/base/loop.h"
#include "src/engine/callers/caller.h"
#include "src/engine/replicates/proposals.h"
#include "src/engine/tuner/limits.h"
#include "src/engine/tuner/live-trial.h"
#include "src/engine/tuner/tuner-internal.h"
#include "src/model/history/history.h"
#include "src/model/study/study.h"
#include "strategies/strategy.h"

int64_t
limits_trials_max(const struct tuner *t, const char **name)
{
	*name = t->env.trials > 0 ? "--trials" : "limits.trials";
	return t->env.trials > 0 ? t->env.trials : t->study->limits.trials;
}

int64_t
limits_trials(const struct tuner *t)
{
	return t->n_trials - t->replicates.n_held;
}

/* Ended trials that are a pace. */
enum { PACE_LEAST = 3 };

/* Failures without a completed trial that end a study which only those bound. */
enum { FAILED_IN_ROW_MOST = 100 };

/* Whether more trials must complete than have, or with live may yet. */
static bool
completions_wanted(const struct tuner *t, bool live)
{
	int64_t n = t->outcomes.n_completed;
	size_t i;

	if (t->study->limits.completed == 0)
		return true;
	for (i = 0; i < t->live.n && live; i++)
		n += !t->live.list[i]->external &&
		     !replicates_is_held(
			 &t->replicates, t->live.list[i]->row.number);
	return n < t->study->limits.completed;
}

bool
limits_completed(const struct tuner *t)
{
	return !completions_wanted(t, false);
}

/* Whether nothing would ever complete, because the program always fails. */
static bool
fails_for_ever(const struct tuner *t)
{
	const struct study_limits *lim = &t->study->limits;
	const char *name;

	return lim->completed > 0 && lim->failed_trials == 0 &&
	       limits_trials_max(t, &name) == 0 &&
	       t->outcomes.failed_in_row >= FAILED_IN_ROW_MOST;
}

static bool
target_reached(const struct tuner *t)
{
	double best;

	if (!t->study->has_target || isnan(t->outcomes.best_loss))
		return false;
	best = history_flip_sign(t->history, t->outcomes.best_loss);
	return t->study->maximize ? best >= t->study->target
				  : best <= t->study->target;
}

bool
limits_target(const struct tuner *t, char *why, size_t n)
{
	if (!target_reached(t))
		return false;
	(void)snprintf(why, n, "the target %g was reached by trial %" PRId64,
	    t->study->target, t->outcomes.best_trial);
	return true;
}

bool
limits_result(const struct tuner *t, bool *failed, char *why, size_t n)
{
	const struct study_limits *lim = &t->study->limits;

	*failed = false;
	/* What is to be confirmed is not the end. */
	if (t->study->confirm.pairs == 0 && limits_target(t, why, n))
		return true;
	*failed = fails_for_ever(t);
	if (*failed) {
		(void)snprintf(why, n,
		    "%" PRId64 " trials failed and none completed: "
		    "limits.failed_trials allows more",
		    t->outcomes.failed_in_row);
		return true;
	}
	if (lim->failed_trials == 0 ||
	    t->outcomes.n_failed < lim->failed_trials)
		return false;
	*failed = true;
	(void)snprintf(why, n,
	    "%" PRId64 " trials failed (limits.failed_trials)",
	    t->outcomes.n_failed);
	return true;
}

bool
limits_converged(const struct tuner *t)
{
	return t->convergence.converged &&
	       t->convergence.at == t->outcomes.n_news;
}

/* Whether any trial may begin. */
static bool
limits_allow_any(const struct tuner *t)
{
	return !t->end.over && !t->end.shutdown && !t->paused &&
	       (!t->env.hold || t->env.without_backends);
}

bool
limits_allow_look(const struct tuner *t)
{
	return limits_allow_any(t) && !target_reached(t);
}

bool
limits_allow_resume(const struct tuner *t)
{
	int64_t most = t->study->limits.no_improvement;

	return limits_allow_look(t) &&
	       (most == 0 || t->outcomes.since_better < most) &&
	       !limits_converged(t) && completions_wanted(t, true);
}

/* A setting that was begun gets further replicates. */
static bool
limits_replicates_due(const struct tuner *t)
{
	int64_t setting;
	int replicate;

	return replicates_due(&t->replicates, &setting, &replicate, NULL);
}

/* Whether there is a trial that may be placed: settings and limits.trials. */
static bool
limits_leave_new(const struct tuner *t)
{
	const char *name;
	int64_t max = limits_trials_max(t, &name);

	return (!t->suggestions.exhausted || limits_replicates_due(t)) &&
	       (max <= 0 || limits_trials(t) < max);
}

/* A run of a contest, which limits of the search do not count. */
static bool
limits_contest_due(const struct tuner *t)
{
	int64_t setting;
	int replicate;

	return contests_due(&t->contests, &setting, &replicate, NULL);
}

bool
limits_allow_new(const struct tuner *t)
{
	return (limits_allow_resume(t) && limits_leave_new(t)) ||
	       (limits_allow_any(t) && limits_contest_due(t));
}

bool
limits_search_over(const struct tuner *t)
{
	if (limits_completed(t) || !limits_leave_new(t))
		return true;
	return completions_wanted(t, true) && !limits_allow_resume(t);
}

void
limits_exhausted_text(const struct tuner *t, char *text, size_t n)
{
	if (t->suggestions.all_tried > 0)
		(void)snprintf(text, n,
		    "all %" PRIu64 " settings of the space were tried",
		    t->suggestions.all_tried);
	else
		(void)snprintf(text, n,
		    "the strategy %s has nothing left to try",
		    t->plugins.strategy->name);
}

double
limits_gpu_seconds(const struct tuner *t, double *rate)
{
	const struct live_trial *l;
	double seconds = 0;
	size_t i;
	int n;

	*rate = 0;
	if (t->study->limits.gpu_hours <= 0)
		return 0;
	(void)store_gpu_seconds(t->store, &seconds, NULL);
	for (i = 0; i < t->live.n; i++) {
		l = t->live.list[i];
		n = l->att.usage.gpus;
		if (!l->open || l->external || n == 0 || l->att.started_us == 0)
			continue;
		*rate += n;
		seconds += n * fmax(0, (double)(loop_wall_us(t->env.loop) -
						l->att.started_us) /
					   1e6);
	}
	return seconds;
}

/* Whether a limit on time ends the study, and which: a clause. */
static bool
time_reached(const struct tuner *t, char *why, size_t n)
{
	const struct study_limits *lim = &t->study->limits;
	double rate;

	*why = '\0';
	if (lim->wall_time_ms > 0 && tuner_elapsed_ms(t) >= lim->wall_time_ms)
		(void)snprintf(why, n, "limits.wall_time was reached");
	else if (lim->gpu_hours > 0 &&
		 limits_gpu_seconds(t, &rate) >= lim->gpu_hours * 3600)
		(void)snprintf(why, n, "limits.gpu_hours was reached");
	return *why != '\0';
}

int64_t
limits_end_us(const struct tuner *t)
{
	const struct study_limits *lim = &t->study->limits;
	int64_t elapsed = tuner_elapsed_ms(t), over, most, wall, left = -1;
	const char *name;

	most = limits_trials_max(t, &name);
	over = limits_trials(t) - (int64_t)t->live.n;
	if (most == 0) {
		most = lim->completed;
		over = t->outcomes.n_completed;
	}
	if (over >= PACE_LEAST && most > 0)
		left = most <= over ? 0
				    : (int64_t)((double)elapsed / (double)over *
						(double)(most - over));
	wall = lim->wall_time_ms > elapsed ? lim->wall_time_ms - elapsed : 0;
	if (lim->wall_time_ms > 0 && (left < 0 || wall < left))
		left = wall;
	return left < 0 ? 0 : t->turn_us + left * 1000;
}

bool
limits_end_waiting(const struct tuner *t, int64_t fewer, char *why, size_t n)
{
	int64_t most = t->study->limits.failed_trials;
	int64_t failed = t->outcomes.n_failed - fewer;

	*why = '\0';
	if (target_reached(t))
		(void)snprintf(
		    why, n, "the target %g was reached", t->study->target);
	else if (most > 0 && failed >= most)
		(void)snprintf(why, n,
		    "%" PRId64 " %strials failed (limits.failed_trials)",
		    failed, fewer > 0 ? "other " : "");
	else
		return time_reached(t, why, n);
	return true;
}

bool
limits_reached(const struct tuner *t, char *why, size_t n)
{
	const struct study_limits *lim = &t->study->limits;
	bool failed;

	if (limits_result(t, &failed, why, n) || limits_target(t, why, n) ||
	    time_reached(t, why, n))
		return true;
	if (lim->no_improvement > 0 &&
	    t->outcomes.since_better >= lim->no_improvement)
		(void)snprintf(why, n,
		    "%" PRId64
		    " trials in a row were no better (limits.no_improvement)",
		    t->outcomes.since_better);
	else if (limits_converged(t))
		(void)snprintf(why, n, "the study %s", t->convergence.why);
	return *why != '\0';
}

bool
limits_capped(const struct tuner *t, const struct caller *by, int64_t waits,
    char *why, size_t n)
{
	struct caller_usage used = { .trials = t->n_trials };
	/* Without a server nothing counts the time but the calendar. */
	int64_t ms = t->env.without_backends
			 ? (t->turn_us - t->row.created_us) / 1000
			 : tuner_elapsed_ms(t);

	if (by == NULL)
		return false;
	used.hours = (double)ms / 3.6e6;
	(void)store_cost_committed(t->store, &used.dollars, NULL);
	if (waits > 0) {
		(void)store_queue_length(t->store, &used.waiting, NULL);
		used.waiting += proposals_runs(&t->contests) + waits - 1;
	}
	return caller_capped(by, &used, why, n);
}

bool
limits_block_new(const struct tuner *t, char *why, size_t n)
{
	const char *name;
	int64_t most = limits_trials_max(t, &name);
	bool failed;

	*why = '\0';
	if (t->end.over)
		(void)snprintf(why, n, "the study is over: %.150s", t->end.why);
	else if (limits_result(t, &failed, why, n))
		return true;
	else if (t->end.shutdown)
		(void)snprintf(why, n, "the server is shutting down");
	else if (t->held)
		(void)snprintf(why, n, "there is no space left on the disk");
	else if (t->paused)
		(void)snprintf(
		    why, n, "the study is paused: hpotune resume continues it");
	else if (limits_contest_due(t))
		return false;
	else if (limits_reached(t, why, n))
		return true;
	else if (most > 0 && limits_trials(t) >= most)
		(void)snprintf(why, n,
		    "%s is reached: there are %" PRId64 " trials", name,
		    limits_trials(t));
	else if (t->suggestions.exhausted && !limits_replicates_due(t))
		limits_exhausted_text(t, why, n);
	else if (!completions_wanted(t, true))
		(void)snprintf(why, n,
		    "limits.completed %s: %" PRId64 " trials have completed",
		    limits_completed(t) ? "is reached" : "may be reached",
		    t->outcomes.n_completed);
	return *why != '\0';
}

/* Whether an attempt runs for so long that its program works. */
static bool
limits_any_runs(const struct tuner *t)
{
	const struct live_trial *l;
	size_t i;

	for (i = 0; i < t->live.n; i++) {
		l = t->live.list[i];
		if (l->open && !l->external && l->att.started_us != 0 &&
		    t->turn_us - l->att.started_us >=
			INT64_C(1000) * PLACES_AT_ONCE_MS)
			return true;
	}
	return false;
}

bool
limits_hopeless(const struct tuner *t, char *why, size_t n)
{
	return place_blame_hopeless(&t->blame, t->store,
		   t->replicates.count > 0 ? "settings" : "trials", why, n) &&
	       !limits_any_runs(t);
}
