/*
 * GPUs as they are recorded: how one of this machine is, and what an attempt
 * has used of its own.
 */

#ifndef HPOTUNE_GPU_H
#define HPOTUNE_GPU_H

#include <stdint.h>

/* What an attempt has used of its GPUs so far; NAN = not known. */
struct gpu_usage {
	int gpus; /* 0 = it has none: the others are not read */
	double energy; /* joules */
	double memory; /* bytes at most, of all its GPUs together */
	double busy; /* GPU seconds in use: sum of utilization x time */
	double seen; /* GPU seconds that busy was counted over */
};

/* A row of the view gpus.  Numbers: -1 = not known; texts: NULL or "" = none. */
struct gpu_status {
	int index;
	const char *uuid, *name;
	const char *state, *why; /* one word; one clause */
	const char *owner; /* of processes outside the study */
	int trials; /* of this study on it */
	int64_t memory, used; /* bytes */
	int temperature, utilization;
	double power; /* watts */
};

#endif /* HPOTUNE_GPU_H */
