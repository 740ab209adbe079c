/*
 * Trials that are not final, and the one setter of their state.  Every move is
 * written to the store before anything is done about it.
 */

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "src/server/tuner/tuner-internal.h"

struct live_trial *
live_trial_find(struct tuner *t, int64_t trial)
{
	size_t i;

	if (t->last_found != NULL && t->last_found->row.number == trial)
		return t->last_found;
	for (i = 0; i < t->n_live; i++)
		if (t->live[i]->row.number == trial)
			return t->last_found = t->live[i];
	return NULL;
}

void
live_trial_attach(struct tuner *t, struct live_trial *l)
{
	t->live = xreallocarray(t->live, t->n_live + 1, sizeof *t->live);
	t->live[t->n_live++] = l;
}

/* Takes over what row owns. */
struct live_trial *
live_trial_add(struct tuner *t, struct store_trial *row)
{
	struct live_trial *l = xcalloc(1, sizeof *l);

	l->row = *row;
	l->judged_step = -1;
	*row = (struct store_trial){ 0 };
	live_trial_attach(t, l);
	return l;
}

void
live_trial_drop_metrics(struct live_trial *l)
{
	size_t i;

	for (i = 0; i < l->n_names; i++) {
		free(l->names[i].name);
		free(l->names[i].reports_seen);
	}
	l->n_names = l->next_name = 0;
}

void
live_trial_free(struct live_trial *l)
{
	store_trial_fini(&l->row);
	store_attempt_fini(&l->att);
	live_trial_drop_metrics(l);
	free(l->names);
	free(l->aims);
	free(l->start_error);
	free(l);
}

void
live_trial_detach(struct tuner *t, struct live_trial *l)
{
	size_t i;

	for (i = 0; t->live[i] != l; i++)
		;
	t->live[i] = t->live[--t->n_live];
	t->last_found = NULL;
}

void
live_trial_remove(struct tuner *t, struct live_trial *l)
{
	live_trial_detach(t, l);
	live_trial_free(l);
}

bool
live_trial_segment_done(const struct live_trial *l)
{
	return l->row.until > 0 && l->row.last_step >= l->row.until;
}

bool
live_trial_all_steps(const struct tuner *t, const struct live_trial *l)
{
	int64_t max = t->study->trial.max_steps;

	return max > 0 && (l->row.reports >= max || l->row.last_step >= max);
}

size_t
live_trial_n_placed(const struct tuner *t)
{
	size_t i, n = 0;

	for (i = 0; i < t->n_live; i++)
		n += trial_state_placed(t->live[i]->row.state) &&
		     !t->live[i]->external;
	return n;
}

size_t
live_trial_n_external(const struct tuner *t)
{
	size_t i, n = 0;

	for (i = 0; i < t->n_live; i++)
		n += t->live[i]->external;
	return n;
}

void
live_trial_write(struct tuner *t, struct live_trial *l)
{
	struct err e = ERR_INIT;

	if (t->store_failed)
		return;
	if (l->att_dirty && store_attempt_put(t->store, &l->att, &e) != 0)
		tuner_store_failed(t, &e);
	if (l->row_dirty && store_trial_put(t->store, &l->row, &e) != 0)
		tuner_store_failed(t, &e);
	l->att_dirty = l->row_dirty = false;
}

void
live_trial_set_state(
    struct tuner *t, struct live_trial *l, enum trial_event ev, const char *why)
{
	enum trial_state to = TRIAL_STATES;
	bool legal;

	legal = trial_move(l->row.state, ev, &to);
	assert(legal);
	(void)legal;
	l->row.state = to;
	if (trial_state_final(to))
		l->row.ended_us =
		    l->row.attempts > 0 ? l->att.ended_us : t->turn_us;
	free(l->row.why);
	l->row.why = why != NULL && *why != '\0' ? xstrdup(why) : NULL;
	if (l->open && trial_state_placed(to))
		l->att.state = to;
	if (trial_state_final(to))
		outcome_settle(t, l);
	l->row_dirty = true;
	l->att_dirty = l->att_dirty || l->open;
	t->durable = t->durable || ev != TRIAL_EV_UP;
	live_trial_write(t, l);
	if (why != NULL && *why != '\0')
		log_info("trial", "%lld %s: %s", (long long)l->row.number,
		    trial_state_name(to), why);
	else
		log_info("trial", "%lld %s", (long long)l->row.number,
		    trial_state_name(to));
}

/* A user's stop outranks the others; a rule's stays a rule's. */
static bool
cause_outranks(enum stop_cause now, enum stop_cause wanted)
{
	if (now == STOP_NONE)
		return true;
	if (wanted == STOP_USER)
		return now != STOP_USER;
	if (wanted == STOP_LIMIT)
		return now == STOP_SHUTDOWN;
	return false;
}

void
live_trial_stop(struct tuner *t, struct live_trial *l, enum stop_cause cause,
    const char *why)
{
	if (cause_outranks(l->row.cause, cause)) {
		l->row.cause = cause;
		l->row_dirty = true;
		if (l->row.state != TRIAL_STOPPING)
			live_trial_set_state(t, l, TRIAL_EV_STOP, why);
		else
			live_trial_write(t, l);
		t->durable = true;
	}
	if (!l->asked)
		effects_add(t, EFFECT_STOP, l);
	l->asked = true;
}
