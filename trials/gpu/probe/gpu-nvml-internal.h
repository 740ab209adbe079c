/* What the files of the door to NVML share. */

#ifndef HPOTUNE_GPU_NVML_INTERNAL_H
#define HPOTUNE_GPU_NVML_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "trials/gpu/probe/gpu-nvml-dl.h"
#include "trials/gpu/gpu-snapshot.h"

/* What does not change of a GPU, kept from look to look. */
struct nvml_known {
	struct nvml_device *device;
	char uuid[GPU_UUID];
	char name[GPU_NAME];
	char bus[GPU_BUS];
	char cpus[GPU_CPUS];
	int node, minor;
	bool watched; /* its faults are, if it tells any */
};

struct nvml {
	void *so;
	struct nvml_calls call;
	struct nvml_events *events; /* NULL: faults cannot be heard */
	struct nvml_known *known; /* by index */
	size_t n_known;
};

/* What NVML means by an error: one clause. */
const char *gpu_nvml_error_text(const struct nvml *, int error);

/* gpu-nvml-device.c */
/* What changes of a GPU, or of a slice of one (whole: the GPU's handle). */
void gpu_nvml_device_read(const struct nvml *, struct nvml_device *,
    struct nvml_device *whole, struct gpu_device *);

#endif /* HPOTUNE_GPU_NVML_INTERNAL_H */
