/*
 * Runs a helper program in its own process group, so that all its descendants
 * can be killed with it.  Children are reaped by pid only, never by waiting for
 * any child.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/capture.h"
#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/base/spawn.h"

enum { TIMEOUT_MS = 60 * 1000, OUT_MAX = 1 << 20 };

struct capture {
	pid_t pid; /* also the process group; ours until it is reaped */
	int end_fd, pipe;
	struct loop_fd *end, *out;
	struct loop_timer *timer;
	int64_t timeout_ms;
	size_t most;
	struct buf text;
	char *why; /* why it was killed; NULL = it was not */
	capture_cb *cb;
	void *arg;
};

static void
child_free(struct capture *c)
{
	loop_fd_free(c->end);
	loop_fd_free(c->out);
	loop_timer_free(c->timer);
	if (c->end_fd != -1)
		(void)close(c->end_fd);
	if (c->pipe != -1)
		(void)close(c->pipe);
	buf_free(&c->text);
	free(c->why);
	free(c);
}

static void
pipe_close(struct capture *c)
{
	loop_fd_free(c->out);
	c->out = NULL;
	(void)close(c->pipe);
	c->pipe = -1;
}

/* Read until the pipe is empty; kill the helper when it exceeds the limit. */
static void
pipe_read(struct capture *c)
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
			spawn_kill(c->pid);
			pipe_close(c);
			return;
		}
		buf_add(&c->text, piece, (size_t)n);
	}
}

static void
capture_on_out(void *arg, int fd, bool readable, bool writable)
{
	(void)fd;
	(void)readable;
	(void)writable;
	pipe_read(arg);
}

static void
capture_on_time(void *arg)
{
	struct capture *c = arg;

	if (c->why == NULL)
		c->why = xasprintf(
		    "it took longer than %lld ms", (long long)c->timeout_ms);
	spawn_kill(c->pid);
}

/*
 * At its exit all its output is already in the pipe.  A descendant may hold the
 * other end open for ever, so do not wait for the end of the file.
 */
static void
capture_on_end(void *arg, int fd, bool readable, bool writable)
{
	struct capture *c = arg;
	int status;

	(void)fd;
	(void)readable;
	(void)writable;
	pipe_read(c);
	status = spawn_reap(c->pid);
	if (c->why != NULL)
		status = -1;
	else if (status == -1)
		c->why = xstrdup("its exit status is unknown");
	c->cb(c->arg, status, buf_str(&c->text), c->text.len,
	    c->why != NULL ? c->why : "");
	child_free(c);
}

static void
child_watch(struct capture *c, struct loop *loop)
{
	c->end = loop_fd_new(loop, c->end_fd, capture_on_end, c);
	loop_fd_want(c->end, true, false);
	c->out = loop_fd_new(loop, c->pipe, capture_on_out, c);
	loop_fd_want(c->out, true, false);
	c->timer = loop_timer_new(loop, capture_on_time, c);
	loop_timer_set(c->timer, c->timeout_ms);
}

int
capture_start(struct capture **out, struct loop *loop,
    const struct capture_spec *spec, capture_cb *cb, void *arg, struct err *e)
{
	struct spawn_spec start = {
		.argv = spec->argv,
		.dir = spec->dir,
		.in = -1,
		.err = spec->mute ? -1 : STDERR_FILENO,
	};
	struct capture *c;
	int p[2], rc;

	if (pipe2(p, O_CLOEXEC) == -1)
		return err_set(e, ERR_FILE, "%s cannot be started: %s",
		    spec->argv[0], strerror(errno));
	(void)fcntl(p[0], F_SETFL, O_NONBLOCK);
	c = xcalloc(1, sizeof *c);
	*c = (struct capture){
		.pipe = p[0], .end_fd = -1, .cb = cb, .arg = arg
	};
	c->timeout_ms = spec->timeout_ms > 0 ? spec->timeout_ms : TIMEOUT_MS;
	c->most = spec->most > 0 ? spec->most : OUT_MAX;
	start.out = p[1];
	if (spec->both)
		start.err = p[1];
	rc = spawn_start(&c->pid, &c->end_fd, &start, e);
	(void)close(p[1]);
	if (rc != 0) {
		child_free(c);
		return -1;
	}
	child_watch(c, loop);
	*out = c;
	return 0;
}

void
capture_kill(struct capture *c)
{
	if (c == NULL)
		return;
	(void)spawn_end(c->pid, c->end_fd);
	child_free(c);
}
