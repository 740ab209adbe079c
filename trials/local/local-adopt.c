/*
 * After a restart: find the attempts of the previous server, follow those that
 * run, kill what dead supervisors left, and claim those that never began so
 * that they cannot start later.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/fail.h"
#include "src/base/inode.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "trials/local/local-gpu.h"
#include "trials/local/local-internal.h"
#include "trials/process/attempt-status.h"
#include "trials/process/cgroup.h"
#include "trials/process/proc-environ.h"
#include "trials/process/proc.h"

void
local_adopt_remove_cgroup(const struct local *l, const char *uuid)
{
	char path[RECORD_PATH];

	if (l->cgroup[0] == '\0')
		return;
	(void)snprintf(
	    path, sizeof path, "%.180s/hpotune-%.36s", l->cgroup, uuid);
	cgroup_remove(path);
}

enum launch_adoption
local_adopt(void *ctx, const struct launch_spec *spec, struct err *e)
{
	struct local *l = ctx;
	char *dir = local_start_dir(spec);
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
		(void)err_set(e, ERR_BUSY, "another run of it is still there");
		return ADOPT_UNKNOWN;
	}
	if (is == ATTEMPT_NEVER || is == ATTEMPT_FOREIGN)
		return ADOPT_NEVER;
	/*
	 * The first reconciliation adopts it or delivers its remaining output.
	 */
	if (local_find(l, spec->trial, spec->attempt) == NULL)
		(void)local_follow(l, spec);
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

int
local_abandon_record(const char *dir, const char *uuid, struct err *e)
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
	char *dir = local_start_dir(spec);
	int r;

	r = local_state_dir_moved(l) ? local_state_dir_err(l, e)
				     : local_abandon_record(dir, spec->uuid, e);
	/* It may still run although its folder was removed. */
	if (r == 0 && local_marked_kill(spec->uuid, dir).spared == 0)
		local_adopt_remove_cgroup(l, spec->uuid);
	free(dir);
	return r;
}

/*
 * Checks that the state directory is still at its path.  If it, or a folder
 * above it, is renamed while trials run, missing files prove nothing about the
 * trials.
 */

void
local_state_dir_open(struct local *l, const char *state_dir)
{
	l->home.path = xstrdup(state_dir);
	l->home.fd = open(state_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	l->home.seen_us = loop_wall_us(l->loop);
}

void
local_state_dir_close(struct local *l)
{
	if (l->home.fd != -1)
		(void)close(l->home.fd);
	free(l->home.path);
}

bool
local_state_dir_moved(struct local *l)
{
	struct local_state_dir *h = &l->home;
	enum inode_state is =
	    h->fd == -1 ? INODE_SAME : inode_check(h->fd, h->path);
	/* A removed directory does not come back. */
	bool away = is == INODE_MOVED || is == INODE_REPLACED;
	int64_t now = loop_wall_us(l->loop);

	if (away && !h->away)
		h->away_us = h->seen_us;
	if (!away && h->away)
		h->back_us = now;
	if (!away)
		h->seen_us = now;
	h->away = away;
	return away;
}

int
local_state_dir_err(const struct local *l, struct err *e)
{
	return err_set(e, ERR_BUSY, "%s is not where it was", l->home.path);
}

bool
local_state_dir_was_moved(const struct local *l, int64_t us)
{
	return l->home.back_us != 0 && us >= l->home.away_us &&
	       us <= l->home.back_us;
}

/*
 * Finds and kills processes by the attempt's uuid in their environment.  A
 * copied study has the same uuids as the original: processes whose attempt is
 * held in another folder that still exists are left alone.
 */

struct marked {
	const char *uuid, *dir;
	bool only_count; /* those to spare */
	bool elsewhere; /* result for the process examined last */
	struct local_marked n;
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

struct local_marked
local_marked_kill(const char *uuid, const char *dir)
{
	struct marked m = { .uuid = uuid, .dir = dir };

	proc_each(kill_if_marked, &m);
	return m.n;
}

bool
local_marked_sweep(struct local_attempt *a, const struct claim *c)
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
	return local_marked_kill(c->uuid, a->dir).killed > 0 || found;
}
