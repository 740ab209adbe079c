/*
 * The life of a server: lock, signals, loop, end.  Opens and closes the tuner.
 */

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>

#include "src/base/err.h"
#include "src/base/exit-guard.h"
#include "src/base/file-system.h"
#include "src/base/file.h"
#include "src/base/json/json.h"
#include "src/base/log.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/base/process-mark.h"
#include "src/base/reading.h"
#include "src/engine/study-row.h"
#include "src/model/study/study.h"
#include "src/server/control.h"
#include "src/server/lease.h"
#include "src/server/server.h"
#include "src/server/snapshot.h"
#include "src/server/state-take.h"
#include "src/store/store.h"
#include "src/study-files/state-dir.h"

enum {
	DISPLAY_MS = 250,
	REOPEN_MS = 500,
	SPACE_MS = 2000,
	ANNOUNCE_MS =
	    5000, /* limit for sending notices after the study's end */
	HOOKS_LATE = 5, /* … and hooks: so many times hooks.timeout more */
	WATCH_MS = 1000,
	BEAT_MS = 1000, /* after a signal */
	HELD_MS = 30000, /* a server that leaves and does nothing is ended */
	HELD_LEAST_MS = 10000,
	HELD_STATUS = 3, /* of an interrupted command: hpotune(1) */
	REOPEN_MAX = 10 /* consecutive, for reasons other than disk space */
};
/*
 * Free bytes from which a study continues after a full disk: this many, or on a
 * small disk this share of it.
 */
#define SPACE_ENOUGH (32UL << 20)
#define SPACE_SHARE 8
/* … and bytes by which its files must be able to grow. */
#define GROW_ENOUGH (1UL << 20)

static const char held_text[] =
    "hpotune: it was asked to exit and is held, by a file system for example: "
    "exiting at once; running trials continue, and the same command adopts "
    "them\n";
static const char leaving_text[] =
    "shutting down: waiting for trials to checkpoint; "
    "press Ctrl-C again to kill them";
static const char leaving_slowly_text[] =
    "shutting down: waiting for jobs to checkpoint and "
    "end, which takes minutes; press Ctrl-C again to "
    "exit without waiting";

struct server {
	const struct server_env *env;
	struct loop *loop;
	struct state_dir state;
	struct tuner *tuner; /* NULL while the database is unusable */
	struct control *control;
	struct snapshot *snapshot; /* NULL: the database can be read */
	struct lease *lease; /* NULL: no other machine has the study */
	struct loop_signal *on_int, *on_term;
	struct loop_timer *display, *reopen, *space, *watch, *beat;
	int leaving; /* how many times a shutdown was requested */
	int64_t left_ms; /* … and when the last time was */
	bool announcing; /* the study has ended: only notices are sent */
	int reopened; /* consecutive, without a successful turn */
	bool begun; /* recorded in the study's row */
	bool full; /* the disk was full */
	char away
	    [300]; /* what was moved or removed, as a clause; "" = nothing */
	const char *loss; /* what happened to the database, or NULL */
	bool broken; /* err holds why it gave up */
	struct err err;
	char trouble[300];
};

static const char *
server_leaving_text(const struct server *s)
{
	return tuner_shutdown_is_slow(s->tuner) ? leaving_slowly_text
						: leaving_text;
}

/* The grace of trials bounds also how long a server may be held. */
static int
held_ms(const struct study *study)
{
	int64_t ms = study->trial.grace_ms;

	return ms > HELD_MS	    ? HELD_MS
	       : ms > HELD_LEAST_MS ? (int)ms
				    : HELD_LEAST_MS;
}

/*
 * Whether it waits for trials that should have ended: whether one runs cannot be
 * found out, for example.
 */
static bool
server_waits_in_vain(const struct server *s)
{
	const struct study *study = s->env->study;
	int64_t grace_ms = s->leaving == 1 ? study->trial.grace_ms : 0;

	return s->leaving > 0 && !s->announcing && s->tuner != NULL &&
	       !tuner_done(s->tuner) && !tuner_shutdown_is_slow(s->tuner) &&
	       loop_now_ms(s->loop) >= s->left_ms + grace_ms + held_ms(study);
}

static void
server_on_beat(void *arg)
{
	struct server *s = arg;

	exit_guard_alive();
	loop_timer_set(s->beat, BEAT_MS);
	if (!server_waits_in_vain(s))
		return;
	log_warn("server",
	    "exiting: some trials have not ended in time; the same command "
	    "adopts them");
	loop_stop(s->loop);
}

static void
server_leave(void *arg, bool now)
{
	struct server *s = arg;

	s->leaving += now ? 2 : 1;
	s->left_ms = loop_now_ms(s->loop);
	server_on_beat(s);
	if (s->announcing) {
		loop_stop(s->loop);
		return;
	}
	if (s->tuner == NULL || s->leaving > 2 || *s->away != '\0' ||
	    (s->leaving > 1 && *tuner_trouble(s->tuner) != '\0')) {
		log_warn("server",
		    "exiting at once: running trials continue, and the "
		    "same command adopts them");
		loop_stop(s->loop);
		return;
	}
	if (s->leaving == 1)
		log_info("server", "%s", server_leaving_text(s));
	else if (tuner_shutdown_is_slow(s->tuner))
		log_info("server",
		    "exiting once every job was asked to stop; press "
		    "Ctrl-C again to exit at once");
	tuner_shutdown(s->tuner, s->leaving > 1);
}

static void
on_interrupt(void *arg)
{
	server_leave(arg, false);
}

static void
server_on_request(void *arg, enum tuner_request_kind ask, int64_t trial,
    const char *params, const char *by, tuner_reply *reply, void *reply_arg)
{
	struct server *s = arg;

	if (s->tuner == NULL)
		reply(reply_arg, false, s->trouble, NULL);
	else
		tuner_request_by(
		    s->tuner, ask, trial, params, by, reply, reply_arg);
}

static void
server_on_display(void *arg)
{
	struct server *s = arg;
	const char *trouble = s->trouble;
	char text[420];
	int64_t began = loop_now_ms(s->loop), took;

	if (*s->away != '\0')
		trouble = s->away;
	if (s->tuner != NULL && *trouble == '\0')
		trouble = tuner_trouble(s->tuner);
	if (s->tuner != NULL && *trouble == '\0' && s->leaving == 1 &&
	    !tuner_done(s->tuner))
		trouble = server_leaving_text(s);
	if (s->tuner != NULL && *trouble == '\0' &&
	    tuner_start_blocked(s->tuner, text, sizeof text))
		trouble = text;
	s->env->display(s->env->arg,
	    s->tuner != NULL ? tuner_store(s->tuner) : NULL, trouble);
	/*
	 * Drawing curves of a million steps is slow: use at most a tenth of the
	 * time.
	 */
	took = loop_now_ms(s->loop) - began;
	loop_timer_set(s->display, DISPLAY_MS + 9 * took);
}

static void
on_reopen(void *arg)
{
	(void)arg; /* the next turn opens the tuner */
}

static bool
space_enough(const struct statvfs *v)
{
	unsigned long share = v->f_blocks * v->f_frsize / SPACE_SHARE;

	return v->f_bavail * v->f_frsize >=
	       (share < SPACE_ENOUGH ? share : SPACE_ENOUGH);
}

/* Whether the limit on file size lets the database and its log grow. */
static bool
may_grow(const char *db)
{
	char *log = xasprintf("%s-wal", db);
	struct rlimit most;
	struct stat st;
	bool may;

	may = getrlimit(RLIMIT_FSIZE, &most) != 0 ||
	      most.rlim_cur == RLIM_INFINITY ||
	      ((stat(db, &st) != 0 ||
		   (rlim_t)st.st_size + GROW_ENOUGH <= most.rlim_cur) &&
		  (stat(log, &st) != 0 ||
		      (rlim_t)st.st_size + GROW_ENOUGH <= most.rlim_cur));
	free(log);
	return may;
}

/* After a full disk: continue when there is space again. */
static void
on_space(void *arg)
{
	struct server *s = arg;
	struct statvfs v;

	if (statvfs(s->state.dir, &v) == 0 && space_enough(&v) &&
	    may_grow(s->env->db) && s->tuner != NULL) {
		s->full = false;
		*s->trouble = '\0';
		log_info(
		    "store", "there is space on the disk again: continuing");
		(void)state_dir_ballast_fill(&s->state);
		tuner_hold(s->tuner, *s->away != '\0');
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
		.command = s->env->command,
		.trials = s->env->trials,
		.parallel = s->env->parallel,
		.asked = s->env->asked,
	};

	if (!s->begun &&
	    study_row_open(&env.store, s->env->db, s->env->study,
		s->env->network_fs, STORE_WRITE, loop_wall_us(s->loop), e) != 0)
		return -1;
	s->begun = true;
	if (state_dir_lock_db(&s->state, s->env->db, e) != 0) {
		store_close(env.store);
		e->kind =
		    ERR_FILE; /* a lock held by a server lasts long: do not retry */
		return -1;
	}
	if (tuner_open(&s->tuner, &env, e) != 0) {
		s->tuner = NULL;
		return -1;
	}
	snapshot_use(s->snapshot, tuner_store(s->tuner));
	tuner_hold(s->tuner, s->full || *s->away != '\0');
	if (!s->full)
		*s->trouble = '\0';
	if (s->leaving > 0)
		tuner_shutdown(s->tuner, s->leaving > 1);
	return 0;
}

/* Record running trials as far as possible, and start none. */
static void
server_full(struct server *s, const char *what)
{
	if (!s->full)
		log_error("store",
		    "%s: no trial is started until there is space", what);
	s->full = true;
	(void)state_dir_ballast_free(&s->state);
	loop_timer_set(s->space, SPACE_MS);
}

/*
 * NULL while the locked database is at its path, or this cannot be determined;
 * otherwise what happened to it: one clause.
 */
static const char *
rescued_copy_loss(const struct state_dir *s, const char *db)
{
	if (s->db_fd < 0)
		return NULL;
	switch (file_inode_check(s->db_fd, db)) {
	case INODE_REMOVED:
		return "was deleted or replaced while the study runs";
	case INODE_REPLACED:
		return "was replaced while the study runs";
	case INODE_SAME:
	case INODE_MOVED:
		break;
	}
	return store_is_database(s->db_fd)
		   ? NULL
		   : "was overwritten while the study runs";
}

/* NAME.rescue-TIME.db, in dir (NULL: beside NAME.db). */
static char *
rescued_copy_name(const char *db, const char *dir, int64_t now_us)
{
	const char *file = strrchr(db, '/') + 1;
	time_t now = (time_t)(now_us / 1000000);
	char when[32] = "";
	struct tm tm;

	if (gmtime_r(&now, &tm) != NULL)
		(void)strftime(when, sizeof when, "%Y%m%dT%H%M%SZ", &tm);
	return xasprintf("%.*s/%.*s.rescue-%s.db",
	    dir != NULL ? (int)strlen(dir) : (int)(file - 1 - db),
	    dir != NULL ? dir : db, (int)(strlen(file) - strlen(".db")), file,
	    when);
}

static void
event_record(struct store *store, int64_t now_us, const char *event)
{
	if (store_begin(store, NULL) != 0)
		return;
	(void)store_event_add(
	    store, now_us, LOG_LEVEL_ERROR, "store", 0, 0, event, NULL);
	(void)store_commit(store, false, NULL);
}

/*
 * Save what the connection can read beside db, or failing that in the folder
 * for temporary files; *path, which the caller frees, is the new file. event is
 * recorded in it. now_us is wall clock time.
 */
static int
rescued_copy_save(char **path, struct store *store, const char *db,
    int64_t now_us, const char *event, struct err *e)
{
	const char *tmp = getenv("TMPDIR");
	struct err there = ERR_INIT;

	event_record(store, now_us, event);
	*path = rescued_copy_name(db, NULL, now_us);
	if (store_rescue(store, *path, e) == 0)
		return 0;
	free(*path);
	*path = rescued_copy_name(
	    db, tmp != NULL && *tmp == '/' ? tmp : "/tmp", now_us);
	if (store_rescue(store, *path, &there) == 0)
		return 0;
	free(*path);
	*path = NULL;
	return -1;
}

/*
 * NAME.d was removed: running trials have lost their folders and records, so
 * stop them.  Rows are written as far as possible.
 */
static void
server_dir_lost(struct server *s)
{
	char text[300];

	(void)snprintf(text, sizeof text,
	    "%.200s was removed while the study runs: its trials "
	    "are stopped",
	    s->state.dir);
	s->broken = true;
	err_set(&s->err, ERR_FILE, "%s", text);
	if (s->tuner == NULL) {
		loop_stop(s->loop);
		return;
	}
	log_error("server", "%s", text);
	tuner_queue_event(s->tuner, LOG_LEVEL_ERROR, "server", text);
	s->leaving = 2;
	tuner_shutdown(s->tuner, true);
}

/*
 * The log was deleted: first checkpoint its contents into the database.  Where
 * readers prevent that, save them as if the database had been deleted.
 */
static void
server_wal_lost(struct server *s)
{
	struct err e = ERR_INIT;

	if (store_wal_recover(tuner_store(s->tuner), &e) != 0) {
		s->loss = "has lost its log while the study runs";
		loop_stop(s->loop);
		return;
	}
	log_warn("store",
	    "the log of %s was deleted or replaced while the "
	    "study runs: its contents are in the database",
	    s->env->db);
	snapshot_use(s->snapshot, NULL);
	tuner_close(s->tuner);
	s->tuner = NULL;
	loop_wake(s->loop);
}

/*
 * The folder of the study, or something in it, was renamed: place no trials
 * until it is back, and fail no trial for missing files.
 */
static void
server_db_lost(struct server *s, const char *what)
{
	char text[sizeof s->away];

	if ((what != NULL) == (*s->away != '\0'))
		return;
	if (what != NULL)
		(void)snprintf(s->away, sizeof s->away,
		    "%.200s was moved or removed: no trial is started "
		    "until it is back",
		    what);
	else
		*s->away = '\0';
	(void)snprintf(text, sizeof text, "%s",
	    what != NULL ? s->away
			 : "all files are in place again: continuing");
	if (what != NULL)
		log_error("server", "%s", text);
	else
		log_info("server", "%s", text);
	if (s->tuner != NULL) {
		tuner_queue_event(s->tuner,
		    what != NULL ? LOG_LEVEL_ERROR : LOG_LEVEL_INFO, "server",
		    text);
		tuner_hold(s->tuner, s->full || what != NULL);
	}
	loop_wake(s->loop);
}

/* Check the paths; state is that of NAME.d. */
static void
server_check_files(struct server *s, enum inode_state state)
{
	const char *what = NULL;

	if (state == INODE_MOVED || state == INODE_REPLACED)
		what = s->state.dir;
	else if (s->state.db_fd >= 0 &&
		 file_inode_check(s->state.db_fd, s->env->db) == INODE_MOVED)
		what = s->env->db;
	server_db_lost(s, what);
}

/* The program whose study it is has ended without a word. */
static void
server_check_until(struct server *s)
{
	if (s->env->until == NULL || s->leaving > 0 ||
	    process_mark_look(s->env->until) != PROCESS_SEEN_GONE)
		return;
	log_info("server", "process %" PRId64 " has ended", s->env->until->pid);
	server_leave(s, false);
}

/*
 * Check the files that only the server may change.  Without its database the
 * server leaves its trials running: a server started on the saved copy adopts
 * them.
 */
static void
on_watch(void *arg)
{
	struct server *s = arg;
	enum inode_state state = state_dir_check(&s->state);

	if (s->loss == NULL)
		s->loss = rescued_copy_loss(&s->state, s->env->db);
	if (state == INODE_REMOVED) {
		server_dir_lost(s);
		return;
	}
	if (s->loss != NULL) {
		loop_stop(s->loop);
		return;
	}
	server_check_files(s, state);
	if (*s->away == '\0' && s->tuner != NULL &&
	    !store_wal_kept(tuner_store(s->tuner)))
		server_wal_lost(s);
	server_check_until(s);
	loop_timer_set(s->watch, WATCH_MS);
}

/* The database is lost: save its contents and report where. */
static void
server_rescue(struct server *s)
{
	struct err e = ERR_INIT;
	char *path = NULL, text[300];

	s->broken = true;
	(void)snprintf(text, sizeof text, "%.200s %s", s->env->db, s->loss);
	if (s->tuner == NULL)
		(void)err_set(
		    &s->err, ERR_STORE, "%s: nothing could be saved", text);
	else if (rescued_copy_save(&path, tuner_store(s->tuner), s->env->db,
		     loop_wall_us(s->loop), text, &e) != 0)
		(void)err_set(&s->err, ERR_STORE, "%s, and cannot be saved: %s",
		    text, e.text);
	else
		(void)err_set(&s->err, ERR_STORE,
		    "%s: the study's data was saved to %s: rename it to "
		    "%s.db and run the same command to continue",
		    text, path, s->env->study->name);
	free(path);
}

/* A transaction failed: discard all state and read it again, soon. */
static void
server_failed(struct server *s, const struct err *e)
{
	char trouble[sizeof s->trouble];

	if (s->loss == NULL)
		s->loss = rescued_copy_loss(&s->state, s->env->db);
	if (s->loss != NULL) {
		loop_stop(s->loop);
		return;
	}
	server_check_files(s, state_dir_check(&s->state));
	snapshot_use(s->snapshot, NULL);
	tuner_close(s->tuner);
	s->tuner = NULL;
	(void)snprintf(trouble, sizeof trouble, "%s", s->trouble);
	(void)snprintf(s->trouble, sizeof s->trouble, "%.250s", e->text);
	if (e->kind == ERR_FULL)
		server_full(s, e->text);
	else if (e->kind == ERR_BUSY) {
		if (strcmp(trouble, s->trouble) != 0)
			log_warn("store", "%s: waiting for the lock", e->text);
	} else {
		log_error("store", "%s: reading it again", e->text);
		s->reopened += *s->away == '\0';
	}
	if (s->leaving > 0 || s->reopened > REOPEN_MAX) {
		if (!s->broken)
			s->err = *e;
		s->broken = true;
		loop_stop(s->loop);
		return;
	}
	loop_timer_set(s->reopen, REOPEN_MS);
}

static void
server_on_turn(void *arg)
{
	struct server *s = arg;
	struct err e = ERR_INIT;

	if (s->tuner == NULL) {
		if (loop_timer_pending(s->reopen) || *s->away != '\0')
			return;
		if (server_open_tuner(s, &e) != 0) {
			server_failed(s, &e);
			return;
		}
	}
	if (tuner_turn(s->tuner, &e) < 0) {
		server_failed(s, &e);
		return;
	}
	s->reopened = 0;
	if (tuner_stale(s->tuner)) {
		snapshot_use(s->snapshot, NULL);
		tuner_close(s->tuner);
		s->tuner = NULL;
		loop_wake(s->loop);
	} else if (tuner_done(s->tuner))
		loop_stop(s->loop);
}

/*
 * On a full disk an existing study waits for space: its trials are monitored,
 * and none starts whose output could not be written.
 */
static int
server_begin(struct server *s, struct err *e)
{
	bool room, there;
	char what[300];

	/* First: opening the database frees the space of its log. */
	room = state_dir_ballast_fill(&s->state);
	if (state_take_check_trials(&s->state, s->env, &there, e) != 0)
		return -1;
	if (!room && there) {
		(void)snprintf(what, sizeof what,
		    "%.250s: no space left on the disk", s->state.dir);
		(void)snprintf(s->trouble, sizeof s->trouble, "%s", what);
		server_full(s, what);
	}
	if (server_open_tuner(s, e) == 0)
		return 0;
	/* A lock ends with its holder. */
	if ((e->kind != ERR_FULL && e->kind != ERR_BUSY) || !there)
		return -1;
	server_failed(s, e);
	return 0;
}

/* Whether the folder of study.json is one that other machines read. */
static bool
folder_is_shared(const struct study *study)
{
	char name[64];
	bool network;
	size_t i;

	for (i = 0; i < study->n_backends; i++)
		if (study->backends[i].block != NULL &&
		    json_get(study->backends[i].block, "dir") != NULL)
			return true;
	file_system_look(study->dir, name, sizeof name, &network);
	return network;
}

/*
 * Whether others cannot read the database where they read study.json: it is
 * locked for as long as the server runs, or the folder is shared and the
 * database is not in it.
 */
static bool
database_is_hidden(const struct server_env *env)
{
	size_t n = strlen(env->study->dir);
	bool beside = strncmp(env->db, env->study->dir, n) == 0 &&
		      env->db[n] == '/' && strchr(env->db + n + 1, '/') == NULL;

	return !env->temporary &&
	       (env->network_fs || (!beside && folder_is_shared(env->study)));
}

/*
 * The study runs elsewhere now: leave the trials, and all files, as they are.
 */
static void
on_lease_lost(void *arg, const char *holder)
{
	struct server *s = arg;

	snapshot_use(s->snapshot, NULL);
	s->broken = true;
	(void)err_set(&s->err, ERR_USAGE,
	    "the study was taken over by a server on %s: its trials continue, "
	    "and are followed there",
	    holder);
	loop_stop(s->loop);
}

static int
lease_take(struct server *s, struct err *e)
{
	const struct server_env *env = s->env;

	if (!database_is_hidden(env))
		return 0;
	return lease_open(&s->lease, s->loop, env->study->dir, env->study->name,
	    env->take_over, e);
}

/* Descriptors that are open, inherited ones included. */
static rlim_t
files_open(void)
{
	DIR *dir = opendir("/proc/self/fd");
	rlim_t n = 0;

	if (dir == NULL)
		return STDERR_FILENO + 1;
	while (readdir(dir) != NULL)
		n++;
	(void)closedir(dir);
	return n > 3 ? n - 3 : 0; /* ".", "..", and that of the folder */
}

/*
 * A server that runs out of descriptors cannot read the ends of its trials: fewer
 * than these are refused before anything is begun.
 */
static int
files_check(struct err *e)
{
	enum {
		FILES_LEAST = 64,
		FILES_FREE = 40 /* a server with one trial has some 20 */
	};
	rlim_t open = files_open(), want = open + FILES_FREE;
	struct rlimit files;

	if (want < FILES_LEAST)
		want = FILES_LEAST;
	if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= want)
		return 0;
	files.rlim_cur = files.rlim_max < want ? files.rlim_max : want;
	(void)setrlimit(RLIMIT_NOFILE, &files);
	if (files.rlim_cur >= want)
		return 0;
	return err_set(e, ERR_FILE,
	    "the limit on open files is %llu (ulimit -n), and %llu are open: "
	    "a server needs %llu",
	    (unsigned long long)files.rlim_cur, (unsigned long long)open,
	    (unsigned long long)want);
}

static int
server_open(struct server *s, struct err *e)
{
	struct control_hooks hooks = {
		.request = server_on_request,
		.leave = server_leave,
		.arg = s,
	};

	if (files_check(e) != 0 || loop_open(&s->loop, LOOP_REAL, e) != 0 ||
	    lease_take(s, e) != 0 || state_take(&s->state, s->env, e) != 0)
		return -1;
	reading_open(s->state.dir_fd, s->state.dir);
	if (s->lease != NULL && lease_hold(s->lease, on_lease_lost, s, e) != 0)
		return -1;
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	s->beat = loop_timer_new(s->loop, server_on_beat, s);
	/* A server before this one in the process may have got the signal. */
	if (exit_guard_begin(held_ms(s->env->study), held_text, HELD_STATUS))
		server_on_beat(s);
	s->on_int = loop_signal_new(s->loop, SIGINT, on_interrupt, s);
	s->on_term = loop_signal_new(s->loop, SIGTERM, on_interrupt, s);
	s->reopen = loop_timer_new(s->loop, on_reopen, s);
	s->space = loop_timer_new(s->loop, on_space, s);
	s->watch = loop_timer_new(s->loop, on_watch, s);
	loop_timer_set(s->watch, WATCH_MS);
	if (database_is_hidden(s->env))
		s->snapshot = snapshot_new(
		    s->loop, s->env->study->dir, s->env->study->name);
	if (server_begin(s, e) != 0 ||
	    control_open(&s->control, s->loop, &s->state, &hooks, e) != 0)
		return -1;
	if (s->env->display != NULL) {
		s->display = loop_timer_new(s->loop, server_on_display, s);
		loop_timer_set(s->display, DISPLAY_MS);
	}
	return 0;
}

static void
server_on_answer(void *arg)
{
	struct server *s = arg;
	struct err e = ERR_INIT;

	/*
	 * A notice whose answer cannot be recorded is sent again, under the
	 * same id.
	 */
	if (tuner_record_answers(s->tuner, &e) != 0) {
		log_warn("notify",
		    "the delivery of a notice could not be recorded: %s",
		    e.text);
		loop_stop(s->loop);
	} else if (!tuner_announces(s->tuner))
		loop_stop(s->loop);
}

/* A server that was asked to leave waits for nobody for long. */
static int64_t
announce_ms(const struct server *s)
{
	const struct study *study = s->env->study;
	int64_t most = ANNOUNCE_MS + HOOKS_LATE * study->hooks.timeout_ms;

	return s->leaving > 0 && held_ms(study) < most ? held_ms(study) : most;
}

static void
server_on_late(void *arg)
{
	struct server *s = arg;

	loop_stop(s->loop);
}

/*
 * The study has ended, which is recorded: send notices for a few seconds, and
 * run hooks; the next start sends notices that are then still due.
 */
static void
server_announce(struct server *s)
{
	struct loop_timer *late;

	if (s->tuner == NULL || s->broken || !tuner_done(s->tuner))
		return;
	s->announcing = true;
	if (tuner_announces(s->tuner)) {
		control_retire(s->control);
		late = loop_timer_new(s->loop, server_on_late, s);
		loop_timer_set(late, announce_ms(s));
		loop_timer_stop(s->watch);
		loop_run(s->loop, server_on_answer, s);
		loop_timer_free(late);
	}
	tuner_leave_notices(s->tuner);
}

static void
server_close(struct server *s)
{
	control_retire(s->control);
	snapshot_use(s->snapshot, NULL);
	tuner_close(s->tuner);
	reading_close();
	state_dir_unlock(&s->state);
	control_close(s->control);
	loop_signal_free(s->on_int);
	loop_signal_free(s->on_term);
	loop_timer_free(s->display);
	loop_timer_free(s->reopen);
	loop_timer_free(s->space);
	loop_timer_free(s->watch);
	loop_timer_free(s->beat);
	snapshot_free(s->snapshot);
	lease_close(s->lease);
	loop_close(s->loop);
	state_dir_close(&s->state);
}

static enum server_end
server_ended(const struct server *s)
{
	if (s->tuner == NULL || !tuner_done(s->tuner))
		return SERVER_INTERRUPTED;
	if (tuner_end(s->tuner).failed)
		return SERVER_FAILED;
	return s->leaving > 0 && !tuner_end(s->tuner).over ? SERVER_INTERRUPTED
							   : SERVER_FINISHED;
}

int
server_run(const struct server_env *env, enum server_end *end, struct err *e)
{
	struct server s = { .env = env, .state = STATE_DIR_INIT };
	int rc = server_open(&s, e);

	if (rc == 0) {
		if (env->ready != NULL)
			env->ready(env->arg);
		loop_run(s.loop, server_on_turn, &s);
		if (env->display != NULL)
			server_on_display(&s);
		*end = server_ended(&s);
		server_announce(&s);
		snapshot_last(s.snapshot);
		if (s.loss == NULL)
			s.loss = rescued_copy_loss(&s.state, env->db);
		if (s.loss != NULL)
			server_rescue(&s);
		if (s.broken) {
			*e = s.err;
			rc = -1;
		}
	}
	if (s.state.lock_fd >= 0)
		(void)state_dir_ballast_free(&s.state);
	server_close(&s);
	return rc;
}
