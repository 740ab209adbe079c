/* Packed training in double: forward in loops, gradients by differences. */

#include <stdbool.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "tests/support/mlp-reference.h"

enum { WIDE = 128 }; /* units, at most */

void
mlp_reference_init(struct mlp_reference *p, const struct mlp_data *data,
    const struct mlp_hyper *hyper)
{
	float *drawn;
	size_t i;

	p->data = data;
	p->hyper = *hyper;
	p->place = (struct mlp_place){ 0 };
	mlp_layout(&p->shape, data, hyper, 1);
	p->params = xcalloc(p->shape.count, sizeof *p->params);
	p->grads = xcalloc(p->shape.count, sizeof *p->grads);
	p->memory = xcalloc(p->shape.memory, sizeof *p->memory);
	drawn = xcalloc(p->shape.count, sizeof *drawn);
	mlp_layout_draw(&p->shape, hyper, drawn);
	for (i = 0; i < p->shape.count; i++)
		p->params[i] = (double)drawn[i];
	free(drawn);
}

void
mlp_reference_free(struct mlp_reference *p)
{
	free(p->params);
	free(p->grads);
	free(p->memory);
}

static double
kept(const struct mlp_reference *p, const struct mlp_layout_step *turn,
    size_t layer, size_t row, size_t unit)
{
	return p->hyper.dropout > 0
		   ? (double)mlp_keep(turn, p->hyper.dropout, layer, row, unit)
		   : 1;
}

/* From the inputs of a layer to its outputs. */
static void
layer_through(const struct mlp_reference *p, const struct mlp_layout_step *turn,
    size_t l, size_t row, const double *x, double *y)
{
	const struct mlp_layout *s = &p->shape;
	const double *w = p->params + s->at[l];
	size_t i, j;

	for (j = 0; j < s->units[l]; j++) {
		y[j] = w[s->inputs[l] * s->out[l] + j];
		for (i = 0; i < s->inputs[l]; i++)
			y[j] += x[i] * w[i * s->out[l] + j];
		if (l + 1 < s->layers)
			y[j] = y[j] > 0 ? y[j] * kept(p, turn, l, row, j) : 0;
	}
}

static double
row_loss(const struct mlp_reference *p, const struct mlp_layout_step *turn,
    size_t row)
{
	const struct mlp_images *from = &p->data->train;
	size_t i, l, pixels = p->data->pixels;
	double x[WIDE], y[WIDE], sum = 0;
	size_t at = mlp_order(
	    turn->order, (uint32_t)from->n, turn->first + (uint32_t)row);

	for (i = 0; i < pixels; i++)
		x[i] = (double)((float)from->pixels[at * pixels + i] *
				    p->data->scale +
				p->data->shift);
	for (l = 0; l < p->shape.layers; l++) {
		layer_through(p, turn, l, row, x, y);
		for (i = 0; i < p->shape.units[l]; i++)
			x[i] = y[i];
	}
	for (i = 0; i < p->data->classes; i++)
		sum += exp(x[i]);
	return log(sum) - x[from->labels[at]];
}

static double
turn_loss(const struct mlp_reference *p, const struct mlp_layout_step *turn)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < turn->rows; i++)
		sum += row_loss(p, turn, i);
	return sum;
}

/* Whether number i is a weight or a bias, and not filling. */
static bool
real_number(const struct mlp_layout *s, size_t i)
{
	size_t l = s->layers - 1;

	while (i < s->at[l])
		l--;
	i -= s->at[l];
	return i / s->out[l] <= s->inputs[l] && i % s->out[l] < s->units[l];
}

double
mlp_reference_gradient(
    struct mlp_reference *p, const struct mlp_layout_step *turn)
{
	const double h = 1e-5;
	double was, up;
	size_t i;

	for (i = 0; i < p->shape.count; i++) {
		p->grads[i] = 0;
		if (!real_number(&p->shape, i))
			continue;
		was = p->params[i];
		p->params[i] = was + h;
		up = turn_loss(p, turn);
		p->params[i] = was - h;
		p->grads[i] =
		    (up - turn_loss(p, turn)) / (2 * h) * (double)turn->share;
		p->params[i] = was;
	}
	return turn_loss(p, turn);
}

void
mlp_reference_step(struct mlp_reference *p)
{
	struct mlp_layout_step t;
	double *m = p->memory, *v = p->memory + p->shape.count, g, lr;
	double shrink = 1 - (double)p->hyper.lr * (double)p->hyper.decay;
	size_t i;

	mlp_layout_step(&t, &p->hyper, &p->place, p->data->train.n, NULL);
	p->place.loss_sum += mlp_reference_gradient(p, &t);
	lr = (double)p->hyper.lr;
	for (i = 0; i < p->shape.count; i++) {
		g = p->grads[i];
		if (p->hyper.optimizer == MLP_SGD) {
			m[i] = (double)p->hyper.momentum * m[i] + g;
			p->params[i] = shrink * p->params[i] - lr * m[i];
			continue;
		}
		m[i] = 0.9 * m[i] + 0.1 * g;
		v[i] = 0.999 * v[i] + 0.001 * g * g;
		p->params[i] =
		    shrink * p->params[i] -
		    lr * m[i] / (1 - pow(0.9, (double)p->place.steps)) /
			(sqrt(v[i] / (1 - pow(0.999, (double)p->place.steps))) +
			    1e-8);
	}
}

/* Each class is bright in pixels of its own. */
void
mlp_reference_data_init(struct mlp_reference_data *m, size_t pixels,
    size_t classes, size_t train, size_t valid, uint64_t seed)
{
	size_t n = train + valid, i, j;
	uint8_t *labels;
	struct rng rng;

	rng_init(&rng, seed, 0);
	m->bytes = xcalloc(n, pixels + 1);
	labels = m->bytes + n * pixels;
	for (i = 0; i < n; i++) {
		labels[i] = (uint8_t)rng_below(&rng, classes);
		for (j = 0; j < pixels; j++)
			m->bytes[i * pixels + j] =
			    (uint8_t)(rng_below(&rng, 128) +
				      (j % classes == labels[i] ? 100 : 0));
	}
	m->data = (struct mlp_data){ pixels, classes, 1.0f / 64, -1.5f,
		{ train, m->bytes, labels },
		{ valid, m->bytes + train * pixels, labels + train } };
}

void
mlp_reference_data_free(struct mlp_reference_data *m)
{
	free(m->bytes);
}
