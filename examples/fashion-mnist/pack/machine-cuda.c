/* The GPU backend of mlp-cuda, if there is a GPU. */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/fashion-mnist/pack/machine.h"
#include "examples/fashion-mnist/pack/nccl.h"

/* A rank sees all GPUs of its trial, and takes the one of its number. */
static int
machine_number(void)
{
	const char *rank = getenv("LOCAL_RANK");

	return rank != NULL ? atoi(rank) : 0;
}

const struct mlp_kernels *
machine_kernels(const char *device, struct fail *f)
{
	const struct mlp_kernels *k;
	char why[256] = "";

	if (strcmp(device, "cpu") == 0)
		return mlp_batch_cpu();
	if ((k = mlp_batch_cuda(machine_number(), why, sizeof why)) != NULL)
		return k;
	if (strcmp(device, "gpu") == 0) {
		fail_set(f, "--device=gpu: %s", why);
		return NULL;
	}
	fprintf(stderr, "mlp: on the CPU: %s\n", why);
	return mlp_batch_cpu();
}

/* NCCL when each of us has a GPU and the library; else by way of the host. */
int
machine_ranks(const struct mlp_kernels *k, struct star *s,
    const volatile sig_atomic_t *signal, struct mlp_ranks *r, struct fail *f)
{
	bool gpu = strcmp(k->name, "cuda") == 0;
	struct nccl *nccl = NULL;
	char why[256] = "";
	float gpus;

	*r = (struct mlp_ranks){
		.rank = s->rank, .ranks = s->ranks, .sum = star_sum, .ctx = s
	};
	if (gpu && (nccl = nccl_load(why, sizeof why)) == NULL)
		fprintf(stderr, "mlp: sums go over the host: %s\n", why);
	gpus = nccl != NULL;
	if (star_sum(s, &gpus, 1) == -1)
		return fail_set(f, "a rank has exited");
	if (nccl == NULL)
		return 0;
	if (gpus < (float)s->ranks) {
		nccl_close(nccl, false);
		return 0;
	}
	r->sum = nccl_sum;
	r->ctx = nccl;
	r->on_device = 1;
	return nccl_open(nccl, s, signal, f);
}

void
machine_ranks_close(struct mlp_ranks *r, bool well)
{
	if (r->on_device)
		nccl_close(r->ctx, well);
}

void
machine_turn(char **argv)
{
	(void)argv;
}
