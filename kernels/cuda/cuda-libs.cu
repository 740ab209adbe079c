/* The driver and the libraries of the toolkit, opened at run time. */

#include <dlfcn.h>
#include <stdio.h>

#include "kernels/cuda/cuda.h"

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

/* By the loader's own search, then where the toolkit was at build time. */
static void *
library_open(const char *name, char *why, size_t n)
{
	char path[512];
	void *lib = dlopen(name, RTLD_NOW | RTLD_LOCAL);

	if (lib == NULL) {
		(void)snprintf(path, sizeof path, "%s/%s", CUDA_LIBDIR, name);
		lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	if (lib == NULL)
		(void)snprintf(why, n, "%s cannot be opened", name);
	return lib;
}

static int
symbol_find(void **at, void *lib, const char *name, char *why, size_t n)
{
	*at = dlsym(lib, name);
	if (*at == NULL)
		(void)snprintf(why, n, "the library has no %s", name);
	return *at == NULL ? -1 : 0;
}

#define FIND_BLAS(name) \
	TRY(symbol_find((void **)&libs->name, blas, TEXT(name), why, n));
#define FIND_SOLVER(name) \
	TRY(symbol_find((void **)&libs->name, solver, TEXT(name), why, n));

int
cuda_driver_open(char *why, size_t n)
{
	/*
	 * A fraction of a millisecond; opening the libraries takes most of a
	 * second.
	 */
	if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) != NULL)
		return 0;
	(void)snprintf(why, n, "no GPU: the NVIDIA driver is not installed");
	return -1;
}

int
cuda_libs_open(struct cuda_libs *libs, char *why, size_t n)
{
	void *blas, *solver;

	TRY(cuda_driver_open(why, n));
	blas = library_open("libcublas.so." TEXT(CUBLAS_VER_MAJOR), why, n);
	solver =
	    library_open("libcusolver.so." TEXT(CUSOLVER_VER_MAJOR), why, n);
	if (blas == NULL || solver == NULL)
		return -1;
	CUDA_BLAS(FIND_BLAS)
	CUDA_SOLVER(FIND_SOLVER)
	return 0;
}
