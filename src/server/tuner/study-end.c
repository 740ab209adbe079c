/*
 * When a study ends: targets, limits, and slots that are all drained.  Only
 * decides; effects follow after the commit.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "src/base/loop.h"
#include "src/model/history/history.h"
#include "src/model/study/study.h"
#include "src/server/tuner/tuner-internal.h"

static void
study_over(struct tuner *t, bool failed, const char *why)
{
	t->over = true;
	t->failed = failed;
	(void)snprintf(t->why, sizeof t->why, "%s", why);
	tuner_event(t, failed ? "error" : "info", "study", 0, 0, "%s", why);
}

/* A limit ended the study: all running trials are stopped for good. */
static void
limit_reached(struct tuner *t, bool failed, const char *why)
{
	struct live_trial *l;
	size_t i;

	study_over(t, failed, why);
	for (i = t->live.n; i-- > 0;) {
		l = t->live.list[i];
		if (l->external)
			continue;
		if (trial_state_placed(l->row.state)) {
			live_trial_stop(t, l, STOP_LIMIT, why);
			continue;
		}
		live_trial_set_state(t, l, TRIAL_EV_CANCELLED, why);
		outcome_finish(t, l);
		live_set_remove(&t->live, l);
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
	    "limits.cost is reached: to end now what runs takes $%.2f of "
	    "$%.2f, with what is spent",
	    dollars, t->study->limits.cost);
	study_over(t, false, why);
	t->awaits = true;
	for (i = t->live.n; i-- > 0;) {
		l = t->live.list[i];
		if (l->trains && trial_state_placed(l->row.state))
			live_trial_stop(t, l, STOP_SHUTDOWN, why);
	}
}

static bool
target_reached(const struct tuner *t)
{
	double best;

	if (!t->study->has_target || isnan(t->best_loss))
		return false;
	best = history_flip_sign(t->history, t->best_loss);
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

/* Whether a result ended the study, and the reason. */
static bool
result_ends(const struct tuner *t, bool *failed, char *why, size_t n)
{
	const struct study_limits *lim = &t->study->limits;

	*failed = false;
	if (target_reached(t)) {
		(void)snprintf(why, n,
		    "the target %g was reached by trial %" PRId64,
		    t->study->target, t->best_trial);
		return true;
	}
	if (lim->failed_trials == 0 || t->n_failed < lim->failed_trials)
		return false;
	*failed = true;
	(void)snprintf(why, n,
	    "%" PRId64 " trials failed (limits.failed_trials)", t->n_failed);
	return true;
}

/* The greatest number of trials, and which limit sets it; 0 = none. */
static int64_t
study_end_trials_max(const struct tuner *t, const char **name)
{
	*name = t->env.trials > 0 ? "--trials" : "limits.trials";
	return t->env.trials > 0 ? t->env.trials : t->study->limits.trials;
}

void
enqueue_answer_text(
    const struct tuner *t, int64_t waiting, char *text, size_t n)
{
	const struct study_limits *lim = &t->study->limits;
	const char *name;
	int64_t most = study_end_trials_max(t, &name);
	char why[160];
	bool failed;

	if (result_ends(t, &failed, why, sizeof why))
		(void)snprintf(text, n, "the setting is kept, but %s", why);
	else if (lim->wall_time_ms > 0 &&
		 tuner_elapsed_ms(t) >= lim->wall_time_ms)
		(void)snprintf(text, n,
		    "the setting is kept, but limits.wall_time was reached");
	else if (lim->no_improvement > 0 &&
		 t->since_better >= lim->no_improvement)
		(void)snprintf(text, n,
		    "the setting is kept, but %" PRId64
		    " trials in a row were no better (limits.no_improvement)",
		    t->since_better);
	else if (converge_over(t))
		(void)snprintf(text, n,
		    "the setting is kept, but the study %.120s",
		    t->converge_why);
	else if (most > 0 && t->n_trials >= most)
		(void)snprintf(text, n,
		    "the setting is kept, but %s is reached: it is tried "
		    "when more than %" PRId64 " may run",
		    name, t->n_trials);
	else if (most > 0 && waiting > most - t->n_trials)
		(void)snprintf(text, n,
		    "the setting is kept, but %" PRId64 " wait and %s leaves "
		    "room for %" PRId64,
		    waiting, name, most - t->n_trials);
	else
		(void)snprintf(text, n, "%s",
		    t->env.hold	  ? "the next start tries the setting first"
		    : waiting > 1 ? "the setting will be tried after those "
				    "that wait"
				  : "the setting will be tried next");
}

bool
tuner_new_trial_blocked(const struct tuner *t, char *why, size_t n)
{
	const struct study_limits *lim = &t->study->limits;
	const char *name;
	int64_t most = study_end_trials_max(t, &name);
	bool failed;

	if (t->over || result_ends(t, &failed, why, n)) {
		if (t->over)
			(void)snprintf(
			    why, n, "the study is over: %.150s", t->why);
		return true;
	}
	*why = '\0';
	if (t->shutdown)
		(void)snprintf(why, n, "the server is about to leave");
	else if (t->held)
		(void)snprintf(why, n, "there is no space left on the disk");
	else if (t->paused)
		(void)snprintf(why, n,
		    "the study is paused: hpotune resume lets it go on");
	else if (lim->wall_time_ms > 0 &&
		 tuner_elapsed_ms(t) >= lim->wall_time_ms)
		(void)snprintf(why, n, "limits.wall_time was reached");
	else if (lim->no_improvement > 0 &&
		 t->since_better >= lim->no_improvement)
		(void)snprintf(why, n,
		    "%" PRId64
		    " trials in a row were no better (limits.no_improvement)",
		    t->since_better);
	else if (converge_over(t))
		(void)snprintf(why, n, "the study %s", t->converge_why);
	else if (most > 0 && t->n_trials >= most)
		(void)snprintf(why, n,
		    "%s is reached: there are %" PRId64 " trials", name,
		    t->n_trials);
	else if (t->exhausted)
		tuner_exhausted_text(t, why, n);
	return *why != '\0';
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
	if (t->over || t->shutdown || t->env.hold)
		return;
	if (result_ends(t, &failed, why, sizeof why))
		limit_reached(t, failed, why);
	else if (lim->cost > 0 && dollars >= lim->cost)
		cost_reached(t, dollars);
	else if (all_drained(t) && live_set_n_placed(&t->live) == 0) {
		(void)snprintf(why, sizeof why,
		    "every slot is drained: trial after trial failed at "
		    "once%.160s",
		    t->last_bad);
		/*
		 * Waiting trials have retries left: the next start continues
		 * them.
		 */
		study_over(t, true, why);
	} else if (capacity_cost_blocks(t, why, sizeof why)) {
		/* Waiting trials continue when the limit is raised. */
		study_over(t, false, why);
		t->awaits = true;
	} else if (lim->wall_time_ms > 0) {
		left = lim->wall_time_ms - tuner_elapsed_ms(t);
		if (left <= 0)
			limit_reached(t, false, "limits.wall_time was reached");
		else
			tuner_wake_in(t, left);
	}
}
