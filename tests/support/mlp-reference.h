/*
 * Packed training once more, in double and with differences for gradients: what
 * the kernels are held against.  Slow, for a few small pictures.
 */

#ifndef HPOTUNE_MLP_REFERENCE_H
#define HPOTUNE_MLP_REFERENCE_H

#include "kernels/mlp-batch/mlp-internal.h"

struct pack_double {
	const struct pack_data *data;
	struct pack_hyper hyper;
	struct pack_shape shape;
	struct pack_place place;
	double *params, *grads, *memory;
};

/* The same draw as a pack's. */
void pack_double_init(
    struct pack_double *, const struct pack_data *, const struct pack_hyper *);
void pack_double_free(struct pack_double *);
/* The gradient of a step, into grads; returns the sum of the losses. */
double pack_double_gradient(struct pack_double *, const struct pack_turn *);
/* One whole step. */
void pack_double_step(struct pack_double *);

/* n made-up pictures of so many pixels in so many classes, that can be learnt. */
struct pack_made {
	struct pack_data data;
	uint8_t *bytes;
};

void pack_made_init(struct pack_made *, size_t pixels, size_t classes,
    size_t train, size_t valid, uint64_t seed);
void pack_made_free(struct pack_made *);

#endif /* HPOTUNE_MLP_REFERENCE_H */
