/*
 * Handles backends on which nothing can be started: no more processes or
 * inodes, or the program is missing.  No trial fails for it: waiting trials are
 * retried with pauses, and the user gets one event when it begins and one when
 * it is over.
 */

#include <stdio.h>

#include "src/base/loop.h"
#include "src/base/text.h"
#include "src/engine/announce/notices.h"
#include "src/engine/tuner/live-trial.h"
#include "src/engine/tuner/start-failures.h"
#include "src/engine/tuner/tuner-internal.h"

enum {
	PAUSE_MIN_MS = 200,
	START_FAILURES_MAX_MS =
	    5000, /* for an attempt that cannot be started */
	START_FAILURES_PROBE_MAX_MS =
	    30000, /* for a backend whose attempts start and end at once */
	PAID_MS = 5 * 60 * 1000, /* … and cost money each */
	START_FAILURES_PAID_MAX_MS = 60 * 60 * 1000,
	SAY_MS = 1000 /* shorter failures are not reported */
};

static int64_t
start_failures_pause_ms(int failures, int64_t least, int64_t most)
{
	int64_t ms = failures < 16 ? least << (failures - 1) : most;

	return ms < most ? ms : most;
}

static void
start_failures_note(struct tuner *t, struct start_failures *s, const char *why)
{
	int64_t now = loop_now_ms(t->env.loop);

	if (s->why[0] == '\0')
		s->since_ms = now;
	s->worked = false;
	text_cut(s->why, sizeof s->why, why);
	tuner_wake_in(t, SAY_MS);
}

void
start_failures_refused(struct tuner *t, struct live_trial *l, const char *why)
{
	int64_t ms = start_failures_pause_ms(
	    l->refusals + 1, PAUSE_MIN_MS, START_FAILURES_MAX_MS);

	start_failures_note(t, &t->backends[l->backend].starts, why);
	live_trial_refused(l, loop_now_ms(t->env.loop) + ms);
	tuner_wake_in(t, ms);
}

void
start_failures_ended(
    struct tuner *t, struct live_trial *l, const char *why, bool paid)
{
	struct start_failures *s = &t->backends[l->backend].starts;
	int64_t ms;

	s->ended++;
	s->accepted |= l->start == LIVE_START_ACCEPTED;
	ms = paid ? start_failures_pause_ms(
			s->ended, PAID_MS, START_FAILURES_PAID_MAX_MS)
		  : start_failures_pause_ms(
			s->ended, PAUSE_MIN_MS, START_FAILURES_PROBE_MAX_MS);

	start_failures_note(t, s, why);
	s->next_ms = loop_now_ms(t->env.loop) + ms;
	tuner_wake_in(t, ms);
}

void
start_failures_begun(
    struct tuner *t, struct live_trial *l, enum start_proof proof)
{
	struct start_failures *s = &t->backends[l->backend].starts;
	enum start_proof enough = s->accepted	 ? START_RUNS
				  : s->ended > 0 ? START_ACCEPTED
						 : START_CALLED;

	live_trial_accepted(l);
	if (proof == START_ACCEPTED)
		live_trial_set_start(l, LIVE_START_ACCEPTED);
	/* What has failed was once as far as this. */
	if (s->why[0] == '\0' || proof < enough)
		return;
	s->worked = true;
	s->ended = 0;
	s->accepted = false;
	loop_wake(t->env.loop);
}

void
start_failures_reset(struct tuner *t)
{
	size_t i;
	int k;

	for (k = 0; k < t->n_backends; k++)
		t->backends[k].starts.next_ms = 0;
	for (i = 0; i < t->live.n; i++)
		live_trial_hurry(t->live.list[i]);
	loop_wake(t->env.loop);
}

bool
start_failures_due(struct tuner *t, const struct live_trial *l)
{
	int64_t left = l->start_at_ms - loop_now_ms(t->env.loop);

	if (l->refusals == 0 || left <= 0)
		return true;
	tuner_wake_in(t, left);
	return false;
}

bool
start_failures_ready(struct tuner *t, int backend)
{
	const struct start_failures *s = &t->backends[backend].starts;
	int64_t left = s->next_ms - loop_now_ms(t->env.loop);
	const struct live_trial *l;
	size_t i;

	if (s->ended == 0)
		return true;
	if (left > 0) {
		tuner_wake_in(t, left);
		return false;
	}
	/* After a failure one attempt is tried first, before all others. */
	for (i = 0; i < t->live.n; i++) {
		l = t->live.list[i];
		if (l->open && !l->external && l->backend == backend &&
		    l->row.state == TRIAL_STARTING)
			return false;
	}
	return true;
}

/* Whether an attempt of a backend waits to be started and could not be. */
static bool
start_failures_any(const struct tuner *t, int backend)
{
	const struct live_trial *l;
	size_t i;

	for (i = 0; i < t->live.n; i++) {
		l = t->live.list[i];
		if (l->open && l->start == LIVE_START_DUE && l->refusals > 0 &&
		    l->backend == backend)
			return true;
	}
	return false;
}

/* Whether the user was informed that no backend can start anything. */
static bool
all_said(const struct tuner *t)
{
	int i;

	for (i = 0; i < t->n_backends; i++)
		if (!t->backends[i].starts.warned)
			return false;
	return true;
}

static void
start_failures_text(struct tuner *t, int backend)
{
	struct backend *b = &t->backends[backend];
	struct start_failures *s = &b->starts;
	struct announce_facts facts;
	char text[LAUNCH_WHY + 128];
	int64_t left;

	if (s->why[0] == '\0')
		return;
	if (s->worked || (s->ended == 0 && !start_failures_any(t, backend))) {
		if (s->warned)
			tuner_event(t, LOG_LEVEL_INFO, "launch", 0, 0,
			    "%s: trials can be started again", b->type->name);
		*s = (struct start_failures){ .since_ms = 0 };
		return;
	}
	left = s->since_ms + SAY_MS - loop_now_ms(t->env.loop);
	if (left > 0)
		tuner_wake_in(t, left);
	else if (!s->warned) {
		s->warned = true;
		tuner_event(t, LOG_LEVEL_WARN, "launch", 0, 0,
		    "%s: no trial can be started: %s; no trial fails and "
		    "no retry is used up: starting is tried again (at "
		    "once: hpotune resume)",
		    b->type->name, s->why);
		if (all_said(t) && tuner_start_blocked(t, text, sizeof text)) {
			facts = tuner_facts(t, text);
			t->durable |= notices_wait(t->notices, &facts);
		}
	}
}

void
start_failures_report(struct tuner *t)
{
	int i;

	for (i = 0; i < t->n_backends; i++)
		start_failures_text(t, i);
}

bool
tuner_start_blocked(const struct tuner *t, char *text, size_t n)
{
	int i;

	for (i = 0; i < t->n_backends; i++) {
		if (!t->backends[i].starts.warned)
			continue;
		(void)snprintf(text, n,
		    "%s: no trial can be started: %s; starting is tried "
		    "again (at once: hpotune resume)",
		    t->backends[i].type->name, t->backends[i].starts.why);
		return true;
	}
	return false;
}
