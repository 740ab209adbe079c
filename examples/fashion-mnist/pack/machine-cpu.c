/* The CPU backend; mlp-cuda has it beside the GPU. */

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "examples/fashion-mnist/pack/machine.h"

const struct mlp_kernels *
machine_kernels(const char *device, struct fail *f)
{
	if (strcmp(device, "gpu") != 0)
		return mlp_batch_cpu();
	fail_set(f, "--device=gpu: this program was built without CUDA");
	return NULL;
}

int
machine_ranks(const struct mlp_kernels *k, struct star *s,
    const volatile sig_atomic_t *signal, struct mlp_ranks *r, struct fail *f)
{
	float gpus = 0;

	(void)k;
	(void)signal;
	*r = (struct mlp_ranks){
		.rank = s->rank, .ranks = s->ranks, .sum = star_sum, .ctx = s
	};
	/* mlp-cuda asks this, and may be among us. */
	return star_sum(s, &gpus, 1) == 0 ? 0
					  : fail_set(f, "a rank has exited");
}

void
machine_ranks_close(struct mlp_ranks *r, bool well)
{
	(void)r;
	(void)well;
}

/* No list of devices at all means all of them, an empty one none. */
static bool
gpu_wanted(char **argv)
{
	const char *list = getenv("CUDA_VISIBLE_DEVICES");

	for (; *argv != NULL; argv++)
		if (strcmp(*argv, "--device=cpu") == 0)
			return false;
	return list == NULL || *list != '\0';
}

void
machine_turn(char **argv)
{
	char path[PATH_MAX + 8];
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX);

	if (n <= 0 || !gpu_wanted(argv))
		return;
	memcpy(path + n, "-cuda", sizeof "-cuda");
	if (access(path, X_OK) == 0 &&
	    dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) != NULL)
		(void)execv(path, argv);
}
