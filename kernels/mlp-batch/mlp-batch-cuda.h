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
struct mlp_view {
	struct mlp_layout shape;
	struct mlp_hyper hyper;
	float *params, *grads, *memory;
	float *x, *y[MLP_LAYERS], *dy[MLP_LAYERS];
	double *loss; /* of each row */
	uint32_t *picture, *right; /* of each row */
};

/* What an advance or a measurement has summed up for a slot. */
struct mlp_total {
	double loss, wished;
	uint64_t right;
};

/* n slots, each with its turn; one whose turn has share 0 rests. */
struct mlp_launch {
	const struct mlp_view *views; /* of all slots */
	const uint32_t *slots; /* n */
	const struct mlp_layout_step *turns; /* n */
	struct mlp_total *totals; /* n */
	size_t n;
	/* The largest there are among them: */
	size_t rows, layers, count;
	size_t in[MLP_LAYERS], out[MLP_LAYERS];
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
int mlp_network_gradient(const struct mlp_launch *);
int mlp_network_update_all(const struct mlp_launch *);
/* Adds what a part of the validation pictures says: labels are its own. */
int mlp_network_measure(const struct mlp_launch *);
/* The pictures as rows of so many numbers; rows up to the next 8 are 0. */
int mlp_network_pictures(const struct mlp_launch *, float *x, size_t width);

struct mlp_cuda_slot {
	bool used;
	struct mlp_place place;
	struct mlp_view view;
	float *numbers;
	double *rows;
};

struct mlp_batch {
	struct mlp_data data;
	struct mlp_ranks *ranks;
	size_t slots;
	struct mlp_cuda_slot *slot;
	/* On the device: */
	uint8_t *train, *valid; /* pixels, then labels */
	float *x; /* of validation, rows of width numbers */
	size_t width;
	struct mlp_view *views; /* of all slots */
	struct mlp_layout_step *turns;
	struct mlp_total *totals;
	uint32_t *list;
	size_t turns_room;
	float *staging; /* on the host, for ranks that have no device */
	size_t staging_room;
};

/* Memory there; NULL: there is no more. */
void *mlp_batch_alloc(size_t bytes);
/* Copies to the device and from it. */
int mlp_batch_upload(void *to, const void *from, size_t n);
int mlp_batch_download(void *to, const void *from, size_t n);
/* What every batch of a pack has in common. */
struct mlp_launch
mlp_batch_of(const struct mlp_batch *, const size_t *slots, size_t n);

int mlp_steps_advance(
    struct mlp_batch *, const size_t *slots, size_t n, size_t steps);
int mlp_steps_measure(
    struct mlp_batch *, const size_t *slots, size_t n, struct mlp_score *);

#endif /* HPOTUNE_MLP_BATCH_CUDA_H */
