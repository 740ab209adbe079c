/*
 * SGD with momentum and Adam over one flat vector.  Weight decay is decoupled
 * in both (Loshchilov and Hutter 2019): it shrinks the parameters and does not
 * pass through momentum.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "optim.h"

/* Adam's constants, as in the paper (Kingma and Ba 2015). */
#define OPTIM_BETA1 0.9f
#define OPTIM_BETA2 0.999f
#define OPTIM_EPSILON 1e-8f

void
optim_init(struct optim *o, enum optim_kind kind, size_t count)
{
	memset(o, 0, sizeof *o);
	o->kind = kind;
	o->count = count;
	o->slot_count = kind == OPTIM_ADAM ? 2 * count : count;
	o->slots = mem_zero(o->slot_count, sizeof *o->slots);
}

void
optim_free(struct optim *o)
{
	free(o->slots);
	memset(o, 0, sizeof *o);
}

static void
optim_sgd(const struct optim *o, float *restrict p, const float *restrict g)
{
	const float shrink = 1 - o->lr * o->decay;
	float *restrict v = o->slots;
	size_t i;

	for (i = 0; i < o->count; i++) {
		v[i] = o->momentum * v[i] + g[i];
		p[i] = shrink * p[i] - o->lr * v[i];
	}
}

static void
optim_adam(const struct optim *o, float *restrict p, const float *restrict g)
{
	const float shrink = 1 - o->lr * o->decay;
	const double t = (double)o->steps;
	const float unbias1 = (float)(1 / (1 - pow(OPTIM_BETA1, t)));
	const float unbias2 = (float)(1 / (1 - pow(OPTIM_BETA2, t)));
	float *restrict m = o->slots, *restrict v = o->slots + o->count;
	size_t i;

	for (i = 0; i < o->count; i++) {
		m[i] = OPTIM_BETA1 * m[i] + (1 - OPTIM_BETA1) * g[i];
		v[i] = OPTIM_BETA2 * v[i] + (1 - OPTIM_BETA2) * g[i] * g[i];
		p[i] =
		    shrink * p[i] - o->lr * m[i] * unbias1 /
					(sqrtf(v[i] * unbias2) + OPTIM_EPSILON);
	}
}

void
optim_step(struct optim *o, float *params, const float *grads)
{
	o->steps++;
	switch (o->kind) {
	case OPTIM_SGD:
		optim_sgd(o, params, grads);
		break;
	case OPTIM_ADAM:
		optim_adam(o, params, grads);
		break;
	}
}
