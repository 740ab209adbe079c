/*
 * The process of one packed trial below its supervisor: passes the trial to the
 * program of its place, writes its output to the files of the trial, forwards
 * stop signals, and exits as the trial did.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/err.h"
#include "src/base/fail.h"
#include "src/base/file.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "trials/pack/pack-exit-note.h"
#include "trials/pack/pack.h"
#include "trials/process/attempt-record.h"

enum {
	AGAIN_MS = 50, /* between two tries to connect */
	NOBODY_MS = 10000, /* without a server, before it fails */
	/* … after the server disappeared: a successor starts soon */
	GONE_MS = 2000,
	LINE_MAX_BYTES = 4 << 20
};

struct join {
	const char *key;
	const char *attempt_dir;
	const char *trial, *attempt;
	char *greeting; /* the first line */
	int dir_fd; /* of the place */
	int signal_fd, metrics_fd;
	struct pack_line_io io;
	bool somebody; /* has had the place in our time */
	bool welcome;
	bool stop; /* SIGTERM was received */
	bool stop_sent;
	/* since when no process holds the place; -1 = one does */
	int64_t alone_since_ms;
};

/*
 * Connect by the number of the folder: a name of a socket has 107 bytes at
 * most.
 */
int
pack_connect(int dir_fd)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd, error;

	(void)snprintf(name.sun_path, sizeof name.sun_path,
	    "/proc/self/fd/%d/" PACK_SOCKET, dir_fd);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd == -1)
		return -1;
	if (connect(fd, (struct sockaddr *)&name, sizeof name) == 0)
		return fd;
	error = errno;
	(void)close(fd);
	errno = error;
	return -1;
}

/* A message for the trial's log. */
static void
member_say(const char *text)
{
	struct buf b = { 0 };

	buf_printf(&b, "hpotune-pack: %s\n", text);
	if (write(1, b.data, b.len) == -1)
		(void)0;
	buf_free(&b);
}

static void __attribute__((noreturn))
leave(const struct join *j, enum pack_exit_note kind, int code, const char *why)
{
	if (*why != '\0') {
		member_say(why);
		pack_exit_note_write(j->attempt_dir, kind, why);
	}
	exit(code);
}

/* As the program did; a signal that does not end us will not do. */
static void __attribute__((noreturn))
leave_by_signal(const struct join *j, int signo, const char *why)
{
	sigset_t set;

	member_say(why);
	pack_exit_note_write(j->attempt_dir, PACK_EXIT_ERROR, why);
	(void)prctl(PR_SET_DUMPABLE, 0);
	(void)signal(signo, SIG_DFL);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, signo);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	(void)raise(signo);
	exit(128 + signo);
}

static void
member_put_text(struct json_writer *w, const char *key, const char *variable)
{
	const char *text = getenv(variable);

	json_writer_text(w, key, text != NULL ? text : "");
}

static void
member_put_number(struct json_writer *w, const char *key, const char *variable)
{
	const char *text = getenv(variable);

	if (text != NULL && *text != '\0' &&
	    strspn(text, "0123456789") == strlen(text))
		json_writer_raw(w, key, text);
}

/* The settings, on one line. */
static int
member_put_params(struct buf *b, struct err *e)
{
	const char *path = getenv("HPOTUNE_PARAMS");
	struct json_doc *doc;

	if (path == NULL || json_load(&doc, path, e) != 0)
		return -1;
	json_write(b, json_root(doc));
	json_free(doc);
	return 0;
}

static int
greeting_make(struct join *j, struct err *e)
{
	const char *checkpoint = getenv("HPOTUNE_CHECKPOINT_DIR");
	struct buf b = { 0 };
	struct json_writer w = { .out = &b };

	if (j->trial == NULL || j->attempt == NULL || checkpoint == NULL)
		return err_set(e, ERR_LAUNCH, "its environment is incomplete");
	buf_printf(&b, "j %s %s %s %zu %s ", j->trial, j->attempt, j->key,
	    strlen(checkpoint), checkpoint);
	json_writer_object(&w, NULL);
	json_writer_raw(&w, "start", j->trial);
	json_writer_raw(&w, "attempt", j->attempt);
	if (member_put_params(json_writer_value(&w, "params"), e) != 0)
		return -1;
	member_put_text(&w, "checkpoint_dir", "HPOTUNE_CHECKPOINT_DIR");
	member_put_text(&w, "output_dir", "HPOTUNE_OUTPUT_DIR");
	member_put_number(&w, "until_step", "HPOTUNE_UNTIL_STEP");
	member_put_number(&w, "batch", "HPOTUNE_BATCH");
	member_put_number(&w, "global_batch", "HPOTUNE_GLOBAL_BATCH");
	json_writer_end(&w);
	buf_putc(&b, '\n');
	j->greeting = buf_take(&b);
	return 0;
}

static int
member_ears_open(struct join *j)
{
	sigset_t set;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	j->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return j->signal_fd == -1 ? -1 : 0;
}

static int
metrics_open(void)
{
	const char *path = getenv("HPOTUNE_METRICS");

	return path == NULL ? -1
			    : file_open_for(AT_FDCWD, path,
				  O_WRONLY | O_APPEND | O_CREAT, 0600);
}

/* Write all, or as much as possible. */
static void
write_all(int fd, const char *text, size_t n)
{
	ssize_t r;

	for (; n > 0; text += r, n -= (size_t)r) {
		r = write(fd, text, n);
		if (r == -1 && errno == EINTR)
			r = 0;
		if (r == -1)
			return;
	}
}

/* "HOW NUMBER WHY" */
static void __attribute__((noreturn))
program_gone(const struct join *j, const char *text)
{
	char how = *text, *why;
	long number = how != '\0' ? strtol(text + 1, &why, 10) : 0;

	if (how == '\0')
		why = (char *)(uintptr_t) "";
	why += *why == ' ';
	switch (how) {
	case PACK_END_CODE:
		/*
		 * The program has ended before it told the end of the trial:
		 * the trial has failed even where the program exits with 0.
		 */
		leave(j, PACK_EXIT_ERROR, number > 0 ? (int)number : 1, why);
	case PACK_END_SIGNAL:
		leave_by_signal(j, (int)number, why);
	case PACK_END_OOM:
		leave(j, PACK_EXIT_OOM, 1, why);
	case PACK_END_NOT_RUN:
		leave(j, PACK_EXIT_NOT_RUN, 127, why);
	case PACK_END_OURS:
		leave(j, PACK_EXIT_LOST, 1, why);
	}
	leave(j, PACK_EXIT_LOST, 1, "its program has ended");
}

static void
hear(struct join *j, char *line, size_t len)
{
	const char *text = len > 2 ? line + 2 : "";
	char *why;
	long code;

	switch (*line) {
	case 'w':
		j->welcome = true;
		break;
	case 'o':
		j->io.over = true;
		break;
	case 'r':
	case 'l':
		line[len] = '\n';
		write_all(*line == 'r' ? j->metrics_fd : 1, text,
		    len > 2 ? len - 1 : 0);
		break;
	case 'e':
		code = strtol(text, &why, 10);
		leave(j, PACK_EXIT_ERROR, (int)code, why + (*why == ' '));
	case 'd':
		program_gone(j, text);
	}
}

static void
stop_received(struct join *j)
{
	struct signalfd_siginfo info;

	while (read(j->signal_fd, &info, sizeof info) == sizeof info)
		j->stop = true;
	if (j->stop && !j->welcome)
		leave(
		    j, PACK_EXIT_ERROR, 1, "it was stopped before it started");
	if (j->stop && !j->stop_sent)
		pack_line_io_put(&j->io, "s\n", 2);
	j->stop_sent |= j->stop;
}

static void
member_wait_for_something(struct join *j, int ms)
{
	struct pollfd p[] = {
		{ .fd = j->signal_fd, .events = POLLIN },
		{ .fd = j->io.fd, .events = POLLIN },
	};

	if (pack_line_io_pending(&j->io) > 0)
		p[1].events |= POLLOUT;
	(void)poll(p, j->io.fd == -1 ? 1 : 2, ms);
}

/* Whether a process holds the place, even if it does not accept connections. */
static bool
place_held(const struct join *j)
{
	int fd = file_open_for(j->dir_fd, PACK_LOCK, O_RDWR, 0);
	bool held;

	if (fd == -1)
		return false;
	held = attempt_record_locked(fd) == 1;
	(void)close(fd);
	return held;
}

static void
knock(struct join *j)
{
	int64_t now = clock_boot_ms();
	int fd = pack_connect(j->dir_fd);

	if (fd != -1) {
		pack_line_io_open(&j->io, fd, LINE_MAX_BYTES);
		pack_line_io_put(&j->io, j->greeting, strlen(j->greeting));
		j->alone_since_ms = -1;
		j->somebody = true;
		return;
	}
	if (place_held(j)) {
		j->alone_since_ms = -1;
		j->somebody = true;
	} else if (j->alone_since_ms < 0)
		j->alone_since_ms = now;
	else if (now - j->alone_since_ms >= (j->somebody ? GONE_MS : NOBODY_MS))
		leave(j, PACK_EXIT_LOST, 1,
		    "no server runs for its place: see the log of the place");
}

/* Process everything that was received. */
static void
converse(struct join *j)
{
	size_t len;
	char *line;

	pack_line_io_read(&j->io);
	while ((line = pack_line_io_next(&j->io, &len)) != NULL)
		hear(j, line, len);
	if (!j->io.over) {
		pack_line_io_flush(&j->io);
		return;
	}
	pack_line_io_close(&j->io);
	if (j->welcome)
		leave(j, PACK_EXIT_LOST, 1,
		    "the server of its place has ended, and its program with "
		    "it");
}

int
pack_member_main(char **args)
{
	struct join j = { .key = args[1],
		.attempt_dir = args[2],
		.trial = getenv("HPOTUNE_TRIAL"),
		.attempt = getenv("HPOTUNE_ATTEMPT"),
		.io.fd = -1,
		.alone_since_ms = -1 };
	struct err e = ERR_INIT;

	j.dir_fd =
	    open(args[0], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	j.metrics_fd = metrics_open();
	if (j.dir_fd == -1 || j.metrics_fd == -1 || member_ears_open(&j) == -1)
		leave(&j, PACK_EXIT_LOST, 1, strerror(errno));
	if (greeting_make(&j, &e) != 0)
		leave(&j, PACK_EXIT_LOST, 1, e.text);
	fail_point("pack.before_join");
	for (;;) {
		stop_received(&j);
		if (j.io.fd == -1)
			knock(&j);
		else
			converse(&j);
		member_wait_for_something(&j, j.io.fd == -1 ? AGAIN_MS : -1);
	}
}
