/*
 * What /proc tells of processes.  Knows nothing of trials; works with static
 * memory, because the supervisor uses it too.
 */

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trials/proc.h"

bool
proc_stat(pid_t pid, struct proc_stat *s)
{
	char path[64], text[1024];
	const char *p;
	long long start;
	int ppid, fd;
	ssize_t n;

	(void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return false;
	n = read(fd, text, sizeof text - 1);
	(void)close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	/* The name may hold anything, so count from its last parenthesis. */
	p = strrchr(text, ')');
	if (p == NULL ||
	    sscanf(p,
		") %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d"
		" %*d %*d %*d %*d %lld",
		&s->state, &ppid, &start) != 3)
		return false;
	s->ppid = ppid;
	s->start = start;
	return true;
}

void
proc_boot_id(char id[37])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	id[0] = '\0';
	if (fd == -1)
		return;
	if (read(fd, id, 36) == 36)
		id[36] = '\0';
	else
		id[0] = '\0';
	(void)close(fd);
}

int
proc_open(pid_t pid, int64_t start)
{
	struct proc_stat s;
	int fd;

	/* The second look proves that the descriptor is not a successor's. */
	if (pid <= 0 || !proc_stat(pid, &s) || s.start != start)
		return -1;
	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd == -1)
		return -1;
	if (proc_stat(pid, &s) && s.start == start)
		return fd;
	(void)close(fd);
	return -1;
}

int
proc_signal(int pidfd, int signo)
{
	return (int)syscall(SYS_pidfd_send_signal, pidfd, signo, NULL, 0);
}

bool
proc_over(int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	return poll(&p, 1, 0) == 1 && (p.revents & POLLIN) != 0;
}

void
proc_reap(int pidfd)
{
	siginfo_t si;

	(void)waitid(P_PIDFD, (id_t)pidfd, &si, WEXITED | WNOHANG);
}

void
proc_each(bool (*fn)(void *arg, pid_t), void *arg)
{
	DIR *dir = opendir("/proc");
	const struct dirent *d;

	if (dir == NULL)
		return;
	while ((d = readdir(dir)) != NULL)
		if (isdigit((unsigned char)d->d_name[0]) &&
		    !fn(arg, (pid_t)strtol(d->d_name, NULL, 10)))
			break;
	(void)closedir(dir);
}

/* Whether the environment a process was started with holds the word. */
static bool
environ_has(pid_t pid, const char *word)
{
	static char block[65536];
	char path[64];
	size_t len = strlen(word) + 1, kept = 0, have;
	const char *at, *end;
	bool first = true;
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return false;
	while ((n = read(fd, block + kept, sizeof block - kept)) > 0) {
		have = kept + (size_t)n;
		end = block + have;
		for (at = block; (size_t)(end - at) >= len; at++) {
			at = memmem(at, (size_t)(end - at), word, len);
			if (at == NULL)
				break;
			if (at == block ? first : at[-1] == '\0') {
				(void)close(fd);
				return true;
			}
		}
		/* A word may straddle two reads; its NUL in front too. */
		kept = have < len ? have : len;
		memmove(block, block + (have - kept), kept);
		first = false;
	}
	(void)close(fd);
	return false;
}

struct mark {
	const char *word;
	int killed;
};

static bool
kill_if_marked(void *arg, pid_t pid)
{
	struct mark *mark = arg;
	struct proc_stat s;
	int fd;

	if (pid == getpid() || !environ_has(pid, mark->word) ||
	    !proc_stat(pid, &s) || s.state == 'Z')
		return true;
	fd = proc_open(pid, s.start);
	if (fd == -1)
		return true;
	/* Asked again: it may be somebody else since the first look. */
	if (environ_has(pid, mark->word) && proc_signal(fd, SIGKILL) == 0)
		mark->killed++;
	(void)close(fd);
	return true;
}

int
proc_kill_marked(const char *word)
{
	struct mark mark = { .word = word };

	proc_each(kill_if_marked, &mark);
	return mark.killed;
}
