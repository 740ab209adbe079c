/* The use of GPUs by attempts; private. */

#ifndef HPOTUNE_GPUALLOC_USAGE_H
#define HPOTUNE_GPUALLOC_USAGE_H

#include <stddef.h>
#include <stdint.h>

#include "trials/gpu/allocator/gpualloc-internal.h"

/* Integrate the use of a GPU from its previous values to the current ones. */
void gpualloc_usage_observe(
    struct gpualloc *, size_t i, const struct gpu_device *, int64_t now_ms);
/* All GPUs of a snapshot were processed. */
void gpualloc_usage_observed(struct gpualloc *);
/*
 * The time since the last snapshot is charged with its values, if it showed the
 * trial.
 */
void
gpualloc_usage_end(struct gpualloc *, struct gpualloc_hold *, int64_t now_ms);

#endif /* HPOTUNE_GPUALLOC_USAGE_H */
