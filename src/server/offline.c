/*
 * Executes a request for a study without a server: opens the tuner, runs the
 * request, closes it.  Waits a limited time for a stop that must reach a remote
 * service.
 */

#include <stdio.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/server/control.h"
#include "src/server/server.h"
#include "src/server/state-dir.h"

enum { OFFLINE_MS = 30000 };

struct offline {
	const struct server_env *env;
	struct loop *loop;
	struct state_dir state;
	struct tuner *tuner;
	struct loop_timer *late;
	int rc; /* of the latest turn */
	struct err *err;
};

static void
on_offline_reply(void *arg, bool good, const char *text, const char *data)
{
	struct control_answer *a = arg;

	(void)data;
	a->ok = good;
	(void)snprintf(a->text, sizeof a->text, "%s", text);
}

static void
on_offline_turn(void *arg)
{
	struct offline *o = arg;

	o->rc = tuner_turn(o->tuner, o->err);
	if (o->rc != 0 || tuner_shutdown_pending(o->tuner) == 0 ||
	    !loop_timer_pending(o->late))
		loop_stop(o->loop);
}

static void
on_offline_late(void *arg)
{
	(void)arg; /* the next turn checks the state */
}

static int
offline_turns(struct offline *o, struct err *e)
{
	/* A turn that failed to get the database lock has done nothing. */
	if (tuner_turn(o->tuner, e) != 0 || e->kind == ERR_BUSY)
		return -1;
	if (tuner_shutdown_pending(o->tuner) == 0)
		return 0;
	o->late = loop_timer_new(o->loop, on_offline_late, o);
	loop_timer_set(o->late, OFFLINE_MS);
	o->err = e;
	loop_run(o->loop, on_offline_turn, o);
	loop_timer_free(o->late);
	return o->rc;
}

static int
offline_request(struct offline *o, enum tuner_request_kind ask, int64_t trial,
    const char *params, struct control_answer *a, struct err *e)
{
	struct tuner_env env = {
		.loop = o->loop,
		.study = o->env->study,
		.db = o->env->db,
		.state_dir = o->env->state_dir,
		.hold = true,
	};
	bool all =
	    trial == 0 && (ask == TUNER_STOP_TRIAL || ask == TUNER_KILL_TRIAL);
	int pending;

	if (tuner_open(&o->tuner, &env, e) != 0) {
		o->tuner = NULL;
		return -1;
	}
	if (all)
		tuner_shutdown(o->tuner, ask == TUNER_KILL_TRIAL);
	else
		tuner_request(
		    o->tuner, ask, trial, params, on_offline_reply, a);
	if (offline_turns(o, e) != 0)
		return -1;
	if (all)
		on_offline_reply(a, true,
		    "no server runs: trials that still ran were told to end",
		    NULL);
	if (a->ok && (pending = tuner_shutdown_pending(o->tuner)) > 0) {
		(void)snprintf(a->text, sizeof a->text,
		    "the stop is recorded, but %d of the jobs could not be "
		    "told yet: hpotune start sees to it",
		    pending);
		a->ok = false;
	}
	return 0;
}

int
offline_run(const struct server_env *env, enum tuner_request_kind ask,
    int64_t trial, const char *params, struct control_answer *a, struct err *e)
{
	struct offline o = { .env = env, .state = STATE_DIR_INIT };
	int rc = -1;

	if (loop_open(&o.loop, LOOP_REAL, e) == 0 &&
	    state_dir_open(&o.state, env->state_dir, false, e) == 0 &&
	    state_dir_lock(&o.state, e) == 0 &&
	    state_dir_lock_db(&o.state, env->db, e) == 0)
		rc = offline_request(&o, ask, trial, params, a, e);
	tuner_close(o.tuner);
	loop_close(o.loop);
	state_dir_close(&o.state);
	return rc;
}
