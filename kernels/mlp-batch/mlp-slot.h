/*
 * A network on the CPU: its numbers, and the arithmetic of one step.
 */

#ifndef HPOTUNE_MLP_SLOT_H
#define HPOTUNE_MLP_SLOT_H

#include "kernels/mlp-batch/mlp-internal.h"

/* Activities: y after ReLU and dropout, dy their gradients, rows x out. */
struct pack_slot {
	int used;
	struct pack_hyper hyper;
	struct pack_shape shape;
	struct pack_place place;
	float *numbers; /* all of the following */
	float *params, *grads, *memory;
	float *x, *y[PACK_LAYERS], *dy[PACK_LAYERS];
	uint8_t *labels;
};

/* A row of x becomes a picture, and the constant. */
void pack_gather(struct pack_slot *, const struct pack_data *,
    const struct pack_images *from, size_t row, size_t picture);
/* n rows through the network; turn NULL: nothing is switched off. */
void pack_forward(struct pack_slot *, size_t n, const struct pack_turn *);
/* The cross-entropies of n rows; leaves the gradient of their sum x share. */
double pack_loss(struct pack_slot *, size_t n, float share, size_t *right);
/* From there to the gradient of all weights. */
void pack_backward(struct pack_slot *, size_t n);
/* One step of the optimizer. */
void pack_move(struct pack_slot *, const struct pack_turn *);

#endif /* HPOTUNE_MLP_SLOT_H */
