/*
 * hpotune-gpu: queries the driver about GPUs for programs that must not block.
 * NVML is open only while queries arrive, because an administrator cannot reset
 * a GPU while it is open.
 */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "trials/gpu/gpu-snapshot-build.h"
#include "trials/gpu/gpu-snapshot.h"
#include "trials/gpu/gpu-sysfs.h"
#include "trials/gpu/probe/gpu-cuda-check.h"
#include "trials/gpu/probe/gpu-nvml.h"

enum { IDLE_SECONDS = 30, QUESTION_MOST = 256 };

struct tool {
	struct nvml *nvml; /* NULL: not open */
	int64_t opened_ms;
	bool seen; /* NVML has worked in this life */
	int idle_ms; /* it is closed after that long without a question */
};

static void
tool_close(struct tool *t)
{
	gpu_nvml_close(t->nvml);
	t->nvml = NULL;
}

/*
 * Result without NVML: if the library is missing, /proc is used; if it fails,
 * no GPU is listed, because nothing would work on them.
 */
static void
snapshot_without(struct gpu_snapshot *l, bool missing, const struct err *e)
{
	int64_t seq = l->seq;

	gpu_snapshot_free(l);
	l->seq = seq;
	if (missing)
		gpu_sysfs_snapshot("", l);
	gpu_snapshot_set_text(l->why, sizeof l->why, e->text);
}

/* A GPU can be reset only while NVML is closed. */
static bool
snapshot_sick(const struct gpu_snapshot *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (l->gpus[i].lost || l->gpus[i].recovery > 0)
			return true;
	return false;
}

static void
tool_snapshot(struct tool *t, struct gpu_snapshot *l)
{
	const char *named = getenv("HPOTUNE_NVML");
	struct err e = ERR_INIT;
	bool missing = false;

	if (named != NULL && named[0] == '\0') {
		gpu_snapshot_set_text(
		    l->why, sizeof l->why, "HPOTUNE_NVML is empty");
		return;
	}
	if (t->nvml == NULL) {
		t->opened_ms = clock_boot_ms();
		if (gpu_nvml_open(&t->nvml, &missing, &e) != 0) {
			snapshot_without(l, missing && !t->seen, &e);
			return;
		}
	}
	if (gpu_nvml_snapshot(t->nvml, l, &e) != 0) {
		snapshot_without(l, false, &e);
		tool_close(t);
		return;
	}
	t->seen = true;
	if (snapshot_sick(l) && clock_boot_ms() - t->opened_ms > t->idle_ms)
		tool_close(t);
}

/* Write one line to stdout; -1: stdout is closed. */
static int
tool_answer(struct tool *t, int64_t seq)
{
	struct gpu_snapshot l = { .seq = seq };
	struct buf line = { 0 };
	size_t done = 0;
	ssize_t n = 0;

	tool_snapshot(t, &l);
	gpu_snapshot_write(&line, &l);
	buf_putc(&line, '\n');
	while (done < line.len && (n != -1 || errno == EINTR)) {
		n = write(STDOUT_FILENO, line.data + done, line.len - done);
		if (n > 0)
			done += (size_t)n;
	}
	n = done == line.len ? 0 : -1;
	gpu_snapshot_free(&l);
	buf_free(&line);
	return (int)n;
}

/* Parse "look SEQ" and answer; -1: invalid, or stdout is closed. */
static int
question_parse(struct tool *t, const char *line)
{
	long long seq;
	char *end;

	if (strncmp(line, "look ", 5) != 0)
		return -1;
	errno = 0;
	seq = strtoll(line + 5, &end, 10);
	if (end == line + 5 || *end != '\0' || errno != 0 || seq < 0)
		return -1;
	return tool_answer(t, seq);
}

/*
 * Process the complete lines of the input; returns the remaining length, -1:
 * invalid.
 */
static ssize_t
questions_parse(struct tool *t, char *text, size_t len)
{
	char *line = text, *end;

	while ((end = memchr(line, '\n', len)) != NULL) {
		*end++ = '\0';
		if (question_parse(t, line) != 0)
			return -1;
		len -= (size_t)(end - line);
		line = end;
	}
	memmove(text, line, len);
	return (ssize_t)len;
}

static int
tool_watch(struct tool *t)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	char text[QUESTION_MOST];
	ssize_t len = 0, n;

	for (;;) {
		n = poll(&in, 1, t->nvml != NULL ? t->idle_ms : -1);
		if (n == 0)
			tool_close(t);
		if (n <= 0)
			continue;
		n = read(STDIN_FILENO, text + len, sizeof text - (size_t)len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0 && len == 0 ? 0 : 1;
		len = questions_parse(t, text, (size_t)(len + n));
		if (len == -1 || (size_t)len == sizeof text)
			return 1;
	}
}

/* The reason goes to stdout: it is the answer. */
static int
tool_probe(const char *uuid)
{
	struct err e = ERR_INIT;
	int rc;

	/* A comma would name two. */
	if (uuid[0] == '\0' || strchr(uuid, ',') != NULL)
		rc = err_set(&e, ERR_USAGE, "not the UUID of a GPU");
	else
		rc = gpu_cuda_check(uuid, &e);
	if (rc != 0)
		(void)printf("%s\n", e.text);
	return rc == 0 ? 0 : 1;
}

int
main(int argc, char **argv)
{
	struct tool t = { .idle_ms = IDLE_SECONDS * 1000 };
	int rc;

	(void)signal(SIGPIPE, SIG_IGN);
	/*
	 * A process that hangs in the driver does not notice the end of its
	 * input; this signal ends it.
	 */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (argc == 2 && strcmp(argv[1], "list") == 0)
		rc = tool_answer(&t, 0) == 0 ? 0 : 1;
	else if ((argc == 2 || argc == 3) && strcmp(argv[1], "watch") == 0) {
		if (argc == 3)
			t.idle_ms = (int)strtol(argv[2], NULL, 10) * 1000;
		rc = tool_watch(&t);
	} else if (argc == 3 && strcmp(argv[1], "probe") == 0)
		return tool_probe(argv[2]);
	else {
		(void)fprintf(stderr,
		    "usage: hpotune-gpu list | watch [IDLE] | probe UUID\n");
		return 2;
	}
	tool_close(&t);
	return rc;
}
