/* Loads NVML and resolves its functions. */

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "trials/gpu/gpu-snapshot.h"
#include "trials/gpu/probe/gpu-nvml-dl.h"

#define CALL(member, symbol)                                              \
	{                                                                 \
		.name = symbol, .at = offsetof(struct nvml_calls, member) \
	}

static const struct {
	const char *name;
	size_t at;
} calls[] = {
	CALL(init_flags, "nvmlInitWithFlags"),
	CALL(init, "nvmlInit_v2"),
	CALL(shutdown, "nvmlShutdown"),
	CALL(count, "nvmlDeviceGetCount_v2"),
	CALL(by_index, "nvmlDeviceGetHandleByIndex_v2"),
	CALL(uuid, "nvmlDeviceGetUUID"),
	CALL(error, "nvmlErrorString"),
	CALL(driver, "nvmlSystemGetDriverVersion"),
	CALL(name, "nvmlDeviceGetName"),
	CALL(pci, "nvmlDeviceGetPciInfo_v3"),
	CALL(minor, "nvmlDeviceGetMinorNumber"),
	CALL(memory, "nvmlDeviceGetMemoryInfo"),
	CALL(memory_v2, "nvmlDeviceGetMemoryInfo_v2"),
	CALL(compute, "nvmlDeviceGetComputeRunningProcesses_v2"),
	CALL(mps, "nvmlDeviceGetMPSComputeRunningProcesses_v2"),
	CALL(temperature, "nvmlDeviceGetTemperature"),
	CALL(utilization, "nvmlDeviceGetUtilizationRates"),
	CALL(power, "nvmlDeviceGetPowerUsage"),
	CALL(energy, "nvmlDeviceGetTotalEnergyConsumption"),
	CALL(fields, "nvmlDeviceGetFieldValues"),
	CALL(mig_mode, "nvmlDeviceGetMigMode"),
	CALL(mig_most, "nvmlDeviceGetMaxMigDeviceCount"),
	CALL(mig, "nvmlDeviceGetMigDeviceHandleByIndex"),
	CALL(events_new, "nvmlEventSetCreate"),
	CALL(events_add, "nvmlDeviceRegisterEvents"),
	CALL(events_wait, "nvmlEventSetWait_v2"),
	CALL(events_free, "nvmlEventSetFree"),
};

static bool
calls_complete(const struct nvml_calls *c)
{
	return (c->init_flags != NULL || c->init != NULL) &&
	       c->shutdown != NULL && c->count != NULL && c->by_index != NULL &&
	       c->uuid != NULL;
}

static void *
lib_try(const char *path, struct err *e)
{
	void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (so == NULL)
		(void)err_set(e, ERR_FILE, GPU_NO_LIBRARY ": %s", dlerror());
	return so;
}

void *
gpu_nvml_dl_open(struct nvml_calls *c, struct err *e)
{
	const char *named = getenv("HPOTUNE_NVML");
	struct err again = ERR_INIT;
	void *so, *f;
	size_t i;

	so = lib_try(named != NULL ? named : "libnvidia-ml.so.1", e);
	/* WSL has it where the linker does not search. */
	if (so == NULL && named == NULL)
		so = lib_try("/usr/lib/wsl/lib/libnvidia-ml.so.1", &again);
	if (so == NULL)
		return NULL;
	*c = (struct nvml_calls){ 0 };
	for (i = 0; i < sizeof calls / sizeof *calls; i++) {
		f = dlsym(so, calls[i].name);
		memcpy((char *)c + calls[i].at, &f, sizeof f);
	}
	if (calls_complete(c))
		return so;
	(void)dlclose(so);
	(void)err_set(e, ERR_FILE,
	    "NVML is older than this program can use: upgrade the driver");
	return NULL;
}
