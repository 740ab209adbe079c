/* Takes requests from a pipe, and runs the command of each in this process. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/cli/common/caller-env.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/command-name.h"
#include "src/cli/common/command-run.h"
#include "src/cli/common/command-serve.h"
#include "src/store/store.h"
#include "src/study-files/study-files.h"

enum {
	SERVE_BYTES = 4 << 20, /* of a request */
	SERVE_MEMORY_KIB = 96 << 10, /* with more of it the process ends */
	SERVE_LOOK_MS = 1000, /* between two looks whether a server runs */
	SERVE_LOOKS = 60 /* then the database is closed anyway */
};

struct serve {
	int in, told;
	struct strv argv;
};

/* What is read must be all: 1; 0 at the end of the input. */
static int
serve_read(int fd, void *out, size_t n)
{
	char *at = out;
	ssize_t got;

	while (n > 0) {
		got = read(fd, at, n);
		if (got == -1 && errno == EINTR)
			continue;
		if (got <= 0)
			return 0;
		at += got;
		n -= (size_t)got;
	}
	return 1;
}

/*
 * Wait for a request.  Who keeps the database open of a study without a server would
 * keep its log and its index beside it, and others from replacing it.
 */
static void
serve_wait(const struct serve *s)
{
	struct pollfd ready = { .fd = s->in, .events = POLLIN };
	int looks = 0, n;

	while (store_kept_path() != NULL) {
		n = poll(&ready, 1, SERVE_LOOK_MS);
		if (n > 0)
			return;
		if (n == 0 && (++looks == SERVE_LOOKS ||
				  !study_files_served(store_kept_path())))
			store_keep_drop();
	}
}

/* The next request as texts; false: there is none. */
static bool
serve_take(struct serve *s)
{
	struct command_serve_head head;
	char *text, *at;

	serve_wait(s);
	if (serve_read(s->in, &head, sizeof head) != 1 || head.bytes == 0 ||
	    head.bytes > SERVE_BYTES)
		return false;
	text = xmalloc(head.bytes);
	if (serve_read(s->in, text, head.bytes) != 1 ||
	    text[head.bytes - 1] != '\0') {
		free(text);
		return false;
	}
	for (at = text; at < text + head.bytes; at += strlen(at) + 1)
		strv_add(&s->argv, xstrdup(at));
	free(text);
	return s->argv.n >= 2;
}

/* Whether this process has grown, or has done what it does once only. */
static bool
serve_spent(void)
{
	struct rusage used;

	return !store_keeps() || (getrusage(RUSAGE_SELF, &used) == 0 &&
				     used.ru_maxrss > SERVE_MEMORY_KIB);
}

static bool
serve_tell(const struct serve *s, const struct command_serve_end *end)
{
	ssize_t n;

	do
		n = write(s->told, end, sizeof *end);
	while (n == -1 && errno == EINTR);
	return n == sizeof *end;
}

/*
 * The standard streams of a command: no input, and its errors in order with what
 * it prints.
 */
static int
serve_streams(struct serve *s, struct err *e)
{
	int none = open("/dev/null", O_RDONLY | O_CLOEXEC);

	s->in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	s->told = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (none == -1 || s->in == -1 || s->told == -1 ||
	    dup2(none, STDIN_FILENO) == -1 ||
	    dup2(STDOUT_FILENO, STDERR_FILENO) == -1)
		return err_set(
		    e, ERR_FILE, "standard streams: %s", strerror(errno));
	(void)close(none);
	return 0;
}

int
command_serve_run(struct err *e)
{
	struct command_serve_end end = { .last = 0 };
	const struct cli_command *command;
	struct serve s = { .in = -1 };

	if (serve_streams(&s, e) != 0)
		return -1;
	store_keep();
	while (end.last == 0 && serve_take(&s)) {
		(void)setenv(CALLER_ENV, s.argv.v[0], 1);
		command = command_name_find(s.argv.v[1]);
		if (command == NULL)
			break;
		end.status =
		    command_run(command, (int)s.argv.n - 2, s.argv.v + 2);
		end.last = serve_spent();
		if (!serve_tell(&s, &end))
			break;
		strv_free(s.argv.v);
		s.argv = (struct strv){ 0 };
	}
	strv_free(s.argv.v);
	store_keep_end();
	return 0;
}
