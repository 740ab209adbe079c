/*
 * Second looks: stopped trials that are resumed when no new trial may begin.
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
	bool known; /* next is the decision after this many ends */
	int64_t ends;
	struct second_look next;
};

/* Read the option of the rules.  Call after plugins_read. */
void second_looks_open(struct tuner *);
/* The next one, which waits now and has room; NULL: none. */
struct live_trial *
second_looks_resume(struct tuner *, const struct capacity *room);
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
