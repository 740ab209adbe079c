/*
 * Shape and steps of the networks of a pack, computed on the host by both
 * versions.
 */

#include <math.h>
#include <string.h>

#include "kernels/mlp-batch/mlp-internal.h"

enum use { USE_WEIGHTS, USE_ORDER, USE_MASK };

/* The key of one use of a seed. */
static uint64_t
mlp_layout_key_of(uint64_t seed, enum use use, uint64_t index)
{
	return mlp_chance(mlp_chance(mlp_chance(seed, 0), use), index);
}

static size_t
up(size_t n, size_t width)
{
	return (n + width - 1) / width * width;
}

void
mlp_layout(struct mlp_layout *s, const struct mlp_data *data,
    const struct mlp_hyper *h, size_t ranks)
{
	size_t l, n = data->pixels;

	memset(s, 0, sizeof *s);
	s->layers = h->layers + 1;
	for (l = 0; l < s->layers; l++) {
		s->inputs[l] = n;
		s->in[l] = up(n + 1, MLP_WIDTH);
		n = l < h->layers ? h->hidden : data->classes;
		s->units[l] = n;
		s->out[l] = l < h->layers ? up(n + 1, MLP_WIDTH)
					  : up(n, MLP_LAST_WIDTH);
		s->at[l] = s->count;
		s->count += s->in[l] * s->out[l];
	}
	s->memory = (h->optimizer == MLP_ADAM ? 2 : 1) * s->count;
	s->rows = (h->batch + ranks - 1) / ranks;
}

size_t
mlp_layout_count(
    const struct mlp_data *data, const struct mlp_hyper *h, size_t *memory)
{
	struct mlp_layout s;

	mlp_layout(&s, data, h, 1);
	*memory = s.memory;
	return s.count;
}

void
mlp_layout_draw(
    const struct mlp_layout *s, const struct mlp_hyper *h, float *params)
{
	size_t l, i, j;
	float *row, bound;
	uint64_t key;

	memset(params, 0, s->count * sizeof *params);
	for (l = 0; l < s->layers; l++) {
		key = mlp_layout_key_of(h->seed, USE_WEIGHTS, l);
		bound = sqrtf(6 / (float)s->inputs[l]);
		for (i = 0; i < s->inputs[l]; i++) {
			row = params + s->at[l] + i * s->out[l];
			for (j = 0; j < s->units[l]; j++)
				row[j] = (2 * mlp_unit(key, i << 32 | j) - 1) *
					 bound;
		}
	}
}

static void
optimizer_set(
    struct mlp_layout_step *t, const struct mlp_hyper *h, uint64_t steps)
{
	const double n = (double)steps;

	t->shrink = 1 - h->lr * h->decay;
	t->rate = h->lr;
	t->unbias = 1;
	if (h->optimizer == MLP_ADAM) {
		t->rate = (float)((double)h->lr / (1 - pow(MLP_BETA1, n)));
		t->unbias = (float)(1 / (1 - pow(MLP_BETA2, n)));
	}
}

void
mlp_layout_step(struct mlp_layout_step *t, const struct mlp_hyper *h,
    struct mlp_place *p, size_t pictures, const struct mlp_ranks *ranks)
{
	size_t n, rank = ranks != NULL ? ranks->rank : 0;
	size_t of = ranks != NULL ? ranks->ranks : 1;

	if (p->position >= pictures) {
		p->epoch++;
		p->position = 0;
		p->loss_sum = 0;
	}
	n = pictures - p->position;
	n = n < h->batch ? n : h->batch;
	memset(t, 0, sizeof *t);
	t->order = mlp_layout_key_of(h->seed, USE_ORDER, p->epoch);
	t->mask = mlp_layout_key_of(h->seed, USE_MASK, p->steps);
	t->above = (uint32_t)(n * rank / of);
	t->first = (uint32_t)p->position + t->above;
	t->rows = (uint32_t)(n * (rank + 1) / of) - t->above;
	t->share = 1 / (float)n;
	p->position += n;
	p->steps++;
	optimizer_set(t, h, p->steps);
}
