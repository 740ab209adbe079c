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
	float *y[MLP_LAYERS], *dy[MLP_LAYERS];
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
	size_t rows, layers, count, units; /* units of the first layer */
	size_t in[MLP_LAYERS], out[MLP_LAYERS];
	/* Pictures of width pixels, across bytes apart, all of them on the device. */
	const uint8_t *pixels, *labels;
	size_t pictures, width, across;
	float scale, centre; /* a byte less 128, scaled, plus the centre */
	float wish;
	bool first; /* first of the steps that are summed */
	bool
	    moves; /* weights are updated as soon as their gradients are there */
	bool measures; /* pictures in their order, without dropout */
	cudaStream_t stream;
};

/* Of each slot this thread's or block's one; no slot, no step: return. */
#define MLP_SLOT_OF(b)                                            \
	const struct mlp_layout_step *turn = &(b).turns[CUDA_Z];  \
	const struct mlp_view *v = &(b).views[(b).slots[CUDA_Z]]; \
	if (turn->share == 0)                                     \
	return

/* Rows of a batch, filled up to whole tiles. */
enum { MLP_TILE_ROWS = 8 };
static __host__ __device__ __forceinline__ size_t
mlp_tiled(size_t rows)
{
	return (rows + MLP_TILE_ROWS - 1) / MLP_TILE_ROWS * MLP_TILE_ROWS;
}

/* ReLU, dropout and the constant, as slot_bend() of mlp-network.c. */
static __device__ __forceinline__ float
mlp_bent(const struct mlp_view *v, const struct mlp_layout_step *turn, size_t l,
    size_t row, size_t unit, float y, bool train)
{
	if (unit >= v->shape.units[l])
		return unit == v->shape.units[l] ? 1 : 0;
	y = y < 0 ? 0 : y;
	if (train && v->hyper.dropout > 0)
		y *= mlp_keep(turn, v->hyper.dropout, l, row, unit);
	return y;
}

/* Weight i by its gradient. */
static __device__ __forceinline__ void
mlp_move(const struct mlp_view *v, const struct mlp_layout_step *turn, size_t i,
    float g)
{
	float *p = &v->params[i], *m = &v->memory[i];

	if (v->hyper.optimizer == MLP_ADAM) {
		float *w = m + v->shape.count;

		*m = MLP_BETA1 * *m + (1 - MLP_BETA1) * g;
		*w = MLP_BETA2 * *w + (1 - MLP_BETA2) * g * g;
		*p = turn->shrink * *p -
		     turn->rate * *m / (sqrtf(*w * turn->unbias) + MLP_EPSILON);
	} else {
		*m = v->hyper.momentum * *m + g;
		*p = turn->shrink * *p - turn->rate * *m;
	}
}

/* The first layer: its numbers; its gradients, and its update if it moves. */
void mlp_pixels_forward(const struct mlp_launch *);
void mlp_pixels_weights(const struct mlp_launch *);

/* Compute gradients, and update the weights if they move; else, later. 0, or -1. */
int mlp_network_gradient(const struct mlp_launch *);
int mlp_network_update_all(const struct mlp_launch *);
/* Add the results of a part of the validation pictures, with its labels. */
int mlp_network_measure(const struct mlp_launch *);

/* Steps as one launch: those of the launch that is its key. */
enum { MLP_GRAPHS = 4 };
struct mlp_graph {
	struct mlp_launch of;
	size_t steps;
	cudaGraphExec_t run;
};

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
	size_t across; /* bytes from picture to picture */
	struct mlp_view *views; /* of all slots */
	struct mlp_layout_step *turns;
	struct mlp_total *totals;
	uint32_t *list;
	size_t turns_room;
	cudaStream_t
	    stream; /* NULL for ranks, whose sums are between kernels */
	/* The last ones: the steps at the end of an epoch are fewer. */
	struct mlp_graph graphs[MLP_GRAPHS];
	size_t graphs_made;
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
