/*
 * Whether an attempt leaves its GPUs alone.  Pure: it is fed with what was used
 * and with times.
 */

#ifndef HPOTUNE_GPU_IDLE_H
#define HPOTUNE_GPU_IDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	GPU_IDLE_PERCENT = 10, /* used less than that is hardly at all */
	GPU_IDLE_MARKS = 12
};

/* What an attempt had used at some time. */
struct gpu_idle_mark {
	int64_t ms;
	double busy, seen; /* GPU seconds since its start */
};

struct gpu_idle {
	int64_t window_ms; /* 0 = nobody wants to know */
	/* A ring, the oldest first: a tenth of the window apart at least. */
	struct gpu_idle_mark marks[GPU_IDLE_MARKS];
	size_t first, n;
	bool told;
};

void gpu_idle_begin(struct gpu_idle *, int64_t window_ms);
/*
 * It has used so much since its start, NAN = not known.  True once: its GPUs
 * have been used less than GPU_IDLE_PERCENT over the last window; text says so.
 * busy and seen may count a share of them alone.
 */
bool gpu_idle_update(struct gpu_idle *, int gpus, double busy, double seen,
    int64_t now_ms, char *text, size_t n);

#endif /* HPOTUNE_GPU_IDLE_H */
