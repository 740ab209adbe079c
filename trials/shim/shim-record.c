/*
 * The durable steps: claim the attempt before anything is started, record its
 * end after all processes have ended.  If the claim may not be on the disk,
 * nothing is started.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/file.h"
#include "trials/process/cgroup.h"
#include "trials/process/proc.h"
#include "trials/shim/shim.h"

enum {
	RETRY_MIN_MS = 100,
	RETRY_MAX_MS = 10000,
	/* A read-only file system rarely recovers by itself. */
	RETRY_READ_ONLY_MS = 10000
};

static int
shim_record_open(const struct shim *s, const char *name, int flags)
{
	return file_open_for(s->dir_fd, name, O_RDWR | O_CREAT | flags, 0600);
}

static int
sector_write(int fd, const unsigned char sector[RECORD_SECTOR], off_t at)
{
	ssize_t n = pwrite(fd, sector, RECORD_SECTOR, at);

	if (n == RECORD_SECTOR)
		return 0;
	if (n >= 0)
		errno = ENOSPC;
	return -1;
}

/* Room for both records, so that a full disk cannot stop the second one. */
static int
state_allocate(int fd)
{
	static const unsigned char zeros[RECORD_FILE];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) == -1)
		return -1;
	if (st.st_size >= RECORD_FILE)
		return 0;
	n = pwrite(fd, zeros, sizeof zeros, 0);
	if (n == RECORD_FILE)
		return 0;
	if (n >= 0)
		errno = ENOSPC;
	return -1;
}

/* Whether a lock failed because the shared file system has none. */
static bool
shared_no_locks(const struct shim *s)
{
	return s->shared != 0 && (errno == ENOLCK || errno == ENOSYS ||
				     errno == EOPNOTSUPP || errno == EINVAL);
}

static int
state_lock(struct shim *s)
{
	struct attempt_exit x;
	struct claim c;
	enum record_check claim_is, exit_is;

	s->state_fd = shim_record_open(s, "state", 0);
	if (s->state_fd == -1)
		return errno;
	/* Where there are no locks, the claim by link(2) has decided. */
	if (attempt_record_lock(s->state_fd) == -1 && !shared_no_locks(s))
		return errno == EAGAIN ? SHIM_BUSY : errno;
	if (attempt_record_read(
		s->state_fd, s->uuid, &c, &claim_is, &x, &exit_is) == -1)
		return errno;
	if (claim_is == RECORD_GOOD)
		return SHIM_CLAIMED;
	if (claim_is != RECORD_NONE || exit_is != RECORD_NONE)
		return SHIM_FOREIGN;
	return state_allocate(s->state_fd) == -1 ? errno : 0;
}

/*
 * The names of the attempt, its trial and all trials must last too.  A folder
 * that was made ahead has a lasting name; if a loss of power undoes its rename,
 * its claim says whose it is (local-ahead.c).
 */
static int
dirs_sync(const struct shim *s)
{
	static const char *const up[] = { "..", "../.." };
	size_t i = 0;
	int fd, r;

	if (s->made != 0)
		return 0;
	r = fsync(s->dir_fd);

	for (; r == 0 && i < 2; i++) {
		fd = openat(
		    s->dir_fd, up[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd == -1)
			return -1;
		r = fsync(fd);
		(void)close(fd);
	}
	return r;
}

int
shim_record_claim(struct shim *s)
{
	unsigned char sector[RECORD_SECTOR];
	struct proc_stat self;
	int r;

	s->dir_fd =
	    open(s->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (s->dir_fd == -1)
		return errno;
	if (s->shared != 0 && (r = shim_shared_claim(s)) != 0)
		return r;
	r = state_lock(s);
	if (r != 0)
		return r;
	s->lock_fd = shim_record_open(s, "trial.lock", O_APPEND);
	s->log.fd = shim_record_open(s, "log", O_APPEND);
	s->metrics.fd = shim_record_open(s, "metrics.jsonl", O_APPEND);
	if (s->lock_fd == -1 || s->log.fd == -1 || s->metrics.fd == -1 ||
	    (attempt_record_lock(s->lock_fd) == -1 && !shared_no_locks(s)))
		return errno;
	if (*s->cgroup != '\0' && cgroup_make(s->cgroup, s->memory) == -1)
		s->cgroup = "";

	s->claim.kind = CLAIM_STARTING;
	memcpy(s->claim.uuid, s->uuid, RECORD_UUID);
	proc_boot_id(s->claim.boot_id);
	s->claim.shim_pid = getpid();
	if (proc_stat(getpid(), &self))
		s->claim.shim_start = self.start;
	s->claim.claimed_us = clock_wall_us();
	s->claim.trial = s->made;
	(void)snprintf(
	    s->claim.cgroup, sizeof s->claim.cgroup, "%s", s->cgroup);
	attempt_record_encode_claim(sector, &s->claim);
	fail_point("shim.before_claim");
	if (sector_write(s->state_fd, sector, 0) == -1)
		return errno;
	fail_point("shim.after_claim");
	if (fdatasync(s->state_fd) == -1 || dirs_sync(s) == -1)
		return errno;
	fail_point("shim.after_claim_sync");
	return 0;
}

void
shim_record_update(struct shim *s, enum claim_kind kind)
{
	unsigned char sector[RECORD_SECTOR];

	/*
	 * The claim is not synced: after a power loss no process is left to
	 * find.
	 */
	s->claim.kind = kind;
	attempt_record_encode_claim(sector, &s->claim);
	(void)sector_write(s->state_fd, sector, 0);
	fail_point("shim.after_update");
}

static int
end_write(const struct shim *s, const unsigned char sector[RECORD_SECTOR])
{
	return sector_write(s->state_fd, sector, RECORD_SECTOR);
}

static int
exit_write(const struct shim *s, const unsigned char sector[RECORD_SECTOR])
{
	return end_write(s, sector) == 0 && fdatasync(s->state_fd) == 0 ? 0
									: errno;
}

/*
 * Nothing of the trial is left: tell so before the disk has it, so that the next
 * trial can begin.  Other machines cannot know whether this one went down.
 */
static void
end_announce(struct shim *s)
{
	unsigned char sector[RECORD_SECTOR];
	int64_t i;

	if (s->shared != 0)
		return;
	for (i = 0; i < s->hold_fds; i++)
		(void)close(3 + (int)i);
	s->exit.unsynced = true;
	attempt_record_encode_exit(sector, &s->exit, s->uuid);
	s->exit.unsynced = false;
	fail_point("shim.before_announce");
	(void)end_write(s, sector);
	fail_point("shim.after_announce");
	if (s->server_fd != -1)
		(void)send(s->server_fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/*
 * Measure the outputs, which nothing writes any more: a reader on another
 * machine must see so much.
 */
static void
output_measure(struct shim *s)
{
	struct stat st;

	if (fstat(s->log.fd, &st) == 0)
		s->exit.log_size = st.st_size;
	if (fstat(s->metrics.fd, &st) == 0)
		s->exit.metrics_size = st.st_size;
}

/* An empty file is spared the wait. */
static void
output_sync(int fd)
{
	struct stat st;

	if (fstat(fd, &st) == -1 || st.st_size > 0)
		(void)fdatasync(fd);
}

int
shim_record_exit(struct shim *s)
{
	unsigned char sector[RECORD_SECTOR];
	int64_t wait_ms = RETRY_MIN_MS, read_only_ms = 0;
	struct timespec t;
	int error;

	output_measure(s);
	end_announce(s);
	/* The output must be on the disk before its end is. */
	output_sync(s->log.fd);
	output_sync(s->metrics.fd);
	attempt_record_encode_exit(sector, &s->exit, s->uuid);
	fail_point("shim.before_exit_record");
	while ((error = exit_write(s, sector)) != 0) {
		if (error == EROFS && read_only_ms >= RETRY_READ_ONLY_MS)
			return error;
		read_only_ms = error == EROFS ? read_only_ms + wait_ms : 0;
		t.tv_sec = (time_t)(wait_ms / 1000);
		t.tv_nsec = (long)(wait_ms % 1000) * 1000000;
		(void)nanosleep(&t, NULL);
		wait_ms =
		    wait_ms * 2 < RETRY_MAX_MS ? wait_ms * 2 : RETRY_MAX_MS;
	}
	fail_point("shim.after_exit_record");
	return 0;
}
