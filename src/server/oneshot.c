/*
 * Executes ask, tell and judge for a study without a server: opens the tuner
 * without its launchers, answers and closes it.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "src/server/control.h"
#include "src/server/study-lock.h"
#include "src/server/server.h"
#include "src/server/state-dir.h"
#include "src/server/study-row.h"
#include "src/store/store.h"

enum { APART_BUSY_MS = 10000 };

struct apart {
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
on_oneshot_reply(void *arg, bool good, const char *text, const char *data)
{
	struct apart *a = arg;

	a->answered = true;
	a->answer->ok = good;
	(void)snprintf(a->answer->text, sizeof a->answer->text, "%s", text);
	a->answer->data = data != NULL ? xstrdup(data) : NULL;
}

static void
on_oneshot_late(void *arg)
{
	(void)arg; /* the next turn checks the state */
}

static void
on_oneshot_turn(void *arg)
{
	struct apart *a = arg;

	a->rc = tuner_turn(a->tuner, a->err);
	if (a->rc == 0 && !a->answered && !loop_timer_pending(a->late) &&
	    *tuner_trouble(a->tuner) != '\0')
		a->rc =
		    err_set(a->err, ERR_BUSY, "%s", tuner_trouble(a->tuner));
	if (a->rc != 0 || a->answered)
		loop_stop(a->loop);
}

static int
oneshot_open_tuner(struct apart *a, struct err *e)
{
	struct tuner_env env = {
		.loop = a->loop,
		.study = a->env->study,
		.db = a->env->db,
		.state_dir = a->env->state_dir,
		.hold = true,
		.without_launchers = true,
	};

	if (tuner_open(&a->tuner, &env, e) == 0)
		return 0;
	a->tuner = NULL;
	return -1;
}

/* Create the study, or record what has changed in study.json since. */
static int
oneshot_open(struct apart *a, struct err *e)
{
	const struct server_env *env = a->env;
	bool there = true;

	/* Usual case: the study exists, and study.json is unchanged. */
	if (access(env->db, F_OK) == 0 && oneshot_open_tuner(a, e) != 0 &&
	    (store_exists(&there, env->db, NULL) != 0 || there))
		return -1;
	if (a->tuner != NULL && tuner_is_current(a->tuner))
		return 0;
	if (a->tuner == NULL && study_lock_check_trials(&a->state, env, e) != 0)
		return -1;
	tuner_close(a->tuner);
	a->tuner = NULL;
	if (study_row_open_once(env->db, env->study, env->network_fs,
		loop_wall_us(a->loop), e) != 0 ||
	    state_dir_lock_db(&a->state, env->db, e) != 0)
		return -1;
	return oneshot_open_tuner(a, e);
}

static int
oneshot_request(struct apart *a, enum tuner_request_kind ask, int64_t trial,
    const char *params, struct err *e)
{
	a->err = e;
	a->late = loop_timer_new(a->loop, on_oneshot_late, a);
	loop_timer_set(a->late, APART_BUSY_MS);
	tuner_request(a->tuner, ask, trial, params, on_oneshot_reply, a);
	loop_run(a->loop, on_oneshot_turn, a);
	loop_timer_free(a->late);
	return a->rc;
}

int
oneshot_run(const struct server_env *env, enum tuner_request_kind ask,
    int64_t trial, const char *params, struct control_answer *answer,
    struct err *e)
{
	struct apart a = {
		.env = env, .answer = answer, .state = STATE_DIR_INIT
	};
	int rc = -1;

	if (loop_open(&a.loop, LOOP_REAL, e) == 0 &&
	    study_lock_take(&a.state, env, e) == 0 && oneshot_open(&a, e) == 0)
		rc = oneshot_request(&a, ask, trial, params, e);
	tuner_close(a.tuner);
	loop_close(a.loop);
	state_dir_close(&a.state);
	return rc;
}
