/*
 * Whether all work is done: for a running server, and for one that shuts down.
 */

#include "src/base/loop.h"
#include "src/model/study/study.h"
#include "src/server/tuner/tuner-internal.h"

void
tuner_shutdown(struct tuner *t, bool now)
{
	t->shutdown_now = now;
	t->shutdown = true;
	loop_wake(t->env.loop);
}

static bool
live_slow(const struct tuner *t, const struct live_trial *l)
{
	return l->open && !l->external &&
	       t->backends[l->backend].launcher->slow_end;
}

int
tuner_shutdown_pending(const struct tuner *t)
{
	const struct backend *b;
	int k, n = 0;
	size_t i;

	for (k = 0; k < t->n_backends; k++) {
		b = &t->backends[k];
		if (b->launcher->stops_pending != NULL)
			n += b->launcher->stops_pending(b->ctx);
	}
	/* Its state is unknown, so its stop was not sent either. */
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

	if (!t->shutdown_now || tuner_shutdown_pending(t) > 0)
		return live_set_n_placed(&t->live) > 0;
	for (i = 0; i < t->live.n; i++) {
		l = t->live.list[i];
		if (trial_state_placed(l->row.state) && !l->external &&
		    !(live_slow(t, l) && l->asked))
			return true;
	}
	return false;
}

bool
tuner_done(const struct tuner *t)
{
	size_t i;

	if (shutdown_any_live(t))
		return false;
	if (t->shutdown || t->over)
		return true;
	if (t->paused || t->n_requests > t->n_served)
		return false;
	for (i = 0; i < t->live.n; i++)
		if (t->live.list[i]->row.state == TRIAL_WAITING)
			return false;
	/* The next turn finds none to resume and ends them. */
	return t->n_paused == 0 && !schedule_may_place_new(t);
}
