/* Which trials to resume at the end of a study, and the record of it. */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/engine/tuner/capacity.h"
#include "src/engine/tuner/limits.h"
#include "src/engine/tuner/live-trial.h"
#include "src/engine/tuner/outcome.h"
#include "src/engine/tuner/paused.h"
#include "src/engine/tuner/second-looks.h"
#include "src/engine/tuner/tuner-internal.h"
#include "src/model/history/history.h"
#include "src/model/plugin-options.h"
#include "src/model/study/study.h"
#include "src/store/queries.h"
#include "strategies/strategy.h"

enum {
	IDLE_MIN_MS = 1000, /* a strategy that takes less is not slow */
	IDLE_SHARE = 10 /* one in this many of the duration of a trial */
};

/* The greatest share that a rule was given. */
void
second_looks_open(struct tuner *t)
{
	struct second_looks *s = &t->looks;
	size_t i;

	s->idle_ms = -1;
	for (i = 0; i < t->plugins.n_rules; i++)
		plugins_second_look(&t->plugins.rules[i], &s->share, &s->given);
	/*
	 * Where members continue one another (pbt), another one has gone on
	 * from the checkpoint of a stopped one.
	 */
	if (!s->given && !t->plugins.strategy->continues)
		s->share = SECOND_LOOK_SHARE;
}

/* The trials that were stopped, in the form that the decision needs. */
struct stopped_list {
	struct tuner *tuner;
	bool external; /* candidates are run by another program, or by us */
	struct second_look_trial *list;
	size_t n, cap;
};

static enum launch_kept
trial_kept(const struct tuner *t, int64_t trial, const char *backend)
{
	const struct backend *b;
	int i;

	for (i = 0; i < t->n_backends; i++) {
		b = &t->backends[i];
		if (strcmp(b->type->name, backend) != 0)
			continue;
		return b->type->kept != NULL ? b->type->kept(b->ctx, trial)
					     : LAUNCH_KEPT_UNSEEN;
	}
	/*
	 * The checkpoint stays behind with a backend that the study has no
	 * more.
	 */
	return LAUNCH_KEPT_NO;
}

static int
second_looks_on_stopped(void *arg, const struct store_stopped *row)
{
	struct stopped_list *sl = arg;
	struct tuner *t = sl->tuner;
	struct second_look_trial *one;
	enum launch_kept kept = LAUNCH_KEPT_UNSEEN;
	bool external =
	    row->backend != NULL && strcmp(row->backend, ASK_BACKEND) == 0;

	if (!judged_compares(&t->judged, row->trial))
		return 0;
	XGROW(sl->list, sl->n, sl->cap);
	one = &sl->list[sl->n++];
	*one = (struct second_look_trial){
		.trial = row->trial,
		.step = judged_at(&t->judged, row->trial, row->step),
		.price = row->price,
	};
	if (row->looked || external != sl->external || row->backend == NULL ||
	    !replicates_alone(&t->replicates, row->trial))
		return 0;
	if (!external)
		kept = trial_kept(t, row->trial, row->backend);
	one->candidate = t->looks.given || kept == LAUNCH_KEPT_YES;
	one->checkpoint = kept != LAUNCH_KEPT_NO;
	return 0;
}

/* Only a stopped trial can have a second look. */
static bool
any_stopped(const struct history *h)
{
	int64_t trial;

	for (trial = 1; trial <= history_count(h); trial++)
		if (history_state(h, trial) == TRIAL_STOPPED)
			return true;
	return false;
}

static void
looks_decide(struct tuner *t, bool external, struct second_look *look)
{
	struct stopped_list sl = { .tuner = t, .external = external };
	struct second_look_study study = {
		.history = t->judged.firsts,
		.max_steps = t->study->trial.max_steps,
		.share = t->looks.share,
	};

	*look = (struct second_look){ .trial = 0 };
	if (!any_stopped(t->history))
		return;
	if (store_walk_looks(t->store, second_looks_on_stopped, &sl, NULL) ==
	    0) {
		study.stopped = sl.list;
		study.n_stopped = sl.n;
		second_look_decide(look, &study);
	}
	free(sl.list);
}

/* Whether the study has second looks, and none of its trials is promoted first. */
static bool
looks_possible(struct tuner *t)
{
	struct judgement j;

	return t->looks.share > 0 && limits_allow_look(t) &&
	       paused_next(t, NULL, &j) == NULL;
}

/* Whether any could begin: no new trial may. */
static bool
looks_allowed(struct tuner *t)
{
	return looks_possible(t) && limits_search_over(t);
}

/* How long a slot waits for the strategy until it is used for a second look. */
static int64_t
idle_most_ms(const struct tuner *t)
{
	double mean = store_seconds_lately(t->store);
	int64_t ms = (int64_t)(mean * 1000 / IDLE_SHARE);

	return ms > IDLE_MIN_MS ? ms : IDLE_MIN_MS;
}

/*
 * Whether a slot has been free for long because the next trial is not known
 * yet.  Where GPU hours or money end the study, they are left for new trials.
 */
static bool
looks_idle(struct tuner *t)
{
	const struct study_limits *lim = &t->study->limits;
	struct second_looks *s = &t->looks;
	int64_t now = loop_now_ms(t->env.loop), left;

	if (!t->suggesting || lim->gpu_hours > 0 || lim->cost > 0 ||
	    !looks_possible(t)) {
		s->idle_ms = -1;
		return false;
	}
	if (s->idle_ms < 0)
		s->idle_ms = now;
	left = s->idle_ms + idle_most_ms(t) - now;
	if (left > 0)
		tuner_wake_in(t, left);
	return left <= 0;
}

void
second_looks_busy(struct tuner *t)
{
	t->looks.idle_ms = -1;
}

/*
 * The decision among our own trials; made again after each end and each look.
 * The first trials that complete are the best ones only for lack of others, and
 * H of second-look.h is computed from the best: no look is taken before five
 * have completed, or nothing runs and no new trial may begin.
 */
static const struct second_look *
looks_next(struct tuner *t)
{
	struct second_looks *s = &t->looks;

	if (!s->known || s->ends != t->outcomes.n_over)
		looks_decide(t, false, &s->next);
	s->known = true;
	s->ends = t->outcomes.n_over;
	if (s->next.trial == 0 ||
	    (s->next.hurt.trials < SECOND_LOOK_BEST &&
		(live_set_n_placed(&t->live) > 0 || !limits_search_over(t))))
		return NULL;
	return &s->next;
}

static void
look_text(const struct second_look *look, char *why, size_t n)
{
	(void)snprintf(why, n,
	    "second look: %" PRId64 " of %" PRId64
	    " others were better at its last step; it takes %" PRId64
	    " of %" PRId64 " steps, %" PRId64 " spent; of the %" PRId64
	    " best, %" PRId64 " were behind half of those that reached a step",
	    look->rank, look->reached, look->price, look->budget, look->spent,
	    look->hurt.trials, look->hurt.lost);
}

static void
look_record(struct tuner *t, const struct live_trial *l,
    const struct second_look *look, const char *why)
{
	struct store_look numbers = {
		.rank = look->rank,
		.hindsight = look->hurt.share,
		.budget = look->budget,
		.price = look->price,
		.spent = look->spent,
	};
	struct store_stop row = {
		.trial = l->row.number,
		.step = l->row.last_step,
		.rule = "second_look",
		.value = look->value,
		.threshold = NAN,
		.pool = look->reached,
		.verdict = STORE_RESUME,
		.why = why,
		.time_us = t->turn_us,
		.look = &numbers,
	};

	(void)store_stop_add(t->store, &row, NULL);
}

/* Let a stopped trial wait again, among the live ones, for its second look. */
static void
look_begin(
    struct tuner *t, struct live_trial *l, const struct second_look *look)
{
	char why[256];

	look_text(look, why, sizeof why);
	look_record(t, l, look, why);
	outcome_revive(t, l->row.number, false);
	(void)store_trial_revive(t->store, l->row.number, NULL);
	live_trial_set_looked(l);
	live_trial_set_state(t, l, TRIAL_EV_RESUME, why);
	tuner_event(t, LOG_LEVEL_INFO, "rule", l->row.number, l->row.attempts,
	    "it is resumed: %s", why);
	live_set_add(&t->live, l);
	t->looks.known = false;
}

struct live_trial *
second_looks_resume(struct tuner *t, const struct capacity *room)
{
	const struct second_look *look;
	struct live_trial *l;

	if (!limits_search_over(t) ? !looks_idle(t) : !looks_possible(t))
		return NULL;
	if ((look = looks_next(t)) == NULL)
		return NULL;
	l = outcome_read_ended(t, look->trial);
	if (l != NULL && capacity_backend(t, room, l) < 0) {
		live_trial_free(l);
		return NULL;
	}
	if (l != NULL)
		look_begin(t, l, look);
	return store_failed(t->store) ? NULL : l;
}

struct live_trial *
second_looks_resume_external(struct tuner *t)
{
	struct second_look look;
	struct live_trial *l;

	if (!t->looks.given || t->held || !looks_allowed(t))
		return NULL;
	looks_decide(t, true, &look);
	l = look.trial != 0 ? outcome_read_ended(t, look.trial) : NULL;
	if (l != NULL)
		look_begin(t, l, &look);
	return store_failed(t->store) ? NULL : l;
}

/* While nothing may be placed, one that is due keeps the study from its end. */
void
second_looks_settle(struct tuner *t)
{
	t->looks.due = !store_failed(t->store) && !t->env.hold &&
		       live_set_n_placed(&t->live) == 0 && looks_allowed(t) &&
		       capacity_money_for(t, NULL, capacity_committed(t)) &&
		       looks_next(t) != NULL;
}

int
second_looks_had(struct store *store, int64_t trial, bool *had, struct err *e)
{
	int64_t looks;

	if (store_attempt_looks(store, trial, &looks, e) != 0)
		return -1;
	*had = looks > 0;
	return 0;
}
