/*
 * Whether a process gets on: what it has taken of the processor, and how long it
 * has waited for locks and disks, since it was last seen to get on.  Waiting for the
 * processor is the fault of others and counts for nothing; a disk that gives it
 * bytes is slow, and does not hang.
 */

#ifndef HPOTUNE_WEB_PACE_H
#define HPOTUNE_WEB_PACE_H

#include <stdint.h>
#include <sys/types.h>

/* A process as the kernel tells it; 0 where the kernel does not say. */
struct web_pace_seen {
	char state; /* of proc(5): R, S, D, Z, … */
	int64_t cpu_us; /* of the processor that it has used */
	int64_t delay_us; /* for which it has waited for the processor */
	int64_t disk_bytes; /* that disks have given it */
};

struct web_pace {
	struct web_pace_seen last; /* at the last look, */
	int64_t at_ms; /* which was then */
	int64_t cpu_us, wait_us; /* since it got on */
	int64_t taken_us; /* of both, of all */
};

void web_pace_read(struct web_pace_seen *, pid_t);
/* A process that begins now. */
void web_pace_begin(struct web_pace *, int64_t now_ms);
/* The process got on by itself. */
void web_pace_on(struct web_pace *);
/*
 * Another look.  most_ms: a longer time between two looks is our own fault, or the
 * machine slept.
 */
void web_pace_look(struct web_pace *, const struct web_pace_seen *,
    int64_t now_ms, int64_t most_ms);
/* For how long it has not got on. */
int64_t web_pace_idle_us(const struct web_pace *);

#endif /* HPOTUNE_WEB_PACE_H */
