/* Which trials to resume at the end of a study, and the record of it. */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/plugin-options.h"
#include "src/model/history/history.h"
#include "src/model/study/study.h"
#include "src/server/status/rows.h"
#include "src/server/tuner/ask-tell.h"
#include "src/server/tuner/capacity.h"
#include "src/server/tuner/limits.h"
#include "src/server/tuner/live-trial.h"
#include "src/server/tuner/outcome.h"
#include "src/server/tuner/paused.h"
#include "src/server/tuner/second-looks.h"
#include "src/server/tuner/tuner-internal.h"
#include "strategies/strategy.h"

/* The greatest share that a rule was given. */
void
second_looks_open(struct tuner *t)
{
	struct second_looks *s = &t->looks;
	size_t i;

	for (i = 0; i < t->plugins.n_rules; i++)
		plugins_second_look(&t->plugins.rules[i], &s->share, &s->given);
	/* What a stopped member learned, another one has gone on with. */
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
		if (strcmp(b->launcher->name, backend) != 0)
			continue;
		return b->launcher->kept != NULL
			   ? b->launcher->kept(b->ctx, trial)
			   : LAUNCH_KEPT_UNSEEN;
	}
	/* Its checkpoint stays behind with the backend. */
	return LAUNCH_KEPT_NO;
}

static int
on_stopped(void *arg, const struct store_stopped *row)
{
	struct stopped_list *sl = arg;
	struct tuner *t = sl->tuner;
	struct second_look_trial *one;
	enum launch_kept kept = LAUNCH_KEPT_UNSEEN;
	bool external =
	    row->backend != NULL && strcmp(row->backend, ASK_TELL_BACKEND) == 0;

	if (!judged_compares(&t->judged, row->trial))
		return 0;
	XGROW(sl->list, sl->n, sl->cap);
	one = &sl->list[sl->n++];
	*one = (struct second_look_trial){
		.trial = row->trial,
		.step = row->step,
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
	if (store_walk_looks(t->store, on_stopped, &sl, NULL) == 0) {
		study.stopped = sl.list;
		study.n_stopped = sl.n;
		second_look_decide(look, &study);
	}
	free(sl.list);
}

/* Whether any could begin: no new trial may, and none is to be promoted. */
static bool
looks_allowed(struct tuner *t)
{
	struct judgement j;

	return t->looks.share > 0 && !t->held && limits_allow_resume(t) &&
	       !limits_allow_new(t) && paused_next(t, NULL, &j) == NULL;
}

/*
 * The decision among our own trials; made again after each end and each look.
 * The first trials that complete are the best ones only for lack of others: H
 * waits for five, or until nothing runs.
 */
static const struct second_look *
looks_next(struct tuner *t)
{
	struct second_looks *s = &t->looks;

	if (!s->known || s->ends != t->outcomes.n_over)
		looks_decide(t, false, &s->next);
	s->known = true;
	s->ends = t->outcomes.n_over;
	if (s->next.trial == 0 || (s->next.hurt.trials < SECOND_LOOK_BEST &&
				      live_set_n_placed(&t->live) > 0))
		return NULL;
	return &s->next;
}

static void
look_text(const struct second_look *look, char *why, size_t n)
{
	(void)snprintf(why, n,
	    "second look: %" PRId64 " of %" PRId64
	    " others were better at its last step; it takes %" PRId64
	    " of %" PRId64 " steps, %" PRId64
	    " spent; median would have stopped %" PRId64 " of the %" PRId64
	    " best",
	    look->rank, look->reached, look->price, look->budget, look->spent,
	    look->hurt.lost, look->hurt.trials);
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

/* It waits again, among the live ones. */
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

	if (!looks_allowed(t) || (look = looks_next(t)) == NULL)
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

	if (!t->looks.given || !looks_allowed(t))
		return NULL;
	looks_decide(t, true, &look);
	l = look.trial != 0 ? outcome_read_ended(t, look.trial) : NULL;
	if (l != NULL)
		look_begin(t, l, &look);
	return store_failed(t->store) ? NULL : l;
}

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
