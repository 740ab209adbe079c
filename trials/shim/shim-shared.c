/*
 * A folder on a file system that machines share.  Locks may not reach from one
 * machine to another there, and a scheduler may start the same attempt twice:
 * the claim is a hard link, which only one can make.  The server asks for a
 * stop by a file, and sees by another one that the supervisor lives.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/fail.h"
#include "src/base/file.h"
#include "trials/shim/shim.h"

enum { NAME_SIZE = 128 };

static const char *
job_variable(const char *name)
{
	const char *value = getenv(name);

	return value != NULL ? value : "";
}

/* Write the file that is then linked: 0 or an errno. */
static int
claim_write(const struct shim *s, const char *name)
{
	char host[128] = "?", text[512];
	int fd, n, r = 0;

	(void)gethostname(host, sizeof host - 1);
	n = snprintf(text, sizeof text,
	    "uuid=%.40s job=%.40s restart=%.20s cpus=%.20s host=%.100s\n",
	    s->uuid, job_variable("SLURM_JOB_ID"),
	    job_variable("SLURM_RESTART_COUNT"),
	    job_variable("SLURM_CPUS_ON_NODE"),
	    *job_variable("SLURMD_NODENAME") != '\0'
		? job_variable("SLURMD_NODENAME")
		: host);
	fd = openat(s->dir_fd, name,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1)
		return errno;
	if (write(fd, text, (size_t)n) != n || fsync(fd) == -1)
		r = errno != 0 ? errno : EIO;
	(void)close(fd);
	return r;
}

/* An answer that was lost on the way looks as if another one had linked. */
static bool
shim_shared_is_ours(const struct shim *s, const char *name)
{
	struct stat mine, there;

	return fstatat(s->dir_fd, name, &mine, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstatat(s->dir_fd, SHIM_CLAIM_FILE, &there,
		   AT_SYMLINK_NOFOLLOW) == 0 &&
	       mine.st_ino == there.st_ino && mine.st_dev == there.st_dev;
}

int
shim_shared_claim(struct shim *s)
{
	char host[64] = "", name[NAME_SIZE];
	int r;

	(void)gethostname(host, sizeof host - 1);
	(void)snprintf(name, sizeof name, SHIM_CLAIM_FILE ".%s.%.40s.%lld.%lld",
	    host, job_variable("SLURM_JOB_ID"), (long long)getpid(),
	    (long long)clock_wall_us());
	r = claim_write(s, name);
	fail_point("shim.before_link");
	if (r == 0 &&
	    linkat(s->dir_fd, name, s->dir_fd, SHIM_CLAIM_FILE, 0) == -1 &&
	    !shim_shared_is_ours(s, name))
		r = errno == EEXIST ? SHIM_CLAIMED : errno;
	(void)unlinkat(s->dir_fd, name, 0);
	fail_point("shim.after_link");
	/* The log of the job, which no other process writes. */
	if (r == SHIM_CLAIMED)
		(void)dprintf(2,
		    "hpotune-shim: the attempt was started or given up "
		    "before: this run of the job does nothing\n");
	else if (r != 0)
		(void)dprintf(
		    2, "hpotune-shim: %s: no claim: %s\n", s->dir, strerror(r));
	return r;
}

/* Overwritten in place: a reader sees the old or the new number. */
static void
beat_write(struct shim *s)
{
	char text[24];
	int fd;

	(void)snprintf(text, sizeof text, "%020lld\n", (long long)++s->beats);
	fd = file_open_for(s->dir_fd, SHIM_BEAT_FILE, O_WRONLY | O_CREAT, 0600);
	if (fd == -1)
		return;
	if (pwrite(fd, text, strlen(text), 0) == -1)
		(void)0;
	(void)close(fd);
}

enum shim_wish
shim_shared_look(struct shim *s)
{
	char text[8] = "";
	int fd;

	s->shared_at_ms = s->now_ms + SHIM_LOOK_MS;
	if (s->beat_at_ms < 0 || s->now_ms >= s->beat_at_ms) {
		s->beat_at_ms = s->now_ms + SHIM_BEAT_MS;
		beat_write(s);
	}
	fd = file_open(s->dir_fd, SHIM_STOP_FILE);
	if (fd == -1)
		return SHIM_WISH_NONE;
	if (read(fd, text, sizeof text - 1) < 0)
		text[0] = '\0';
	(void)close(fd);
	if (strncmp(text, "kill", 4) == 0)
		return SHIM_WISH_KILL;
	if (strncmp(text, "stop", 4) == 0)
		return SHIM_WISH_STOP;
	return strcmp(text, SHIM_WISH_PREEMPTED) == 0 ? SHIM_WISH_PREEMPT
						      : SHIM_WISH_NONE;
}
