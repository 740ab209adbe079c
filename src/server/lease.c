/*
 * The lease of a study.  Only times that the file system gives are compared
 * with each other, because clocks of machines differ.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/file.h"
#include "src/base/log.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/server/lease.h"

enum {
	BEAT_MS = 10000,
	DEAD_S = 60, /* not renewed for so long: its server is gone */
	LEAVE_MS = 25000 /* two beats: the other server notices */
};

/* What the file says. */
struct holder {
	char host[100], boot[40], since[32];
	long pid;
};

struct lease {
	struct loop *loop;
	struct loop_timer *timer;
	char *path, *part;
	struct holder self;
	bool held;
	lease_cb *lost;
	void *arg;
};

/* false: there is none, or it is not one of ours. */
static bool
holder_read(const char *path, struct holder *h)
{
	char text[256];

	*h = (struct holder){ 0 };
	return file_read(AT_FDCWD, path, text, sizeof text) > 0 &&
	       sscanf(text, "host=%99s boot=%39s pid=%ld since=%31s", h->host,
		   h->boot, &h->pid, h->since) == 4;
}

static bool
is_same(const struct holder *a, const struct holder *b)
{
	return a->pid == b->pid && strcmp(a->host, b->host) == 0 &&
	       strcmp(a->boot, b->boot) == 0;
}

static bool
is_here(const struct lease *l, const struct holder *h)
{
	return strcmp(h->host, l->self.host) == 0 &&
	       strcmp(h->boot, l->self.boot) == 0;
}

/*
 * Write the file part with what we are.  0, or errno; on an error the file is
 * gone.
 */
static int
part_write(const struct lease *l)
{
	char text[256];
	int n =
	    snprintf(text, sizeof text, "host=%s boot=%s pid=%ld since=%s\n",
		l->self.host, l->self.boot, l->self.pid, l->self.since);
	int error = 0, fd;

	(void)unlink(l->part);
	fd = open(l->part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
	    0644);
	if (fd == -1)
		return errno;
	errno = ENOSPC; /* of a short write */
	if (write(fd, text, (size_t)n) != n)
		error = errno;
	if (close(fd) == -1 && error == 0)
		error = errno;
	if (error != 0)
		(void)unlink(l->part);
	return error;
}

static int
failed(const struct lease *l, int error, struct err *e)
{
	return err_set(e, ERR_FILE, "%s: %s", l->path, strerror(error));
}

/* Replace the lease, also that of another server. */
static int
lease_write(const struct lease *l, struct err *e)
{
	int error = part_write(l);

	if (error == 0 && rename(l->part, l->path) == -1) {
		error = errno;
		(void)unlink(l->part);
	}
	return error == 0 ? 0 : failed(l, error, e);
}

/* Create the lease; *there: another server has created it at the same time. */
static int
lease_create(const struct lease *l, bool *there, struct err *e)
{
	int error = part_write(l);

	*there = false;
	if (error == 0) {
		error = link(l->part, l->path) == -1 ? errno : 0;
		(void)unlink(l->part);
	}
	*there = error == EEXIST;
	/* Without hard links the last writer has it. */
	if (error == EPERM || error == EOPNOTSUPP || error == ENOSYS)
		error = 0;
	return error == 0 || *there ? 0 : failed(l, error, e);
}

/* Whether the holder lives: by its process here, by its file elsewhere. */
static int
is_alive(
    const struct lease *l, const struct holder *h, bool *alive, struct err *e)
{
	struct stat theirs, now;
	int error;

	if (is_here(l, h)) {
		*alive = kill((pid_t)h->pid, 0) == 0 || errno == EPERM;
		return 0;
	}
	/* What the file system calls now. */
	if ((error = part_write(l)) != 0)
		return failed(l, error, e);
	*alive = stat(l->part, &now) == 0 && stat(l->path, &theirs) == 0 &&
		 now.st_mtime - theirs.st_mtime < DEAD_S;
	(void)unlink(l->part);
	return 0;
}

static int
lease_refused(const struct holder *h, struct err *e)
{
	return err_set(e, ERR_USAGE,
	    "the server of this study runs on %s since %s (process %ld): stop "
	    "it there, or take the study over with hpotune start --take-over",
	    h->host, h->since, h->pid);
}

static void
lease_on_wait(void *arg)
{
	loop_stop(((struct lease *)arg)->loop);
}

static void
lease_on_turn(void *arg)
{
	(void)arg;
}

/*
 * Wait until the other server has read our name in its lease, and has exited.
 */
static void
leave_wait(struct lease *l, const struct holder *h)
{
	struct loop_timer *timer = loop_timer_new(l->loop, lease_on_wait, l);

	log_info("store", "the study is taken over from %s (process %ld)",
	    h->host, h->pid);
	loop_timer_set(timer, LEAVE_MS);
	loop_run(l->loop, lease_on_turn, NULL);
	loop_timer_free(timer);
}

static void
self_read(struct holder *h)
{
	time_t now = time(NULL);
	struct tm tm;

	(void)strcpy(h->host, "?");
	(void)gethostname(h->host, sizeof h->host - 1);
	if (file_read(AT_FDCWD, "/proc/sys/kernel/random/boot_id", h->boot,
		sizeof h->boot) <= 0)
		(void)strcpy(h->boot, "?");
	h->boot[strcspn(h->boot, "\n")] = '\0';
	h->pid = (long)getpid();
	if (gmtime_r(&now, &tm) == NULL ||
	    strftime(h->since, sizeof h->since, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		(void)strcpy(h->since, "?");
}

static void
lease_on_beat(void *arg)
{
	struct lease *l = arg;
	struct err e = ERR_INIT;
	struct holder h;
	bool there = holder_read(l->path, &h);

	if (there && !is_same(&h, &l->self)) {
		l->held = false;
		l->lost(l->arg, h.host);
		return;
	}
	/*
	 * A time can be renewed on a disk that is full, too.  A folder that is away
	 * for a while is not the end of the study.
	 */
	there = there &&
		utimensat(AT_FDCWD, l->path, NULL, AT_SYMLINK_NOFOLLOW) == 0;
	if (!there && lease_write(l, &e) != 0)
		log_warn("store", "the lease is not renewed: %s", e.text);
	loop_timer_set(l->timer, BEAT_MS);
}

int
lease_open(struct lease **out, struct loop *loop, const char *dir,
    const char *name, bool take_over, struct err *e)
{
	struct lease *l = xcalloc(1, sizeof *l);
	struct holder h;
	bool alive = false;
	int rc = 0;

	*out = l;
	l->loop = loop;
	l->timer = loop_timer_new(loop, lease_on_beat, l);
	l->path = xasprintf("%s/%s.lease", dir, name);
	self_read(&l->self);
	/* Machines may have servers of the same number. */
	l->part = xasprintf("%s.%s.%ld", l->path, l->self.host, l->self.pid);
	/* A server of this machine is found by the lock of the study. */
	if (!holder_read(l->path, &h) || is_here(l, &h))
		return 0;
	rc = is_alive(l, &h, &alive, e);
	if (rc == 0 && alive && !take_over)
		return lease_refused(&h, e);
	if (rc == 0 && alive) {
		rc = lease_write(l, e);
		l->held = rc == 0;
		if (rc == 0)
			leave_wait(l, &h);
	}
	return rc;
}

int
lease_hold(struct lease *l, lease_cb *lost, void *arg, struct err *e)
{
	bool alive = false, there = false;
	struct holder h;

	l->lost = lost;
	l->arg = arg;
	if (access(l->path, F_OK) == -1 && lease_create(l, &there, e) != 0)
		return -1;
	if (holder_read(l->path, &h) && !is_same(&h, &l->self)) {
		if (is_alive(l, &h, &alive, e) != 0)
			return -1;
		/* The server of a lease that has just been created is alive. */
		if (alive || there)
			return lease_refused(&h, e);
	}
	if (lease_write(l, e) != 0)
		return -1;
	l->held = true;
	loop_timer_set(l->timer, BEAT_MS);
	return 0;
}

void
lease_close(struct lease *l)
{
	struct holder h;

	if (l == NULL)
		return;
	if (l->held && holder_read(l->path, &h) && is_same(&h, &l->self))
		(void)unlink(l->path);
	loop_timer_free(l->timer);
	free(l->path);
	free(l->part);
	free(l);
}
