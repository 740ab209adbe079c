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

/*
 * An unrolled loop, so that arrays indexed by its counter stay in registers; and one
 * that is not, so that registers suffice.
 */
#ifdef __CUDACC__
#define CUDA_LOOP(i, n) _Pragma("unroll 1") for (unsigned i = 0; i < (n); i++)
#define CUDA_EACH(i, n) _Pragma("unroll") for (int i = 0; i < (n); i++)
#else
#define CUDA_LOOP(i, n) for (unsigned i = 0; i < (n); i++)
#define CUDA_EACH(i, n) for (int i = 0; i < (n); i++)
#endif

/*
 * A kernel over n x m x r places; it starts with CUDA_PLACE, which returns for
 * places beyond n. No thread of it waits for another, so on the host a launch is
 * three loops: the tests run the kernels that way where there is no GPU.
 */
enum { CUDA_THREADS = 128 };

/*
 * A kernel whose blocks of so many threads have memory in common consists of
 * phases, CUDA_ALL(t, threads) { … }, which threads leave when all are through.
 * On the host a phase is a loop over the threads, in an order that changes from
 * launch to launch.  What a thread keeps from phase to phase it has in an array
 * of CUDA_OWN(threads) at CUDA_MINE(t).  CUDA_BOUNDS: the threads of a block, and the
 * blocks that a processor shall have room for.
 */
#ifdef KERNELS_CUDA_FAKE
struct fake_place {
	size_t x, y, z;
	bool backward; /* the order of threads in a phase */
};
extern struct fake_place fake_place;
/* A launch runs now, or becomes part of the graph that is captured. */
void fake_launch(void (*run)(const void *), const void *f, size_t size);
void fake_shared(void *at, size_t bytes);
template <class F>
static void
fake_launch_of(const F &f)
{
	fake_launch([](const void *g) { (*(const F *)g)(); }, &f, sizeof f);
}
#define CUDA_PLACE(i, n)               \
	const size_t i = fake_place.x; \
	if (i >= (n))                  \
	return
#define CUDA_X fake_place.x
#define CUDA_Y fake_place.y
#define CUDA_Z fake_place.z
#define CUDA_LAUNCH_ON(stream, kernel, n, m, r, ...)                       \
	fake_launch_of([=] {                                               \
		(void)(stream);                                            \
		for (fake_place.z = 0; fake_place.z < (r); fake_place.z++) \
			for (fake_place.y = 0; fake_place.y < (m);         \
			     fake_place.y++)                               \
				for (fake_place.x = 0; fake_place.x < (n); \
				     fake_place.x++)                       \
					kernel(__VA_ARGS__);               \
	})
#define CUDA_BLOCKS_ON(stream, threads, kernel, n, m, r, ...) \
	CUDA_LAUNCH_ON(stream, kernel, n, m, r, __VA_ARGS__)
#define CUDA_ALL(t, threads)                                               \
	for (unsigned t##_turn = 0, t;                                     \
	     t##_turn < (threads) &&                                       \
	     (t = fake_place.backward ? (threads)-1 - t##_turn : t##_turn, \
	     true);                                                        \
	     t##_turn++)
#define CUDA_TOGETHER()
#define CUDA_OWN(threads) (threads)
#define CUDA_MINE(t) (t)
#define CUDA_SHARED(type, name, n) \
	static type name[n];       \
	fake_shared(name, sizeof name)
#define CUDA_BOUNDS(threads, blocks)
#else
#define CUDA_PLACE(i, n)                                                \
	const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; \
	if (i >= (n))                                                   \
	return
#define CUDA_X ((size_t)blockIdx.x)
#define CUDA_Y ((size_t)blockIdx.y)
#define CUDA_Z ((size_t)blockIdx.z)
#define CUDA_BLOCKS_ON(stream, threads, kernel, n, m, r, ...)       \
	do {                                                        \
		if ((n) > 0 && (m) > 0 && (r) > 0)                  \
			kernel<<<dim3((unsigned)(n), (unsigned)(m), \
				     (unsigned)(r)),                \
			    (threads), 0, (stream)>>>(__VA_ARGS__); \
	} while (0)
#define CUDA_LAUNCH_ON(stream, kernel, n, m, r, ...) \
	CUDA_BLOCKS_ON(stream, CUDA_THREADS, kernel, \
	    ((n) + CUDA_THREADS - 1) / CUDA_THREADS, m, r, __VA_ARGS__)
#define CUDA_ALL(t, threads) if (const unsigned t = threadIdx.x; t < (threads))
#define CUDA_TOGETHER() __syncthreads()
#define CUDA_OWN(threads) 1
#define CUDA_MINE(t) 0
#define CUDA_SHARED(type, name, n) __shared__ type name[n]
#define CUDA_BOUNDS(threads, blocks) __launch_bounds__(threads, blocks)
#endif

#define CUDA_LAUNCH(kernel, n, m, r, ...) \
	CUDA_LAUNCH_ON((cudaStream_t)0, kernel, n, m, r, __VA_ARGS__)

#endif /* HPOTUNE_CUDA_LAUNCH_H */
