/*
 * The descendants of a process in the process table.  Daemons and orphans keep a
 * subreaper as their ancestor, so a double fork does not escape.
 */

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "trials/process/proc.h"

enum {
	TREE_MAX = 32768, /* processes examined in one sweep */
	DEPTH_MAX = 4096
};

struct tree {
	pid_t root;
	struct proc_node *node;
	size_t n;
};

static bool
proc_tree_add(void *arg, pid_t pid)
{
	struct tree *t = arg;
	struct proc_stat st;

	if (t->n == TREE_MAX)
		return false;
	if (pid != t->root && proc_stat(pid, &st) && st.state != 'Z')
		t->node[t->n++] =
		    (struct proc_node){ pid, st.ppid, st.start, false };
	return true;
}

static int
proc_tree_node_compare(const void *a, const void *b)
{
	const struct proc_node *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Mark children of marked ones until nothing changes. */
static void
tree_mark(struct tree *t)
{
	const struct proc_node *up;
	struct proc_node key = { 0 };
	bool more = true;
	size_t i;
	int depth;

	qsort(t->node, t->n, sizeof *t->node, proc_tree_node_compare);
	for (depth = 0; more && depth < DEPTH_MAX; depth++) {
		more = false;
		for (i = 0; i < t->n; i++) {
			if (t->node[i].ours)
				continue;
			key.pid = t->node[i].ppid;
			up = bsearch(&key, t->node, t->n, sizeof key,
			    proc_tree_node_compare);
			t->node[i].ours =
			    key.pid == t->root || (up != NULL && up->ours);
			more |= t->node[i].ours;
		}
	}
}

/* Static memory, because the supervisor has no other. */
static struct tree
tree_read(pid_t root)
{
	static struct proc_node nodes[TREE_MAX];
	struct tree t = { .root = root, .node = nodes };

	proc_each(proc_tree_add, &t);
	tree_mark(&t);
	return t;
}

/* The same from what the kernel keeps of each thread, where it tells it. */
struct below {
	struct proc_node *node;
	size_t n, max;
	bool whole; /* every list that was asked for was read */
	bool more; /* a list had one that was not known */
};

static void
below_add(struct below *b, pid_t pid)
{
	struct proc_stat st;
	size_t i;

	for (i = 0; i < b->n; i++)
		if (b->node[i].pid == pid)
			return;
	if (b->n == b->max || !proc_stat(pid, &st) || st.state == 'Z')
		return;
	b->node[b->n++] = (struct proc_node){ pid, st.ppid, st.start, true };
	b->more = true;
}

/* The children of one thread; a process may be gone with all of its threads. */
static void
below_read_thread(struct below *b, pid_t pid, const char *thread)
{
	char path[64], text[4096], *p = text, *end;
	struct proc_stat st;
	ssize_t got;
	pid_t child;
	int fd;

	(void)snprintf(path, sizeof path, "/proc/%d/task/%.16s/children",
	    (int)pid, thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd == -1 ? -1 : read(fd, text, sizeof text - 1);
	if (fd != -1)
		(void)close(fd);
	if (got < 0 || got == sizeof text - 1) {
		b->whole = b->whole && got < 0 && pid != getpid() &&
			   (!proc_stat(pid, &st) || st.state == 'Z');
		return;
	}
	text[got] = '\0';
	for (; (child = (pid_t)strtol(p, &end, 10)) > 0; p = end)
		below_add(b, child);
}

static void
below_read(struct below *b, pid_t pid)
{
	const struct dirent *d;
	char path[64];
	DIR *dir;

	(void)snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir != NULL && (d = readdir(dir)) != NULL)
		if (isdigit((unsigned char)d->d_name[0]))
			below_read_thread(b, pid, d->d_name);
	if (dir != NULL)
		(void)closedir(dir);
}

/*
 * A list may lack one while others of it end, and a process whose parent ends is
 * added to the list of the root: all lists are read until nothing is new.
 */
static bool
proc_tree_below_root(struct below *b, pid_t root)
{
	size_t i;

	do {
		b->more = false;
		below_read(b, root);
		for (i = 0; i < b->n && b->whole; i++)
			below_read(b, b->node[i].pid);
	} while (b->more && b->whole);
	if (b->n > 0)
		qsort(b->node, b->n, sizeof *b->node, proc_tree_node_compare);
	return b->whole;
}

size_t
proc_descendants(pid_t root, struct proc_node *out, size_t max)
{
	struct below b = { .node = out, .max = max, .whole = true };
	struct tree t;
	size_t i, n = 0;

	if (proc_tree_below_root(&b, root))
		return b.n;
	t = tree_read(root);
	for (i = 0; i < t.n && n < max; i++)
		if (t.node[i].ours)
			out[n++] = t.node[i];
	return n;
}

bool
proc_has_child(pid_t pid)
{
	struct proc_node one;
	struct below b = { .node = &one, .max = 1, .whole = true };

	below_read(&b, pid);
	return !b.whole || b.n > 0;
}

struct children {
	pid_t root, *pid;
	size_t n, max;
};

static bool
child_add(void *arg, pid_t pid)
{
	struct children *c = arg;
	struct proc_stat st;

	if (c->n < c->max && proc_stat(pid, &st) && st.ppid == c->root)
		c->pid[c->n++] = pid;
	return c->n < c->max;
}

size_t
proc_children(pid_t *pid, size_t max)
{
	struct children c = { getpid(), pid, 0, max };
	char path[64], text[4096], *p = text, *end;
	ssize_t got;
	int fd;

	(void)snprintf(
	    path, sizeof path, "/proc/self/task/%d/children", (int)c.root);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd == -1 ? -1 : read(fd, text, sizeof text - 1);
	if (fd != -1)
		(void)close(fd);
	/* Not every kernel has it, and it may be longer than that. */
	if (got < 0 || got == sizeof text - 1) {
		proc_each(child_add, &c);
		return c.n;
	}
	text[got] = '\0';
	while (c.n < max && (pid[c.n] = (pid_t)strtol(p, &end, 10)) > 0) {
		p = end;
		c.n++;
	}
	return c.n;
}

int
proc_kill_descendants(pid_t root)
{
	struct tree t = tree_read(root);
	struct proc_ref r;
	int killed = 0;
	size_t i;

	for (i = 0; i < t.n; i++) {
		if (!t.node[i].ours ||
		    !proc_open(&r, t.node[i].pid, t.node[i].start))
			continue;
		killed += proc_signal(&r, SIGKILL) == 0;
		proc_close(&r);
	}
	return killed;
}
