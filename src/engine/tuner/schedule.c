/*
 * Selects what runs next, and where: trials that wait for another attempt
 * first, then paused ones that a rule resumes, then new ones, and second looks at
 * stopped ones when there are no new ones left or the strategy is not ready.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/engine/attempts/slots.h"
#include "src/engine/tuner/attempt-end.h"
#include "src/engine/tuner/capacity.h"
#include "src/engine/tuner/converge.h"
#include "src/engine/tuner/limits.h"
#include "src/engine/tuner/live-trial.h"
#include "src/engine/tuner/new-trial.h"
#include "src/engine/tuner/paused.h"
#include "src/engine/tuner/schedule.h"
#include "src/engine/tuner/second-looks.h"
#include "src/engine/tuner/tuner-internal.h"
#include "src/model/study/study.h"

static bool
backend_exists(const struct tuner *t, const char *name)
{
	int i;

	for (i = 0; i < t->n_backends; i++)
		if (strcmp(t->backends[i].type->name, name) == 0)
			return true;
	return false;
}

/*
 * Warn of a trial that ran on another backend: its checkpoint exists but cannot
 * be reached.
 */
static void
backend_change_say(
    struct tuner *t, const struct live_trial *l, int attempt, const char *name)
{
	if (l->row.backend != NULL && strcmp(l->row.backend, name) != 0 &&
	    strcmp(l->row.backend, ASK_BACKEND) != 0)
		tuner_event(t, LOG_LEVEL_WARN, "place", l->row.number, attempt,
		    "it continues on %s: %s %s; its checkpoints cannot "
		    "be moved there",
		    name, l->row.backend,
		    backend_exists(t, l->row.backend)
			? "has no slot that is not drained"
			: "is no longer in study.json");
}

/* Whether the backend has reserved what the trial's next attempt needs. */
static bool
attempt_take(struct tuner *t, struct live_trial *l, int backend, int slot,
    const char *uuid)
{
	struct backend *b = &t->backends[backend];

	capacity_expect(t, backend, l);
	return b->type->take == NULL || b->type->take(b->ctx, l->row.number,
					    l->row.attempts + 1, slot, uuid);
}

/* Whether an attempt that reported has left a checkpoint for the next one. */
static bool
attempt_has_checkpoint(const struct live_trial *l, const struct backend *b)
{
	return l->row.attempts > 0 && l->row.last_step > 0 &&
	       b->type->kept != NULL &&
	       b->type->kept(b->ctx, l->row.number) == LAUNCH_KEPT_YES;
}

/*
 * Record the intent to run one attempt in this slot; takes ownership of uuid.
 */
static void
schedule_attempt_begin(
    struct tuner *t, struct live_trial *l, int backend, int slot, char *uuid)
{
	struct backend *b = &t->backends[backend];
	int attempt = l->row.attempts + 1;
	struct store_attempt att = {
		.uuid = uuid,
		.backend = xstrdup(b->type->name),
		.slot = slot,
		.worst_cost = b->worst_cost,
		/*
		 * Relative to the folder of the database, which may be moved.
		 */
		.log = xasprintf("%s/trials/%" PRId64 "/attempt-%d/log",
		    strrchr(t->env.state_dir, '/') + 1, l->row.number, attempt),
	};

	study_end_reopen(t);
	live_trial_set_had_checkpoint(l, attempt_has_checkpoint(l, b));
	backend_change_say(t, l, attempt, b->type->name);
	slots_take(&b->slots, slot, l->row.number);
	live_trial_begin(t, l, backend, &att);
	tuner_effect(t, EFFECT_START, l);
}

static bool
any_alone(const struct tuner *t)
{
	size_t i;

	for (i = 0; i < t->live.n; i++)
		if (t->live.list[i]->row.alone &&
		    trial_state_placed(t->live.list[i]->row.state))
			return true;
	return false;
}

/* The first waiting trial that is due and fits a free slot, or NULL. */
static struct live_trial *
waiting_due(struct tuner *t, const struct capacity *room)
{
	struct live_trial *l, *best = NULL;
	int64_t wait_ms;
	size_t i;

	for (i = 0; i < t->live.n; i++) {
		l = t->live.list[i];
		if (l->row.state != TRIAL_WAITING)
			continue;
		wait_ms = (l->row.not_before_us - t->turn_us + 999) / 1000;
		/*
		 * Longer than any pause: the clock was set back, so do not
		 * wait.
		 */
		if (wait_ms > 0 && wait_ms <= RETRY_WAIT_MAX_MS) {
			tuner_wake_in(t, wait_ms);
			continue;
		}
		if (l->row.alone && live_set_n_placed(&t->live) > 0)
			continue;
		if ((best == NULL || l->row.number < best->row.number) &&
		    capacity_backend(t, room, l) >= 0)
			best = l;
	}
	return best;
}

/*
 * What is placed next where there is room, waiting now, and the backend; NULL:
 * nothing, or it is not known yet.
 */
static struct live_trial *
place_next(struct tuner *t, const struct capacity *room, int *backend)
{
	struct live_trial *l = waiting_due(t, room);

	*backend = capacity_backend(t, room, l);
	if (l == NULL && converge_known(t)) {
		l = paused_resume(t, room);
		*backend = capacity_backend(t, room, l);
		if (l == NULL && *backend >= 0 && limits_allow_new(t))
			l = new_trial_next(t);
	}
	if (l != NULL)
		return l;
	l = second_looks_resume(t, room);
	*backend = capacity_backend(t, room, l);
	return l;
}

/* Place one waiting trial, or a new one where there is room. */
static void
schedule_place_all(struct tuner *t)
{
	struct capacity room;
	struct live_trial *l;
	int backend;
	char *uuid;

	if (t->env.hold || t->held || t->end.over || t->end.shutdown ||
	    t->paused)
		return;
	while (!store_failed(t->store) && !any_alone(t)) {
		capacity_find(t, &room);
		if (!room.any) {
			second_looks_busy(t);
			return;
		}
		l = place_next(t, &room, &backend);
		if (l == NULL)
			return;
		uuid = rng_uuid();
		if (!attempt_take(t, l, backend, room.slot[backend], uuid)) {
			free(uuid);
			return;
		}
		schedule_attempt_begin(t, l, backend, room.slot[backend], uuid);
		second_looks_busy(t);
	}
}

void
schedule_place(struct tuner *t)
{
	schedule_place_all(t);
	if (t->suggesting)
		return;
	new_trial_ahead(t);
}
