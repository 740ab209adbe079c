/*
 * The plan of a study: number of trials, slots, the greatest duration and cost,
 * and an example command.
 */

#ifndef HPOTUNE_PLAN_H
#define HPOTUNE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/mem.h"
#include "src/view/likely-cost.h"

struct err;
struct plugins;
struct study;

struct plan {
	const struct study *study;
	const struct plugins *plugins;
	int64_t max_trials; /* instead of limits.trials; 0 = none */
	char **command; /* of an example */
	char *workdir; /* where that runs */
	int64_t trials; /* 0 = no limit */
	bool exhausted; /* the strategy has only that many trials */
	int64_t gpu_places; /* attempts, or programs, that the GPUs hold */
	int64_t slots; /* 0 = determined by the backend */
	int64_t programs; /* of packed trials; 0 = not packed */
	struct buf gpus; /* this machine's, as text */
	int64_t worst_ms; /* -1 = unknown */
	double attempt_cost; /* at most, dollars; 0 = free, NaN = unknown */
	int64_t attempt_gpus; /* at most; 0 = none, or not counted */
	int64_t attempt_ms; /* the longest; 0 = unlimited */
	double worst_gpu_hours; /* of all trials; INFINITY = unlimited */
	double worst_cost; /* of all trials; INFINITY = unlimited */
	struct likely_cost
	    likely; /* of all trials, at the prices of the study */
	struct buf starts; /* starts its processes; "" = the trial itself */
	struct buf asks; /* what a job asks for; "" = nothing to say */
	struct buf warns; /* what may go wrong, one a line; "" = nothing */
	struct buf misses; /* features that trials lack there; "" = none */
	struct buf exposed; /* folders that others can change; "" = none */
	char missing[512]; /* what trials would not find; "" = nothing */
};

/*
 * Put the likely cost by the trials of the study in the place of that by its
 * prices, where some have ended with a cost.
 */
int plan_pace(struct plan *, const char *db, struct err *);
/* The cost as text, for the plan and before the start. */
void plan_put_cost(struct buf *, const struct plan *);
/* Fill a plan that has study and plugins set. */
int plan_make(struct plan *, struct err *);
/* Ask the backends what may go wrong, which takes longer. */
void plan_warn(struct plan *);
void plan_fini(struct plan *);

#endif /* HPOTUNE_PLAN_H */
