/*
 * One query, synchronous but with a time limit: the driver may hang, and then
 * even SIGKILL does not end the process that queries it.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/spawn.h"
#include "trials/gpu/gpu-snapshot-build.h"
#include "trials/gpu/gpu-sysfs.h"
#include "trials/gpu/gpu-snapshot.h"

/* time to exit after the answer */
enum { GRACE_MS = 500 };

/* Read the answer, up to its end or a time. */
static int
gpu_query_answer_read(int fd, struct buf *text, int64_t until_ms, struct err *e)
{
	struct pollfd in = { .fd = fd, .events = POLLIN };
	char piece[16384];
	int64_t left;
	ssize_t n;

	for (;;) {
		left = until_ms - clock_boot_ms();
		if (left <= 0)
			return err_set(e, ERR_REMOTE,
			    "the driver of the GPUs does not respond");
		if (poll(&in, 1, (int)left) <= 0)
			continue;
		n = read(fd, piece, sizeof piece);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		if (text->len + (size_t)n > GPU_SNAPSHOT_LINE)
			return err_set(e, ERR_REMOTE,
			    "hpotune-gpu sent more output than allowed");
		buf_add(text, piece, (size_t)n);
	}
}

/*
 * Wait for the program's end; returns its status, -1 when it had to be killed.
 */
static int
program_end(pid_t pid, int end_fd)
{
	struct pollfd end = { .fd = end_fd, .events = POLLIN };
	bool ended = poll(&end, 1, GRACE_MS) > 0;
	int status = spawn_end(pid, end_fd);

	(void)close(end_fd);
	return ended ? status : -1;
}

/* Read what the program prints; status: as of waitpid, -1 = it was killed. */
static int
program_read(char *const *argv, struct buf *text, int *status, int timeout_ms,
    struct err *e)
{
	struct spawn_spec spec = { .argv = argv, .in = -1, .err = -1 };
	int64_t until = clock_boot_ms() + timeout_ms;
	int p[2], end_fd, rc;
	pid_t pid;

	if (pipe2(p, O_CLOEXEC) == -1)
		return err_set(e, ERR_FILE, "%s cannot be started: %s", argv[0],
		    strerror(errno));
	spec.out = p[1];
	rc = spawn_start(&pid, &end_fd, &spec, e);
	(void)close(p[1]);
	if (rc == 0) {
		rc = gpu_query_answer_read(p[0], text, until, e);
		*status = program_end(pid, end_fd);
	}
	(void)close(p[0]);
	return rc;
}

bool
gpu_query_driver(void)
{
	const char *named = getenv("HPOTUNE_NVML");

	return named != NULL ? named[0] != '\0' : gpu_sysfs_driver("");
}

int
gpu_query(struct gpu_snapshot *l, int timeout_ms, struct err *e)
{
	struct buf text = { 0 };
	char *program;
	size_t len;
	int rc, status;

	*l = (struct gpu_snapshot){ 0 };
	if (!gpu_query_driver()) {
		gpu_snapshot_set_text(
		    l->why, sizeof l->why, "no NVIDIA driver is loaded");
		return 0;
	}
	if (spawn_find(&program, "HPOTUNE_GPU", "hpotune-gpu", e) != 0)
		return -1;
	rc = program_read((char *[]){ program, (char *)"list", NULL }, &text,
	    &status, timeout_ms, e);
	len = strcspn(buf_str(&text), "\n");
	if (rc == 0 && text.len != len + 1)
		rc = err_set(e, ERR_REMOTE, "%s: not one line", program);
	if (rc == 0 && gpu_snapshot_read(l, buf_str(&text), len, e) != 0) {
		gpu_snapshot_free(l);
		rc = err_add(e, "%s", program);
	}
	buf_free(&text);
	free(program);
	return rc;
}

int
gpu_query_probe(const char *uuid, int timeout_ms, struct err *e)
{
	struct buf text = { 0 };
	char *program, *argv[] = { NULL, (char *)"probe", (char *)uuid, NULL };
	int rc, status = -1;

	if (spawn_find(&program, "HPOTUNE_GPU", "hpotune-gpu", e) != 0)
		return -1;
	argv[0] = program;
	rc = program_read(argv, &text, &status, timeout_ms, e);
	if (rc == 0 && status != 0)
		rc = err_set(e, ERR_REMOTE, "%.*s",
		    (int)strcspn(buf_str(&text), "\n"),
		    text.len > 0 ? text.data
				 : "its test ended without a result");
	buf_free(&text);
	free(program);
	return rc;
}
