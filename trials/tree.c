/*
 * Everything that descends from us, found in the process table.  As
 * subreaper we stay the ancestor of daemons and orphans, so nothing escapes
 * by forking twice.
 */

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "trials/proc.h"
#include "trials/tree.h"

enum {
	TREE_MAX = 32768, /* processes looked at in one sweep */
	DEPTH_MAX = 4096
};

struct node {
	pid_t pid, ppid;
	int64_t start;
	bool ours;
};

struct tree {
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
	if (pid != getpid() && proc_stat(pid, &st) && st.state != 'Z')
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
	pid_t self = getpid();
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
			    key.pid == self || (up != NULL && up->ours);
			more |= t->node[i].ours;
		}
	}
}

void
tree_kill(void)
{
	static struct node nodes[TREE_MAX];
	struct tree t = { .node = nodes };
	size_t i;
	int fd;

	proc_each(tree_add, &t);
	tree_mark(&t);
	for (i = 0; i < t.n; i++) {
		if (!t.node[i].ours)
			continue;
		fd = proc_open(t.node[i].pid, t.node[i].start);
		if (fd == -1)
			continue;
		(void)proc_signal(fd, SIGKILL);
		(void)close(fd);
	}
}
