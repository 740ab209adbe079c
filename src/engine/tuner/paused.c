/*
 * The list of paused trials; which one resumes is the rule's decision
 * (stopper.promote).
 *
 * They are kept apart from the live trials, so that a large number of them does
 * not slow down turns.
 */

#include <inttypes.h>
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
#include "src/engine/tuner/stopping.h"
#include "src/engine/tuner/tuner-internal.h"
#include "src/model/history/history.h"
#include "src/model/study/study.h"

void
paused_add(struct tuner *t, struct live_trial *l)
{
	struct paused_set *s = &t->paused_set;

	live_set_take(&t->live, l);
	s->list = xreallocarray(s->list, s->n + 1, sizeof *s->list);
	s->list[s->n++] = l;
	outcome_pause(t, l);
}

void
paused_free(struct paused_set *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		live_trial_free(s->list[i]);
	free(s->list);
	*s = (struct paused_set){ 0 };
}

struct live_trial *
paused_find(const struct paused_set *s, int64_t trial)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->list[i]->row.number == trial)
			return s->list[i];
	return NULL;
}

static void
paused_take(struct paused_set *s, const struct live_trial *l)
{
	size_t i;

	for (i = 0; s->list[i] != l; i++)
		;
	s->list[i] = s->list[--s->n];
}

void
paused_final(
    struct tuner *t, struct live_trial *l, enum trial_event ev, const char *why)
{
	live_trial_resume(l);
	outcome_move(t, l, ev, why);
	outcome_finish(t, l);
	paused_take(&t->paused_set, l);
	live_trial_free(l);
}

struct live_trial *
paused_next(struct tuner *t, const struct capacity *room, struct judgement *j)
{
	struct stopper_paused *list;
	const struct live_trial *l;
	int64_t trial = 0;
	size_t i, n = 0;

	if (t->paused_set.n == 0 || !limits_allow_resume(t))
		return NULL;
	list = xcalloc(t->paused_set.n, sizeof *list);
	for (i = 0; i < t->paused_set.n; i++) {
		l = t->paused_set.list[i];
		if (room == NULL || capacity_backend(t, room, l) >= 0)
			list[n++] =
			    (struct stopper_paused){ .trial = l->row.number,
				    .step = judged_at(&t->judged, l->row.number,
					l->row.paused_step) };
	}
	if (n > 0)
		trial = stop_rule_set_promote(
		    t->judged.rules, t->judged.firsts, list, n, j);
	free(list);
	return trial != 0 ? paused_find(&t->paused_set, trial) : NULL;
}

struct live_trial *
paused_resume(struct tuner *t, const struct capacity *room)
{
	struct judgement j = { .verdict = VERDICT_KEEP };
	struct live_trial *l = paused_next(t, room, &j);

	if (l == NULL)
		return NULL;
	stopping_record(t, l, l->row.paused_step, &j, STORE_RESUME);
	tuner_event(t, LOG_LEVEL_INFO, "rule", l->row.number, l->row.attempts,
	    "it is resumed: %s", j.why);
	paused_take(&t->paused_set, l);
	live_set_add(&t->live, l);
	live_trial_resume(l);
	judged_retry(&t->judged, l->row.number);
	replicates_revived(&t->replicates, l->row.number);
	return l;
}

/* What stands before the rule's reason in the row of a paused trial. */
static int
paused_prefix(const struct live_trial *l, char *text, size_t n)
{
	return snprintf(
	    text, n, "paused at step %" PRId64 ": ", l->row.paused_step);
}

void
paused_put_why(const struct live_trial *l, char *why, size_t n)
{
	char prefix[64];

	(void)paused_prefix(l, prefix, sizeof prefix);
	(void)snprintf(
	    why, n, "%s%s", prefix, l->row.why != NULL ? l->row.why : "");
}

/* The reason in what paused_put_why made, or NULL. */
static const char *
paused_reason(const struct live_trial *l)
{
	char prefix[64];
	int n = paused_prefix(l, prefix, sizeof prefix);

	if (l->row.why == NULL || strncmp(l->row.why, prefix, (size_t)n) != 0)
		return NULL;
	return l->row.why + n;
}

void
paused_end_all(struct tuner *t)
{
	char why[400];
	struct live_trial *l;
	const char *reason;

	while (t->paused_set.n > 0 && !store_failed(t->store)) {
		l = t->paused_set.list[0];
		reason = paused_reason(l);
		(void)snprintf(why, sizeof why,
		    "paused at step %" PRId64 " and never resumed%s%s",
		    l->row.paused_step, reason != NULL ? ": " : "",
		    reason != NULL ? reason : "");
		paused_final(t, l, TRIAL_EV_STOPPED, why);
	}
}

void
paused_settle(struct tuner *t)
{
	struct judgement j;

	if (t->paused_set.n == 0 || t->live.n > live_set_n_external(&t->live) ||
	    t->end.over || t->end.shutdown || t->paused || t->held ||
	    t->env.hold || t->requests.n > t->requests.n_served ||
	    limits_allow_new(t) || paused_next(t, NULL, &j) != NULL)
		return;
	paused_end_all(t);
	/* Some may get a second look. */
	loop_wake(t->env.loop);
}
