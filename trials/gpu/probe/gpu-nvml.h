/* Access to NVML, for hpotune-gpu only: calls may block for seconds. */

#ifndef HPOTUNE_GPU_NVML_H
#define HPOTUNE_GPU_NVML_H

#include <stdbool.h>

struct err;
struct gpu_snapshot;
struct nvml;

/*
 * Open NVML.  On error, missing is true if the library is not installed, so
 * that /proc may be used; false: it does not work.
 */
int gpu_nvml_open(struct nvml **, bool *missing, struct err *);
/* The library is unloaded too: an upgraded driver has a new one. */
void gpu_nvml_close(struct nvml *);
/* Take a snapshot; -1: NVML does not work any more and must be closed. */
int gpu_nvml_snapshot(struct nvml *, struct gpu_snapshot *, struct err *);

#endif /* HPOTUNE_GPU_NVML_H */
