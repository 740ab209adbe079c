/*
 * Follows an attempt from its start, or from that of the server, to its end:
 * its locks and records are compared with what was known, and the difference
 * is acted on.  The end is sent after all of its output, and after what is
 * left of it was killed.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/fail.h"
#include "src/base/file.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "trials/local/local-gpu.h"
#include "trials/local/local-internal.h"
#include "trials/pack/pack-trial.h"
#include "trials/process/attempt-status.h"
#include "trials/process/cgroup.h"
#include "trials/process/last-line.h"
#include "trials/process/proc-environ.h"
#include "trials/process/proc.h"
#include "trials/process/transient-error.h"
#include "trials/ranks/ranks.h"
#include "trials/shim/shim.h"

/* ---- what is left of an attempt ----------------------------------------- */

/*
 * Processes with its uuid in their environment, and its control group.  A
 * copied study has the same uuids as the original: processes whose attempt is
 * held in another folder that still exists are left alone.
 */
struct leftovers {
	int killed;
	int spared; /* processes of the attempt in another folder */
};

struct marked {
	const char *uuid, *dir;
	bool only_count; /* those to spare */
	bool elsewhere; /* result for the process examined last */
	struct leftovers n;
};

/* Whether the attempt runs in a folder that is another one than ours. */
static bool
is_elsewhere(const struct marked *m, const struct buf *env)
{
	struct err e = ERR_INIT;
	struct attempt_evidence found;
	struct stat ours, theirs;
	char path[4200], *end;

	if (!proc_environ_get(env, "HPOTUNE_PARAMS", path, sizeof path) ||
	    path[0] != '/' || (end = strrchr(path, '/')) == path)
		return false;
	*end = '\0';
	if (stat(m->dir, &ours) == -1 || stat(path, &theirs) == -1 ||
	    (ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino))
		return false;
	(void)attempt_status_read(&found, path, m->uuid, &e);
	return found.shim_lock || found.trial_lock;
}

/* Whether a process belongs to this attempt; *elsewhere: in another folder. */
static bool
is_marked(const struct marked *m, pid_t pid, bool *elsewhere)
{
	struct buf env = { 0 };
	char uuid[64] = "";
	bool is;

	is =
	    proc_environ_read(pid, &env) &&
	    proc_environ_get(&env, "HPOTUNE_ATTEMPT_UUID", uuid, sizeof uuid) &&
	    strcmp(uuid, m->uuid) == 0;
	*elsewhere = is && is_elsewhere(m, &env);
	buf_free(&env);
	return is;
}

static bool
is_to_end(void *arg, pid_t pid)
{
	struct marked *m = arg;

	return is_marked(m, pid, &m->elsewhere) && !m->elsewhere &&
	       !m->only_count;
}

static bool
kill_if_marked(void *arg, pid_t pid)
{
	struct marked *m = arg;

	m->elsewhere = false;
	m->n.killed += proc_kill(pid, is_to_end, m);
	m->n.spared += m->elsewhere;
	return true;
}

/*
 * SIGKILL to every process of the attempt in folder dir, and to those whose
 * folder was removed or has no live supervisor.
 */
static struct leftovers
leftovers_kill(const char *uuid, const char *dir)
{
	struct marked m = { .uuid = uuid, .dir = dir };

	proc_each(kill_if_marked, &m);
	return m.n;
}

/*
 * SIGKILL to the processes that a dead supervisor left: whether there were any.
 */
static bool
leftovers_sweep(struct local_attempt *a, const struct claim *c)
{
	struct marked m = {
		.uuid = c->uuid, .dir = a->dir, .only_count = true
	};
	bool found = false;

	/* Nothing survives a reboot. */
	if (strcmp(c->boot_id, a->local->boot_id) != 0)
		return false;
	/* A group of processes has the name of the attempt, in a copy too. */
	if (c->cgroup[0] != '\0')
		proc_each(kill_if_marked, &m);
	if (c->cgroup[0] != '\0' && m.n.spared == 0) {
		(void)cgroup_kill(c->cgroup);
		cgroup_remove(c->cgroup);
		found = access(c->cgroup, F_OK) == 0;
	}
	return leftovers_kill(c->uuid, a->dir).killed > 0 || found;
}

/*
 * Remove the control group of an attempt that has ended or never began: its
 * supervisor may have been killed before it could, or the kernel was late.
 */
static void
leftovers_remove_cgroup(const struct local *l, const char *uuid)
{
	char path[RECORD_PATH];

	if (l->cgroup[0] == '\0')
		return;
	(void)snprintf(
	    path, sizeof path, "%.180s/hpotune-%.36s", l->cgroup, uuid);
	cgroup_remove(path);
}

/* ---- a folder that another run uses ------------------------------------- */

/*
 * After the database was restored from an older copy, trial numbers are
 * assigned again although their folders exist.  A run that is still active is
 * waited for, a finished one is left as it is; the attempt then ends and the
 * next one follows.  Nothing of the other run is recorded: its parameters may
 * differ, and then its checkpoint is moved aside.
 */

/* Whether the parameters in this folder are these. */
static bool
params_same(const char *dir, const char *json)
{
	char *path = xasprintf("%s/params.json", dir);
	size_t len = strlen(json);
	char *text = xcalloc(1, len + 2);
	bool same;

	same = file_read(AT_FDCWD, path, text, len + 2) == (ssize_t)len &&
	       memcmp(text, json, len) == 0;
	free(path);
	free(text);
	return same;
}

bool
local_reconcile_foreign_run(
    const struct launch_spec *spec, const char *dir, bool *aside)
{
	struct err e = ERR_INIT;
	struct attempt_evidence found;

	if (attempt_status_read(&found, dir, spec->uuid, &e) != ATTEMPT_FOREIGN)
		return false;
	*aside = !params_same(dir, spec->params_json);
	return true;
}

/* 1: done; 0: does not exist; -1 with errno. */
static int
one_aside(const struct local_attempt *a, int fd, const char *name)
{
	char other[64];

	(void)snprintf(other, sizeof other, "%s.aside-%.8s", name, a->uuid);
	if (renameat(fd, name, fd, other) == 0)
		return 1;
	return errno == ENOENT ? 0 : -1;
}

/* Before the attempt ends: the next attempt must not find these files. */
static bool
set_aside(struct local_attempt *a)
{
	char *trial_dir = xasprintf("%s/..", a->dir);
	int fd, moved = -1, output = -1;

	fd = open(trial_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd != -1 && (moved = one_aside(a, fd, "checkpoint")) != -1)
		output = one_aside(a, fd, "output");
	if (output != -1 && fsync(fd) == -1)
		output = -1;
	if (output == -1 && !a->noted_unknown)
		launcher_note(&a->source, LAUNCH_WARNING,
		    "what another run with other parameters left for it cannot "
		    "be set aside: %s",
		    strerror(errno));
	a->noted_unknown |= output == -1;
	if (fd != -1)
		(void)close(fd);
	free(trial_dir);
	if (moved == 1)
		launcher_note(&a->source, LAUNCH_WARNING,
		    "the checkpoint of another run with other parameters was "
		    "set aside as checkpoint.aside-%.8s",
		    a->uuid);
	return output != -1;
}

static void
foreign_wait(struct local_attempt *a, const struct claim *c)
{
	if (!a->noted_foreign)
		launcher_note(&a->source, LAUNCH_WARNING,
		    "another run of it is active that is not in this database "
		    "(was the database restored from a copy?): waiting for its "
		    "end");
	a->noted_foreign = true;
	if (a->supervisor.pid != c->shim_pid)
		(void)local_attempt_watch_claim(a, c);
	/* A stop of the trial applies to the foreign run as well. */
	local_attempt_signal(a);
}

/* Whether that run is over: then the attempt ends, and the next one follows. */
static bool
foreign_run_over(struct local_attempt *a, const struct attempt_evidence *found)
{
	/* Our supervisor sees the foreign claim too, and exits. */
	if (a->child > 0) {
		a->local->soon = true;
		return false;
	}
	if (found->shim_lock) {
		foreign_wait(a, &found->claim);
		return false;
	}
	if (found->trial_lock) {
		(void)leftovers_sweep(a, &found->claim);
		return false;
	}
	return !a->aside || set_aside(a);
}

/* ---- attempts of an earlier server -------------------------------------- */

/*
 * Those that run are followed, what dead supervisors left is killed, and those
 * that never began are claimed so that they cannot start later.
 */

enum launch_adoption
local_adopt(void *ctx, const struct launch_spec *spec, struct err *e)
{
	struct local *l = ctx;
	char *dir = launcher_spec_attempt_dir(spec);
	struct attempt_evidence found;
	enum attempt_status is =
	    attempt_status_read(&found, dir, spec->uuid, e);

	if (is == ATTEMPT_NEVER && local_state_dir_moved(l)) {
		(void)local_state_dir_err(l, e);
		is = ATTEMPT_UNKNOWN;
	}
	/* Before new attempts get GPUs; also for an unknown state. */
	if (is != ATTEMPT_NEVER && is != ATTEMPT_FOREIGN)
		local_gpu_names_adopt(l, spec, dir);
	else
		local_gpu_undo(l, spec->slot, spec->uuid);
	free(dir);
	if (is == ATTEMPT_UNKNOWN)
		return ADOPT_UNKNOWN;
	if (is == ATTEMPT_FOREIGN && (found.shim_lock || found.trial_lock)) {
		(void)err_set(
		    e, ERR_BUSY, "a process of another run of it still exists");
		return ADOPT_UNKNOWN;
	}
	if (is == ATTEMPT_NEVER || is == ATTEMPT_FOREIGN)
		return ADOPT_NEVER;
	/*
	 * The first reconciliation adopts it or delivers its remaining output.
	 */
	if (local_attempt_find(l, spec->trial, spec->attempt) == NULL)
		(void)local_attempt_follow(l, spec);
	switch (is) {
	case ATTEMPT_FINISHED:
		return ADOPT_ENDED;
	case ATTEMPT_REMAINS:
		return found.has_exit ? ADOPT_ENDED : ADOPT_LOST;
	case ATTEMPT_LOST:
	case ATTEMPT_ABANDONED:
		return ADOPT_LOST;
	case ATTEMPT_STARTING:
	case ATTEMPT_RUNNING:
	case ATTEMPT_ENDING:
		return ADOPT_ALIVE;
	case ATTEMPT_NEVER:
	case ATTEMPT_FOREIGN:
	case ATTEMPT_UNKNOWN:
		break;
	}
	return ADOPT_UNKNOWN;
}

/* A supervisor that finds the claim of another attempt makes none. */
static bool
is_foreign(int fd, const char *uuid)
{
	enum record_check claim_is, exit_is;
	struct attempt_exit x;
	struct claim c;

	return attempt_record_read(fd, uuid, &c, &claim_is, &x, &exit_is) ==
		   0 &&
	       claim_is == RECORD_FOREIGN;
}

/* With the lock held: write the claim, unless one exists. */
static int
abandon_locked(int fd, const char *dir, const char *uuid, struct err *e)
{
	unsigned char sector[RECORD_SECTOR];
	enum record_check claim_is, exit_is;
	struct attempt_exit x;
	struct claim c;

	if (attempt_record_read(fd, uuid, &c, &claim_is, &x, &exit_is) == -1)
		return err_set(
		    e, ERR_FILE, "%s/state: %s", dir, strerror(errno));
	if (claim_is == RECORD_GOOD && c.kind == CLAIM_ABANDONED)
		return 0;
	if (claim_is != RECORD_NONE)
		return err_set(e, ERR_BUSY, "%s: was started meanwhile", dir);
	c = (struct claim){ .kind = CLAIM_ABANDONED };
	memcpy(c.uuid, uuid, RECORD_UUID);
	attempt_record_encode_claim(sector, &c);
	fail_point("local.before_bury");
	if (pwrite(fd, sector, sizeof sector, 0) != sizeof sector ||
	    fdatasync(fd) == -1)
		return err_set(
		    e, ERR_FILE, "%s/state: %s", dir, strerror(errno));
	fail_point("local.after_bury");
	return 0;
}

/* Write the claim that prevents any later start. */
static int
abandon_record(const char *dir, const char *uuid, struct err *e)
{
	int dir_fd, fd, r;

	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir_fd == -1) {
		/* A supervisor without its directory starts nothing. */
		if (errno == ENOENT)
			return 0;
		return err_set(e, ERR_FILE, "%s: %s", dir, strerror(errno));
	}
	fd = openat(
	    dir_fd, "state", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	(void)close(dir_fd);
	if (fd == -1)
		return err_set(
		    e, ERR_FILE, "%s/state: %s", dir, strerror(errno));
	if (is_foreign(fd, uuid))
		r = 0;
	else if (attempt_record_lock(fd) == 0)
		r = abandon_locked(fd, dir, uuid, e);
	else
		r = err_set(e, errno == EAGAIN ? ERR_BUSY : ERR_FILE, "%s: %s",
		    dir,
		    errno == EAGAIN ? "its supervisor is starting"
				    : strerror(errno));
	(void)close(fd);
	return r;
}

int
local_abandon(void *ctx, const struct launch_spec *spec, struct err *e)
{
	struct local *l = ctx;
	char *dir = launcher_spec_attempt_dir(spec);
	int r;

	r = local_state_dir_moved(l) ? local_state_dir_err(l, e)
				     : abandon_record(dir, spec->uuid, e);
	/* It may still run although its folder was removed. */
	if (r == 0 && leftovers_kill(spec->uuid, dir).spared == 0)
		leftovers_remove_cgroup(l, spec->uuid);
	free(dir);
	return r;
}

/* ---- an attempt that is followed ---------------------------------------- */

enum {
	UNKNOWN_MS = 2000, /* a record may be torn while it is being written */
	STARTING_MS = 30000, /* for a supervisor to make its claim */
	REMAINS_MS = 60000,
	OVERDUE_MS = 2000, /* for a supervisor to do what is due */
	KILL_ROUNDS = 3 /* of what forks while it is killed */
};

/* Whether the followed supervisor has ended; reaps it if it is our child. */
static bool
supervisor_gone(struct local_attempt *a)
{
	int status = -1;
	pid_t pid = 0;

	if (a->child > 0) {
		pid = waitpid(a->child, &status, WNOHANG);
		if (pid == 0 || (pid == -1 && errno == EINTR))
			return false;
		a->child = 0;
		a->child_status = status;
		return true;
	}
	if (!proc_ended(&a->supervisor))
		return false;
	/* Ours after all, from before the store was read again: reap it. */
	proc_reap(&a->supervisor);
	return true;
}

static void
tell_up(struct local_attempt *a, const struct claim *c)
{
	struct launch_event ev = { .kind = LAUNCH_UP };
	struct buf place = { 0 };
	struct local_gpu_key key;
	int64_t ran_us;

	a->started_us = c->started_us;
	if (a->up)
		return;
	a->up = true;
	ran_us = loop_wall_us(a->local->loop) - c->started_us;
	a->up_ms =
	    loop_now_ms(a->local->loop) - (ran_us > 0 ? ran_us / 1000 : 0);
	buf_puts(&place, a->local->host);
	(void)local_gpu_key(&key, a->local, a->slot, a->uuid);
	if (local_gpu_names_count(a->local, key.text) > 0) {
		buf_puts(&place, " gpu ");
		local_gpu_names_put(
		    a->local, key.text, LOCAL_GPU_INDEX, ",", &place);
	}
	ev.u.up.pid = c->trial_pid;
	ev.u.up.started_us = c->started_us;
	ev.u.up.place = buf_str(&place);
	launcher_emit(&a->source, &ev);
	buf_free(&place);
	local_gpu_started(a);
	if (a->local->punch_unsupported && !a->local->noted_no_punch) {
		a->local->noted_no_punch = true;
		launcher_note(&a->source, LAUNCH_WARNING,
		    "this file system cannot free parts of a file: "
		    "log_cap has no effect");
	}
}

/* All output was delivered: send this end. */
static void
end(struct local_attempt *a, struct launch_event *ev)
{
	if (a->log.dropped + a->metrics.dropped > 0)
		launcher_note(&a->source, LAUNCH_WARNING,
		    "%lld bytes of output were dropped before they were read",
		    (long long)(a->log.dropped + a->metrics.dropped));
	local_gpu_ended(a, ev);
	leftovers_remove_cgroup(a->local, a->uuid);
	fail_point("local.before_end");
	launcher_emit(&a->source, ev);
	a->over = true;
	a->dirty = false;
}

static void
end_lost(struct local_attempt *a, const char *why)
{
	struct launch_event ev = { .kind = LAUNCH_LOST };

	if (local_tail(a, true)) {
		a->dirty = a->check = true;
		return;
	}
	ev.u.lost.why = why;
	end(a, &ev);
}

/* Whether the error that prevented the start may be temporary. */
static bool
is_not_yet(const struct local_attempt *a, const struct attempt_exit *x,
    const char *why)
{
	if (transient_error_resource(x->error))
		return true;
	if (a->program_varies)
		return false;
	/* hpotune-ranks and hpotune-pack pass only the error text. */
	return x->error != 0 ? transient_error_exec(x->error)
			     : transient_error_exec_text(why);
}

static void
end_recorded(struct local_attempt *a, const struct attempt_evidence *found)
{
	struct launch_event ev = { .kind = LAUNCH_EXIT };
	const struct attempt_exit *x = &found->exit;
	char *log;

	if (x->ran)
		tell_up(a, &found->claim);
	if (local_tail(a, true)) {
		a->dirty = a->check = true;
		return;
	}
	/* Its exit reaches us in a moment, and then it is reaped. */
	if (a->child > 0 && !x->unsynced && !supervisor_gone(a)) {
		a->local->soon = true;
		return;
	}
	if (local_gpu_end_waits(a, x)) {
		a->local->soon = true;
		return;
	}
	if (!x->stopped && (!x->ran || x->exit_code != 0 || x->signal != 0) &&
	    local_state_dir_was_moved(a->local, x->ended_us)) {
		end_lost(a, "its folder was moved or removed before it ended");
		return;
	}
	attempt_status_exit(&ev.u.exit, x);
	log = xasprintf("%s/log", a->dir);
	last_line_read(log, ev.u.exit.said, sizeof ev.u.exit.said);
	free(log);
	ranks_words_cause(a->dir, &ev.u.exit);
	if (a->local->pack.size > 0)
		pack_trial_end(a->dir, &ev.u.exit);
	ev.u.exit.not_yet = !ev.u.exit.ran && is_not_yet(a, x, ev.u.exit.why);
	/* It still writes to the disk. */
	if (a->child > 0)
		local_supervisor_leave(a->local, a->child);
	a->child = 0;
	end(a, &ev);
}

static void
end_not_begun(struct local_attempt *a, int code)
{
	struct launch_event ev = { .kind = LAUNCH_EXIT };

	(void)snprintf(ev.u.exit.why, sizeof ev.u.exit.why,
	    "its supervisor could not begin: %s",
	    code == SHIM_BUSY || code == SHIM_CLAIMED ? "another one was there"
						      : strerror(code));
	/* The state directory may have been moved meanwhile. */
	ev.u.exit.not_yet = transient_error_resource(code) || code == ENOENT;
	ev.u.exit.exit_code = -1;
	ev.u.exit.started_us = ev.u.exit.ended_us =
	    loop_wall_us(a->local->loop);
	end(a, &ev);
}

/* Our supervisor ended before its claim: its exit status has the reason. */
static void
end_unclaimed(struct local_attempt *a)
{
	struct err e = ERR_INIT;

	/*
	 * Another supervisor may be about to start, unless the folder is new.
	 */
	if (!a->fresh && abandon_record(a->dir, a->uuid, &e) == -1) {
		a->local->soon |= e.kind == ERR_BUSY;
		if (e.kind != ERR_BUSY && !a->noted_full)
			launcher_note(&a->source, LAUNCH_WARNING,
			    "cannot give it up: %s", e.text);
		a->noted_full |= e.kind != ERR_BUSY;
		return;
	}
	if (a->up ||
	    (WIFEXITED(a->child_status) && WEXITSTATUS(a->child_status) == 0)) {
		(void)leftovers_kill(a->uuid, a->dir);
		end_lost(a, "its records were removed");
		return;
	}
	if (a->child_status == -1 || !WIFEXITED(a->child_status)) {
		end_lost(a, "its supervisor was killed before it began");
		return;
	}
	end_not_begun(a, WEXITSTATUS(a->child_status));
}

static bool
unclear_longer_than(struct local_attempt *a, int64_t ms)
{
	int64_t now = loop_now_ms(a->local->loop);

	if (a->unclear_since_ms < 0)
		a->unclear_since_ms = now;
	return now - a->unclear_since_ms >= ms;
}

/* Whether its supervisor should have ended the trial by now; and for what. */
static bool
is_overdue(const struct local_attempt *a, bool *timed_out)
{
	int64_t now = loop_now_ms(a->local->loop);
	int64_t grace = a->stop_sent == LOCAL_STOP_NOW
			    ? OVERDUE_MS
			    : a->grace_ms + OVERDUE_MS;

	*timed_out = a->up && a->max_run_ms > 0 &&
		     now >= a->up_ms + a->max_run_ms + a->grace_ms + OVERDUE_MS;
	return *timed_out || (a->stop_sent != LOCAL_STOP_NONE &&
				 now >= a->stop_sent_ms + grace);
}

/*
 * A process that stops the supervisor (SIGSTOP; perhaps the trial itself) stops
 * the clocks of max_run and of the grace with it.  Continue it, and kill it if
 * it is stopped again when its time is over; until then all processes of the
 * trial are its descendants.
 */
static void
supervisor_mind(struct local_attempt *a, const struct claim *c)
{
	bool timed_out;
	int i;

	if (!proc_stopped(&a->supervisor))
		return;
	if (!a->noted_still)
		launcher_note(&a->source, LAUNCH_WARNING,
		    "its supervisor was stopped by a signal, perhaps from the "
		    "trial itself: continuing it");
	a->noted_still = true;
	if (!is_overdue(a, &timed_out)) {
		(void)proc_signal(&a->supervisor, SIGCONT);
		return;
	}
	if (c->cgroup[0] != '\0')
		(void)cgroup_kill(c->cgroup);
	for (i = 0; i < KILL_ROUNDS; i++)
		if (proc_kill_descendants(a->supervisor.pid) == 0)
			break;
	if (proc_signal(&a->supervisor, SIGKILL) == 0 && !a->overdue) {
		a->overdue = true;
		a->timed_out = timed_out && a->stop_sent == LOCAL_STOP_NONE;
	}
}

/* The supervisor runs; it may be another one than we followed. */
static void
follow_running(struct local_attempt *a, const struct claim *c)
{
	if (a->supervisor.pid != c->shim_pid &&
	    !local_attempt_watch_claim(a, c))
		a->local->soon |= !unclear_longer_than(a, UNKNOWN_MS);
	if (a->supervisor.pid != 0)
		a->unclear_since_ms = -1;
	if (c->kind != CLAIM_STARTING)
		tell_up(a, c);
	if (c->kind == CLAIM_STUCK && !a->noted_stuck) {
		a->noted_stuck = true;
		launcher_note(&a->source, LAUNCH_WARNING,
		    "a process still exists a minute after SIGKILL, "
		    "because it hangs in the kernel; the slot stays "
		    "occupied");
	}
	local_attempt_signal(a);
	supervisor_mind(a, c);
	if (local_tail(a, false))
		a->dirty = true;
}

/* Its supervisor was killed for not ending it. */
static void
end_overdue(struct local_attempt *a, const struct claim *c)
{
	struct launch_event ev = { .kind = LAUNCH_EXIT };

	if (local_tail(a, true)) {
		a->dirty = a->check = true;
		return;
	}
	ev.u.exit.ran = true;
	ev.u.exit.exit_code = -1;
	ev.u.exit.signal = SIGKILL;
	ev.u.exit.timeout = a->timed_out;
	ev.u.exit.stopped = true;
	ev.u.exit.started_us = c->started_us;
	ev.u.exit.ended_us = loop_wall_us(a->local->loop);
	(void)snprintf(ev.u.exit.why, sizeof ev.u.exit.why,
	    "%s, but its supervisor had been stopped: both were killed",
	    a->timed_out ? "max_run was reached" : "its grace was over");
	end(a, &ev);
}

/*
 * The supervisor died: kill the remaining processes, and send the end when none
 * is left.
 */
static void
clear_remains(struct local_attempt *a, const struct attempt_evidence *found)
{
	bool any = leftovers_sweep(a, &found->claim);

	if (!any && !found->trial_lock && a->overdue) {
		end_overdue(a, &found->claim);
		return;
	}
	if (!any && !found->trial_lock) {
		end_lost(a,
		    a->child_status != -1 && WIFEXITED(a->child_status) &&
			    WEXITSTATUS(a->child_status) == EROFS
			? "its end could not be recorded: the file system is "
			  "read-only"
			: "its supervisor died or the machine went down");
		return;
	}
	a->local->soon |= !unclear_longer_than(a, UNKNOWN_MS);
	if (unclear_longer_than(a, REMAINS_MS) && !a->noted_stuck) {
		a->noted_stuck = true;
		launcher_note(&a->source, LAUNCH_WARNING,
		    "processes of it still run without their supervisor, and "
		    "cannot be killed");
	}
}

static void
wait_for_claim(struct local_attempt *a)
{
	a->local->soon |= !unclear_longer_than(a, UNKNOWN_MS);
	if (unclear_longer_than(a, STARTING_MS))
		(void)leftovers_kill(a->uuid, a->dir);
}

static void
note_unknown(struct local_attempt *a, const struct err *e)
{
	a->local->soon |= !a->noted_unknown;
	if (!unclear_longer_than(a, UNKNOWN_MS) || a->noted_unknown)
		return;
	a->noted_unknown = true;
	launcher_note(&a->source, LAUNCH_WARNING,
	    "cannot find out whether it still runs: %s", e->text);
}

static void
act(struct local_attempt *a, enum attempt_status is,
    const struct attempt_evidence *found, bool gone, const struct err *e)
{
	struct launch_event foreign = { .kind = LAUNCH_LOST,
		.u.lost.why = "its folder holds another run" };

	switch (is) {
	case ATTEMPT_NEVER:
		if (gone)
			end_unclaimed(a);
		break;
	case ATTEMPT_STARTING:
		wait_for_claim(a);
		break;
	case ATTEMPT_RUNNING:
	case ATTEMPT_ENDING:
		follow_running(a, &found->claim);
		break;
	case ATTEMPT_FINISHED:
		end_recorded(a, found);
		break;
	case ATTEMPT_REMAINS:
	case ATTEMPT_LOST:
		/*
		 * A live supervisor may have taken its locks after our check.
		 */
		if (gone)
			clear_remains(a, found);
		else
			a->local->soon = true;
		break;
	case ATTEMPT_ABANDONED:
		end_lost(a, "it was given up before it began");
		break;
	case ATTEMPT_FOREIGN:
		if (foreign_run_over(a, found))
			end(a, &foreign);
		break;
	case ATTEMPT_UNKNOWN:
		note_unknown(a, e);
		break;
	}
}

void
local_reconcile(struct local_attempt *a)
{
	struct err e = ERR_INIT;
	struct attempt_evidence found;
	enum attempt_status is;
	bool gone;

	a->dirty = false;
	if (a->up && !a->check) {
		a->dirty = local_tail(a, false);
		return;
	}
	/* Before the records are read: they are then final. */
	gone = supervisor_gone(a);
	a->check = false;
	is = attempt_status_read(&found, a->dir, a->uuid, &e);
	if (is == ATTEMPT_NEVER && local_state_dir_moved(a->local)) {
		a->check = true; /* at the next poll */
		return;
	}
	if (is == ATTEMPT_FOREIGN && a->up) {
		/* The attempt began, so its records were damaged. */
		is = ATTEMPT_UNKNOWN;
		(void)err_set(
		    &e, ERR_FILE, "%s: state: is of another run", a->dir);
	}
	act(a, is, &found, gone, &e);
}
