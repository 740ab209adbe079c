/* Optimizers: SGD with momentum, and Adam. */

#ifndef TRAIN_OPTIM_H
#define TRAIN_OPTIM_H

#include <stddef.h>
#include <stdint.h>

enum optim_kind { OPTIM_SGD, OPTIM_ADAM };

struct optim {
	enum optim_kind kind;
	float lr, momentum;
	float decay; /* of every parameter: lr x decay of it per step */
	uint64_t steps;
	size_t count; /* of parameters */
	size_t slot_count; /* of memory: one or two per parameter */
	float *slots;
};

/* An optimizer for so many parameters that has not taken a step. */
void optim_init(struct optim *, enum optim_kind, size_t count);

void optim_free(struct optim *);

/* One step of the parameters against their gradient. */
void optim_step(struct optim *, float *params, const float *grads);

#endif
