/*
 * The table of kernels on a GPU: detection, libraries, memory. cuBLAS and
 * cuSOLVER, a gigabyte that many machines lack, are not linked but loaded if a
 * driver is found.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/cuda.h"

extern "C" {
#include "kernels/lapack.h"
}

void *
cuda_bytes(struct cuda *c, enum cuda_buffer which, size_t n)
{
	if (c->buffers[which].bytes >= n && n > 0)
		return c->buffers[which].at;
	cudaFree(c->buffers[which].at);
	c->buffers[which].at = NULL;
	c->buffers[which].bytes = 0;
	n = n > 0 ? n : 1;
	if (cudaMalloc(&c->buffers[which].at, n) != cudaSuccess) {
		c->buffers[which].at = NULL;
		return NULL;
	}
	c->buffers[which].bytes = n;
	return c->buffers[which].at;
}

double *
cuda_numbers(struct cuda *c, enum cuda_buffer which, size_t n)
{
	return (double *)cuda_bytes(c, which, n * sizeof(double));
}

void
cuda_release(struct cuda *c)
{
	for (int i = 0; i < CUDA_BUFFERS; i++) {
		cudaFree(c->buffers[i].at);
		c->buffers[i].at = NULL;
		c->buffers[i].bytes = 0;
	}
}

void
cuda_fail(struct cuda *c)
{
	c->failed = true;
	c->table.name = "cpu";
	c->table.device = "this CPU, since the GPU failed";
	cuda_release(c);
}

int
cuda_upload(double *device, const double *host, size_t n)
{
	return n == 0 || cudaMemcpy(device, host, n * sizeof *host,
			     cudaMemcpyHostToDevice) == cudaSuccess
		   ? 0
		   : -1;
}

int
cuda_download(double *host, const double *device, size_t n)
{
	return n == 0 || cudaMemcpy(host, device, n * sizeof *host,
			     cudaMemcpyDeviceToHost) == cudaSuccess
		   ? 0
		   : -1;
}

static int
cuda_open(struct cuda *c, char *why, size_t n)
{
	if (cuda_libs_open(&c->lib, why, n) != 0 ||
	    cuda_device_open(0, c->device, sizeof c->device, why, n) != 0)
		return -1;
	if (c->lib.cublasCreate_v2(&c->blas) != CUBLAS_STATUS_SUCCESS ||
	    c->lib.cusolverDnCreate(&c->solver) != CUSOLVER_STATUS_SUCCESS) {
		(void)snprintf(
		    why, n, "cuBLAS or cuSOLVER cannot be initialised");
		return -1;
	}
	return 0;
}

extern "C" bool
kernels_cuda_possible(char *why, size_t n)
{
	return cuda_driver_open(why, n) == 0;
}

extern "C" const struct kernels *
kernels_cuda(char *why, size_t n)
{
	struct cuda *c = (struct cuda *)calloc(1, sizeof *c);

	if (c == NULL)
		abort();
	if (cuda_open(c, why, n) != 0) {
		free(c);
		return NULL;
	}
	/* What has no twin is the CPU's. */
	c->table = *kernels_cpu();
	c->table.name = "cuda";
	c->table.device = c->device;
	c->table.dev = c;
	c->table.gp_likelihood = cuda_gp_likelihood;
	c->table.gp_fit = cuda_gp_fit;
	c->table.gp_free = cuda_gp_free;
	c->table.gp_predict = cuda_gp_predict;
	c->table.gp_near = NULL; /* it predicts many rows at once */
	c->table.gp_slope = cuda_gp_slope;
	c->table.gp_pend = cuda_gp_pend;
	c->table.gp_top = cuda_gp_top;
	c->table.gp_near_top = NULL;
	return &c->table;
}
