/* The device that is used. */

#include <stdio.h>

#include "kernels/cuda/cuda-launch.h"

int
cuda_device_open(int i, char *device, size_t size, char *why, size_t n)
{
	struct cudaDeviceProp about;
	int count = 0;
	cudaError_t e = cudaGetDeviceCount(&count);

	if (e != cudaSuccess || count <= i) {
		(void)snprintf(why, n, "no GPU: %s",
		    e != cudaSuccess ? cudaGetErrorString(e)
		    : count == 0     ? "none is there"
				     : "there are fewer than processes");
		return -1;
	}
	if ((e = cudaSetDevice(i)) != cudaSuccess ||
	    (e = cudaGetDeviceProperties(&about, i)) != cudaSuccess ||
	    (e = cudaFree(NULL)) != cudaSuccess) {
		(void)snprintf(why, n, "the GPU cannot be initialised: %s",
		    cudaGetErrorString(e));
		return -1;
	}
	(void)snprintf(device, size, "%s", about.name);
	return 0;
}
