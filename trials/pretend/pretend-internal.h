/* Inside the launcher pretend: pretend.c runs it, pretend-events.c reports. */

#ifndef HPOTUNE_PRETEND_INTERNAL_H
#define HPOTUNE_PRETEND_INTERNAL_H

#include "trials/pretend/pretend.h"

struct loop_timer;

/* An attempt that the tuner waits for. */
struct pretend_watch {
	int64_t trial;
	int attempt;
	struct pretend_attempt *of; /* NULL: its world is gone */
	size_t told; /* reports */
	bool up;
	double *also; /* how good it is by each other metric */
	int slot;
	struct launch_usage used; /* by the first reports, told or not */
	size_t used_by; /* … so many of them */
};

struct pretend {
	struct launch_env env;
	char *metric;
	struct pretend_script script;
	struct pretend_world *world;
	bool own;
	int slots;
	int gpus; /* of each, the trials on it that were told; -1 = none yet */
	int *gpu_trials;
	struct loop_timer *timer;
	struct pretend_watch *watches;
	size_t n, cap;
};

/* Have a turn when the next thing happens. */
void pretend_arm(struct pretend *);
/* Everything that is new. */
void pretend_events_collect(void *ctx);

#endif /* HPOTUNE_PRETEND_INTERNAL_H */
