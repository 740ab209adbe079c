/*
 * Effects after a commit: start and stop attempts, answer requests.  Writes no
 * rows.
 */

#include <stdlib.h>

#include "src/base/fail.h"
#include "src/base/loop.h"
#include "src/engine/attempts/attempt-spec.h"
#include "src/engine/tuner/effects.h"
#include "src/engine/tuner/live-trial.h"
#include "src/engine/tuner/start-failures.h"
#include "src/engine/tuner/tuner-internal.h"
#include "src/model/study/study.h"

bool
effects_start_any(const struct effects *list)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (list->list[i].kind == EFFECT_START)
			return true;
	return false;
}

void
effects_free(struct effects *list)
{
	free(list->list);
	*list = (struct effects){ 0 };
}

int
effects_attempt_spec(struct attempt_spec *te, const struct tuner *t,
    struct live_trial *l, struct err *e)
{
	struct attempt_spec_facts facts = {
		.study = t->study,
		.backend = &t->plugins.backends[l->backend],
		.row = &l->row,
		.values = live_trial_values(t, l, e),
		.att = &l->att,
		.state_dir = t->env.state_dir,
		.study_id = t->study_id,
		.past = { .capacity = l->past.capacity },
	};

	*te = (struct attempt_spec){ 0 };
	facts.gpu_memory = gpu_need_of(&t->gpu_need, facts.values, NULL);
	return facts.values != NULL ? attempt_spec_make(te, &facts, e) : -1;
}

static void
effect_start(struct tuner *t, struct live_trial *l)
{
	struct backend *b = &t->backends[l->backend];
	struct err e = ERR_INIT;
	struct attempt_spec te;

	live_trial_set_start(l, LIVE_START_CALLED);
	if (effects_attempt_spec(&te, t, l, &e) == 0 &&
	    attempt_spec_add_templates(
		&te, t->study, live_trial_values(t, l, &e), &e) == 0 &&
	    b->type->start(b->ctx, &te.spec, &e) == 0) {
		attempt_spec_free(&te);
		start_failures_begun(t, l, START_CALLED);
		return;
	}
	attempt_spec_free(&te);
	if (e.kind == ERR_BUSY || e.kind == ERR_FULL) {
		live_trial_set_start(l, LIVE_START_DUE);
		start_failures_refused(t, l, e.text);
		return;
	}
	live_trial_set_start_error(l, e.text);
	loop_wake(t->env.loop);
}

static void
effect_stop(struct tuner *t, struct live_trial *l, bool now)
{
	struct backend *b;

	if (!l->open || l->start == LIVE_START_DUE || l->external)
		return;
	b = &t->backends[l->backend];
	b->type->stop(b->ctx, l->row.number, l->att.attempt, now);
}

void
effects_run(struct tuner *t)
{
	struct live_trial *l;
	size_t i;

	for (i = 0; i < t->effects.n; i++) {
		fail_point("tuner.before_effect");
		l = live_set_find(&t->live, t->effects.list[i].trial);
		/* In this turn it may have ended and been resumed. */
		if (l == NULL || l->att.attempt != t->effects.list[i].attempt)
			continue;
		switch (t->effects.list[i].kind) {
		case EFFECT_START:
			if (l->row.cause == STOP_NONE)
				effect_start(t, l);
			else {
				live_trial_set_start(l, LIVE_START_DUE);
				loop_wake(t->env.loop);
			}
			break;
		case EFFECT_STOP:
			effect_stop(t, l, false);
			break;
		case EFFECT_KILL:
			effect_stop(t, l, true);
			break;
		}
	}
	t->effects.n = 0;
}
