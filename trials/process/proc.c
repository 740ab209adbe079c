/*
 * Processes through /proc.  Uses static memory only, because the supervisor
 * uses it too.
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

#include "trials/process/proc.h"

bool
proc_stat(pid_t pid, struct proc_stat *s)
{
	char path[64], text[1024];
	const char *p;
	long long start, user, system, user_children, system_children;
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
	/*
	 * The name may contain anything, so parse after the last parenthesis.
	 */
	p = strrchr(text, ')');
	if (p == NULL ||
	    sscanf(p,
		") %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lld %lld %lld"
		" %lld %*d %*d %*d %*d %lld",
		&s->state, &ppid, &user, &system, &user_children,
		&system_children, &start) != 7)
		return false;
	s->cpu = user + system;
	s->cpu_children = user_children + system_children;
	s->ppid = ppid;
	s->start = start;
	return true;
}

/* The mask behind a name in the text of /proc/PID/status. */
static uint64_t
proc_mask(const char *text, const char *name)
{
	const char *p = strstr(text, name);

	return p == NULL ? 0 : strtoull(p + strlen(name), NULL, 16);
}

bool
proc_signals(pid_t pid, struct proc_signals *s)
{
	char path[64], text[4096];
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return false;
	n = read(fd, text, sizeof text - 1);
	(void)close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	s->pending = proc_mask(text, "\nShdPnd:\t");
	s->blocked = proc_mask(text, "\nSigBlk:\t");
	s->ignored = proc_mask(text, "\nSigIgn:\t");
	s->caught = proc_mask(text, "\nSigCgt:\t");
	return true;
}

bool
proc_exe(pid_t pid, char *name, size_t n)
{
	char path[64], *last;
	ssize_t got;

	(void)snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	got = readlink(path, name, n - 1);
	if (got <= 0)
		return false;
	name[got] = '\0';
	last = strrchr(name, '/');
	if (last != NULL)
		memmove(name, last + 1, strlen(last));
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

static bool
proc_is_there(pid_t pid, int64_t start, struct proc_stat *s)
{
	return proc_stat(pid, s) && s->start == start;
}

bool
proc_open(struct proc_ref *r, pid_t pid, int64_t start)
{
	struct proc_stat s;

	*r = PROC_NOBODY;
	if (pid <= 0 || !proc_is_there(pid, start, &s))
		return false;
	r->fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (r->fd == -1 && (errno == ESRCH || errno == EINVAL))
		return false;
	r->pid = pid;
	r->start = start;
	/*
	 * The second check proves that the pid was not reused before the pidfd
	 * was opened.
	 */
	if (proc_is_there(pid, start, &s))
		return true;
	proc_close(r);
	return false;
}

void
proc_open_child(struct proc_ref *r, pid_t pid)
{
	struct proc_stat s = { 0 };

	*r = (struct proc_ref){ .pid = pid };
	r->fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (proc_stat(pid, &s))
		r->start = s.start;
}

void
proc_close(struct proc_ref *r)
{
	if (r->fd != -1)
		(void)close(r->fd);
	*r = PROC_NOBODY;
}

int
proc_signal(const struct proc_ref *r, int signo)
{
	struct proc_stat s;

	if (r->fd != -1) {
		if (syscall(SYS_pidfd_send_signal, r->fd, signo, NULL, 0) == 0)
			return 0;
		if (errno != ENOSYS && errno != EPERM)
			return -1;
	}
	if (r->pid > 0 && proc_is_there(r->pid, r->start, &s))
		return kill(r->pid, signo);
	errno = ESRCH;
	return -1;
}

bool
proc_ended(const struct proc_ref *r)
{
	struct pollfd p = { .fd = r->fd, .events = POLLIN };
	struct proc_stat s;

	if (r->fd != -1)
		return poll(&p, 1, 0) == 1 && (p.revents & POLLIN) != 0;
	return r->pid <= 0 || !proc_is_there(r->pid, r->start, &s) ||
	       s.state == 'Z';
}

bool
proc_stopped(const struct proc_ref *r)
{
	struct proc_stat s;

	return r->pid > 0 && proc_is_there(r->pid, r->start, &s) &&
	       s.state == 'T';
}

void
proc_continue(const struct proc_ref *r)
{
	if (proc_stopped(r))
		(void)proc_signal(r, SIGCONT);
}

void
proc_continue_child(pid_t pid)
{
	struct proc_ref r;

	proc_open_child(&r, pid);
	proc_continue(&r);
	proc_close(&r);
}

static bool
continue_if_of(void *arg, pid_t pid)
{
	const pid_t *group = arg;
	struct proc_stat s;
	struct proc_ref r;

	if (getpgid(pid) == *group && proc_stat(pid, &s) && s.state == 'T' &&
	    proc_open(&r, pid, s.start)) {
		(void)proc_signal(&r, SIGCONT);
		proc_close(&r);
	}
	return true;
}

void
proc_continue_group(pid_t group)
{
	proc_each(continue_if_of, &group);
}

void
proc_reap(const struct proc_ref *r)
{
	struct proc_stat s;

	/* Until a process is reaped its pid is its own. */
	if (r->pid > 0 && proc_is_there(r->pid, r->start, &s) &&
	    s.ppid == getpid())
		(void)waitpid(r->pid, NULL, WNOHANG);
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

bool
proc_kill(pid_t pid, bool (*is_one)(void *arg, pid_t), void *arg)
{
	struct proc_stat s;
	struct proc_ref r;
	bool killed;

	if (pid == getpid() || !is_one(arg, pid) || !proc_stat(pid, &s) ||
	    s.state == 'Z' || !proc_open(&r, pid, s.start))
		return false;
	/* Checked again: the pid may have been reused since the first check. */
	killed = is_one(arg, pid) && proc_signal(&r, SIGKILL) == 0;
	proc_close(&r);
	return killed;
}
