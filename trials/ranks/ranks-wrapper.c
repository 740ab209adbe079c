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

#include "src/base/file.h"
#include "trials/ranks/ranks-wrapper.h"
#include "trials/ranks/ranks.h"

void
ranks_wrapper_register(int dir_fd, int rank, pid_t pid)
{
	char name[32], text[32];
	int fd, n;

	(void)snprintf(name, sizeof name, "rank-%d.pid", rank);
	n = snprintf(text, sizeof text, "%d\n", (int)pid);
	fd = file_open_for(dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
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
	if (file_read(dir_fd, name, text, sizeof text) <= 0)
		return false;
	pid = strtol(text, NULL, 10);
	if (pid == 0)
		return true;
	(void)snprintf(name, sizeof name, "/proc/%ld/comm", pid);
	/* Pids are reused. */
	if (file_read(AT_FDCWD, name, text, sizeof text) > 0 &&
	    strcmp(text, "hpotune-ranks\n") == 0)
		(void)kill((pid_t)pid, SIGTERM);
	return true;
}

bool
ranks_wrapper_signal(const struct ranks *s)
{
	int n = (int)ranks_env_per_node(&s->args), first = s->node * n, i;
	bool all = true;

	for (i = first; i < first + n; i++)
		all &= rank_forward_signal(s->dir_fd, i);
	return all;
}

bool
ranks_wrapper_all(const struct ranks *s)
{
	char name[32], text[32];
	int i;

	for (i = 0; i < s->args.processes; i++) {
		(void)snprintf(name, sizeof name, "rank-%d.pid", i);
		if (file_read(s->dir_fd, name, text, sizeof text) <= 0)
			return false;
	}
	return true;
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
