/*
 * What a study would do, worked out before it does: trials, slots, the longest
 * it may take, and the command of an example.
 */

#ifndef HPOTUNE_PLAN_H
#define HPOTUNE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/mem.h"

struct err;
struct plugins;
struct study;

struct plan {
	const struct study *study;
	const struct plugins *plugins;
	int64_t max_trials; /* instead of limits.trials; 0 = as there */
	char **command; /* of an example */
	char *workdir; /* where that runs */
	int64_t trials; /* 0 = no limit */
	bool exhausted; /* the strategy has no more than trials */
	int64_t gpu_places; /* attempts, or programs, that they hold */
	int64_t slots; /* 0 = the backend knows */
	int64_t programs; /* of packed trials; 0 = each trial has its own */
	struct buf gpus; /* those of this machine, in words */
	int64_t worst_ms; /* -1 = nobody knows */
	double attempt_cost; /* dollars at most; 0 = free, NaN = not known */
	double worst_cost; /* of all; INFINITY = no bound */
	struct buf starts; /* what starts its processes; "" = it does */
	struct buf misses; /* what trials cannot do there; "" = nothing */
	char missing[512]; /* what a trial would not find; "" = nothing */
};

/* In words, for the plan and the start of one that costs something. */
void plan_put_cost(struct buf *, const struct plan *);
/* Fill the rest of a plan that has study and plugins. */
int plan_make(struct plan *, struct err *);
void plan_fini(struct plan *);

#endif /* HPOTUNE_PLAN_H */
