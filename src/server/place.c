/*
 * Who runs next: trials that wait for another attempt first, then settings the
 * user put in the queue, then what the strategy suggests.
 */

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fail.h"
#include "src/base/json.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/history.h"
#include "src/model/space.h"
#include "src/model/study.h"
#include "src/server/tuner-parts.h"

static int64_t
trials_limit(const struct tuner *t)
{
	return t->env.trials > 0 ? t->env.trials : t->study->limits.trials;
}

bool
tuner_may_place_new(const struct tuner *t)
{
	const struct study_limits *lim = &t->study->limits;
	int64_t max = trials_limit(t);

	if (t->over || t->shutdown || t->paused || t->exhausted || t->env.hold)
		return false;
	if (max > 0 && t->n_trials >= max)
		return false;
	return lim->no_improvement == 0 ||
	       t->since_better < lim->no_improvement;
}

/* A version 4 UUID as text. */
static char *
uuid_new(void)
{
	unsigned char b[16];

	rng_system(b, sizeof b);
	b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
	b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
	return xasprintf("%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
			 "%02x%02x%02x%02x%02x%02x",
	    b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10],
	    b[11], b[12], b[13], b[14], b[15]);
}

static bool
backend_there(const struct tuner *t, const char *name)
{
	int i;

	for (i = 0; i < t->n_backends; i++)
		if (strcmp(t->backends[i].launcher->name, name) == 0)
			return true;
	return false;
}

/* It had another backend: what it saved is there, and cannot be had. */
static void
backend_change(struct tuner *t, struct live *l, const char *name)
{
	if (l->row.backend != NULL && strcmp(l->row.backend, name) == 0)
		return;
	if (l->row.backend != NULL)
		tuner_event(t, "warning", "place", l->row.number,
		    l->row.attempts,
		    "it goes on at %s: %s %s; its checkpoints stay behind",
		    name, l->row.backend,
		    backend_there(t, l->row.backend)
			? "has no slot that is not drained"
			: "is no longer in study.json");
	free(l->row.backend);
	l->row.backend = xstrdup(name);
}

/* Record the intent to run one attempt in this slot. */
static void
attempt_begin(struct tuner *t, struct live *l, int backend, int slot)
{
	struct err e = ERR_INIT;
	struct backend *b = &t->backends[backend];

	live_forget_names(l);
	l->said_names = l->found = false;
	l->reports[0] = l->reports[1] = 0;
	l->said_reports[0] = l->said_reports[1] = false;
	store_attempt_fini(&l->att);
	l->row.attempts++;
	l->att = (struct store_attempt){
		.trial = l->row.number,
		.attempt = l->row.attempts,
		.uuid = uuid_new(),
		.backend = xstrdup(b->launcher->name),
		.slot = slot,
		.state = TRIAL_STARTING,
		.exit_code = -1,
		.resumed_step = -1,
		.worst_cost = b->worst_cost,
		.log = xasprintf("%s/trials/%" PRId64 "/attempt-%d/log",
		    t->env.state_dir, l->row.number, l->row.attempts),
	};
	backend_change(t, l, b->launcher->name);
	l->row.not_before_us = 0;
	l->backend = backend;
	slots_take(&b->slots, slot, l->row.number);
	if (store_attempt_add(t->store, &l->att, &e) != 0) {
		tuner_break(t, &e);
		return;
	}
	l->open = true;
	live_move(t, l, TRIAL_EV_PLACE, NULL);
	act_add(t, ACT_START, l->row.number);
}

static bool
any_alone(const struct tuner *t)
{
	size_t i;

	for (i = 0; i < t->n_live; i++)
		if (t->live[i]->row.alone && !fail_bug("bug.not_alone") &&
		    trial_state_placed(t->live[i]->row.state))
			return true;
	return false;
}

/* The first waiting trial that is due and has a place to go, or NULL. */
static struct live *
waiting_due(struct tuner *t, const struct room *room)
{
	struct live *l, *best = NULL;
	int64_t wait_ms;
	size_t i;

	for (i = 0; i < t->n_live; i++) {
		l = t->live[i];
		if (l->row.state != TRIAL_WAITING)
			continue;
		wait_ms = (l->row.not_before_us - t->turn_us + 999) / 1000;
		/* Longer than any pause: the clock was set back. */
		if (wait_ms > 0 && wait_ms <= RETRY_WAIT_MOST_MS) {
			tuner_wake_in(t, wait_ms);
			continue;
		}
		if (l->row.alone && live_placed(t) > 0 &&
		    !fail_bug("bug.not_alone"))
			continue;
		if ((best == NULL || l->row.number < best->row.number) &&
		    room_for(t, room, l) >= 0)
			best = l;
	}
	return best;
}

/*
 * Ask the strategy: 0 with n values, 1 when it has nothing left, -1 when it
 * failed (the study ends).
 */
static int
suggest(struct tuner *t, struct value *values)
{
	const struct space *space = t->study->space;
	struct strategy_ask ask = {
		.space = space,
		.history = t->history,
		.seed = t->row.seed,
		.trial = t->n_trials + 1,
		.n_enqueued = t->n_enqueued,
	};
	struct err e = ERR_INIT;
	double *x = xcalloc(space->n, sizeof *x);
	int rc;

	rc = t->plugs.strategy->suggest(x, &ask, t->plugs.strategy_options, &e);
	if (rc == 0) {
		space_snap(space, x);
		space_decode(space, x, values);
	} else if (rc < 0) {
		tuner_event(t, "error", "strategy", 0, 0, "%s: %s",
		    t->plugs.strategy->name, e.text);
		t->over = t->failed = true;
		(void)snprintf(t->why, sizeof t->why, "the strategy %s: %s",
		    t->plugs.strategy->name, e.text);
	}
	free(x);
	return rc;
}

/* Lay a partial setting over suggested values; what it leaves inactive goes. */
static void
values_lay_over(
    const struct space *space, struct value *values, const struct value *over)
{
	size_t i, k;

	for (i = 0; i < space->n; i++)
		if (over[i].kind != VALUE_NONE)
			values[i] = over[i];
	for (k = 0; k < space->n; k++) {
		i = (size_t)space->order[k];
		if (!space_active(space, i, values))
			values[i].kind = VALUE_NONE;
	}
}

/*
 * A parameter that became active through the setting has no suggested value:
 * it takes its default, or the middle of its range.
 */
static void
values_complete(const struct space *space, struct value *values)
{
	struct value *middle = xcalloc(space->n, sizeof *middle);
	double *u = xcalloc(space->n, sizeof *u);
	size_t i, k;

	for (k = 0; k < space->n; k++) {
		i = (size_t)space->order[k];
		if (values[i].kind != VALUE_NONE ||
		    !space_active(space, i, values))
			continue;
		if (space->params[i].has_default) {
			values[i] = space->params[i].def;
			continue;
		}
		space_encode(space, values, u);
		u[i] = 0.5;
		space_decode(space, u, middle);
		values[i] = middle[i];
	}
	free(u);
	free(middle);
}

/* The next queued setting: 0 with values, 1 none, -1 the store failed. */
static int
queued_values(
    struct tuner *t, struct value *values, int64_t *id, const char **source)
{
	const struct space *space = t->study->space;
	struct value *over;
	struct json_doc *doc = NULL;
	struct err e = ERR_INIT;
	char *params = NULL;
	int rc;

	rc = store_queue_next(t->store, id, &params, source, &e);
	if (rc != 0) {
		if (rc < 0)
			tuner_break(t, &e);
		return rc;
	}
	over = xcalloc(space->n, sizeof *over);
	rc = json_parse(&doc, params, strlen(params), NULL, false, &e);
	if (rc == 0)
		rc = space_read_values(space, json_root(doc), over, &e);
	if (rc == 0) {
		rc = suggest(t, values);
		if (rc == 0)
			values_lay_over(space, values, over);
		else
			memcpy(values, over, space->n * sizeof *values);
		values_complete(space, values);
		rc = 0;
	} else {
		tuner_event(t, "error", "enqueue", 0, 0,
		    "a queued setting was dropped: %s", e.text);
		if (store_queue_take(t->store, *id, 0, &e) != 0)
			tuner_break(t, &e);
	}
	json_free(doc);
	free(over);
	free(params);
	return rc;
}

static char *
params_json(const struct space *space, const struct value *values)
{
	struct buf b = { 0 };

	space_put_json(&b, space, values);
	return buf_take(&b);
}

/* A new trial from the queue or the strategy, or NULL when there is none. */
static struct live *
trial_new(struct tuner *t)
{
	const struct space *space = t->study->space;
	struct value *values = xcalloc(space->n, sizeof *values);
	double *point = xcalloc(space->n, sizeof *point);
	const char *source = "strategy";
	struct store_trial row;
	struct live *l = NULL;
	struct err e = ERR_INIT;
	int64_t id = 0;
	int rc;

	rc = queued_values(t, values, &id, &source);
	if (rc == 1) {
		id = 0;
		rc = suggest(t, values);
		t->exhausted = rc == 1;
	}
	if (rc == 0 && !t->store_failed) {
		row = (struct store_trial){
			.number = ++t->n_trials,
			.state = TRIAL_WAITING,
			.params = params_json(space, values),
			.source = source,
			.objective = NAN,
			.last_step = -1,
		};
		t->n_enqueued += id != 0;
		if (store_trial_add(t->store, &row, &e) != 0 ||
		    (id != 0 && !fail_bug("bug.keep_queue") &&
			store_queue_take(t->store, id, row.number, &e) != 0))
			tuner_break(t, &e);
		space_encode(space, values, point);
		history_add(t->history, row.number, point);
		l = live_add(t, &row);
	}
	free(point);
	free(values);
	return l;
}

void
tuner_place(struct tuner *t)
{
	struct room room;
	struct live *l;
	int backend;

	if (t->env.hold || t->held || t->over || t->shutdown || t->paused)
		return;
	while (!t->store_failed && !any_alone(t)) {
		room_find(t, &room);
		if (!room.any)
			return;
		l = waiting_due(t, &room);
		backend = room_for(t, &room, l);
		if (l == NULL && backend >= 0 && tuner_may_place_new(t))
			l = trial_new(t);
		if (l == NULL)
			return;
		attempt_begin(t, l, backend, room.slot[backend]);
	}
}
