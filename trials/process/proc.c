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
	/*
	 * The name may contain anything, so parse after the last parenthesis.
	 */
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

static bool
is_there(pid_t pid, int64_t start, struct proc_stat *s)
{
	return proc_stat(pid, s) && s->start == start;
}

bool
proc_open(struct proc_ref *r, pid_t pid, int64_t start)
{
	struct proc_stat s;

	*r = PROC_NOBODY;
	if (pid <= 0 || !is_there(pid, start, &s))
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
	if (is_there(pid, start, &s))
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
	if (r->pid > 0 && is_there(r->pid, r->start, &s))
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
	return r->pid <= 0 || !is_there(r->pid, r->start, &s) || s.state == 'Z';
}

bool
proc_stopped(const struct proc_ref *r)
{
	struct proc_stat s;

	return r->pid > 0 && is_there(r->pid, r->start, &s) && s.state == 'T';
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

	/* Until it is reaped its pid is its own. */
	if (r->pid > 0 && is_there(r->pid, r->start, &s) && s.ppid == getpid())
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

/* ---- descendants -------------------------------------------------------- */

/*
 * All of a process in the process table.  Daemons and orphans keep a subreaper
 * as their ancestor, so a double fork does not escape.
 */

enum {
	TREE_MAX = 32768, /* processes examined in one sweep */
	DEPTH_MAX = 4096
};

struct node {
	pid_t pid, ppid;
	int64_t start;
	bool ours;
};

struct tree {
	pid_t root;
	struct node *node;
	size_t n;
};

static bool
tree_add(void *arg, pid_t pid)
{
	struct tree *t = arg;
	struct proc_stat st;

	if (t->n == TREE_MAX)
		return false;
	if (pid != t->root && proc_stat(pid, &st) && st.state != 'Z')
		t->node[t->n++] =
		    (struct node){ pid, st.ppid, st.start, false };
	return true;
}

static int
node_compare(const void *a, const void *b)
{
	const struct node *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Mark children of marked ones until nothing changes. */
static void
tree_mark(struct tree *t)
{
	const struct node *up;
	struct node key = { 0 };
	bool more = true;
	size_t i;
	int depth;

	qsort(t->node, t->n, sizeof *t->node, node_compare);
	for (depth = 0; more && depth < DEPTH_MAX; depth++) {
		more = false;
		for (i = 0; i < t->n; i++) {
			if (t->node[i].ours)
				continue;
			key.pid = t->node[i].ppid;
			up = bsearch(
			    &key, t->node, t->n, sizeof key, node_compare);
			t->node[i].ours =
			    key.pid == t->root || (up != NULL && up->ours);
			more |= t->node[i].ours;
		}
	}
}

int
proc_kill_descendants(pid_t root)
{
	static struct node nodes[TREE_MAX];
	struct tree t = { .root = root, .node = nodes };
	struct proc_ref r;
	int killed = 0;
	size_t i;

	proc_each(tree_add, &t);
	tree_mark(&t);
	for (i = 0; i < t.n; i++) {
		if (!t.node[i].ours ||
		    !proc_open(&r, t.node[i].pid, t.node[i].start))
			continue;
		killed += proc_signal(&r, SIGKILL) == 0;
		proc_close(&r);
	}
	return killed;
}
