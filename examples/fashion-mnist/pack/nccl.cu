/*
 * NCCL, opened at run time.  Its calls do not block, because what waits for a
 * rank that is gone would wait for ever: errors are asked for while one waits,
 * and some seconds after a signal, or after a rank has gone, all is given up.
 */

#include <stdio.h>
#include <stdlib.h>

#include <cuda_runtime.h>
#include <dlfcn.h>
#include <sched.h>
#include <time.h>

extern "C" {
#include "examples/fashion-mnist/base.h"
}
#include "examples/fashion-mnist/pack/nccl.h"

#ifdef HAVE_NCCL

#include <nccl.h>

#define FUNCTIONS(X)              \
	X(ncclGetUniqueId)        \
	X(ncclCommInitRankConfig) \
	X(ncclCommGetAsyncError)  \
	X(ncclCommAbort)          \
	X(ncclCommDestroy)        \
	X(ncclCommFinalize)       \
	X(ncclAllReduce)          \
	X(ncclGetErrorString)
#define MEMBER(name) decltype(&::name) name;

/* So long after a signal, or after a rank has gone, what is under way may still
 * come to its end. */
static const double GRACE = 3;

struct nccl {
	FUNCTIONS(MEMBER)
	ncclComm_t comm;
	const volatile sig_atomic_t *signal;
	struct star *star;
	double told; /* when an end was seen to come; 0: not yet */
};

#define FIND(name)                                                    \
	*(void **)&c->name = dlsym(lib, #name);                       \
	if (c->name == NULL) {                                        \
		(void)snprintf(why, n, "libnccl.so.2 has no " #name); \
		free(c);                                              \
		return NULL;                                          \
	}

extern "C" struct nccl *
nccl_load(char *why, size_t n)
{
	struct nccl *c = (struct nccl *)calloc(1, sizeof *c);
	void *lib = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);

	if (lib == NULL)
		lib =
		    dlopen(CUDA_LIBDIR "/libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
	if (lib == NULL || c == NULL) {
		(void)snprintf(why, n, "libnccl.so.2 cannot be opened");
		free(c);
		return NULL;
	}
	FUNCTIONS(FIND)
	return c;
}

static double
now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Whether waiting makes sense no longer. */
static bool
hopeless(struct nccl *c)
{
	if (c->told == 0 && (*c->signal || star_broken(c->star)))
		c->told = now();
	return c->told > 0 && now() - c->told > GRACE;
}

/* Gives the rest up; the communicator is gone after it. */
static int
give_up(struct nccl *c)
{
	if (c->comm != NULL)
		c->ncclCommAbort(c->comm);
	c->comm = NULL;
	return -1;
}

/* Until what was asked for is under way. */
static int
settle(struct nccl *c, ncclResult_t r)
{
	while (r == ncclInProgress && !hopeless(c)) {
		(void)sched_yield();
		if (c->ncclCommGetAsyncError(c->comm, &r) != ncclSuccess)
			break;
	}
	return r == ncclSuccess ? 0 : give_up(c);
}

extern "C" int
nccl_open(struct nccl *c, struct star *s, const volatile sig_atomic_t *signal,
    struct fail *f)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	ncclUniqueId id = {};

	c->signal = signal;
	c->star = s;
	config.blocking = 0;
	if (s->rank == 0 && c->ncclGetUniqueId(&id) != ncclSuccess)
		return fail_set(f, "NCCL has no id for the ranks");
	if (star_share(s, &id, sizeof id) == -1)
		return fail_set(f, "a rank has exited");
	if (settle(c, c->ncclCommInitRankConfig(&c->comm, (int)s->ranks, id,
			  (int)s->rank, &config)) == -1)
		return fail_set(f, "NCCL cannot connect the ranks");
	return 0;
}

extern "C" void
nccl_close(struct nccl *c, int well)
{
	if (!well)
		(void)give_up(c);
	if (c->comm != NULL && settle(c, c->ncclCommFinalize(c->comm)) == 0)
		c->ncclCommDestroy(c->comm);
	free(c);
}

extern "C" int
nccl_sum(void *ctx, float *x, size_t n)
{
	struct nccl *c = (struct nccl *)ctx;
	ncclResult_t r = ncclSuccess;

	if (c->comm == NULL || settle(c, c->ncclAllReduce(x, x, n, ncclFloat,
					     ncclSum, c->comm, NULL)) == -1)
		return -1;
	/* The steps after it have no use for an earlier look. */
	while (cudaStreamQuery(NULL) == cudaErrorNotReady) {
		if (c->ncclCommGetAsyncError(c->comm, &r) != ncclSuccess ||
		    (r != ncclSuccess && r != ncclInProgress) || hopeless(c))
			return give_up(c);
		(void)sched_yield();
	}
	return cudaStreamQuery(NULL) == cudaSuccess ? 0 : give_up(c);
}

#else /* !HAVE_NCCL */

extern "C" struct nccl *
nccl_load(char *why, size_t n)
{
	(void)snprintf(why, n, "built without NCCL");
	return NULL;
}

extern "C" int
nccl_open(
    struct nccl *, struct star *, const volatile sig_atomic_t *, struct fail *)
{
	return -1;
}

extern "C" void
nccl_close(struct nccl *, int)
{
}

extern "C" int
nccl_sum(void *, float *, size_t)
{
	return -1;
}

#endif
