/*
 * GPUs from files of the kernel: their names when NVML is missing, and the CPU
 * cores near each.
 */

#ifndef HPOTUNE_GPU_SYSFS_H
#define HPOTUNE_GPU_SYSFS_H

#include <stdbool.h>

#include "trials/gpu/gpu-snapshot.h"

/* Convert a bus id to the sysfs form: "00000000:3B:00.0" is "0000:3b:00.0". */
void gpu_sysfs_bus_name(char to[GPU_BUS], const char *from);
/* Find the CPU cores and the NUMA node near it. root is "" except in tests. */
void gpu_sysfs_locality(
    const char *root, const char *bus, char cpus[GPU_CPUS], int *node);
/* List the GPUs in /proc/driver/nvidia, without slices. */
void gpu_sysfs_snapshot(const char *root, struct gpu_snapshot *);
/* Whether files of a driver exist. */
bool gpu_sysfs_driver(const char *root);

#endif /* HPOTUNE_GPU_SYSFS_H */
