/*
 * One process, stopped before a chosen system call and killed there.  A process
 * changes the outside world only by system calls, so these are all the moments
 * at which its death can matter.
 */

#ifndef HPOTUNE_TRACE_H
#define HPOTUNE_TRACE_H

#include <stdbool.h>
#include <sys/types.h>

enum trace_end {
	TRACE_KILLED, /* before the chosen call */
	TRACE_ENDED /* by itself: it made fewer calls */
};

struct trace {
	bool all; /* count every call, not only those that change something */
	long kill_at; /* from 1; 0 = only count */
	long calls; /* counted so far */
	long last; /* number of the call it was killed before */
	int status; /* as of waitpid */
};

/* A child that asked to be traced and stands at its exec. */
enum trace_end trace_child(struct trace *, pid_t);
/*
 * A process that is not our child, from its next exec on.  Its parent is stopped, and
 * goes on when it is traced.
 */
enum trace_end trace_stranger(struct trace *, pid_t, pid_t parent);
/* The name of a call, for messages. */
const char *trace_call_name(long);

#endif /* HPOTUNE_TRACE_H */
