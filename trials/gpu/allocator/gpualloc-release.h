/* The release of GPUs between two trials; private. */

#ifndef HPOTUNE_GPUALLOC_RELEASE_H
#define HPOTUNE_GPUALLOC_RELEASE_H

#include <stddef.h>
#include <stdint.h>

#include "trials/gpu/allocator/gpualloc-internal.h"

void gpualloc_release_check(
    struct gpualloc *, size_t i, int64_t seq, int64_t now_ms);

#endif /* HPOTUNE_GPUALLOC_RELEASE_H */
