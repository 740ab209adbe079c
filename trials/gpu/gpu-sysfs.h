/*
 * What the kernel tells of GPUs through files: names of them where NVML is
 * missing, and the processors near each.
 */

#ifndef HPOTUNE_GPU_SYSFS_H
#define HPOTUNE_GPU_SYSFS_H

#include <stdbool.h>

#include "trials/gpu/gpu-snapshot.h"

/* A bus id as sysfs writes it: "00000000:3B:00.0" is "0000:3b:00.0". */
void gpu_sysfs_bus_name(char to[GPU_BUS], const char *from);
/* The processors and the NUMA node near it.  root: "" but in tests. */
void gpu_sysfs_locality(
    const char *root, const char *bus, char cpus[GPU_CPUS], int *node);
/* The GPUs that the driver lists in /proc; no slices. */
void gpu_sysfs_snapshot(const char *root, struct gpu_snapshot *);
/* Whether anything here looks like a driver. */
bool gpu_sysfs_driver(const char *root);

#endif /* HPOTUNE_GPU_SYSFS_H */
