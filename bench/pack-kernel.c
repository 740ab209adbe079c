/*
 * Packed training alone, on one core:
 *	bench/pack-kernel NETWORKS HIDDEN [EPOCHS [PICTURES [adam] [cuda]]]
 * One line: microseconds of a processor for a picture of a network, in the fastest
 * of the epochs; opening and drawing are not counted.  Random pictures of 784
 * pixels in ten classes, batches of 128, one hidden layer; each network has an
 * order of its own.  cuda: on a GPU, by the clock; it exits with 1 where there is
 * none.  Peer: pack-peer.py.
 */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/mlp-batch/mlp-batch.h"
#include "src/base/mem.h"
#include "src/base/rng.h"

enum { PIXELS = 784, CLASSES = 10, BATCH = 128, STEPS = 32 };

static clockid_t by = CLOCK_PROCESS_CPUTIME_ID;

static double
now(void)
{
	struct timespec t;

	clock_gettime(by, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static size_t
argument(int argc, char **argv, int i, size_t otherwise)
{
	return argc > i ? strtoul(argv[i], NULL, 10) : otherwise;
}

/* Seconds of the fastest epoch. */
static double
epochs_run(const struct mlp_kernels *k, struct mlp_batch *pack, size_t n,
    size_t epochs, size_t pictures)
{
	size_t *slots = xcalloc(n, sizeof *slots), i, epoch, at;
	double least = 1e9, began;

	for (i = 0; i < n; i++)
		slots[i] = i;
	for (epoch = 0; epoch < epochs; epoch++) {
		began = now();
		for (at = 0; at < pictures; at += (size_t)BATCH * STEPS)
			if (k->advance(pack, slots, n, STEPS) != 0)
				exit(1);
		if (now() - began < least)
			least = now() - began;
	}
	free(slots);
	return least;
}

static bool
has(int argc, char **argv, const char *word)
{
	int i;

	for (i = 5; i < argc; i++)
		if (strcmp(argv[i], word) == 0)
			return true;
	return false;
}

/* NULL with a line when there is no GPU. */
static const struct mlp_kernels *
kernels_given(bool cuda)
{
	char why[256] = "built without CUDA";
	const struct mlp_kernels *k = NULL;

	if (!cuda)
		return mlp_batch_cpu();
	by = CLOCK_MONOTONIC;
#ifdef HAVE_CUDA
	k = mlp_batch_cuda(0, why, sizeof why);
#endif
	if (k == NULL)
		(void)fprintf(stderr, "pack-kernel: %s\n", why);
	return k;
}

int
main(int argc, char **argv)
{
	size_t n = argument(argc, argv, 1, 64),
	       hidden = argument(argc, argv, 2, 32);
	size_t epochs = argument(argc, argv, 3, 3), i;
	size_t pictures = argument(argc, argv, 4, 10000);
	struct mlp_hyper h = { 1, hidden, BATCH, MLP_SGD, 0.05f, 0.9f, 1e-4f, 0,
		0 };
	uint8_t *pixels = xcalloc(pictures, PIXELS);
	uint8_t *labels = xcalloc(pictures, 1);
	struct mlp_data data = { PIXELS, CLASSES, 1 / 255.f, -0.5f,
		{ pictures, pixels, labels }, { 0, NULL, NULL } };
	const struct mlp_kernels *k = kernels_given(has(argc, argv, "cuda"));
	struct mlp_batch *pack;
	struct rng rng;
	double s;

	if (k == NULL)
		return 1;
	rng_init(&rng, 1, 1);
	for (i = 0; i < pictures * PIXELS; i++)
		pixels[i] = (uint8_t)rng_below(&rng, 256);
	for (i = 0; i < pictures; i++)
		labels[i] = (uint8_t)rng_below(&rng, CLASSES);
	if (has(argc, argv, "adam"))
		h.optimizer = MLP_ADAM;
	pack = k->open(k->dev, &data, n, NULL);
	for (i = 0; pack != NULL && i < n; i++) {
		h.seed = i;
		if (k->put(pack, i, &h, NULL) != 0)
			return 1;
	}
	if (pack == NULL)
		return 1;
	s = epochs_run(k, pack, n, epochs, pictures);
	printf("%.3f\n", 1e6 * s / (double)(n * pictures));
	k->close(pack);
	free(pixels);
	free(labels);
	return 0;
}
