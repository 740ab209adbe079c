/* hpotune-worker-cuda computes on a GPU. */

#include "kernels/kernels.h"
#include "src/worker/worker-kernels-linked.h"

bool
worker_kernels_possible(char *why, size_t n)
{
	return kernels_cuda_possible(why, n);
}

const struct kernels *
worker_kernels_linked(char *why, size_t n)
{
	return kernels_cuda(why, n);
}
