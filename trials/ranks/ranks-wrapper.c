/*
 * Ranks started by an external launcher.  Each has a wrapper that records how
 * it ends and registers its pid, so that a stop reaches the ranks directly:
 * launchers would kill them after a second, or thirty.
 */

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trials/ranks/ranks.h"

static int
text_read(int dir_fd, const char *name, char *text, size_t n)
{
	int fd = openat(
	    dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	ssize_t got;

	if (fd == -1)
		return -1;
	got = read(fd, text, n - 1);
	(void)close(fd);
	text[got > 0 ? got : 0] = '\0';
	return got > 0 ? 0 : -1;
}

void
ranks_wrapper_register(int dir_fd, int rank, pid_t pid)
{
	char name[32], text[32];
	int fd, n;

	(void)snprintf(name, sizeof name, "rank-%d.pid", rank);
	n = snprintf(text, sizeof text, "%d\n", (int)pid);
	fd = openat(dir_fd, name,
	    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1)
		return;
	if (write(fd, text, (size_t)n) != n)
		(void)unlinkat(dir_fd, name, 0);
	(void)close(fd);
}

/* Whether the signal was sent, or is not needed. */
static bool
rank_forward_signal(int dir_fd, int rank)
{
	char name[32], text[32];
	long pid;

	(void)snprintf(name, sizeof name, "rank-%d.pid", rank);
	if (text_read(dir_fd, name, text, sizeof text) == -1)
		return false;
	pid = strtol(text, NULL, 10);
	if (pid == 0)
		return true;
	(void)snprintf(name, sizeof name, "/proc/%ld/comm", pid);
	/* Pids are reused. */
	if (text_read(AT_FDCWD, name, text, sizeof text) == 0 &&
	    strcmp(text, "hpotune-ranks\n") == 0)
		(void)kill((pid_t)pid, SIGTERM);
	return true;
}

bool
ranks_wrapper_signal(const struct ranks *s)
{
	bool all = true;
	int i;

	for (i = 0; i < s->args.processes; i++)
		all &= rank_forward_signal(s->dir_fd, i);
	return all;
}

void
ranks_wrapper_forget(const struct ranks *s)
{
	char name[32];
	int i;

	for (i = 0; i < s->args.processes; i++) {
		(void)snprintf(name, sizeof name, "rank-%d.pid", i);
		(void)unlinkat(s->dir_fd, name, 0);
	}
}
