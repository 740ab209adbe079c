/*
 * Executes a request on the database when no server runs: opens the tuner,
 * executes the request in one turn, and closes the tuner.  For ask, tell and judge
 * the tuner has no backends; a stop waits up to 30 seconds until it has reached the
 * jobs of a service.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/engine/study-row.h"
#include "src/model/study/study.h"
#include "src/server/control.h"
#include "src/server/server.h"
#include "src/server/state-take.h"
#include "src/store/store.h"
#include "src/study-files/state-dir.h"

enum {
	ONESHOT_BUSY_MS = 10000, /* ask, tell and judge wait for the lock */
	ONESHOT_STOP_MS = 30000
};

struct oneshot {
	const struct server_env *env;
	struct loop *loop;
	struct state_dir state;
	struct tuner *tuner;
	struct loop_timer *late;
	struct control_answer *answer;
	bool answered;
	int rc; /* of the latest turn */
	struct err *err;
};

static void
oneshot_on_reply(void *arg, bool good, const char *text, const char *data)
{
	struct oneshot *a = arg;

	a->answered = true;
	a->answer->ok = good;
	(void)snprintf(a->answer->text, sizeof a->answer->text, "%s", text);
	a->answer->data = data != NULL ? xstrdup(data) : NULL;
}

static void
oneshot_on_late(void *arg)
{
	(void)arg; /* the next turn checks the state */
}

static void
on_request_turn(void *arg)
{
	struct oneshot *a = arg;

	a->rc = tuner_turn(a->tuner, a->err) < 0 ? -1 : 0;
	if (a->rc == 0 && !a->answered && !loop_timer_pending(a->late) &&
	    *tuner_trouble(a->tuner) != '\0')
		a->rc =
		    err_set(a->err, ERR_BUSY, "%s", tuner_trouble(a->tuner));
	if (a->rc != 0 || a->answered)
		loop_stop(a->loop);
}

static int
oneshot_open_tuner(struct oneshot *a, struct store *store, struct err *e)
{
	struct tuner_env env = {
		.loop = a->loop,
		.study = a->env->study,
		.db = a->env->db,
		.store = store,
		.state_dir = a->env->state_dir,
		.hold = true,
		.without_backends = true,
	};

	if (tuner_open(&a->tuner, &env, e) == 0)
		return 0;
	a->tuner = NULL;
	return -1;
}

/* Create the study, or record what has changed in study.json since. */
static int
oneshot_open(struct oneshot *a, struct err *e)
{
	const struct server_env *env = a->env;
	struct store *store = NULL;
	bool there = true;

	/* Usual case: the study exists, and study.json is unchanged. */
	if (access(env->db, F_OK) == 0 && oneshot_open_tuner(a, NULL, e) != 0 &&
	    (store_exists(&there, env->db, NULL) != 0 || there))
		return -1;
	if (a->tuner != NULL && tuner_is_current(a->tuner))
		return 0;
	if (a->tuner == NULL &&
	    state_take_check_trials(&a->state, env, &there, e) != 0)
		return -1;
	tuner_close(a->tuner);
	a->tuner = NULL;
	if (study_row_open(&store, env->db, env->study, env->network_fs,
		STORE_WRITE_ONCE, loop_wall_us(a->loop), e) != 0)
		return -1;
	if (state_dir_lock_db(&a->state, env->db, e) != 0) {
		store_close(store);
		return -1;
	}
	return oneshot_open_tuner(a, store, e);
}

static int
oneshot_request(struct oneshot *a, enum tuner_request_kind ask, int64_t trial,
    const char *params, struct err *e)
{
	a->err = e;
	a->late = loop_timer_new(a->loop, oneshot_on_late, a);
	loop_timer_set(a->late, ONESHOT_BUSY_MS);
	tuner_request_by(
	    a->tuner, ask, trial, params, a->env->by, oneshot_on_reply, a);
	loop_run(a->loop, on_request_turn, a);
	loop_timer_free(a->late);
	return a->rc;
}

int
oneshot_run(const struct server_env *env, enum tuner_request_kind ask,
    int64_t trial, const char *params, struct control_answer *answer,
    struct err *e)
{
	struct oneshot a = {
		.env = env, .answer = answer, .state = STATE_DIR_INIT
	};
	int rc = -1;

	if (loop_open(&a.loop, LOOP_REAL, e) == 0 &&
	    state_take(&a.state, env, e) == 0 && oneshot_open(&a, e) == 0)
		rc = oneshot_request(&a, ask, trial, params, e);
	tuner_close(a.tuner);
	loop_close(a.loop);
	state_dir_close(&a.state);
	return rc;
}

static void
on_stop_turn(void *arg)
{
	struct oneshot *a = arg;

	a->rc = tuner_turn(a->tuner, a->err) < 0 ? -1 : 0;
	if (a->rc != 0 || tuner_shutdown_pending(a->tuner) == 0 ||
	    !loop_timer_pending(a->late))
		loop_stop(a->loop);
}

static int
stop_turns(struct oneshot *a, struct err *e)
{
	/* Another process holds the lock on the database: nothing was done. */
	if (tuner_turn(a->tuner, e) != 0)
		return -1;
	if (tuner_shutdown_pending(a->tuner) == 0)
		return 0;
	a->late = loop_timer_new(a->loop, oneshot_on_late, a);
	loop_timer_set(a->late, ONESHOT_STOP_MS);
	a->err = e;
	loop_run(a->loop, on_stop_turn, a);
	loop_timer_free(a->late);
	return a->rc;
}

static int
control_request(struct oneshot *a, enum tuner_request_kind ask, int64_t trial,
    const char *params, struct err *e)
{
	struct control_answer *answer = a->answer;
	struct tuner_env env = {
		.loop = a->loop,
		.study = a->env->study,
		.db = a->env->db,
		.state_dir = a->env->state_dir,
		.hold = true,
		/* These requests concern no attempt. */
		.without_backends =
		    ask == TUNER_NOTE || ask == TUNER_TAG ||
		    ask == TUNER_FORGET || ask == TUNER_CONFIRM ||
		    ask == TUNER_PROPOSE || ask == TUNER_PROPOSE_COMMIT ||
		    ask == TUNER_CLEAN || ask == TUNER_UNQUEUE ||
		    ask == TUNER_CALLED,
	};
	bool all =
	    trial == 0 && (ask == TUNER_STOP_TRIAL || ask == TUNER_KILL_TRIAL);
	int pending;

	if (tuner_open(&a->tuner, &env, e) != 0) {
		a->tuner = NULL;
		return -1;
	}
	if (all)
		tuner_shutdown(a->tuner, ask == TUNER_KILL_TRIAL);
	else
		tuner_request_by(a->tuner, ask, trial, params, a->env->by,
		    oneshot_on_reply, a);
	if (stop_turns(a, e) != 0)
		return -1;
	/* A trial no longer counts, or again: the next tuner says so. */
	if (tuner_stale(a->tuner)) {
		tuner_close(a->tuner);
		a->tuner = NULL;
		if (tuner_open(&a->tuner, &env, e) != 0) {
			a->tuner = NULL;
			return -1;
		}
		return tuner_refresh(a->tuner, e);
	}
	if (all)
		oneshot_on_reply(a, true,
		    "no server runs: trials still running were asked to "
		    "stop",
		    NULL);
	if (answer->ok && (pending = tuner_shutdown_pending(a->tuner)) > 0) {
		(void)snprintf(answer->text, sizeof answer->text,
		    "the stop is recorded, but could not be sent to %d "
		    "of the jobs: hpotune start sends it",
		    pending);
		answer->ok = false;
	}
	return 0;
}

int
oneshot_control(const struct server_env *env, enum tuner_request_kind ask,
    int64_t trial, const char *params, struct control_answer *answer,
    struct err *e)
{
	struct oneshot a = {
		.env = env, .answer = answer, .state = STATE_DIR_INIT
	};
	int rc = -1;

	if (loop_open(&a.loop, LOOP_REAL, e) == 0 &&
	    state_dir_open(&a.state, env->state_dir, false, e) == 0 &&
	    state_dir_lock(&a.state, STATE_DIR_COMMAND, e) == 0 &&
	    state_dir_lock_db(&a.state, env->db, e) == 0)
		rc = control_request(&a, ask, trial, params, e);
	tuner_close(a.tuner);
	loop_close(a.loop);
	state_dir_close(&a.state);
	return rc;
}
