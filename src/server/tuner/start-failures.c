/*
 * When nothing can be started on a backend: the machine has no more processes
 * or inodes, or the program is not there.  That is no trial's fault, so none
 * fails for it: those that wait are tried again, with pauses, and the user
 * hears of it once, and once more when it is over.
 */

#include <stdio.h>
#include <string.h>

#include "src/base/loop.h"
#include "src/server/tuner/notices.h"
#include "src/server/tuner/tuner-internal.h"

enum {
	PAUSE_MIN_MS = 200,
	START_MOST_MS = 5000, /* for an attempt that is to begin */
	PROBE_MOST_MS = 30000, /* for a backend where those begun have ended */
	PAID_MS = 5 * 60 * 1000, /* … where each of them costs money */
	PAID_MOST_MS = 60 * 60 * 1000,
	SAY_MS = 1000 /* what is over sooner is no news */
};

static int64_t
pause_ms(int failures, int64_t least, int64_t most)
{
	int64_t ms = failures < 16 ? least << (failures - 1) : most;

	return ms < most ? ms : most;
}

static void
starts_note(struct tuner *t, struct starts *s, const char *why)
{
	int64_t now = loop_now_ms(t->env.loop);

	if (s->why[0] == '\0')
		s->since_ms = now;
	s->worked = false;
	(void)snprintf(s->why, sizeof s->why, "%s", why);
	tuner_wake_in(t, SAY_MS);
}

void
starts_refused(struct tuner *t, struct live *l, const char *why)
{
	int64_t ms = pause_ms(++l->refusals, PAUSE_MIN_MS, START_MOST_MS);

	starts_note(t, &t->backends[l->backend].starts, why);
	l->start_at_ms = loop_now_ms(t->env.loop) + ms;
	tuner_wake_in(t, ms);
}

void
starts_ended(struct tuner *t, struct live *l, const char *why, bool paid)
{
	struct starts *s = &t->backends[l->backend].starts;
	int64_t ms;

	s->ended++;
	ms = paid ? pause_ms(s->ended, PAID_MS, PAID_MOST_MS)
		  : pause_ms(s->ended, PAUSE_MIN_MS, PROBE_MOST_MS);

	starts_note(t, s, why);
	s->next_ms = loop_now_ms(t->env.loop) + ms;
	tuner_wake_in(t, ms);
}

void
starts_begun(struct tuner *t, struct live *l, bool up)
{
	struct starts *s = &t->backends[l->backend].starts;

	l->refusals = 0;
	/* Where attempts have begun and could not run, only one that runs. */
	if (s->why[0] == '\0' || (s->ended > 0 && !up))
		return;
	s->worked = true;
	s->ended = 0;
	loop_wake(t->env.loop);
}

void
starts_now(struct tuner *t)
{
	size_t i;
	int k;

	for (k = 0; k < t->n_backends; k++)
		t->backends[k].starts.next_ms = 0;
	for (i = 0; i < t->n_live; i++)
		t->live[i]->start_at_ms = 0;
	loop_wake(t->env.loop);
}

bool
starts_due(struct tuner *t, const struct live *l)
{
	int64_t left = l->start_at_ms - loop_now_ms(t->env.loop);

	if (l->refusals == 0 || left <= 0)
		return true;
	tuner_wake_in(t, left);
	return false;
}

bool
starts_ready(struct tuner *t, int backend)
{
	const struct starts *s = &t->backends[backend].starts;
	int64_t left = s->next_ms - loop_now_ms(t->env.loop);
	const struct live *l;
	size_t i;

	if (s->ended == 0)
		return true;
	if (left > 0) {
		tuner_wake_in(t, left);
		return false;
	}
	/* One finds out for all. */
	for (i = 0; i < t->n_live; i++) {
		l = t->live[i];
		if (l->open && !l->elsewhere && l->backend == backend &&
		    l->row.state == TRIAL_STARTING)
			return false;
	}
	return true;
}

/* Whether some attempt of a backend is to begin and could not. */
static bool
anybody_refused(const struct tuner *t, int backend)
{
	const struct live *l;
	size_t i;

	for (i = 0; i < t->n_live; i++) {
		l = t->live[i];
		if (l->open && l->unsent && l->refusals > 0 &&
		    l->backend == backend)
			return true;
	}
	return false;
}

/* Whether the user has heard that no backend can start anything. */
static bool
all_said(const struct tuner *t)
{
	int i;

	for (i = 0; i < t->n_backends; i++)
		if (!t->backends[i].starts.said)
			return false;
	return true;
}

static void
starts_tell(struct tuner *t, int backend)
{
	struct backend *b = &t->backends[backend];
	struct starts *s = &b->starts;
	char text[LAUNCH_WHY + 128];
	int64_t left;

	if (s->why[0] == '\0')
		return;
	if (s->worked || (s->ended == 0 && !anybody_refused(t, backend))) {
		if (s->said)
			tuner_event(t, "info", "launch", 0, 0,
			    "%s: trials can be started again",
			    b->launcher->name);
		*s = (struct starts){ .since_ms = 0 };
		return;
	}
	left = s->since_ms + SAY_MS - loop_now_ms(t->env.loop);
	if (left > 0)
		tuner_wake_in(t, left);
	else if (!s->said) {
		s->said = true;
		tuner_event(t, "warning", "launch", 0, 0,
		    "%s: no trial can be started: %s; none fails for it and "
		    "nothing is used up: it is tried again and goes on by "
		    "itself (at once: hpotune resume)",
		    b->launcher->name, s->why);
		if (all_said(t) && tuner_cannot_start(t, text, sizeof text))
			notices_wait(t, text);
	}
}

void
starts_check(struct tuner *t)
{
	int i;

	for (i = 0; i < t->n_backends; i++)
		starts_tell(t, i);
}

bool
tuner_cannot_start(const struct tuner *t, char *text, size_t n)
{
	int i;

	for (i = 0; i < t->n_backends; i++) {
		if (!t->backends[i].starts.said)
			continue;
		(void)snprintf(text, n,
		    "%s: no trial can be started: %s; it is tried again, at "
		    "once by hpotune resume",
		    t->backends[i].launcher->name, t->backends[i].starts.why);
		return true;
	}
	return false;
}
