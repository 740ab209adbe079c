/*
 * Whether a trial does anything: its output, and the processor time of its
 * processes, which are the descendants of its supervisor.
 */

#include <stdlib.h>
#include <unistd.h>

#include "src/base/loop.h"
#include "trials/local/local-internal.h"
#include "trials/process/proc.h"

enum {
	STILL_PROCESSES = 4096,
	STILL_PART = 1000, /* of one processor: threads that only wake up */
	STILL_TICKS = 2 /* and so many, for short times */
};

/* The time of all its processes in clock ticks; -1: one waits for a disk. */
static int64_t
local_still_cpu(pid_t supervisor)
{
	struct proc_node *list = xcalloc(STILL_PROCESSES, sizeof *list);
	size_t n = proc_descendants(supervisor, list, STILL_PROCESSES), i;
	int64_t ticks = 0;
	struct proc_stat s;

	/* Ticks of the processes that the supervisor has reaped. */
	if (proc_stat(supervisor, &s))
		ticks = s.cpu_children;
	for (i = 0; i < n && ticks >= 0; i++)
		if (proc_stat(list[i].pid, &s))
			ticks = s.state == 'D' ? -1
					       : ticks + s.cpu + s.cpu_children;
	free(list);
	return ticks;
}

int64_t
local_still_ms(void *ctx, int64_t trial, int attempt)
{
	struct local *l = ctx;
	struct local_attempt *a = local_attempt_find(l, trial, attempt);
	struct local_still now, *was;
	int64_t ticks;

	/* The processes of packed trials are those of others, too. */
	if (a == NULL || !a->up || l->pack.size > 0 || a->supervisor.pid == 0)
		return -1;
	was = &a->still;
	now = (struct local_still){ .since_ms = loop_now_ms(l->loop),
		.output = a->cursor.log + a->cursor.metrics,
		.cpu = local_still_cpu(a->supervisor.pid) };
	ticks = STILL_TICKS + (now.since_ms - was->since_ms) *
				  sysconf(_SC_CLK_TCK) / 1000 / STILL_PART;
	if (was->since_ms == 0 || now.output != was->output || now.cpu < 0 ||
	    now.cpu - was->cpu > ticks)
		*was = now;
	return now.since_ms - was->since_ms;
}
