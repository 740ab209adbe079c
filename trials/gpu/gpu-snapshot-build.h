/* What the files that make and read looks share. */

#ifndef HPOTUNE_GPU_SNAPSHOT_BUILD_H
#define HPOTUNE_GPU_SNAPSHOT_BUILD_H

#include <stdbool.h>
#include <stddef.h>

#include "trials/gpu/gpu-snapshot.h"

/* No look is larger: what goes beyond is left out, and refused in a line. */
enum {
	GPU_SNAPSHOT_GPUS = 256,
	GPU_SNAPSHOT_PROCESSES = 4096, /* of one GPU */
	GPU_SNAPSHOT_FAULTS = 256,
	GPU_SNAPSHOT_LINE = 4 << 20 /* bytes */
};

/* Words of the line; ends with NULL. */
extern const char *const gpu_source_names[];

/* Nothing is known of it. */
void gpu_snapshot_device_init(struct gpu_device *);
/* One more GPU, of which nothing is known yet; borrowed until the next. */
struct gpu_device *gpu_snapshot_add(struct gpu_snapshot *);
/* Text of a driver: cut to n, and harmless. */
void gpu_snapshot_set_text(char *to, size_t n, const char *from);

#endif /* HPOTUNE_GPU_SNAPSHOT_BUILD_H */
