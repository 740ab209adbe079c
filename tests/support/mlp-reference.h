/*
 * Packed training in double, with gradients by finite differences: the
 * reference for the kernels.  Slow, for a few small pictures.
 */

#ifndef HPOTUNE_MLP_REFERENCE_H
#define HPOTUNE_MLP_REFERENCE_H

#include "kernels/mlp-batch/mlp-internal.h"

struct mlp_reference {
	const struct mlp_data *data;
	struct mlp_hyper hyper;
	struct mlp_layout shape;
	struct mlp_place place;
	double *params, *grads, *memory;
};

/* The same draw as a pack's. */
void mlp_reference_init(
    struct mlp_reference *, const struct mlp_data *, const struct mlp_hyper *);
void mlp_reference_free(struct mlp_reference *);
/* The gradient of a step, into grads; returns the sum of the losses. */
double
mlp_reference_gradient(struct mlp_reference *, const struct mlp_layout_step *);
/* One whole step. */
void mlp_reference_step(struct mlp_reference *);

/* n made-up pictures of so many pixels in so many classes, that can be learnt. */
struct mlp_reference_data {
	struct mlp_data data;
	uint8_t *bytes;
};

void mlp_reference_data_init(struct mlp_reference_data *, size_t pixels,
    size_t classes, size_t train, size_t valid, uint64_t seed);
void mlp_reference_data_free(struct mlp_reference_data *);

#endif /* HPOTUNE_MLP_REFERENCE_H */
