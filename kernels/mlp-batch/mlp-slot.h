/* A network on the CPU: its memory, and the arithmetic of one step. */

#ifndef HPOTUNE_MLP_SLOT_H
#define HPOTUNE_MLP_SLOT_H

#include "kernels/mlp-batch/mlp-internal.h"

/* Activations: y after ReLU and dropout, dy their gradients, rows x out. */
struct mlp_slot {
	int used;
	struct mlp_hyper hyper;
	struct mlp_layout shape;
	struct mlp_place place;
	float *numbers; /* the allocation of all following arrays */
	float *params, *grads, *memory;
	float *x, *y[MLP_LAYERS], *dy[MLP_LAYERS];
	float *turned; /* room for the transpose of a matrix after the first */
	uint32_t *pictures; /* of each row of a step */
	uint8_t *labels;
};

/* Fetch the pixels of a picture that will be gathered soon into the cache. */
void mlp_network_fetch(
    const struct mlp_data *, const struct mlp_images *from, size_t picture);
/* A row of x becomes a picture, followed by the constant. */
void mlp_network_gather(struct mlp_slot *, const struct mlp_data *,
    const struct mlp_images *from, size_t row, size_t picture);
/* n rows through the network; turn NULL: without dropout. */
void mlp_network_forward(
    struct mlp_slot *, size_t n, const struct mlp_layout_step *);
/*
 * Sum of the cross-entropies of n rows; computes the gradient of the sum x
 * share.
 */
double
mlp_network_loss(struct mlp_slot *, size_t n, float share, size_t *right);
/* Compute the gradient of all weights. */
void mlp_network_backward(struct mlp_slot *, size_t n);
/* One step of the optimizer. */
void mlp_network_update(struct mlp_slot *, const struct mlp_layout_step *);

#endif /* HPOTUNE_MLP_SLOT_H */
