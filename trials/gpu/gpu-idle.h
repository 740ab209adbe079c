/*
 * Detects attempts that do not use their GPUs.  Without I/O: the caller passes
 * in usage and times.
 */

#ifndef HPOTUNE_GPU_IDLE_H
#define HPOTUNE_GPU_IDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	/* mean utilization in percent below which a warning is given */
	GPU_IDLE_PERCENT = 10,
	GPU_IDLE_MARKS = 12
};

/* The use of an attempt at one time. */
struct gpu_idle_mark {
	int64_t ms;
	double busy, seen; /* GPU seconds since its start */
};

struct gpu_idle {
	int64_t window_ms; /* 0 = off */
	/* Ring, oldest first, at least a tenth of the window apart. */
	struct gpu_idle_mark marks[GPU_IDLE_MARKS];
	size_t first, n;
	bool noted;
};

void gpu_idle_begin(struct gpu_idle *, int64_t window_ms);
/*
 * Add the use since the start of the attempt; NAN = unknown.  Returns true
 * once: its GPUs were used less than GPU_IDLE_PERCENT over the last window;
 * text says so. busy and seen may be its share of them.
 */
bool gpu_idle_update(struct gpu_idle *, int gpus, double busy, double seen,
    int64_t now_ms, char *text, size_t n);

#endif /* HPOTUNE_GPU_IDLE_H */
