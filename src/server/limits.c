/*
 * When a study is over: targets, limits, and slots that are all drained.
 * Decides; what follows is done after the commit.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "src/base/loop.h"
#include "src/model/history.h"
#include "src/model/study.h"
#include "src/server/tuner-parts.h"

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
	} else if (room_too_dear(t, why, sizeof why)) {
		/* What waits goes on when the limit is raised. */
		study_over(t, false, why);
	} else if (lim->wall_time_ms > 0) {
		left = lim->wall_time_ms - tuner_elapsed_ms(t);
		if (left <= 0)
			limit_reached(t, false, "limits.wall_time was reached");
		else
			tuner_wake_in(t, left);
	}
}
