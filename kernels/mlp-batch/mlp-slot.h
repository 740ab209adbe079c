/*
 * A network on the CPU: its numbers, and the arithmetic of one step.
 */

#ifndef HPOTUNE_MLP_SLOT_H
#define HPOTUNE_MLP_SLOT_H

#include "kernels/mlp-batch/mlp-internal.h"

/* Activities: y after ReLU and dropout, dy their gradients, rows x out. */
struct mlp_slot {
	int used;
	struct mlp_hyper hyper;
	struct mlp_layout shape;
	struct mlp_place place;
	float *numbers; /* all of the following */
	float *params, *grads, *memory;
	float *x, *y[MLP_LAYERS], *dy[MLP_LAYERS];
	uint8_t *labels;
};

/* A row of x becomes a picture, and the constant. */
void mlp_network_gather(struct mlp_slot *, const struct mlp_data *,
    const struct mlp_images *from, size_t row, size_t picture);
/* n rows through the network; turn NULL: nothing is switched off. */
void mlp_network_forward(
    struct mlp_slot *, size_t n, const struct mlp_layout_step *);
/* The cross-entropies of n rows; leaves the gradient of their sum x share. */
double
mlp_network_loss(struct mlp_slot *, size_t n, float share, size_t *right);
/* From there to the gradient of all weights. */
void mlp_network_backward(struct mlp_slot *, size_t n);
/* One step of the optimizer. */
void mlp_network_update(struct mlp_slot *, const struct mlp_layout_step *);

#endif /* HPOTUNE_MLP_SLOT_H */
