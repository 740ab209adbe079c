/*
 * What the host part of packed training on a device and its kernels share: where
 * the numbers of a slot are, and what one launch is about.
 */

#ifndef HPOTUNE_MLP_BATCH_CUDA_H
#define HPOTUNE_MLP_BATCH_CUDA_H

#include "kernels/cuda/cuda-launch.h"

extern "C" {
#include "kernels/mlp-batch/mlp-internal.h"
}

/* A slot on the device; activities as in pack.c. */
struct view {
	struct pack_shape shape;
	struct pack_hyper hyper;
	float *params, *grads, *memory;
	float *x, *y[PACK_LAYERS], *dy[PACK_LAYERS];
	double *loss; /* of each row */
	uint32_t *picture, *right; /* of each row */
};

/* What an advance or a measurement has summed up for a slot. */
struct total {
	double loss, wished;
	uint64_t right;
};

/* n slots, each with its turn; one whose turn has share 0 rests. */
struct batch {
	const struct view *views; /* of all slots */
	const uint32_t *slots; /* n */
	const struct pack_turn *turns; /* n */
	struct total *totals; /* n */
	size_t n;
	/* The largest there are among them: */
	size_t rows, layers, count;
	size_t in[PACK_LAYERS], out[PACK_LAYERS];
	/* Pictures, all of them on the device. */
	const uint8_t *pixels, *labels;
	size_t pictures, width;
	float scale, shift;
	/* When not NULL, rows of these instead: measured, not trained on. */
	const float *x;
	float wish;
	bool first; /* of the steps that are summed up */
};

/* Gradients with their tails; then the step.  0, or -1. */
int batch_gradient(const struct batch *);
int batch_move(const struct batch *);
/* Adds what a part of the validation pictures says: labels are its own. */
int batch_measure(const struct batch *);
/* The pictures as rows of so many numbers; rows up to the next 8 are 0. */
int pictures_place(const struct batch *, float *x, size_t width);

struct slot {
	bool used;
	struct pack_place place;
	struct view view;
	float *numbers;
	double *rows;
};

struct pack {
	struct pack_data data;
	struct pack_ranks *ranks;
	size_t slots;
	struct slot *slot;
	/* On the device: */
	uint8_t *train, *valid; /* pixels, then labels */
	float *x; /* of validation, rows of width numbers */
	size_t width;
	struct view *views; /* of all slots */
	struct pack_turn *turns;
	struct total *totals;
	uint32_t *list;
	size_t turns_room;
	float *staging; /* on the host, for ranks that have no device */
	size_t staging_room;
};

/* Memory there; NULL: there is no more. */
void *pack_room(size_t bytes);
/* Copies to the device and from it. */
int pack_give(void *to, const void *from, size_t n);
int pack_get(void *to, const void *from, size_t n);
/* What every batch of a pack has in common. */
struct batch pack_batch(const struct pack *, const size_t *slots, size_t n);

int
cuda_pack_advance(struct pack *, const size_t *slots, size_t n, size_t steps);
int cuda_pack_measure(
    struct pack *, const size_t *slots, size_t n, struct pack_score *);

#endif /* HPOTUNE_MLP_BATCH_CUDA_H */
