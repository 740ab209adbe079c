/*
 * A child process with one descriptor for each direction, on the event loop.
 * The format of the bytes is the owner's.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/file.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/base/coproc.h"
#include "src/base/spawn.h"

/*
 * Maximum bytes of one read, so that one busy child does not block the others.
 */
enum { COPROC_READ_MAX = 1 << 20 };

struct coproc {
	pid_t pid; /* also the process group; ours until it is reaped */
	int end_fd, in, out; /* in: its stdout; out: its stdin */
	struct loop_fd *end, *reader, *writer;
	struct coproc_hooks hooks;
	struct buf unsent;
	size_t written; /* bytes of unsent already written */
	bool killed;
};

static void
fd_close(int *fd, struct loop_fd **watch)
{
	loop_fd_free(*watch);
	*watch = NULL;
	if (*fd != -1)
		(void)close(*fd);
	*fd = -1;
}

static void
out_close(struct coproc *p)
{
	/* A socket is also open for reading under another descriptor. */
	if (p->out != -1)
		(void)shutdown(p->out, SHUT_WR);
	fd_close(&p->out, &p->writer);
	buf_free(&p->unsent);
	p->written = 0;
}

/* A child that closed its output while it runs can answer no more: kill it. */
static void
in_closed(struct coproc *p)
{
	fd_close(&p->in, &p->reader);
	spawn_kill(p->pid);
}

static void
peer_read(struct coproc *p)
{
	char piece[65536];
	size_t heard = 0;
	ssize_t n;

	while (p->in != -1 && heard < COPROC_READ_MAX) {
		n = read(p->in, piece, sizeof piece);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno == EAGAIN)
			return;
		if (n <= 0) {
			in_closed(p);
			return;
		}
		heard += (size_t)n;
		p->hooks.on_read(p->hooks.arg, piece, (size_t)n);
	}
}

static void
peer_write(struct coproc *p)
{
	ssize_t n;

	while (p->out != -1 && p->written < p->unsent.len) {
		n = write(p->out, p->unsent.data + p->written,
		    p->unsent.len - p->written);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno == EAGAIN)
			break;
		if (n == -1) {
			out_close(p);
			return;
		}
		p->written += (size_t)n;
	}
	if (p->written == p->unsent.len) {
		buf_free(&p->unsent);
		p->written = 0;
	}
	if (p->writer != NULL)
		loop_fd_want(p->writer, false, p->unsent.len > 0);
}

static void
on_in(void *arg, int fd, bool readable, bool writable)
{
	(void)fd;
	(void)readable;
	(void)writable;
	peer_read(arg);
}

static void
coproc_on_out(void *arg, int fd, bool readable, bool writable)
{
	(void)fd;
	(void)readable;
	(void)writable;
	peer_write(arg);
}

/* At its exit all its output is already in the pipe.  Kill its descendants. */
static void
coproc_on_end(void *arg, int fd, bool readable, bool writable)
{
	struct coproc *p = arg;
	int status;

	(void)fd;
	(void)readable;
	(void)writable;
	peer_read(p);
	spawn_kill(p->pid);
	status = spawn_reap(p->pid);
	p->pid = -1;
	fd_close(&p->end_fd, &p->end);
	fd_close(&p->in, &p->reader);
	out_close(p);
	p->hooks.on_exit(p->hooks.arg, status);
}

static int
wires_make(int theirs[2], int ours[2], bool socket)
{
	int a[2], b[2];

	if (socket) {
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, a) == -1)
			return -1;
		theirs[0] = theirs[1] = a[1];
		ours[0] = a[0];
		ours[1] = fcntl(a[0], F_DUPFD_CLOEXEC, 3);
	} else {
		if (pipe2(a, O_CLOEXEC) == -1)
			return -1;
		if (pipe2(b, O_CLOEXEC) == -1) {
			(void)close(a[0]);
			(void)close(a[1]);
			return -1;
		}
		theirs[0] = a[0];
		theirs[1] = b[1];
		ours[0] = b[0];
		ours[1] = a[1];
	}
	(void)fcntl(ours[0], F_SETFL, O_NONBLOCK);
	(void)fcntl(ours[1], F_SETFL, O_NONBLOCK);
	return 0;
}

static void
peer_watch(struct coproc *p, struct loop *loop)
{
	p->end = loop_fd_new(loop, p->end_fd, coproc_on_end, p);
	loop_fd_want(p->end, true, false);
	p->reader = loop_fd_new(loop, p->in, on_in, p);
	loop_fd_want(p->reader, true, false);
	p->writer = loop_fd_new(loop, p->out, coproc_on_out, p);
}

/*
 * Open the stderr of the program: the log file, to append to it, ours, or none.
 */
static int
coproc_log_open(const struct coproc_spec *spec, int *fd, struct err *e)
{
	*fd = STDERR_FILENO;
	if (spec->mute) {
		*fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
		return *fd != -1 ? 0
				 : err_set(e, ERR_FILE, "/dev/null: %s",
				       strerror(errno));
	}
	if (spec->log == NULL)
		return 0;
	*fd = file_open_for(
	    AT_FDCWD, spec->log, O_WRONLY | O_APPEND | O_CREAT, 0600);
	if (*fd != -1)
		return 0;
	return err_set(e, ERR_FILE, "%s: %s", spec->log, file_why(errno));
}

int
coproc_start(struct coproc **out, struct loop *loop,
    const struct coproc_spec *spec, const struct coproc_hooks *hooks,
    struct err *e)
{
	struct spawn_spec start = {
		.argv = spec->argv, .env = spec->env, .dir = spec->dir
	};
	int theirs[2], ours[2], rc;
	struct coproc *p;

	if (coproc_log_open(spec, &start.err, e) != 0)
		return -1;
	if (wires_make(theirs, ours, spec->socket) != 0)
		rc = err_set(e, ERR_FILE, "%s cannot be started: %s",
		    spec->argv[0], strerror(errno));
	else {
		p = xcalloc(1, sizeof *p);
		*p = (struct coproc){ .in = ours[0],
			.out = ours[1],
			.end_fd = -1,
			.hooks = *hooks };
		start.in = theirs[0];
		start.out = theirs[1];
		rc = spawn_start(&p->pid, &p->end_fd, &start, e);
		(void)close(theirs[0]);
		if (theirs[1] != theirs[0])
			(void)close(theirs[1]);
		if (rc == 0) {
			peer_watch(p, loop);
			*out = p;
		} else {
			p->pid = -1;
			coproc_free(p, 0);
		}
	}
	if (start.err != STDERR_FILENO)
		(void)close(start.err);
	return rc;
}

void
coproc_write(struct coproc *p, const void *data, size_t len)
{
	if (p->out == -1)
		return;
	buf_add(&p->unsent, data, len);
	peer_write(p);
}

size_t
coproc_unsent(const struct coproc *p)
{
	return p->unsent.len - p->written;
}

void
coproc_kill(struct coproc *p)
{
	if (p->killed || p->pid == -1)
		return;
	p->killed = true;
	fd_close(&p->in, &p->reader);
	out_close(p);
	spawn_kill(p->pid);
}

void
coproc_free(struct coproc *p, int64_t grace_ms)
{
	struct pollfd end;

	if (p == NULL)
		return;
	out_close(p);
	if (p->pid != -1) {
		end = (struct pollfd){ .fd = p->end_fd, .events = POLLIN };
		if (!p->killed && grace_ms > 0)
			(void)poll(&end, 1, (int)grace_ms);
		(void)spawn_end(p->pid, p->end_fd);
	}
	fd_close(&p->end_fd, &p->end);
	fd_close(&p->in, &p->reader);
	free(p);
}
