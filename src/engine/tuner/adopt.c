/*
 * Attempts whose state is not known: those that an earlier server left, which
 * are looked up at their backends, and those whose start failed or was never
 * called, which are ended or started again.
 */

#include "src/base/text.h"
#include "src/engine/attempts/attempt-spec.h"
#include "src/engine/tuner/adopt.h"
#include "src/engine/tuner/attempt-end.h"
#include "src/engine/tuner/capacity.h"
#include "src/engine/tuner/effects.h"
#include "src/engine/tuner/live-trial.h"
#include "src/engine/tuner/start-failures.h"
#include "src/engine/tuner/tuner-internal.h"

#define DOUBT_MS 1000 /* between two checks of an attempt in unknown state */

/* The state of an attempt cannot be determined: warn once, check again soon. */
static void
attempt_unknown(struct tuner *t, struct live_trial *l, const char *what)
{
	if (live_trial_warn_once(l))
		tuner_event(t, LOG_LEVEL_WARN, "launch", l->row.number,
		    l->att.attempt, "its state cannot be determined: %s", what);
	tuner_wake_in(t, DOUBT_MS);
}

static void
adopt_one(struct tuner *t, struct live_trial *l)
{
	struct backend *b = &t->backends[l->backend];
	enum launch_adoption look = ADOPT_UNKNOWN;
	struct err e = ERR_INIT;
	struct attempt_spec te;

	if (effects_attempt_spec(&te, t, l, &e) == 0)
		look = b->type->adopt(b->ctx, &te.spec, &e);
	attempt_spec_free(&te);
	switch (look) {
	case ADOPT_NEVER:
		live_trial_set_start(l, LIVE_START_DUE);
		break;
	case ADOPT_ALIVE:
		live_trial_set_start(l, LIVE_START_CALLED);
		if (l->row.cause != STOP_NONE)
			tuner_effect(t, EFFECT_STOP, l);
		live_trial_set_asked(l, l->row.cause != STOP_NONE);
		break;
	case ADOPT_ENDED:
	case ADOPT_LOST:
		live_trial_set_start(l, LIVE_START_CALLED);
		break;
	case ADOPT_UNKNOWN:
		attempt_unknown(t, l, e.text);
		break;
	}
}

void
adopt_attempts(struct tuner *t)
{
	size_t i;

	capacity_learn_memory(t);
	for (i = 0; i < t->live.n; i++)
		if (t->live.list[i]->open &&
		    t->live.list[i]->start == LIVE_START_UNKNOWN)
			adopt_one(t, t->live.list[i]);
}

/*
 * Never started: ensure that it cannot start later, then its trial may
 * continue.
 */
static bool
unsent_give_up(struct tuner *t, struct live_trial *l)
{
	struct backend *b = &t->backends[l->backend];
	struct err e = ERR_INIT;
	struct attempt_spec te;
	int rc;

	rc = effects_attempt_spec(&te, t, l, &e);
	if (rc == 0)
		rc = b->type->abandon(b->ctx, &te.spec, &e);
	attempt_spec_free(&te);
	if (rc == 0)
		return true;
	if (e.kind == ERR_BUSY) {
		/* A delayed supervisor started it meanwhile: adopt it. */
		live_trial_set_start(l, LIVE_START_UNKNOWN);
		tuner_wake_in(t, 20);
		return false;
	}
	attempt_unknown(t, l, e.text);
	return false;
}

/* The end of an attempt that was never started; its cost is 0. */
static struct launch_exit
exit_never(const struct tuner *t, const struct live_trial *l, const char *why)
{
	bool costs = t->backends[l->backend].type->worst_cost != NULL;
	struct launch_exit x = {
		.exit_code = -1, .billed = costs, .priced = costs
	};

	text_cut(x.why, sizeof x.why, why);
	return x;
}

void
adopt_settle_unsent(struct tuner *t)
{
	struct launch_exit x;
	struct live_trial *l;
	size_t i;

	for (i = t->live.n; i-- > 0 && !store_failed(t->store);) {
		l = t->live.list[i];
		if (!l->open)
			continue;
		if (l->start_error != NULL) {
			/*
			 * Our start failed, but one of an earlier server may
			 * still be in progress.
			 */
			if (l->found && !unsent_give_up(t, l)) {
				live_trial_set_start_error(l, NULL);
				if (l->start != LIVE_START_UNKNOWN)
					live_trial_set_start(l, LIVE_START_DUE);
				continue;
			}
			x = exit_never(t, l, l->start_error);
			attempt_end_handle(t, l, &x, NULL);
		} else if (l->start == LIVE_START_DUE &&
			   l->att.started_us != 0) {
			/*
			 * An attempt that was started once must not start
			 * again.
			 */
			if (unsent_give_up(t, l))
				attempt_end_handle(
				    t, l, NULL, "its records are missing");
		} else if (l->start == LIVE_START_DUE &&
			   l->row.cause == STOP_NONE) {
			/* A command without a server starts nothing. */
			if (!t->env.hold && start_failures_due(t, l))
				tuner_effect(t, EFFECT_START, l);
		} else if (l->start == LIVE_START_DUE && unsent_give_up(t, l)) {
			x = exit_never(t, l, "never started");
			attempt_end_handle(t, l, &x, NULL);
		}
	}
}
