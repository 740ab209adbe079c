/*
 * A server's life: lock, signals, loop, end.  Knows when to open and close
 * the tuner; what a trial is, only the tuner knows.
 */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "src/base/err.h"
#include "src/base/log.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/model/study.h"
#include "src/server/control.h"
#include "src/server/enter.h"
#include "src/server/server.h"
#include "src/server/state.h"
#include "src/server/study-row.h"
#include "src/store/store.h"

enum {
	DISPLAY_MS = 250,
	REOPEN_MS = 500,
	SPACE_MS = 2000,
	REOPEN_MAX = 10 /* in a row, when it is not for space */
};
/* Free bytes with which a study that ran into a full disk goes on: so many,
 * or on a small disk this share of it. */
#define SPACE_ENOUGH (32UL << 20)
#define SPACE_SHARE 8

static const char leaving_text[] =
    "leaving: trials may end and checkpoint; once more ends them at once";
static const char leaving_slowly_text[] =
    "leaving: trials may end and checkpoint, which takes jobs minutes; once "
    "more leaves while they do";

struct server {
	const struct server_env *env;
	struct loop *loop;
	struct state state;
	struct tuner *tuner; /* NULL while the store is out of order */
	struct control *control;
	struct loop_signal *on_int, *on_term;
	struct loop_timer *display, *reopen, *space;
	int leaving; /* how often it was asked to leave */
	int reopened; /* in a row without a good turn */
	bool begun; /* the study's row says so */
	bool full; /* the disk was full */
	bool broken; /* err says why it gave up */
	struct err err;
	char trouble[300];
};

static const char *
leaving_words(const struct server *s)
{
	return tuner_ends_slowly(s->tuner) ? leaving_slowly_text : leaving_text;
}

static void
server_leave(void *arg, bool now)
{
	struct server *s = arg;

	s->leaving += now ? 2 : 1;
	if (s->tuner == NULL || s->leaving > 2 ||
	    (s->leaving > 1 && *tuner_trouble(s->tuner) != '\0')) {
		log_warn("server", "leaving at once: trials that run go on, "
				   "the same command finds them again");
		loop_stop(s->loop);
		return;
	}
	if (s->leaving == 1)
		log_info("server", "%s", leaving_words(s));
	else if (tuner_ends_slowly(s->tuner))
		log_info("server", "leaving once every job is told to end; "
				   "once more leaves at once");
	tuner_shutdown(s->tuner, s->leaving > 1);
}

static void
on_interrupt(void *arg)
{
	server_leave(arg, false);
}

static void
on_request(void *arg, enum tuner_ask ask, int64_t trial, const char *params,
    tuner_reply *reply, void *reply_arg)
{
	struct server *s = arg;

	if (s->tuner == NULL)
		reply(reply_arg, false, s->trouble, NULL);
	else
		tuner_request(s->tuner, ask, trial, params, reply, reply_arg);
}

static void
on_display(void *arg)
{
	struct server *s = arg;
	const char *trouble = s->trouble;
	int64_t began = loop_now_ms(s->loop), took;

	if (s->tuner != NULL && *trouble == '\0')
		trouble = tuner_trouble(s->tuner);
	if (s->tuner != NULL && *trouble == '\0' && s->leaving == 1 &&
	    !tuner_done(s->tuner))
		trouble = leaving_words(s);
	s->env->display(s->env->arg,
	    s->tuner != NULL ? tuner_store(s->tuner) : NULL, trouble);
	/* Curves of a million steps take time: never more than a tenth of it. */
	took = loop_now_ms(s->loop) - began;
	loop_timer_set(s->display, DISPLAY_MS + 9 * took);
}

static void
on_reopen(void *arg)
{
	(void)arg; /* the turn that follows opens the tuner */
}

static bool
space_enough(const struct statvfs *v)
{
	unsigned long share = v->f_blocks * v->f_frsize / SPACE_SHARE;

	return v->f_bavail * v->f_frsize >=
	       (share < SPACE_ENOUGH ? share : SPACE_ENOUGH);
}

/* After a full disk: go on when there is space again. */
static void
on_space(void *arg)
{
	struct server *s = arg;
	struct statvfs v;

	if (statvfs(s->state.dir, &v) == 0 && space_enough(&v) &&
	    s->tuner != NULL) {
		s->full = false;
		*s->trouble = '\0';
		log_info("store", "there is space again: going on");
		(void)state_ballast_fill(&s->state);
		tuner_hold(s->tuner, false);
		loop_wake(s->loop);
		return;
	}
	loop_timer_set(s->space, SPACE_MS);
}

static int
server_open_tuner(struct server *s, struct err *e)
{
	struct tuner_env env = {
		.loop = s->loop,
		.study = s->env->study,
		.db = s->env->db,
		.state_dir = s->env->state_dir,
		.trials = s->env->trials,
		.parallel = s->env->parallel,
	};

	if (!s->begun && study_row_open(s->env->db, s->env->study,
			     s->env->network_fs, loop_wall_us(s->loop), e) != 0)
		return -1;
	s->begun = true;
	if (tuner_open(&s->tuner, &env, e) != 0) {
		s->tuner = NULL;
		return -1;
	}
	tuner_hold(s->tuner, s->full);
	if (!s->full)
		*s->trouble = '\0';
	if (s->leaving > 0)
		tuner_shutdown(s->tuner, s->leaving > 1);
	return 0;
}

/* What is there is recorded as far as it goes, and nothing is begun. */
static void
server_full(struct server *s, const char *what)
{
	if (!s->full)
		log_error("store",
		    "%s: nothing new is placed until there is space", what);
	s->full = true;
	(void)state_ballast_free(&s->state);
	loop_timer_set(s->space, SPACE_MS);
}

/* A transaction failed: forget everything and read it again, soon. */
static void
server_failed(struct server *s, const struct err *e)
{
	tuner_close(s->tuner);
	s->tuner = NULL;
	(void)snprintf(s->trouble, sizeof s->trouble, "%.250s", e->text);
	if (e->kind == ERR_FULL)
		server_full(s, e->text);
	else {
		log_error("store", "%s: reading it again", e->text);
		/* Somebody's lock goes away when he does. */
		s->reopened += e->kind != ERR_BUSY;
	}
	if (s->leaving > 0 || s->reopened > REOPEN_MAX) {
		s->broken = true;
		s->err = *e;
		loop_stop(s->loop);
		return;
	}
	loop_timer_set(s->reopen, REOPEN_MS);
}

static void
on_turn(void *arg)
{
	struct server *s = arg;
	struct err e = ERR_INIT;

	if (s->tuner == NULL) {
		if (loop_timer_pending(s->reopen))
			return;
		if (server_open_tuner(s, &e) != 0) {
			server_failed(s, &e);
			return;
		}
	}
	if (tuner_turn(s->tuner, &e) != 0) {
		server_failed(s, &e);
		return;
	}
	s->reopened = 0;
	if (tuner_done(s->tuner))
		loop_stop(s->loop);
}

/*
 * On a full disk a study that is there waits for space: its trials are
 * watched, and none begins whose output could not be written.
 */
static int
server_begin(struct server *s, struct err *e)
{
	bool room, there;
	char what[300];

	/* First of all: to open the database gives back the room of its log. */
	room = state_ballast_fill(&s->state);
	if (enter_check_trials(&s->state, s->env, e) != 0 ||
	    store_there(&there, s->env->db, e) != 0)
		return -1;
	if (!room && there) {
		(void)snprintf(what, sizeof what,
		    "%.250s: no space left on the disk", s->state.dir);
		(void)snprintf(s->trouble, sizeof s->trouble, "%s", what);
		server_full(s, what);
	}
	if (server_open_tuner(s, e) == 0)
		return 0;
	if (e->kind != ERR_FULL || !there)
		return -1;
	server_failed(s, e);
	return 0;
}

static int
server_open(struct server *s, struct err *e)
{
	struct control_hooks hooks = {
		.request = on_request,
		.leave = server_leave,
		.arg = s,
	};

	if (loop_open(&s->loop, LOOP_REAL, e) != 0 ||
	    enter_lock(&s->state, s->env, e) != 0)
		return -1;
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	s->on_int = loop_signal_new(s->loop, SIGINT, on_interrupt, s);
	s->on_term = loop_signal_new(s->loop, SIGTERM, on_interrupt, s);
	s->reopen = loop_timer_new(s->loop, on_reopen, s);
	s->space = loop_timer_new(s->loop, on_space, s);
	if (server_begin(s, e) != 0 ||
	    control_open(&s->control, s->loop, &s->state, &hooks, e) != 0)
		return -1;
	if (s->env->display != NULL) {
		s->display = loop_timer_new(s->loop, on_display, s);
		loop_timer_set(s->display, DISPLAY_MS);
	}
	return 0;
}

static void
server_close(struct server *s)
{
	control_retire(s->control);
	tuner_close(s->tuner);
	state_unlock(&s->state);
	control_close(s->control);
	loop_signal_free(s->on_int);
	loop_signal_free(s->on_term);
	loop_timer_free(s->display);
	loop_timer_free(s->reopen);
	loop_timer_free(s->space);
	loop_close(s->loop);
	state_close(&s->state);
}

static enum server_end
server_ended(const struct server *s)
{
	if (s->tuner == NULL || !tuner_done(s->tuner))
		return SERVER_INTERRUPTED;
	if (tuner_failed(s->tuner))
		return SERVER_FAILED;
	return s->leaving > 0 && !tuner_over(s->tuner) ? SERVER_INTERRUPTED
						       : SERVER_FINISHED;
}

int
server_run(const struct server_env *env, enum server_end *end, struct err *e)
{
	struct server s = { .env = env,
		.state = { .dir_fd = -1, .lock_fd = -1 } };
	int rc = server_open(&s, e);

	if (rc == 0) {
		if (env->ready != NULL)
			env->ready(env->arg);
		loop_run(s.loop, on_turn, &s);
		if (env->display != NULL)
			on_display(&s);
		*end = server_ended(&s);
		if (s.broken) {
			*e = s.err;
			rc = -1;
		}
	}
	if (s.state.lock_fd >= 0)
		(void)state_ballast_free(&s.state);
	server_close(&s);
	return rc;
}
