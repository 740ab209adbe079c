/* The machine behind the scripts of gpu-script.h. */

#ifndef HPOTUNE_GPU_MACHINE_H
#define HPOTUNE_GPU_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/mem.h"
#include "trials/gpu/allocator/gpualloc.h"

enum { RIG_GPUS = 16, RIG_WORDS = 16, RIG_PROCESSES = 64 };

struct rig {
	struct gpus *g;
	struct gpu_seen seen[RIG_GPUS];
	struct gpu_process process[RIG_GPUS][RIG_PROCESSES];
	bool gone[RIG_GPUS], other[RIG_GPUS], booked[RIG_GPUS];
	bool probing[RIG_GPUS];
	struct gpu_fault faults[RIG_PROCESSES];
	size_t n, n_faults;
	enum gpu_source source, was;
	int64_t now, seq;
	struct buf notes; /* one a line */
	char why[512]; /* what is wrong, "" = nothing yet */
};

void gpu_rig_wrong(struct rig *, const char *, ...)
    __attribute__((format(printf, 2, 3)));
struct gpus_hooks gpu_rig_hooks(struct rig *);
/* A look at it as it is now. */
void gpu_rig_look(struct rig *, int64_t seq);

#endif /* HPOTUNE_GPU_MACHINE_H */
