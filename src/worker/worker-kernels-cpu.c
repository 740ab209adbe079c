/* hpotune-worker computes on the CPU. */

#include "kernels/kernels.h"
#include "src/worker/worker-kernels-linked.h"

bool
worker_kernels_possible(char *why, size_t n)
{
	(void)why;
	(void)n;
	return true;
}

const struct kernels *
worker_kernels_linked(char *why, size_t n)
{
	(void)why;
	(void)n;
	return kernels_cpu();
}
