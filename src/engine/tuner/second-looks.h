/*
 * Second looks: stopped trials that are resumed when no new trial may begin, or
 * none begins for long because the strategy is not ready.
 * strategies/stop/second-look says which one and why; here it is recorded and
 * done.  What is spent, and who had a look, are rows of t_stop: a restart reads
 * the same.
 */

#ifndef HPOTUNE_SECOND_LOOKS_H
#define HPOTUNE_SECOND_LOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "strategies/stop/second-look/second-look.h"

struct capacity;
struct live_trial;
struct store;
struct tuner;

/* All files may read it; only second-looks.c writes it. */
struct second_looks {
	double share; /* 0 = off */
	bool given; /* by study.json: else checkpoints must be seen */
	bool due; /* one could begin, if there were room */
	int64_t idle_ms; /* loop time since when a slot idles; -1 = none does */
	bool known; /* next is the decision after this many ends */
	int64_t ends;
	struct second_look next;
};

/* Read the option of the rules.  Call after plugins_read. */
void second_looks_open(struct tuner *);
/*
 * The next trial for a second look, when a slot is free and nothing else is to
 * be placed: it waits now and has room; NULL: none.  While the strategy
 * computes the next trial, or waits for another one to end, there is none until
 * the slot has been free for a tenth of the duration of a trial.
 */
struct live_trial *
second_looks_resume(struct tuner *, const struct capacity *room);
/* A free slot was used, or there is none: none has been free for long. */
void second_looks_busy(struct tuner *);
/* The same among those that other programs run. */
struct live_trial *second_looks_resume_external(struct tuner *);
/* At the end of a turn: whether the study must go on for one. */
void second_looks_settle(struct tuner *);
/*
 * Whether the trial has, or had, its second look, or the user has retried it
 * after a stop: no rule stops it.
 */
int second_looks_had(struct store *, int64_t trial, bool *had, struct err *);

#endif /* HPOTUNE_SECOND_LOOKS_H */
