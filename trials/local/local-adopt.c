/*
 * After a restart: find attempts again, adopt what lives, end what was left
 * behind, and make sure that what never began never will.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/fail.h"
#include "trials/process/cgroup.h"
#include "trials/local/local-gpu.h"
#include "trials/local/local-internal.h"
#include "trials/process/attempt-status.h"

void
local_group_remove(const struct local *l, const char *uuid)
{
	char path[CLAIM_PATH];

	if (l->cgroup[0] == '\0')
		return;
	(void)snprintf(
	    path, sizeof path, "%.180s/hpotune-%.36s", l->cgroup, uuid);
	cgroup_remove(path);
}

enum launch_look
local_look(void *ctx, const struct launch_spec *spec, struct err *e)
{
	struct local *l = ctx;
	char *dir = local_dir(spec);
	struct evidence found;
	enum truth is = truth_read(&found, dir, spec->uuid, e);

	if (is == TRUTH_NEVER && local_home_away(l)) {
		(void)local_home_err(l, e);
		is = TRUTH_UNKNOWN;
	}
	/* Before anything new is placed; while nobody can tell, too. */
	if (is != TRUTH_NEVER && is != TRUTH_FOREIGN)
		local_gpus_adopt(l, spec, dir);
	else
		local_gpus_undo(l, spec->slot, spec->uuid);
	free(dir);
	if (is == TRUTH_UNKNOWN)
		return LOOK_UNKNOWN;
	if (is == TRUTH_FOREIGN && (found.shim_lock || found.trial_lock)) {
		(void)err_set(e, ERR_BUSY, "another run of it is still there");
		return LOOK_UNKNOWN;
	}
	if (is == TRUTH_NEVER || is == TRUTH_FOREIGN)
		return LOOK_NEVER;
	/* The first turn adopts it, or delivers what is left of it. */
	if (local_find(l, spec->trial, spec->attempt) == NULL)
		(void)local_follow(l, spec);
	switch (is) {
	case TRUTH_FINISHED:
		return LOOK_ENDED;
	case TRUTH_REMAINS:
		return found.has_exit ? LOOK_ENDED : LOOK_LOST;
	case TRUTH_LOST:
	case TRUTH_ABANDONED:
		return LOOK_LOST;
	case TRUTH_STARTING:
	case TRUTH_RUNNING:
	case TRUTH_ENDING:
		return LOOK_ALIVE;
	case TRUTH_NEVER:
	case TRUTH_FOREIGN:
	case TRUTH_UNKNOWN:
		break;
	}
	return LOOK_UNKNOWN;
}

/* Who finds another's claim cannot make one. */
static bool
is_foreign(int fd, const char *uuid)
{
	enum claim_read claim_is, exit_is;
	struct claim_exit x;
	struct claim c;

	return claim_read_both(fd, uuid, &c, &claim_is, &x, &exit_is) == 0 &&
	       claim_is == CLAIM_FOREIGN;
}

/* With the lock held: the claim, unless there is one. */
static int
bury_locked(int fd, const char *dir, const char *uuid, struct err *e)
{
	unsigned char sector[CLAIM_SECTOR];
	enum claim_read claim_is, exit_is;
	struct claim_exit x;
	struct claim c;

	if (claim_read_both(fd, uuid, &c, &claim_is, &x, &exit_is) == -1)
		return err_set(
		    e, ERR_FILE, "%s/state: %s", dir, strerror(errno));
	if (claim_is == CLAIM_GOOD && c.kind == CLAIM_ABANDONED)
		return 0;
	if (claim_is != CLAIM_NONE)
		return err_set(e, ERR_BUSY, "%s: was begun meanwhile", dir);
	c = (struct claim){ .kind = CLAIM_ABANDONED };
	memcpy(c.uuid, uuid, CLAIM_UUID);
	claim_encode(sector, &c);
	fail_point("local.before_bury");
	if (pwrite(fd, sector, sizeof sector, 0) != sizeof sector ||
	    fdatasync(fd) == -1)
		return err_set(
		    e, ERR_FILE, "%s/state: %s", dir, strerror(errno));
	fail_point("local.after_bury");
	return 0;
}

int
local_bury(const char *dir, const char *uuid, struct err *e)
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
	else if (claim_lock(fd) == 0)
		r = bury_locked(fd, dir, uuid, e);
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
	char *dir = local_dir(spec);
	int r;

	r = local_home_away(l) ? local_home_err(l, e)
			       : local_bury(dir, spec->uuid, e);
	/* Its folder may be gone while it lives. */
	if (r == 0 && local_kill_marked(spec->uuid, dir).spared == 0)
		local_group_remove(l, spec->uuid);
	free(dir);
	return r;
}
