/*
 * Collects the evidence about an attempt and maps it to a status.  After an
 * error the status is unknown, never dead, and no action follows.
 */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/fail.h"
#include "src/base/file.h"
#include "src/base/text.h"
#include "trials/backend.h"
#include "trials/process/attempt-status.h"
#include "trials/process/proc.h"

enum attempt_status
attempt_status_of(const struct attempt_evidence *ev)
{
	if (ev->foreign)
		return ATTEMPT_FOREIGN;
	if (!ev->has_claim)
		return ev->shim_lock || ev->trial_lock ? ATTEMPT_STARTING
						       : ATTEMPT_NEVER;
	if (ev->claim.kind == CLAIM_ABANDONED)
		return ATTEMPT_ABANDONED;
	if (ev->has_exit) {
		if (ev->shim_lock && (!ev->exit.unsynced || ev->trial_lock))
			return ATTEMPT_ENDING;
		return ev->trial_lock ? ATTEMPT_REMAINS : ATTEMPT_FINISHED;
	}
	if (ev->shim_lock)
		return ATTEMPT_RUNNING;
	return ev->trial_lock ? ATTEMPT_REMAINS : ATTEMPT_LOST;
}

/* A missing file gives -1 without an error. */
static int
attempt_status_record_open(int dir_fd, const char *name, int *fd, struct err *e)
{
	*fd = file_open(dir_fd, name);
	if (*fd != -1 || errno == ENOENT)
		return 0;
	return err_set(e, ERR_FILE, "%s: %s", name,
	    errno == EINVAL ? "not a regular file" : strerror(errno));
}

static int
lock_probe(int fd, bool *held)
{
	int r = fd == -1 ? 0 : attempt_record_locked(fd);

	*held = r == 1;
	return r == -1 ? -1 : 0;
}

/*
 * Whether the machine went down before the output of this end was on the disk.
 */
static bool
is_undone(const struct attempt_evidence *ev)
{
	char boot_id[RECORD_UUID + 1];

	if (!ev->exit.unsynced)
		return false;
	proc_boot_id(boot_id);
	return strcmp(boot_id, ev->claim.boot_id) != 0;
}

static int
attempt_status_records_read(
    struct attempt_evidence *ev, int state_fd, const char *uuid, struct err *e)
{
	enum record_check claim_is, exit_is;

	if (state_fd == -1)
		return 0;
	if (attempt_record_read(state_fd, uuid, &ev->claim, &claim_is,
		&ev->exit, &exit_is) == -1)
		return err_set(e, ERR_FILE, "state: %s", strerror(errno));
	ev->foreign = claim_is == RECORD_FOREIGN &&
		      (exit_is == RECORD_FOREIGN || exit_is == RECORD_NONE);
	if (ev->foreign)
		return 0;
	if (claim_is == RECORD_FOREIGN || exit_is == RECORD_FOREIGN)
		return err_set(e, ERR_FILE, "state: is of another run");
	if (claim_is == RECORD_BAD || exit_is == RECORD_BAD ||
	    (claim_is == RECORD_NONE && exit_is == RECORD_GOOD))
		return err_set(e, ERR_FILE, "state: is damaged");
	ev->has_claim = claim_is == RECORD_GOOD;
	ev->has_exit = exit_is == RECORD_GOOD && !is_undone(ev);
	return 0;
}

static int
locks_probe(
    struct attempt_evidence *ev, int state_fd, int lock_fd, struct err *e)
{
	fail_point("truth.before_locks");
	if (lock_probe(state_fd, &ev->shim_lock) == -1 ||
	    lock_probe(lock_fd, &ev->trial_lock) == -1)
		return err_set(
		    e, ERR_FILE, "cannot probe its locks: %s", strerror(errno));
	fail_point("truth.after_locks");
	return 0;
}

/*
 * Locks first: a supervisor that has released its locks has written its
 * record.  A claim without a lock may be of a supervisor that took both between
 * our two checks; a lock that is free at a second check proves its end.
 */
static int
evidence_take(struct attempt_evidence *ev, int state_fd, int lock_fd,
    const char *uuid, struct err *e)
{
	int r;

	r = locks_probe(ev, state_fd, lock_fd, e);
	if (r == 0)
		r = attempt_status_records_read(ev, state_fd, uuid, e);
	if (r == 0 && ev->has_claim && !ev->has_exit && !ev->shim_lock) {
		r = locks_probe(ev, state_fd, lock_fd, e);
		if (r == 0)
			r = attempt_status_records_read(ev, state_fd, uuid, e);
	}
	return r;
}

enum attempt_status
attempt_status_read(struct attempt_evidence *ev, const char *dir,
    const char *uuid, struct err *e)
{
	int dir_fd, state_fd = -1, lock_fd = -1, r;

	*ev = (struct attempt_evidence){ 0 };
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir_fd == -1 && errno == ENOENT)
		return ATTEMPT_NEVER;
	if (dir_fd == -1)
		r = err_set(e, ERR_FILE, "%s", strerror(errno));
	else if (attempt_status_record_open(dir_fd, "state", &state_fd, e) ==
		     -1 ||
		 attempt_status_record_open(
		     dir_fd, "trial.lock", &lock_fd, e) == -1)
		r = -1;
	else
		r = evidence_take(ev, state_fd, lock_fd, uuid, e);
	if (lock_fd != -1)
		(void)close(lock_fd);
	if (state_fd != -1)
		(void)close(state_fd);
	if (dir_fd != -1)
		(void)close(dir_fd);
	if (r == 0)
		return attempt_status_of(ev);
	(void)err_add(e, "%s", dir);
	return ATTEMPT_UNKNOWN;
}

void
attempt_status_exit(struct launch_exit *out, const struct attempt_exit *x)
{
	out->ran = x->ran;
	out->exit_code = x->exit_code;
	out->signal = x->signal;
	out->timeout = x->timeout;
	out->oom = x->oom;
	out->stopped = x->stopped;
	out->started_us = x->started_us;
	out->ended_us = x->ended_us;
	out->max_rss = x->max_rss;
	out->cpu_us = x->cpu_us;
	text_cut(out->why, sizeof out->why, x->why);
}
