/*
 * A helper in a process group of its own, so that whatever it starts can be
 * ended with it.  Nobody here waits for any child: each is waited for by name,
 * so that nobody takes away another's.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/child.h"
#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/mem.h"

enum { TIMEOUT_MS = 60 * 1000, OUT_MAX = 1 << 20 };

struct child {
	pid_t pid; /* of the group too; ours until it is reaped */
	int pidfd, pipe;
	struct loop_fd *end, *out;
	struct loop_timer *timer;
	int64_t timeout_ms;
	size_t most;
	struct buf text;
	char *why; /* it was killed */
	child_cb *cb;
	void *arg;
};

static void
kill_all(struct child *c)
{
	(void)kill(-c->pid, SIGKILL);
}

static int
reap(struct child *c)
{
	int status = -1;

	while (waitpid(c->pid, &status, 0) == -1)
		if (errno != EINTR)
			return -1;
	return status;
}

static void
child_free(struct child *c)
{
	loop_fd_free(c->end);
	loop_fd_free(c->out);
	loop_timer_free(c->timer);
	if (c->pidfd != -1)
		(void)close(c->pidfd);
	if (c->pipe != -1)
		(void)close(c->pipe);
	buf_free(&c->text);
	free(c->why);
	free(c);
}

static void
pipe_close(struct child *c)
{
	loop_fd_free(c->out);
	c->out = NULL;
	(void)close(c->pipe);
	c->pipe = -1;
}

/* Until nothing is there at the moment; more than is allowed ends it. */
static void
pipe_read(struct child *c)
{
	char piece[16384];
	ssize_t n;

	while (c->pipe != -1) {
		n = read(c->pipe, piece, sizeof piece);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno == EAGAIN)
			return;
		if (n <= 0) {
			pipe_close(c);
			return;
		}
		if ((size_t)n > c->most - c->text.len) {
			if (c->why == NULL)
				c->why = xasprintf(
				    "it printed more than %zu bytes", c->most);
			kill_all(c);
			pipe_close(c);
			return;
		}
		buf_add(&c->text, piece, (size_t)n);
	}
}

static void
on_out(void *arg, int fd, bool readable, bool writable)
{
	(void)fd;
	(void)readable;
	(void)writable;
	pipe_read(arg);
}

static void
on_time(void *arg)
{
	struct child *c = arg;

	if (c->why == NULL)
		c->why = xasprintf(
		    "it took longer than %lld ms", (long long)c->timeout_ms);
	kill_all(c);
}

/*
 * What it printed is in the pipe by now; a process it left behind may hold the
 * other end open for ever, and is not waited for.
 */
static void
on_end(void *arg, int fd, bool readable, bool writable)
{
	struct child *c = arg;
	int status;

	(void)fd;
	(void)readable;
	(void)writable;
	pipe_read(c);
	status = reap(c);
	if (c->why != NULL)
		status = -1;
	else if (status == -1)
		c->why = xstrdup("how it ended is not known");
	c->cb(c->arg, status, buf_str(&c->text), c->text.len,
	    c->why != NULL ? c->why : "");
	child_free(c);
}

static int
spawn(pid_t *pid, const struct child_spec *spec, int out)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t all, none;
	int r;

	(void)sigfillset(&all);
	(void)sigemptyset(&none);
	(void)posix_spawnattr_init(&attr);
	(void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP |
						  POSIX_SPAWN_SETSIGDEF |
						  POSIX_SPAWN_SETSIGMASK);
	(void)posix_spawnattr_setpgroup(&attr, 0);
	(void)posix_spawnattr_setsigdefault(&attr, &all);
	(void)posix_spawnattr_setsigmask(&attr, &none);
	(void)posix_spawn_file_actions_init(&files);
	(void)posix_spawn_file_actions_addopen(
	    &files, 0, "/dev/null", O_RDONLY, 0);
	(void)posix_spawn_file_actions_adddup2(&files, out, 1);
	if (spec->mute)
		(void)posix_spawn_file_actions_addopen(
		    &files, 2, "/dev/null", O_WRONLY, 0);
	(void)posix_spawn_file_actions_addclosefrom_np(&files, 3);
	if (spec->dir != NULL)
		(void)posix_spawn_file_actions_addchdir_np(&files, spec->dir);
	r = posix_spawnp(
	    pid, spec->argv[0], &files, &attr, spec->argv, environ);
	(void)posix_spawn_file_actions_destroy(&files);
	(void)posix_spawnattr_destroy(&attr);
	return r;
}

static int
start_err(const struct child_spec *spec, int error, struct err *e)
{
	return err_set(e, ERR_FILE, "%s cannot be started%s%s: %s",
	    spec->argv[0], spec->dir != NULL ? " in " : "",
	    spec->dir != NULL ? spec->dir : "", strerror(error));
}

static void
child_watch(struct child *c, struct loop *loop)
{
	c->end = loop_fd_new(loop, c->pidfd, on_end, c);
	loop_fd_want(c->end, true, false);
	c->out = loop_fd_new(loop, c->pipe, on_out, c);
	loop_fd_want(c->out, true, false);
	c->timer = loop_timer_new(loop, on_time, c);
	loop_timer_set(c->timer, c->timeout_ms);
}

int
child_start(struct child **out, struct loop *loop,
    const struct child_spec *spec, child_cb *cb, void *arg, struct err *e)
{
	struct child *c;
	int p[2], r;

	if (pipe2(p, O_CLOEXEC) == -1)
		return start_err(spec, errno, e);
	(void)fcntl(p[0], F_SETFL, O_NONBLOCK);
	c = xcalloc(1, sizeof *c);
	*c = (struct child){ .pipe = p[0], .pidfd = -1, .cb = cb, .arg = arg };
	c->timeout_ms = spec->timeout_ms > 0 ? spec->timeout_ms : TIMEOUT_MS;
	c->most = spec->most > 0 ? spec->most : OUT_MAX;
	r = spawn(&c->pid, spec, p[1]);
	(void)close(p[1]);
	if (r == 0) {
		c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
		if (c->pidfd == -1) {
			r = errno;
			kill_all(c);
			(void)reap(c);
		}
	}
	if (r != 0) {
		child_free(c);
		return start_err(spec, r, e);
	}
	child_watch(c, loop);
	*out = c;
	return 0;
}

void
child_kill(struct child *c)
{
	if (c == NULL)
		return;
	kill_all(c);
	(void)reap(c);
	child_free(c);
}
