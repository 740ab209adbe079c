/*
 * A machine of GPUs with random events, and a model of it: what was done, and
 * what the last snapshot showed.
 */

#ifndef HPOTUNE_GPU_RANDOM_MODEL_H
#define HPOTUNE_GPU_RANDOM_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trials/gpu/allocator/gpualloc.h"

enum {
	GPUS = 8,
	TRIALS = 64, /* places for those that live or die */
	MEMORY = 4000 /* MiB declared, of 16384: four fit */
};

struct trial {
	bool live;
	bool dying; /* its processes are still on its GPUs */
	bool reported;
	char key[16];
	int64_t number, since;
	int64_t expected; /* MiB that it is likely to need; 0 = not known */
	size_t at[GPUS], n;
	int64_t last_seq; /* the last look asked for at its end */
};

struct gpu_random_model {
	struct gpualloc *g;
	uint64_t random;
	int64_t now, seq, pending; /* pending: asked for and on its way */
	size_t n;
	int share, per;
	bool declared; /* the memory of a trial */
	bool expects; /* what a trial is likely to need is told */
	bool big; /* trials fill memory, so that it can settle them */
	struct trial trial[TRIALS];
	struct trial before[TRIALS]; /* as the pending look will show it */
	int64_t numbers;
	bool stranger[GPUS], gone[GPUS], other[GPUS], down;
	bool booked[GPUS], probing[GPUS];
	/* as the last look showed it */
	bool saw_stranger[GPUS], saw_gone[GPUS], saw_dying[GPUS], saw_down;
	bool saw_full[GPUS];
	int good[GPUS]; /* probes since the last fault; 2 = well */
	enum gpualloc_state shown[GPUS];
	int shown_trials[GPUS];
	int given;
	const char *wrong;
};

/* 0 ... n - 1 */
uint32_t gpu_random_model_any(struct gpu_random_model *, uint32_t n);
/* The first that is not good is what is wrong. */
void
gpu_random_model_check(struct gpu_random_model *, bool good, const char *what);
struct gpualloc_hooks gpu_random_model_hooks(struct gpu_random_model *);
/* Live trials on GPU i. */
int gpu_random_model_live(const struct gpu_random_model *, size_t i);
/* Remember what is said of GPU i. */
void gpu_random_model_show(struct gpu_random_model *, size_t i);
/* Ask for a look, if none is on its way. */
void gpu_random_model_ask(struct gpu_random_model *);
/* The look comes: as the world was when it was asked for. */
void gpu_random_model_look(struct gpu_random_model *, struct gpu_fault *);

#endif /* HPOTUNE_GPU_RANDOM_MODEL_H */
