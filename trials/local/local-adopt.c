/*
 * Attempts of an earlier server: those that run are followed, what dead supervisors left is killed, and
 * attempts that never began are claimed so that they cannot start later.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/fail.h"
#include "src/base/file.h"
#include "trials/local/local-gpu.h"
#include "trials/local/local-internal.h"
#include "trials/process/attempt-status.h"

enum launch_adoption
local_adopt(void *ctx, const struct launch_spec *spec, struct err *e)
{
	struct local *l = ctx;
	char *dir = backend_spec_attempt_dir(spec);
	struct attempt_evidence found;
	enum attempt_status is =
	    attempt_status_read(&found, dir, spec->uuid, e);

	if (is == ATTEMPT_NEVER && local_state_dir_moved(l)) {
		(void)local_state_dir_err(l, e);
		is = ATTEMPT_UNKNOWN;
	}
	/* Before new attempts get GPUs; also for an unknown state. */
	if (is != ATTEMPT_NEVER && is != ATTEMPT_FOREIGN) {
		(void)local_gpu_expect(l, spec->gpu_memory);
		local_gpu_names_adopt(l, spec, dir);
	} else
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
		    e, ERR_FILE, "%s/state: %s", dir, file_why(errno));
	if (claim_is == RECORD_GOOD && c.kind == CLAIM_ABANDONED)
		return 0;
	if (claim_is != RECORD_NONE)
		return err_set(e, ERR_BUSY, "%s: was started meanwhile", dir);
	c = (struct claim){ .kind = CLAIM_ABANDONED };
	memcpy(c.uuid, uuid, RECORD_UUID);
	attempt_record_encode_claim(sector, &c);
	fail_point("local.before_abandon");
	if (pwrite(fd, sector, sizeof sector, 0) != sizeof sector ||
	    fdatasync(fd) == -1)
		return err_set(
		    e, ERR_FILE, "%s/state: %s", dir, strerror(errno));
	fail_point("local.after_abandon");
	return 0;
}

int
local_adopt_abandon_record(const char *dir, const char *uuid, struct err *e)
{
	int dir_fd, fd, r;

	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir_fd == -1) {
		/* A supervisor without its directory starts nothing. */
		if (errno == ENOENT)
			return 0;
		return err_set(e, ERR_FILE, "%s: %s", dir, strerror(errno));
	}
	fd = file_open_for(dir_fd, "state", O_RDWR | O_CREAT, 0600);
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
	char *dir = backend_spec_attempt_dir(spec);
	int r;

	r = local_state_dir_moved(l)
		? local_state_dir_err(l, e)
		: local_adopt_abandon_record(dir, spec->uuid, e);
	/* The trial may still run although its folder was removed. */
	if (r == 0 && local_leftovers_kill(spec->uuid, dir).spared == 0)
		local_leftovers_remove_cgroup(l, spec->uuid);
	free(dir);
	return r;
}
