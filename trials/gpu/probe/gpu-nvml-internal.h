/* Declarations shared by the files that use NVML. */

#ifndef HPOTUNE_GPU_NVML_INTERNAL_H
#define HPOTUNE_GPU_NVML_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "trials/gpu/probe/gpu-nvml-dl.h"
#include "trials/gpu/gpu-snapshot.h"

/* Constant properties of a GPU, cached. */
struct nvml_known {
	struct nvml_device *device;
	char uuid[GPU_UUID];
	char name[GPU_NAME];
	char bus[GPU_BUS];
	char cpus[GPU_CPUS];
	int node, minor;
	bool watched; /* its fault events are registered, if supported */
};

struct nvml {
	void *so;
	struct nvml_calls call;
	struct nvml_events *events; /* NULL: no fault events */
	struct nvml_known *known; /* by index */
	size_t n_known;
};

#endif /* HPOTUNE_GPU_NVML_INTERNAL_H */
