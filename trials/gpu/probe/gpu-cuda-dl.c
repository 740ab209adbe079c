/* Loads libcuda and resolves its functions. */

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "trials/gpu/probe/gpu-cuda-dl.h"

#define CALL(member, symbol)                                              \
	{                                                                 \
		.name = symbol, .at = offsetof(struct cuda_calls, member) \
	}

static const struct {
	const char *name;
	size_t at;
} calls[] = {
	CALL(init, "cuInit"),
	CALL(error_name, "cuGetErrorName"),
	CALL(count, "cuDeviceGetCount"),
	CALL(device, "cuDeviceGet"),
	CALL(context, "cuDevicePrimaryCtxRetain"),
	CALL(context_use, "cuCtxSetCurrent"),
	CALL(memory, "cuMemAlloc_v2"),
	CALL(memory_free, "cuMemFree_v2"),
	CALL(write, "cuMemcpyHtoD_v2"),
	CALL(read, "cuMemcpyDtoH_v2"),
	CALL(module, "cuModuleLoadData"),
	CALL(function, "cuModuleGetFunction"),
	CALL(launch, "cuLaunchKernel"),
	CALL(wait, "cuCtxSynchronize"),
};

int
gpu_cuda_dl_open(struct cuda_calls *c, struct err *e)
{
	const char *named = getenv("HPOTUNE_CUDA");
	void *so, *f;
	size_t i;

	so = dlopen(named != NULL ? named : "libcuda.so.1", RTLD_NOW);
	if (so == NULL)
		(void)err_set(
		    e, ERR_FILE, "CUDA cannot be opened: %s", dlerror());
	/* WSL has it where the linker does not search. */
	if (so == NULL && named == NULL)
		so = dlopen("/usr/lib/wsl/lib/libcuda.so.1", RTLD_NOW);
	if (so == NULL)
		return -1;
	for (i = 0; i < sizeof calls / sizeof *calls; i++) {
		f = dlsym(so, calls[i].name);
		if (f == NULL)
			return err_set(e, ERR_FILE,
			    "CUDA is older than this program can use: it has "
			    "no %s",
			    calls[i].name);
		memcpy((char *)c + calls[i].at, &f, sizeof f);
	}
	return 0;
}
