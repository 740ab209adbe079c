/*
 * A libnvidia-ml.so.1 for tests: as much of NVML as hpotune-gpu calls, on the
 * GPUs of a file (fake-gpus.h).  Compiled with FAKE_OLD it lacks all that a
 * driver may lack.  The calls without _v2 that list processes end the program:
 * their records have other sizes.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/fake-driver/fake-gpus.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { OK, UNINITIALIZED, INVALID, NOT_SUPPORTED, NOT_FOUND = 6, TOO_SMALL };
enum { TIMEOUT = 10, VERSION_MISMATCH = 25 };

/* What its header declares. */
struct nvml_process {
	unsigned int pid;
	unsigned long long memory;
	unsigned int gpu_instance, compute_instance;
};
struct nvml_memory_v2 {
	unsigned int version;
	unsigned long long total, reserved, free, used;
};
struct nvml_field {
	unsigned int id, scope;
	long long timestamp, latency;
	unsigned int type;
	int answer;
	unsigned int value, value_high;
};
struct nvml_event {
	void *device;
	unsigned long long type, data;
	unsigned int instances[2];
};

static struct fake_world world;
/* Handles: a device is the place in slots, whatever the file says now. */
static char slots[FAKE_GPUS];
static int opened;
static unsigned int grown;
/* Faults that were heard, by GPU in the order of the file. */
static struct {
	bool watched;
	unsigned int heard;
} faults[FAKE_GPUS];

/* The file as it is now; a line of a fault that is gone may come again. */
static void
world_read(void)
{
	unsigned int i;

	fake_gpus_read(&world);
	for (i = 0; i < FAKE_GPUS; i++)
		if (i >= world.n || faults[i].heard > world.gpus[i].n_xids)
			faults[i].heard =
			    i < world.n ? world.gpus[i].n_xids : 0;
}

static struct fake_gpu *
gpu_of(const void *device)
{
	return &world.gpus[(const char *)device - slots];
}

static struct fake_gpu *
whole_of(const void *device)
{
	struct fake_gpu *g = gpu_of(device);

	return g->parent >= 0 ? &world.gpus[g->parent] : g;
}

/* The answer to any question about it. */
static int
health(const void *device)
{
	return opened == 0 ? UNINITIALIZED : whole_of(device)->error;
}

int
nvmlInitWithFlags(unsigned int flags)
{
	(void)flags;
	world_read();
	fake_gpus_hang(&world, "init");
	if (world.init == OK)
		opened++;
	return world.init;
}

int
nvmlInit_v2(void)
{
	return nvmlInitWithFlags(0);
}

int
nvmlShutdown(void)
{
	if (opened == 0)
		return UNINITIALIZED;
	opened--;
	memset(faults, 0, sizeof faults);
	return OK;
}

int
nvmlDeviceGetCount_v2(unsigned int *n)
{
	unsigned int i;

	if (opened == 0)
		return UNINITIALIZED;
	world_read();
	fake_gpus_hang(&world, "count");
	for (*n = 0, i = 0; i < world.n; i++)
		*n += world.gpus[i].parent < 0;
	grown = 0;
	return world.count;
}

int
nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **device)
{
	unsigned int i;

	for (i = 0; i < world.n; i++)
		if (world.gpus[i].parent < 0 && index-- == 0) {
			*device = &slots[i];
			return health(*device);
		}
	return INVALID;
}

static int
text_give(const char *text, char *to, unsigned int size)
{
	if (strlen(text) >= size)
		return TOO_SMALL;
	(void)strcpy(to, text);
	return OK;
}

int
nvmlDeviceGetUUID(void *device, char *to, unsigned int size)
{
	int answer = health(device);

	return answer != OK ? answer
			    : text_give(gpu_of(device)->uuid, to, size);
}

#ifndef FAKE_OLD

const char *
nvmlErrorString(int error)
{
	static char text[32];

	(void)snprintf(text, sizeof text, "fake error %d", error);
	return text;
}

int
nvmlSystemGetDriverVersion(char *to, unsigned int size)
{
	return text_give(world.driver, to, size);
}

int
nvmlDeviceGetName(void *device, char *to, unsigned int size)
{
	return text_give(gpu_of(device)->name, to, size);
}

int
nvmlDeviceGetPciInfo_v3(void *device, char *pci)
{
	/* The last 32 bytes of nvmlPciInfo_t are the long id. */
	memset(pci, 0, 68);
	(void)strcpy(pci + 36, gpu_of(device)->bus);
	return health(device);
}

int
nvmlDeviceGetMinorNumber(void *device, unsigned int *minor)
{
	*minor = gpu_of(device)->minor;
	return health(device);
}

int
nvmlDeviceGetMemoryInfo(void *device, unsigned long long *m)
{
	const struct fake_gpu *g = gpu_of(device);

	fake_gpus_hang(&world, "memory");
	m[0] = g->memory;
	m[1] = g->memory - g->reserved - g->used;
	m[2] = g->reserved + g->used;
	return health(device);
}

int
nvmlDeviceGetMemoryInfo_v2(void *device, struct nvml_memory_v2 *m)
{
	const struct fake_gpu *g = gpu_of(device);

	if (m->version != (sizeof *m | 2U << 24))
		return VERSION_MISMATCH;
	fake_gpus_hang(&world, "memory");
	m->total = g->memory;
	m->reserved = g->reserved;
	m->used = g->used;
	m->free = g->memory - g->reserved - g->used;
	return g->old_memory ? NOT_SUPPORTED : health(device);
}

static int
processes_give(
    void *device, bool mps, unsigned int *room, struct nvml_process *to)
{
	const struct fake_gpu *g = gpu_of(device);
	unsigned int n = 0, i, all = mps ? 0 : grown;

	for (i = 0; i < g->n_processes; i++)
		all += g->processes[i].mps == mps;
	if (all > *room) {
		*room = all;
		grown += mps ? 0 : world.grow;
		return TOO_SMALL;
	}
	for (i = 0; i < g->n_processes; i++)
		if (g->processes[i].mps == mps)
			to[n++] = (struct nvml_process){
				.pid = g->processes[i].pid,
				.memory = g->processes[i].memory > 0
					      ? g->processes[i].memory
					      : ~0ULL,
				.gpu_instance = ~0U,
				.compute_instance = ~0U,
			};
	for (i = 0; n < all; i++)
		to[n++] = (struct nvml_process){ .pid = 900000 + i };
	*room = n;
	return health(device);
}

int
nvmlDeviceGetComputeRunningProcesses_v2(
    void *device, unsigned int *n, struct nvml_process *to)
{
	return processes_give(device, false, n, to);
}

int
nvmlDeviceGetMPSComputeRunningProcesses_v2(
    void *device, unsigned int *n, struct nvml_process *to)
{
	return processes_give(device, true, n, to);
}

int
nvmlDeviceGetComputeRunningProcesses(void)
{
	abort();
}

int
nvmlDeviceGetComputeRunningProcesses_v3(void)
{
	abort();
}

int
nvmlDeviceGetTemperature(void *device, int sensor, unsigned int *t)
{
	(void)sensor;
	*t = whole_of(device)->temperature;
	return health(device);
}

int
nvmlDeviceGetUtilizationRates(void *device, unsigned int *load)
{
	if (gpu_of(device)->parent >= 0)
		return NOT_SUPPORTED;
	load[0] = gpu_of(device)->utilization;
	load[1] = 0;
	return health(device);
}

int
nvmlDeviceGetPowerUsage(void *device, unsigned int *power)
{
	*power = whole_of(device)->power;
	return health(device);
}

int
nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *energy)
{
	*energy = whole_of(device)->energy;
	return health(device);
}

int
nvmlDeviceGetFieldValues(void *device, int n, struct nvml_field *f)
{
	for (; n-- > 0; f++) {
		f->answer = f->id == 230 ? OK : NOT_SUPPORTED;
		f->type = 1;
		f->value = (unsigned int)whole_of(device)->recovery;
	}
	return health(device);
}

int
nvmlDeviceGetMigMode(void *device, unsigned int *now, unsigned int *pending)
{
	*now = *pending = gpu_of(device)->mig;
	return health(device);
}

int
nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned int *n)
{
	*n = 7;
	return health(device);
}

int
nvmlDeviceGetMigDeviceHandleByIndex(
    void *device, unsigned int index, void **slice)
{
	int whole = (int)((char *)device - slots);
	unsigned int i;

	for (i = 0; i < world.n; i++)
		if (world.gpus[i].parent == whole && index-- == 0) {
			*slice = &slots[i];
			return health(device);
		}
	return NOT_FOUND;
}

int
nvmlEventSetCreate(void **set)
{
	*set = slots;
	return OK;
}

int
nvmlEventSetFree(void *set)
{
	(void)set;
	return OK;
}

/* What has happened by now is history. */
int
nvmlDeviceRegisterEvents(void *device, unsigned long long types, void *set)
{
	size_t i = (size_t)((char *)device - slots);

	(void)types;
	(void)set;
	faults[i].watched = true;
	faults[i].heard = world.gpus[i].n_xids;
	return health(device);
}

int
nvmlEventSetWait_v2(void *set, struct nvml_event *ev, unsigned int ms)
{
	unsigned int i;

	(void)set;
	(void)ms;
	world_read();
	for (i = 0; i < world.n; i++)
		if (faults[i].watched &&
		    faults[i].heard < world.gpus[i].n_xids) {
			*ev = (struct nvml_event){ .device = &slots[i],
				.type = 8,
				.data = (unsigned long long)world.gpus[i]
					    .xids[faults[i].heard++],
				.instances = { ~0U, ~0U } };
			return OK;
		}
	return TIMEOUT;
}

#endif /* FAKE_OLD */
