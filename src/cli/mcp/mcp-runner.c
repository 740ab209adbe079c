/*
 * Starts the runner, sends it commands and collects what they print.  What goes
 * wrong with a command ends the process, as if it had been that command; the next
 * one gets a new process.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/base/spawn.h"
#include "src/cli/common/command-serve.h"
#include "src/cli/mcp/mcp-runner.h"

struct mcp_runner {
	struct mcp_runner **home; /* where its owner has it */
	pid_t pid;
	int end_fd, in, out, told;
	struct loop_fd *on_end, *on_out, *on_told;
	struct loop_timer *timer;
	/* Of the command that runs; cb NULL: none does */
	capture_cb *cb;
	void *arg;
	int64_t timeout_ms;
	size_t most;
	struct buf text;
	char *why; /* why it was killed; NULL = it was not */
};

/* Whatever is left of it, but its process. */
static void
runner_free(struct mcp_runner *r)
{
	int fds[] = { r->end_fd, r->in, r->out, r->told };
	size_t i;

	loop_fd_free(r->on_end);
	loop_fd_free(r->on_out);
	loop_fd_free(r->on_told);
	loop_timer_free(r->timer);
	for (i = 0; i < sizeof fds / sizeof *fds; i++)
		if (fds[i] != -1)
			(void)close(fds[i]);
	*r->home = NULL;
	buf_free(&r->text);
	free(r->why);
	free(r);
}

void
mcp_runner_kill(struct mcp_runner *r)
{
	if (r == NULL)
		return;
	(void)spawn_end(r->pid, r->end_fd);
	runner_free(r);
}

static void
runner_stop(struct mcp_runner *r, char *why)
{
	if (r->why == NULL)
		r->why = why;
	else
		free(why);
	spawn_kill(r->pid);
}

/* Read what the command has printed so far. */
static void
runner_read(struct mcp_runner *r)
{
	char piece[16384];
	ssize_t n;

	while (r->out != -1) {
		n = read(r->out, piece, sizeof piece);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno == EAGAIN)
			return;
		if (n > 0 && (size_t)n <= r->most - r->text.len) {
			buf_add(&r->text, piece, (size_t)n);
			continue;
		}
		if (n > 0)
			runner_stop(
			    r, xasprintf(
				   "it printed more than %zu bytes", r->most));
		loop_fd_free(r->on_out);
		r->on_out = NULL;
		(void)close(r->out);
		r->out = -1;
	}
}

/* The command has ended; the runner may be freed already. */
static void
runner_answer(
    capture_cb *cb, void *arg, struct buf *text, int status, const char *why)
{
	cb(arg, status, buf_str(text), text->len, why != NULL ? why : "");
	buf_free(text);
}

/* Whether its command has ended well and was answered. */
static bool
runner_told(struct mcp_runner *r)
{
	struct command_serve_end end;
	capture_cb *cb = r->cb;
	void *arg = r->arg;
	struct buf text;

	if (cb == NULL || r->why != NULL ||
	    read(r->told, &end, sizeof end) != sizeof end)
		return false;
	runner_read(r);
	if (r->why != NULL)
		return false;
	text = r->text;
	r->text = (struct buf){ 0 };
	r->cb = NULL;
	loop_timer_stop(r->timer);
	if (end.last != 0)
		mcp_runner_kill(r);
	/* As waitpid has a status. */
	runner_answer(cb, arg, &text, (end.status & 0xff) << 8, NULL);
	return true;
}

static void
runner_on_out(void *arg, int fd, bool readable, bool writable)
{
	(void)fd;
	(void)readable;
	(void)writable;
	runner_read(arg);
}

static void
runner_on_told(void *arg, int fd, bool readable, bool writable)
{
	struct mcp_runner *r = arg;
	struct pollfd more = { .fd = fd, .events = POLLIN };

	(void)readable;
	(void)writable;
	/* At its end there is nothing to read, for ever. */
	if (!runner_told(r) && poll(&more, 1, 0) == 1 &&
	    (more.revents & POLLIN) == 0)
		loop_fd_want(r->on_told, false, false);
}

static void
runner_on_end(void *arg, int fd, bool readable, bool writable)
{
	struct mcp_runner *r = arg;
	capture_cb *cb = r->cb;
	struct buf text;
	char *why;
	int status;

	(void)fd;
	(void)readable;
	(void)writable;
	if (cb != NULL && runner_told(r))
		return;
	runner_read(r);
	status = spawn_reap(r->pid);
	if (r->why != NULL)
		status = -1;
	else if (status == -1)
		r->why = xstrdup("its exit status is unknown");
	arg = r->arg;
	text = r->text;
	why = r->why;
	r->text = (struct buf){ 0 };
	r->why = NULL;
	runner_free(r);
	if (cb != NULL)
		runner_answer(cb, arg, &text, status, why);
	else
		buf_free(&text);
	free(why);
}

static void
runner_on_time(void *arg)
{
	struct mcp_runner *r = arg;

	runner_stop(r,
	    xasprintf("it took longer than %lld ms", (long long)r->timeout_ms));
}

static void
runner_watch(struct mcp_runner *r, struct loop *loop)
{
	r->on_end = loop_fd_new(loop, r->end_fd, runner_on_end, r);
	loop_fd_want(r->on_end, true, false);
	r->on_out = loop_fd_new(loop, r->out, runner_on_out, r);
	loop_fd_want(r->on_out, true, false);
	r->on_told = loop_fd_new(loop, r->told, runner_on_told, r);
	loop_fd_want(r->on_told, true, false);
	r->timer = loop_timer_new(loop, runner_on_time, r);
}

static int
runner_new(struct mcp_runner **home, struct loop *loop, char *program,
    const char *study, struct err *e)
{
	char *argv[] = { program, "mcp", "--runner", NULL, NULL };
	int in[2] = { -1, -1 }, out[2] = { -1, -1 }, told[2] = { -1, -1 };
	struct spawn_spec spec = { .argv = argv };
	struct mcp_runner *r = xcalloc(1, sizeof *r);
	int rc;

	argv[3] = study != NULL ? xstrdup(study) : NULL;
	if (pipe2(in, O_CLOEXEC) == -1 || pipe2(out, O_CLOEXEC) == -1 ||
	    pipe2(told, O_CLOEXEC) == -1)
		rc = err_set(e, ERR_FILE, "%s cannot be started: %s", program,
		    strerror(errno));
	else {
		spec.in = in[0];
		spec.out = out[1];
		spec.err = told[1];
		rc = spawn_start(&r->pid, &r->end_fd, &spec, e);
	}
	free(argv[3]);
	if (rc != 0)
		r->end_fd = -1;
	r->home = home;
	r->in = in[1];
	r->out = out[0];
	r->told = told[0];
	(void)close(in[0]);
	(void)close(out[1]);
	(void)close(told[1]);
	if (rc != 0) {
		runner_free(r);
		return -1;
	}
	(void)fcntl(r->out, F_SETFL, O_NONBLOCK);
	(void)fcntl(r->told, F_SETFL, O_NONBLOCK);
	runner_watch(r, loop);
	*home = r;
	return 0;
}

/* False: it has ended. */
static bool
runner_send(struct mcp_runner *r, const struct buf *request)
{
	struct pollfd ended = { .fd = r->end_fd, .events = POLLIN };
	size_t at = 0;
	ssize_t n;

	if (poll(&ended, 1, 0) != 0)
		return false;
	while (at < request->len) {
		n = write(r->in, request->data + at, request->len - at);
		if (n == -1 && errno != EINTR)
			return false;
		at += n > 0 ? (size_t)n : 0;
	}
	return true;
}

static void
runner_request(struct buf *out, char *const *argv, const char *caller)
{
	struct command_serve_head head = { 0 };
	const char *text = caller;

	buf_add(out, (const char *)&head, sizeof head);
	for (; text != NULL; text = *++argv)
		buf_add(out, text, strlen(text) + 1);
	head.bytes = (uint32_t)(out->len - sizeof head);
	memcpy(out->data, &head, sizeof head);
}

int
mcp_runner_start(struct mcp_runner **runner, struct loop *loop,
    const struct capture_spec *spec, const char *caller, const char *study,
    capture_cb *cb, void *arg, struct err *e)
{
	struct buf request = { 0 };
	struct mcp_runner *r;

	runner_request(&request, spec->argv, caller);
	if (*runner != NULL && !runner_send(*runner, &request))
		mcp_runner_kill(*runner);
	if (*runner == NULL) {
		if (runner_new(runner, loop, spec->argv[0], study, e) == 0 &&
		    !runner_send(*runner, &request)) {
			mcp_runner_kill(*runner);
			(void)err_set(e, ERR_FILE, "%s mcp --runner has ended",
			    spec->argv[0]);
		}
	}
	buf_free(&request);
	r = *runner;
	if (r == NULL)
		return -1;
	r->cb = cb;
	r->arg = arg;
	r->most = spec->most;
	r->timeout_ms = spec->timeout_ms;
	loop_timer_set(r->timer, r->timeout_ms);
	return 0;
}
