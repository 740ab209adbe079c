/*
 * Declarations shared by the host part and the kernels of packed training on a
 * device: addresses of a slot's arrays, and arguments of a launch.
 */

#ifndef HPOTUNE_MLP_BATCH_CUDA_H
#define HPOTUNE_MLP_BATCH_CUDA_H

#include "kernels/cuda/cuda-launch.h"

extern "C" {
#include "kernels/mlp-batch/mlp-internal.h"
}

/* A slot on the device; activations as in mlp-batch.c. */
struct mlp_view {
	struct mlp_layout shape;
	struct mlp_hyper hyper;
	float *params, *grads, *memory;
	float *x, *y[MLP_LAYERS], *dy[MLP_LAYERS];
	double *loss; /* of each row */
	uint32_t *picture, *right; /* of each row */
};

/* Sums of a slot over an advance or a measurement. */
struct mlp_total {
	double loss, wished;
	uint64_t right;
};

/* n slots, each with its step; share 0: no step. */
struct mlp_launch {
	const struct mlp_view *views; /* of all slots */
	const uint32_t *slots; /* n */
	const struct mlp_layout_step *turns; /* n */
	struct mlp_total *totals; /* n */
	size_t n;
	/* Maxima over the slots: */
	size_t rows, layers, count;
	size_t in[MLP_LAYERS], out[MLP_LAYERS];
	/* Pictures, all of them on the device. */
	const uint8_t *pixels, *labels;
	size_t pictures, width;
	float scale, shift;
	/* If not NULL, rows of this instead: measuring without training. */
	const float *x;
	float wish;
	bool first; /* first of the steps that are summed */
};

/* Compute gradients; then update the weights. 0, or -1. */
int mlp_network_gradient(const struct mlp_launch *);
int mlp_network_update_all(const struct mlp_launch *);
/* Add the results of a part of the validation pictures, with its labels. */
int mlp_network_measure(const struct mlp_launch *);
/*
 * Convert pictures to rows of this many numbers; padded with 0 to a multiple of
 * 8 rows.
 */
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
	float *x; /* validation pictures, rows of width numbers */
	size_t width;
	struct mlp_view *views; /* of all slots */
	struct mlp_layout_step *turns;
	struct mlp_total *totals;
	uint32_t *list;
	size_t turns_room;
	float *staging; /* host memory, for ranks without a device */
	size_t staging_room;
};

/* Device memory; NULL: out of memory. */
void *mlp_batch_alloc(size_t bytes);
/* Copy to and from the device. */
int mlp_batch_upload(void *to, const void *from, size_t n);
int mlp_batch_download(void *to, const void *from, size_t n);
/* The common arguments of all launches of a pack. */
struct mlp_launch
mlp_batch_of(const struct mlp_batch *, const size_t *slots, size_t n);

int mlp_steps_advance(
    struct mlp_batch *, const size_t *slots, size_t n, size_t steps);
int mlp_steps_measure(
    struct mlp_batch *, const size_t *slots, size_t n, struct mlp_score *);

#endif /* HPOTUNE_MLP_BATCH_CUDA_H */
