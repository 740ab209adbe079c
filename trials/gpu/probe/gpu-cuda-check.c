/*
 * Health probe of one GPU by CUDA: memory and a kernel.  Does not clean up: the
 * program ends afterwards.  Loads libcuda and resolves its functions.
 */

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "trials/gpu/probe/gpu-cuda-check.h"

/* CUdeviceptr, of all 64-bit systems. */
typedef unsigned long long cuda_memory;
_Static_assert(sizeof(cuda_memory) == 8, "CUdeviceptr");

struct cuda_calls {
	int (*init)(unsigned int flags);
	int (*error_name)(int, const char **);
	int (*count)(int *);
	int (*device)(int *, int ordinal);
	int (*context)(void **, int device);
	int (*context_use)(void *);
	int (*memory)(cuda_memory *, size_t);
	int (*memory_free)(cuda_memory);
	int (*write)(cuda_memory, const void *, size_t);
	int (*read)(void *, cuda_memory, size_t);
	int (*module)(void **, const void *image);
	int (*function)(void **, void *module, const char *name);
	int (*launch)(void *function, unsigned int grid_x, unsigned int grid_y,
	    unsigned int grid_z, unsigned int block_x, unsigned int block_y,
	    unsigned int block_z, unsigned int shared, void *stream,
	    void **params, void **extra);
	int (*wait)(void);
};

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

/*
 * Load the library of $HPOTUNE_CUDA, else from the usual places.  It is never
 * closed, because it does not survive that.
 */
static int
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

enum {
	WORDS = 16 << 20, /* of 4 bytes: 64 MiB */
	PIECE = 1 << 18, /* words that are copied at once */
	BLOCK = 256, /* threads */
	ADDEND = 0x9e37
};

/*
 * PTX of at[i] += addend + i, for the oldest architecture that current drivers
 * support; the driver compiles it.
 */
static const char kernel[] =
    ".version 6.0\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .entry probe(.param .u64 at, .param .u32 n,\n"
    "    .param .u32 addend)\n"
    "{\n"
    "	.reg .pred %p;\n"
    "	.reg .b32 %r<8>;\n"
    "	.reg .b64 %rd<4>;\n"
    "	ld.param.u64 %rd1, [at];\n"
    "	ld.param.u32 %r1, [n];\n"
    "	ld.param.u32 %r2, [addend];\n"
    "	mov.u32 %r3, %ctaid.x;\n"
    "	mov.u32 %r4, %ntid.x;\n"
    "	mov.u32 %r5, %tid.x;\n"
    "	mad.lo.u32 %r6, %r3, %r4, %r5;\n"
    "	setp.ge.u32 %p, %r6, %r1;\n"
    "	@%p bra done;\n"
    "	cvta.to.global.u64 %rd1, %rd1;\n"
    "	mul.wide.u32 %rd2, %r6, 4;\n"
    "	add.u64 %rd3, %rd1, %rd2;\n"
    "	ld.global.u32 %r7, [%rd3];\n"
    "	add.u32 %r7, %r7, %r2;\n"
    "	add.u32 %r7, %r7, %r6;\n"
    "	st.global.u32 [%rd3], %r7;\n"
    "done:\n"
    "	ret;\n"
    "}\n";

struct probe {
	struct cuda_calls call;
	cuda_memory at;
	uint32_t *piece;
};

/* What CUDA cannot do, and its own name for why. */
static int
cuda_err(const struct probe *p, int error, const char *what, struct err *e)
{
	const char *name = NULL;

	if (p->call.error_name(error, &name) != 0 || name == NULL)
		name = "unknown error";
	/* CUDA_ERROR_SYSTEM_NOT_READY, on machines with NVSwitch. */
	return err_set(e, ERR_REMOTE, "CUDA cannot %s: %s (%d)%s", what, name,
	    error,
	    error == 802 ? ": is the Fabric Manager of NVIDIA running?" : "");
}

static uint32_t
pattern(uint32_t i)
{
	return (i ^ i >> 15) * 0x2c1b3c6dU;
}

/* Expected value of word i: the pattern, plus the kernel's result. */
static uint32_t
cuda_wanted(uint32_t i, bool kernel_ran)
{
	return pattern(i) + (kernel_ran ? ADDEND + i : 0);
}

static int
memory_write(struct probe *p, struct err *e)
{
	uint32_t from, i;
	int error;

	for (from = 0; from < WORDS; from += PIECE) {
		for (i = 0; i < PIECE; i++)
			p->piece[i] = pattern(from + i);
		error = p->call.write(
		    p->at + from * 4ULL, p->piece, sizeof *p->piece * PIECE);
		if (error != 0)
			return cuda_err(p, error, "write its memory", e);
	}
	return 0;
}

static int
cuda_memory_check(struct probe *p, bool kernel_ran, struct err *e)
{
	uint32_t from, i;
	int error;

	for (from = 0; from < WORDS; from += PIECE) {
		error = p->call.read(
		    p->piece, p->at + from * 4ULL, sizeof *p->piece * PIECE);
		if (error != 0)
			return cuda_err(p, error, "read its memory", e);
		for (i = 0; i < PIECE; i++)
			if (p->piece[i] != cuda_wanted(from + i, kernel_ran))
				return err_set(e, ERR_REMOTE, "%s",
				    kernel_ran ? "it computes wrong sums"
					       : "its memory returns other "
						 "data than was written");
	}
	return 0;
}

static int
kernel_run(struct probe *p, struct err *e)
{
	unsigned int n = WORDS, addend = ADDEND;
	void *params[] = { &p->at, &n, &addend };
	void *module, *function;
	int error;

	error = p->call.module(&module, kernel);
	if (error == 0)
		error = p->call.function(&function, module, "probe");
	if (error != 0)
		return cuda_err(p, error, "load a kernel", e);
	error = p->call.launch(
	    function, WORDS / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL, params, NULL);
	if (error == 0)
		error = p->call.wait();
	if (error != 0)
		return cuda_err(p, error, "run a kernel", e);
	return 0;
}

static int
context_open(struct probe *p, struct err *e)
{
	int error, n = 0, device;
	void *context;

	error = p->call.init(0);
	if (error == 0)
		error = p->call.count(&n);
	/* CUDA_ERROR_NO_DEVICE equals zero devices. */
	if ((error == 0 && n == 0) || error == 100)
		return err_set(e, ERR_REMOTE, "CUDA does not find it");
	if (error != 0)
		return cuda_err(p, error, "start", e);
	if (n > 1)
		return err_set(
		    e, ERR_REMOTE, "CUDA finds %d GPUs by this name", n);
	error = p->call.device(&device, 0);
	if (error == 0)
		error = p->call.context(&context, device);
	if (error == 0)
		error = p->call.context_use(context);
	if (error != 0)
		return cuda_err(p, error, "use it", e);
	return 0;
}

int
gpu_cuda_check(const char *uuid, struct err *e)
{
	struct probe p;
	int error, rc;

	/*
	 * Other GPUs, which may be broken, are not initialised; and slices can
	 * only be selected this way.
	 */
	(void)setenv("CUDA_VISIBLE_DEVICES", uuid, 1);
	if (gpu_cuda_dl_open(&p.call, e) != 0 || context_open(&p, e) != 0)
		return -1;
	error = p.call.memory(&p.at, sizeof(uint32_t) * WORDS);
	if (error != 0)
		return cuda_err(&p, error, "have 64 MiB of its memory", e);
	p.piece = xcalloc(PIECE, sizeof *p.piece);
	rc = memory_write(&p, e);
	if (rc == 0)
		rc = cuda_memory_check(&p, false, e);
	if (rc == 0)
		rc = kernel_run(&p, e);
	if (rc == 0)
		rc = cuda_memory_check(&p, true, e);
	if (rc == 0 && (error = p.call.memory_free(p.at)) != 0)
		rc = cuda_err(&p, error, "free its memory", e);
	free(p.piece);
	return rc;
}
