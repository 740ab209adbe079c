/*
 * The only door to NVML, and only for hpotune-gpu: it may block for seconds.
 */

#ifndef HPOTUNE_GPU_NVML_H
#define HPOTUNE_GPU_NVML_H

#include <stdbool.h>

struct err;
struct gpu_snapshot;
struct nvml;

/*
 * missing: the library is not there, so that the driver may still be asked
 * through files; false: it does not work, and the error says why.
 */
int gpu_nvml_open(struct nvml **, bool *missing, struct err *);
void gpu_nvml_close(struct nvml *);
/* Everything seen now; -1: NVML is of no use any more, and to be closed. */
int gpu_nvml_snapshot(struct nvml *, struct gpu_snapshot *, struct err *);

#endif /* HPOTUNE_GPU_NVML_H */
