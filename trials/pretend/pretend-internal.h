/* The state of the pretend launcher. */

#ifndef HPOTUNE_PRETEND_INTERNAL_H
#define HPOTUNE_PRETEND_INTERNAL_H

#include "trials/pretend/pretend.h"

struct loop_timer;

/* An attempt that the tuner follows. */
struct pretend_watch {
	int64_t trial;
	int attempt;
	struct pretend_attempt *of; /* NULL: its world was freed */
	size_t told; /* reports sent */
	bool up;
	double *also; /* its quality by each other metric */
	int slot;
	struct gpu_usage used; /* use up to the first used_by reports */
	size_t used_by; /* … this many */
};

struct pretend {
	struct launch_env env;
	char *metric;
	struct pretend_script script;
	struct pretend_world *world;
	bool own;
	int slots;
	int gpus; /* per GPU: number of trials last sent; -1 = none */
	int *gpu_trials;
	struct loop_timer *timer;
	struct pretend_watch *watches;
	size_t n, cap;
};

#endif /* HPOTUNE_PRETEND_INTERNAL_H */
