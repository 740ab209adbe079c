/* The machine behind the scripts of gpu-script.h. */

#ifndef HPOTUNE_GPU_MACHINE_H
#define HPOTUNE_GPU_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/mem.h"
#include "trials/gpu/allocator/gpualloc.h"

enum {
	GPU_MACHINE_GPUS = 16,
	GPU_MACHINE_WORDS = 16,
	GPU_MACHINE_PROCESSES = 64
};

struct gpu_machine {
	struct gpualloc *g;
	struct gpu_device seen[GPU_MACHINE_GPUS];
	struct gpu_process process[GPU_MACHINE_GPUS][GPU_MACHINE_PROCESSES];
	bool gone[GPU_MACHINE_GPUS], other[GPU_MACHINE_GPUS],
	    booked[GPU_MACHINE_GPUS];
	bool probing[GPU_MACHINE_GPUS];
	struct gpu_fault faults[GPU_MACHINE_PROCESSES];
	size_t n, n_faults;
	enum gpu_source source, was;
	int64_t now, seq;
	struct buf notes; /* one a line */
	char why[512]; /* what is wrong, "" = nothing yet */
};

void gpu_rig_wrong(struct gpu_machine *, const char *, ...)
    __attribute__((format(printf, 2, 3)));
struct gpualloc_hooks gpu_rig_hooks(struct gpu_machine *);
/* Take a snapshot. */
void gpu_rig_look(struct gpu_machine *, int64_t seq);

#endif /* HPOTUNE_GPU_MACHINE_H */
