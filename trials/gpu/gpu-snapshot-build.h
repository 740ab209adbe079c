/* What the files that make and read looks share. */

#ifndef HPOTUNE_GPU_SNAPSHOT_BUILD_H
#define HPOTUNE_GPU_SNAPSHOT_BUILD_H

#include <stdbool.h>
#include <stddef.h>

#include "trials/gpu/gpu-snapshot.h"

/* No look is larger: what goes beyond is left out, and refused in a line. */
enum {
	GPU_LOOK_GPUS = 256,
	GPU_LOOK_PROCESSES = 4096, /* of one GPU */
	GPU_LOOK_FAULTS = 256,
	GPU_LOOK_LINE = 4 << 20 /* bytes */
};

/* Words of the line; ends with NULL. */
extern const char *const gpu_source_names[];

/* Nothing is known of it. */
void gpu_seen_init(struct gpu_seen *);
/* One more GPU, of which nothing is known yet; borrowed until the next. */
struct gpu_seen *gpu_look_add(struct gpu_look *);
/* Text of a driver: cut to n, and harmless. */
void gpu_text_set(char *to, size_t n, const char *from);

#endif /* HPOTUNE_GPU_SNAPSHOT_BUILD_H */
