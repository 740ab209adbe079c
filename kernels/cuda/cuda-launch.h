/*
 * Starts the work of the CUDA versions, on a device or, in tests, on the host.
 * Uses only the CUDA runtime.
 */

#ifndef HPOTUNE_CUDA_LAUNCH_H
#define HPOTUNE_CUDA_LAUNCH_H

#include <cuda_runtime.h>

/* Check for a driver; -1 with the reason.  Fast. */
int cuda_driver_open(char *why, size_t n);
/* Open device number i; device gets its name. -1 with the reason. */
int cuda_device_open(int i, char *device, size_t size, char *why, size_t n);

#define TRY(call)                  \
	do {                       \
		if ((call) != 0)   \
			return -1; \
	} while (0)

/* An unrolled loop, so that arrays indexed by its counter stay in registers. */
#ifdef __CUDACC__
#define CUDA_EACH(i, n) _Pragma("unroll") for (int i = 0; i < (n); i++)
#else
#define CUDA_EACH(i, n) for (int i = 0; i < (n); i++)
#endif

/*
 * A kernel over n x m x r places; it starts with CUDA_PLACE, which returns for
 * places beyond n. No kernel waits for another thread, so on the host a launch
 * is three loops: the tests run the kernels that way where there is no GPU.
 */
enum { CUDA_THREADS = 128 };

#ifdef KERNELS_CUDA_FAKE
struct fake_place {
	size_t x, y, z;
};
extern struct fake_place fake_place;
#define CUDA_PLACE(i, n)               \
	const size_t i = fake_place.x; \
	if (i >= (n))                  \
	return
#define CUDA_Y fake_place.y
#define CUDA_Z fake_place.z
#define CUDA_LAUNCH(kernel, n, m, r, ...)                                  \
	for (fake_place.z = 0; fake_place.z < (r); fake_place.z++)         \
		for (fake_place.y = 0; fake_place.y < (m); fake_place.y++) \
			for (fake_place.x = 0; fake_place.x < (n);         \
			     fake_place.x++)                               \
	kernel(__VA_ARGS__)
#else
#define CUDA_PLACE(i, n)                                                \
	const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; \
	if (i >= (n))                                                   \
	return
#define CUDA_Y ((size_t)blockIdx.y)
#define CUDA_Z ((size_t)blockIdx.z)
#define CUDA_LAUNCH(kernel, n, m, r, ...)                                   \
	do {                                                                \
		if ((n) > 0 && (m) > 0 && (r) > 0)                          \
			kernel<<<dim3((unsigned)(((n) + CUDA_THREADS - 1) / \
						 CUDA_THREADS),             \
				     (unsigned)(m), (unsigned)(r)),         \
			    CUDA_THREADS>>>(__VA_ARGS__);                   \
	} while (0)
#endif

#endif /* HPOTUNE_CUDA_LAUNCH_H */
