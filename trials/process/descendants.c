/*
 * Finds all descendants of a process in the process table.  Daemons and orphans
 * keep a subreaper as their ancestor, so a double fork does not escape.
 */

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "trials/process/proc.h"
#include "trials/process/descendants.h"

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
descendants_kill(pid_t root)
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
