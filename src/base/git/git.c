/* Runs the program git and waits for it. */

#include "src/base/git/git.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/spawn.h"

enum {
	GIT_MS = 60000, /* the longest that one call may take */
	GIT_MOST = 65536,
	GIT_SAID = 1024 /* bytes of its errors */
};

/* One output of the program. */
struct git_stream {
	int fd; /* -1 = at its end */
	size_t most;
	struct buf text;
};

void
git_put_words(struct strv *argv, const struct git_call *call)
{
	/* As git rev-parse --local-env-vars, but for settings that are counted. */
	static const char *const words[] = { "env", "-u", "GIT_DIR", "-u",
		"GIT_WORK_TREE", "-u", "GIT_INDEX_FILE", "-u", "GIT_PREFIX",
		"-u", "GIT_COMMON_DIR", "-u", "GIT_OBJECT_DIRECTORY", "-u",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "-u",
		"GIT_CONFIG_PARAMETERS", "-u", "GIT_NAMESPACE", "-u",
		"GIT_EXTERNAL_DIFF", "GIT_OPTIONAL_LOCKS=0",
		"GIT_TERMINAL_PROMPT=0", NULL };
	static const char *const settings[] = { "-c",
		"core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c",
		"gc.auto=0", "-c", "advice.detachedHead=false", NULL };
	size_t i;

	for (i = 0; words[i] != NULL; i++)
		strv_add(argv, xstrdup(words[i]));
	for (i = 0; call->env != NULL && call->env[i] != NULL; i++)
		strv_add(argv, xstrdup(call->env[i]));
	if (call->index != NULL)
		strv_add(argv, xasprintf("GIT_INDEX_FILE=%s", call->index));
	strv_add(argv, xstrdup("git"));
	strv_add(argv, xstrdup("-C"));
	strv_add(argv, xstrdup(call->dir));
	for (i = 0; settings[i] != NULL; i++)
		strv_add(argv, xstrdup(settings[i]));
}

static void
git_stream_close(struct git_stream *s)
{
	if (s->fd >= 0)
		(void)close(s->fd);
	s->fd = -1;
}

/* What is beyond most is read and dropped: the program must not block. */
static void
git_stream_read(struct git_stream *s)
{
	char piece[8192];
	ssize_t n = read(s->fd, piece, sizeof piece);
	size_t room = s->most - s->text.len;

	if (n > 0)
		buf_add(&s->text, piece, (size_t)n < room ? (size_t)n : room);
	else if (n == 0 || errno != EINTR)
		git_stream_close(s);
}

/* Read both to their ends; false: it takes too long. */
static bool
git_streams_read(struct git_stream s[2])
{
	int64_t until = clock_boot_ms() + GIT_MS, left;
	struct pollfd p[2];
	int i;

	while (s[0].fd >= 0 || s[1].fd >= 0) {
		left = until - clock_boot_ms();
		if (left <= 0)
			return false;
		for (i = 0; i < 2; i++)
			p[i] =
			    (struct pollfd){ .fd = s[i].fd, .events = POLLIN };
		if (poll(p, 2, (int)left) == -1 && errno != EINTR)
			return false;
		for (i = 0; i < 2; i++)
			if (s[i].fd >= 0 && p[i].revents != 0)
				git_stream_read(&s[i]);
	}
	return true;
}

static int
git_streams_start(struct git_stream s[2], pid_t *pid, int *end_fd,
    char *const *argv, struct err *e)
{
	struct spawn_spec spec = { .argv = argv, .in = -1 };
	int out[2], said[2], rc;

	if (pipe2(out, O_CLOEXEC) == -1)
		return err_set(e, ERR_FILE, "pipe: %s", strerror(errno));
	if (pipe2(said, O_CLOEXEC) == -1) {
		(void)err_set(e, ERR_FILE, "pipe: %s", strerror(errno));
		(void)close(out[0]);
		(void)close(out[1]);
		return -1;
	}
	spec.out = out[1];
	spec.err = said[1];
	rc = spawn_start(pid, end_fd, &spec, e);
	(void)close(out[1]);
	(void)close(said[1]);
	s[0].fd = out[0];
	s[1].fd = said[0];
	return rc;
}

/* What git says in its last line with "fatal: " or "error: ", else the first. */
static void
git_reason(struct err *e, const struct git_call *call, const char *said)
{
	static const char *const heads[] = { "fatal: ", "error: " };
	const char *line = said, *at;
	size_t i;

	for (i = 0; i < 2; i++)
		if ((at = strstr(said, heads[i])) != NULL) {
			line = at + strlen(heads[i]);
			break;
		}
	if (*line == '\0')
		line = "it does not say why";
	(void)err_set(e, ERR_FILE, "git %s: %.*s", call->args[0],
	    (int)strcspn(line, "\n"), line);
}

int
git_run(const struct git_call *call, struct buf *out, struct err *e)
{
	struct git_stream s[2] = {
		{ .fd = -1, .most = call->most > 0 ? call->most : GIT_MOST },
		{ .fd = -1, .most = GIT_SAID },
	};
	struct strv argv = { 0 };
	int end_fd = -1, status = -1, i;
	pid_t pid;

	git_put_words(&argv, call);
	for (i = 0; call->args[i] != NULL; i++)
		strv_add(&argv, xstrdup(call->args[i]));
	if (git_streams_start(s, &pid, &end_fd, argv.v, e) == 0) {
		if (git_streams_read(s))
			status = spawn_reap(pid);
		else {
			(void)spawn_end(pid, end_fd);
			(void)err_set(e, ERR_FILE,
			    "git %s takes longer than %d s", call->args[0],
			    GIT_MS / 1000);
		}
		(void)close(end_fd);
	}
	strv_free(argv.v);
	for (i = 0; i < 2; i++)
		git_stream_close(&s[i]);
	if (status != -1)
		status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
	if (status == 127)
		(void)err_set(e, ERR_FILE, "git is not installed");
	else if (status > 0)
		git_reason(e, call, buf_str(&s[1].text));
	if (out != NULL)
		buf_add(out, buf_str(&s[0].text), s[0].text.len);
	for (i = 0; i < 2; i++)
		buf_free(&s[i].text);
	return status;
}
