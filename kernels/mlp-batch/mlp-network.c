/*
 * The arithmetic of packed training on one core: forward, loss, backward and
 * the optimizers.
 */

#include "kernels/mlp-batch/mlp-internal.h"
#include "kernels/mlp-batch/mlp-product.h"
#include "kernels/mlp-batch/mlp-slot.h"
#include "kernels/target-clones.h"

/*
 * Before a loop that becomes vectors.  clang does that at -O2 by itself, and warns
 * of this pragma in builds where it does not.
 */
#ifdef __clang__
#define VECTORS
#else
#define VECTORS _Pragma("omp simd")
#endif

enum { CACHE_LINE = 64 };

CLONES static void
picture_place(float *restrict x, const uint8_t *restrict pixels, size_t n,
    float scale, float shift)
{
	size_t j;

	VECTORS
	for (j = 0; j < n; j++)
		x[j] = (float)pixels[j] * scale + shift;
}

void
mlp_network_fetch(
    const struct mlp_data *d, const struct mlp_images *from, size_t picture)
{
	const uint8_t *pixels = from->pixels + picture * d->pixels;
	size_t j;

	for (j = 0; j < d->pixels; j += CACHE_LINE)
		__builtin_prefetch(pixels + j);
}

/* A row of x becomes a picture, followed by the constant. */
void
mlp_network_gather(struct mlp_slot *s, const struct mlp_data *d,
    const struct mlp_images *from, size_t row, size_t picture)
{
	float *x = s->x + row * s->shape.in[0];

	picture_place(x, from->pixels + picture * d->pixels, d->pixels,
	    d->scale, d->shift);
	x[d->pixels] = 1;
	s->labels[row] = from->labels[picture];
}

CLONES static void
units_bend(float *y, size_t n)
{
	size_t j;

	/* NaN must stay NaN. */
	VECTORS
	for (j = 0; j < n; j++)
		y[j] = y[j] < 0 ? 0 : y[j];
}

CLONES static void
units_drop(float *y, size_t n, const struct mlp_layout_step *turn,
    float dropout, size_t layer, size_t row)
{
	size_t j;

	VECTORS
	for (j = 0; j < n; j++)
		y[j] *= mlp_keep(turn, dropout, layer, row, j);
}

/* ReLU and, with a step, dropout; then the constant for the next layer. */
static void
slot_bend(
    struct mlp_slot *s, size_t l, size_t n, const struct mlp_layout_step *turn)
{
	size_t out = s->shape.out[l], units = s->shape.units[l], i;
	float *y;

	for (i = 0; i < n; i++) {
		y = s->y[l] + i * out;
		units_bend(y, units);
		if (turn != NULL && s->hyper.dropout > 0)
			units_drop(y, units, turn, s->hyper.dropout, l, i);
		y[units] = 1;
	}
}

/* n rows through the network; turn NULL: without dropout. */
void
mlp_network_forward(
    struct mlp_slot *s, size_t n, const struct mlp_layout_step *turn)
{
	const struct mlp_layout *h = &s->shape;
	size_t l;

	for (l = 0; l < h->layers; l++) {
		mlp_product(n, h->out[l], h->in[l], l > 0 ? s->y[l - 1] : s->x,
		    s->params + h->at[l], s->y[l]);
		if (l + 1 < h->layers)
			slot_bend(s, l, n, turn);
	}
}

CLONES static void
units_unbend(const float *restrict y, float *restrict dy, size_t n, float keep)
{
	size_t j;

	VECTORS
	for (j = 0; j < n; j++)
		dy[j] = y[j] > 0 ? dy[j] * keep : 0;
}

/* Gradient of dropout and ReLU; the constant has none. */
static void
slot_unbend(struct mlp_slot *s, size_t l, size_t n)
{
	size_t out = s->shape.out[l], units = s->shape.units[l], i, j;
	const float keep = 1 / (1 - s->hyper.dropout);
	float *dy;

	for (i = 0; i < n; i++) {
		dy = s->dy[l] + i * out;
		units_unbend(s->y[l] + i * out, dy, units, keep);
		for (j = units; j < out; j++)
			dy[j] = 0;
	}
}

/*
 * Sum of the cross-entropies of n rows; computes the gradient of the sum x
 * share.
 */
double
mlp_network_loss(struct mlp_slot *s, size_t n, float share, size_t *right)
{
	size_t l = s->shape.layers - 1, out = s->shape.out[l], i, best;
	double sum = 0;

	for (i = 0; i < n; i++) {
		sum += mlp_softmax(s->y[l] + i * out, s->dy[l] + i * out,
		    s->shape.units[l], out, s->labels[i], share, &best);
		*right += best == s->labels[i];
	}
	return sum;
}

/* to (n x m) = from' (m x n) */
static void
matrix_turn(const float *from, size_t m, size_t n, float *to)
{
	size_t i, j;

	for (i = 0; i < m; i++)
		for (j = 0; j < n; j++)
			to[j * m + i] = from[i * n + j];
}

/* Compute the gradient of all weights. */
void
mlp_network_backward(struct mlp_slot *s, size_t n)
{
	const struct mlp_layout *h = &s->shape;
	size_t l;

	for (l = h->layers; l-- > 0;) {
		mlp_product_transposed(h->in[l], h->out[l], n,
		    l > 0 ? s->y[l - 1] : s->x, s->dy[l], s->grads + h->at[l]);
		if (l == 0)
			return;
		matrix_turn(
		    s->params + h->at[l], h->in[l], h->out[l], s->turned);
		mlp_product(
		    n, h->in[l], h->out[l], s->dy[l], s->turned, s->dy[l - 1]);
		slot_unbend(s, l - 1, n);
	}
}

CLONES static void
step_sgd(const struct mlp_layout_step *t, float momentum, size_t n,
    float *restrict p, const float *restrict g, float *restrict v)
{
	const float shrink = t->shrink, rate = t->rate;
	size_t i;

	VECTORS
	for (i = 0; i < n; i++) {
		v[i] = momentum * v[i] + g[i];
		p[i] = shrink * p[i] - rate * v[i];
	}
}

CLONES static void
step_adam(const struct mlp_layout_step *t, size_t n, float *restrict p,
    const float *restrict g, float *restrict m, float *restrict v)
{
	const float shrink = t->shrink, rate = t->rate, unbias = t->unbias;
	size_t i;

	VECTORS
	for (i = 0; i < n; i++) {
		m[i] = MLP_BETA1 * m[i] + (1 - MLP_BETA1) * g[i];
		v[i] = MLP_BETA2 * v[i] + (1 - MLP_BETA2) * g[i] * g[i];
		p[i] = shrink * p[i] -
		       rate * m[i] / (sqrtf(v[i] * unbias) + MLP_EPSILON);
	}
}

/* One step of the optimizer. */
void
mlp_network_update(struct mlp_slot *s, const struct mlp_layout_step *t)
{
	size_t n = s->shape.count;

	switch (s->hyper.optimizer) {
	case MLP_SGD:
		step_sgd(
		    t, s->hyper.momentum, n, s->params, s->grads, s->memory);
		break;
	case MLP_ADAM:
		step_adam(t, n, s->params, s->grads, s->memory, s->memory + n);
		break;
	}
}
