/* Declarations shared by the writer and the reader of snapshots. */

#ifndef HPOTUNE_GPU_SNAPSHOT_BUILD_H
#define HPOTUNE_GPU_SNAPSHOT_BUILD_H

#include <stdbool.h>
#include <stddef.h>

#include "trials/gpu/gpu-snapshot.h"

/*
 * Limits of a snapshot: the writer omits what exceeds them, the reader rejects
 * it.
 */
enum {
	GPU_SNAPSHOT_GPUS = 256,
	GPU_SNAPSHOT_PROCESSES = 4096, /* of one GPU */
	GPU_SNAPSHOT_FAULTS = 256,
	GPU_SNAPSHOT_LINE = 4 << 20 /* bytes */
};

/* Names in the JSON line; ends with NULL. */
extern const char *const gpu_source_names[];

/* Append a GPU with unknown fields; borrowed until the next call. */
struct gpu_device *gpu_snapshot_add(struct gpu_snapshot *);
/* Copy a text of the driver: truncated to n, control characters replaced. */
void gpu_snapshot_set_text(char *to, size_t n, const char *from);

#endif /* HPOTUNE_GPU_SNAPSHOT_BUILD_H */
