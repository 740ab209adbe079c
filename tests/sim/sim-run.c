/*
 * The life of a study: servers start, work, die and restart, while users send
 * requests and other programs lock the file.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/engine/study-row.h"
#include "src/engine/tuner/tuner.h"
#include "src/model/study/study.h"
#include "src/store/store.h"
#include "tests/sim/sim.h"

enum { TURNS_MAX = 20000, DOWN_MAX_MS = 30000 };

/* The server is gone; what runs goes on. */
static void
server_down(struct sim *s, bool restart)
{
	s->may_crash = false;
	tuner_close(s->tuner);
	s->tuner = NULL;
	s->restart = s->restart || restart;
	s->down_ms = loop_now_ms(s->loop);
	if (restart)
		s->full = false;
	loop_timer_set(s->reopen,
	    1 + sim_below(s, sim_chance(s, 0.7) ? 500 : DOWN_MAX_MS));
}

static void
blocker_free(struct sim *s)
{
	if (s->blocker == NULL)
		return;
	store_rollback(s->blocker);
	store_close(s->blocker);
	s->blocker = NULL;
}

/* Attempts that the last server left do not count against this one. */
static void
note_adopted(struct sim *s)
{
	struct store_rows *r = NULL;
	struct err e = ERR_INIT;

	s->n_adopted = 0;
	if (s->reader == NULL ||
	    store_rows_open(&r, s->reader,
		"SELECT uuid FROM t_attempt WHERE state <> 'ended' LIMIT 8",
		NULL, &e) != 0)
		return;
	for (; store_rows_next(r, &e) == 1; s->n_adopted++)
		(void)snprintf(s->adopted[s->n_adopted], sizeof s->adopted[0],
		    "%s", store_rows_text(r, 0));
	store_rows_close(r);
}

/* A pause outlives its server, whether its answer came or not. */
static void
note_paused(struct sim *s)
{
	s->paused =
	    sim_number(s, "SELECT count(*) FROM t_study WHERE state = 'paused'",
		NULL) == 1;
	s->attempts_when_paused =
	    sim_number(s, "SELECT count(*) FROM t_attempt", NULL);
	if (s->paused && !loop_timer_pending(s->unpause))
		loop_timer_set(s->unpause, 1000);
}

static bool
server_up(struct sim *s)
{
	struct tuner_env env = { .loop = s->loop,
		.study = s->study,
		.db = s->db,
		.state_dir = s->state_dir };
	struct err e = ERR_INIT;

	if (s->restart) {
		s->parallel_now =
		    sim_chance(s, 0.1) ? 1 + sim_below(s, 5) : s->parallel;
		if (s->parallel_now != s->parallel)
			s->parallel_changed = true;
	}
	env.parallel = s->parallel_now;
	blocker_free(s);
	pretend_world_pass(s->world, loop_now_ms(s->loop) - s->down_ms);
	if ((s->restart && study_row_open(&env.store, s->db, s->study, false,
			       STORE_WRITE, loop_wall_us(s->loop), &e) != 0) ||
	    tuner_open(&s->tuner, &env, &e) != 0) {
		s->tuner = NULL;
		if (s->broken > 0)
			server_down(s, false);
		else
			sim_wrong(s, "the server does not start: %s", e.text);
		return false;
	}
	s->restart = false;
	sim_memory_check(s);
	note_adopted(s);
	tuner_hold(s->tuner, s->full);
	if (s->reader == NULL &&
	    store_open(&s->reader, s->db, STORE_READ, &e) != 0)
		sim_wrong(s, "the store cannot be read: %s", e.text);
	note_paused(s);
	return true;
}

static void
on_reply(void *arg, bool good, const char *text, const char *data)
{
	struct sim_ask *ask = arg;
	struct sim *s = ask->sim;

	(void)data;
	(void)text;
	ask->answered = true;
	ask->good = good;
	if (!good)
		return;
	if (ask->kind == TUNER_PAUSE) {
		s->paused = true;
		s->attempts_when_paused =
		    sim_number(s, "SELECT count(*) FROM t_attempt", NULL);
	}
	if (ask->kind == TUNER_RESUME)
		s->paused = false;
	s->retried += ask->kind == TUNER_RETRY;
}

static void
ask(struct sim *s, enum tuner_request_kind kind, int64_t trial,
    const char *params)
{
	struct sim_ask *a;

	if (s->n_asks == SIM_ASKS_MAX)
		return;
	a = &s->asks[s->n_asks++];
	*a = (struct sim_ask){ .sim = s, .kind = (int)kind, .trial = trial };
	tuner_request(s->tuner, kind, trial, params, on_reply, a);
}

static void
on_unpause(void *arg)
{
	struct sim *s = arg;

	if (s->tuner != NULL)
		ask(s, TUNER_RESUME, 0, NULL);
	else
		loop_timer_set(s->unpause, 1000);
}

static void
on_reopen(void *arg)
{
	(void)arg; /* the next turn opens the tuner */
}

/* Another program takes the write lock for some turns. */
static void
block(struct sim *s)
{
	struct err e = ERR_INIT;

	if (s->blocker != NULL)
		return;
	if (store_open(&s->blocker, s->db, STORE_WRITE, &e) != 0) {
		s->blocker = NULL;
		return;
	}
	if (store_begin(s->blocker, &e) != 0)
		blocker_free(s);
	s->blocked = 1;
	s->locks++;
}

/* One that has ended without completing, or any; or all that failed. */
static void
ask_retry(struct sim *s)
{
	int64_t any = 1 + sim_below(s, s->trials + 1);
	int64_t ended = sim_number(s,
	    "SELECT coalesce(max(trial), 0) FROM t_trial WHERE state IN "
	    "('failed', 'stopped', 'cancelled')",
	    NULL);

	if (sim_chance(s, 0.2))
		ask(s, TUNER_RETRY, 0, "{\"failed\": true}");
	else
		ask(s, TUNER_RETRY, ended > 0 ? ended : any, NULL);
}

static void
trouble(struct sim *s)
{
	char params[64];

	/* In one study of four, for the others to stay what they were. */
	if (s->seed % 4 == 1 && sim_chance(s, 0.3)) {
		ask_retry(s);
		return;
	}

	switch (sim_below(s, 9)) {
	case 0:
	case 1:
		ask(s, TUNER_STOP_TRIAL, 1 + sim_below(s, s->trials + 1), NULL);
		break;
	case 2:
		ask(s, TUNER_PAUSE, 0, NULL);
		loop_timer_set(s->unpause, 1 + sim_below(s, 20000));
		break;
	case 3:
		ask(s, TUNER_RESUME, 0, NULL);
		break;
	case 4:
		(void)snprintf(params, sizeof params, "{\"x\":0.%" PRId64 "}",
		    1 + sim_below(s, 9));
		ask(s, TUNER_ENQUEUE, 0, params);
		break;
	case 5:
		if (sim_chance(s, 0.3))
			block(s);
		break;
	case 6:
		s->broken = 1 + (int)sim_below(s, 10);
		sim_disk_break(sim_chance(s, 0.8) ? ENOSPC : EIO);
		break;
	case 7:
		sim_memory_take(s);
		server_down(s, sim_chance(s, 0.7));
		break;
	case 8:
		tuner_shutdown(s->tuner, sim_chance(s, 0.3));
		s->leaves++;
		break;
	}
}

/* A stop that is committed has reached the attempt by the end of the turn. */
static void
check_stops(struct sim *s)
{
	struct store_rows *r = NULL;
	const struct pretend_attempt *a;
	struct err e = ERR_INIT;

	/* Not when the server cannot know where it is. */
	if (s->faults.unknown > 0 || s->faults.late > 0)
		return;
	if (store_rows_open(&r, s->reader,
		"SELECT uuid FROM t_attempt "
		"WHERE state = 'stopping'",
		NULL, &e) != 0) {
		sim_wrong(s, "%s", e.text);
		return;
	}
	while (store_rows_next(r, &e) == 1) {
		a = pretend_world_find(s->world, store_rows_text(r, 0));
		if (a != NULL && a->state == PRETEND_RUNS && a->stop_ms < 0)
			sim_wrong(s,
			    "trial %" PRId64 " is stopping in the "
			    "store, but was not told to",
			    a->trial);
	}
	store_rows_close(r);
}

static void
check_turn(struct sim *s)
{
	if (!s->parallel_changed &&
	    (int64_t)pretend_world_running(s->world) > s->parallel)
		sim_wrong(s,
		    "%zu attempts run at once, limits.parallel is "
		    "%" PRId64,
		    pretend_world_running(s->world), s->parallel);
	check_stops(s);
	if (s->paused && sim_number(s, "SELECT count(*) FROM t_attempt", NULL) >
			     s->attempts_when_paused)
		sim_wrong(s, "an attempt was placed while paused");
}

/* The tuner says there is nothing left to do. */
static void
server_done(struct sim *s)
{
	int64_t waiting;

	(void)snprintf(s->why, sizeof s->why, "%s", tuner_end(s->tuner).why);
	waiting = sim_number(s,
	    "SELECT count(*) FROM t_study WHERE state IN "
	    "('interrupted', 'paused')",
	    NULL);
	sim_memory_take(s);
	server_down(s, true);
	if (waiting == 0) {
		s->ended = true;
		loop_stop(s->loop);
	}
}

static void
turn_tuner(struct sim *s)
{
	struct err e = ERR_INIT;

	if (setjmp(s->crashed) != 0) {
		s->crashes++;
		server_down(s, true);
		return;
	}
	s->may_crash = true;
	if (tuner_turn(s->tuner, &e) < 0) {
		s->may_crash = false;
		s->disks += s->broken > 0;
		s->full = s->full || e.kind == ERR_FULL;
		if (e.kind != ERR_BUSY && s->broken == 0)
			sim_wrong(s, "a turn failed: %s", e.text);
		server_down(s, false);
		return;
	}
	s->may_crash = false;
	if (tuner_done(s->tuner)) {
		server_done(s);
		return;
	}
	check_turn(s);
	if (sim_chance(s, s->trouble))
		trouble(s);
}

static void
on_turn(void *arg)
{
	struct sim *s = arg;

	if (++s->turns > TURNS_MAX)
		sim_wrong(s, "no end after %d turns", TURNS_MAX);
	if (*s->wrong != '\0') {
		loop_stop(s->loop);
		return;
	}
	if (s->blocker != NULL && s->blocked-- <= 0)
		blocker_free(s);
	if (s->broken > 0 && --s->broken == 0) {
		sim_disk_break(0);
		s->full = false;
		if (s->tuner != NULL)
			tuner_hold(s->tuner, false);
	}
	if (s->tuner == NULL &&
	    (loop_timer_pending(s->reopen) || !server_up(s)))
		return;
	turn_tuner(s);
}

/* Once more when all is over: nothing may look different now. */
static void
server_again(struct sim *s)
{
	struct tuner_env env = { .loop = s->loop,
		.study = s->study,
		.db = s->db,
		.state_dir = s->state_dir,
		.hold = true };
	struct err e = ERR_INIT;

	if (!s->ended || *s->wrong != '\0')
		return;
	if (tuner_open(&s->tuner, &env, &e) != 0)
		sim_wrong(s, "the server does not start again: %s", e.text);
	else
		sim_memory_check(s);
}

void
sim_run(struct sim *s)
{
	loop_open(&s->loop, LOOP_VIRTUAL, NULL);
	s->world = pretend_world_new(s->seed, &s->faults);
	s->reopen = loop_timer_new(s->loop, on_reopen, s);
	s->unpause = loop_timer_new(s->loop, on_unpause, s);
	s->restart = true;
	sim_world_use(s);
	loop_run(s->loop, on_turn, s);
	s->may_crash = false;
	tuner_close(s->tuner);
	s->tuner = NULL;
	blocker_free(s);
	sim_disk_break(0);
	server_again(s);
	tuner_close(s->tuner);
	s->tuner = NULL;
}
