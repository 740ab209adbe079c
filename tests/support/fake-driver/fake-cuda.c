/*
 * A libcuda.so.1 for tests: what a probe calls, on the GPUs of a file
 * (fake-gpus.h).  Like the real one it shows the GPUs that
 * CUDA_VISIBLE_DEVICES names alone.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/fake-driver/fake-gpus.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { OK, INVALID, NO_MEMORY, NO_DEVICE = 100, UNKNOWN = 999 };

static struct fake_world world;
static const struct fake_gpu *gpu; /* the visible one */
static void *held; /* memory of it: a probe that fails frees nothing */

/* The answer of this step.  Reading the world anew leaves the GPU in its place. */
static int
step(const char *name)
{
	if (gpu == NULL)
		return NO_DEVICE;
	if (gpu->error != 0)
		return UNKNOWN;
	while (strcmp(gpu->cuda_step, "hang") == 0)
		(void)pause();
	return strcmp(gpu->cuda_step, name) == 0 ? gpu->cuda_error : OK;
}

int
cuInit(unsigned int flags)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	unsigned int i;

	(void)flags;
	fake_gpus_read(&world);
	gpu = NULL;
	for (i = 0; i < world.n; i++)
		if (visible != NULL && strcmp(world.gpus[i].uuid, visible) == 0)
			gpu = &world.gpus[i];
	return step("init");
}

int
cuGetErrorName(int error, const char **name)
{
	static char text[64];

	(void)snprintf(text, sizeof text, "CUDA_ERROR_FAKE_%d", error);
	*name = text;
	return OK;
}

int
cuDeviceGetCount(int *n)
{
	*n = gpu != NULL;
	return OK;
}

int
cuDeviceGet(int *device, int ordinal)
{
	*device = ordinal;
	return ordinal == 0 ? OK : INVALID;
}

int
cuDevicePrimaryCtxRetain(void **context, int device)
{
	(void)device;
	*context = &world;
	return step("context");
}

int
cuCtxSetCurrent(void *context)
{
	return context == &world ? OK : INVALID;
}

int
cuMemAlloc_v2(uint64_t *at, size_t n)
{
	free(held);
	held = malloc(n);
	*at = (uintptr_t)held;
	return *at == 0 ? NO_MEMORY : step("memory");
}

int
cuMemGetInfo_v2(size_t *left, size_t *all)
{
	fake_gpus_read(&world);
	*all = gpu->memory;
	*left = gpu->memory - gpu->used;
	return OK;
}

/*
 * What a process has on the GPU comes and goes.  The file of a locked one has a
 * lock beside it.
 */
enum { ILLEGAL_STATE = 401 };

static void
checkpoint_path(char path[320], const char *before, int pid)
{
	(void)snprintf(path, 320, "%s/%s%d", gpu->contexts, before, pid);
}

/* Rename one into the other; as the real ones in a wrong state when it is not there. */
static int
checkpoint_move(const char *from, const char *to, int pid)
{
	char old[320], new[320];

	checkpoint_path(old, from, pid);
	checkpoint_path(new, to, pid);
	return rename(old, new) == 0 ? OK : ILLEGAL_STATE;
}

int
cuCheckpointProcessLock(int pid, void *args)
{
	char path[320];
	FILE *f;

	(void)args;
	checkpoint_path(path, "", pid);
	if (access(path, F_OK) != 0)
		return INVALID;
	checkpoint_path(path, ".lock-", pid);
	if (access(path, F_OK) == 0)
		return ILLEGAL_STATE;
	f = fopen(path, "we");
	if (f == NULL)
		return UNKNOWN;
	(void)fclose(f);
	return step("lock");
}

int
cuCheckpointProcessCheckpoint(int pid, void *args)
{
	char path[320];

	(void)args;
	checkpoint_path(path, ".lock-", pid);
	if (access(path, F_OK) != 0)
		return ILLEGAL_STATE;
	return step("checkpoint") == OK ? checkpoint_move("", ".", pid)
					: step("checkpoint");
}

int
cuCheckpointProcessRestore(int pid, void *args)
{
	(void)args;
	return checkpoint_move(".", "", pid);
}

int
cuCheckpointProcessUnlock(int pid, void *args)
{
	char path[320];

	(void)args;
	checkpoint_path(path, ".lock-", pid);
	return unlink(path) == 0 ? OK : ILLEGAL_STATE;
}

int
cuMemFree_v2(uint64_t at)
{
	if (at != (uintptr_t)held)
		return INVALID;
	free(held);
	held = NULL;
	return OK;
}

int
cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t n)
{
	memcpy((void *)(uintptr_t)to, from, n);
	if (gpu != NULL && strcmp(gpu->cuda_step, "forget") == 0)
		((char *)(uintptr_t)to)[n - 1] ^= 1;
	return step("copy");
}

int
cuMemcpyDtoH_v2(void *to, uint64_t from, size_t n)
{
	memcpy(to, (void *)(uintptr_t)from, n);
	return step("copy");
}

int
cuModuleLoadData(void **module, const void *image)
{
	*module = &world;
	if (strstr(image, ".visible .entry probe(") == NULL)
		return INVALID;
	return step("module");
}

int
cuModuleGetFunction(void **function, void *module, const char *name)
{
	*function = module;
	return strcmp(name, "probe") == 0 ? OK : INVALID;
}

int
cuLaunchKernel(void *function, unsigned int grid_x, unsigned int grid_y,
    unsigned int grid_z, unsigned int block_x, unsigned int block_y,
    unsigned int block_z, unsigned int shared, void *stream, void **params,
    void **extra)
{
	uint32_t *at = (uint32_t *)(uintptr_t) * (uint64_t *)params[0];
	uint32_t n = *(uint32_t *)params[1], add = *(uint32_t *)params[2], i;

	(void)shared;
	(void)extra;
	if (function != &world || stream != NULL ||
	    grid_y * grid_z * block_y * block_z != 1)
		return INVALID;
	for (i = 0; i < n && i < grid_x * block_x; i++)
		at[i] += add + i;
	if (strcmp(gpu->cuda_step, "corrupt") == 0)
		at[n - 1]++;
	return step("launch");
}

int
cuCtxSynchronize(void)
{
	return step("sync");
}
