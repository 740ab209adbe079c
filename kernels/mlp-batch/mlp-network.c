/*
 * The arithmetic of packed training on one core: forward, loss, backward and
 * the optimizers.
 */

#include <cblas.h>

#include "kernels/mlp-batch/mlp-internal.h"
#include "kernels/mlp-batch/mlp-slot.h"
#include "kernels/target-clones.h"

/* c = a b, or c = a' b, or c = a b', where c is m x n, row by row. */
static void
multiply(enum CBLAS_TRANSPOSE ta, enum CBLAS_TRANSPOSE tb, size_t m, size_t n,
    size_t k, const float *a, const float *b, float *c)
{
	size_t lda = ta == CblasNoTrans ? k : m;
	size_t ldb = tb == CblasNoTrans ? n : k;

	cblas_sgemm(CblasRowMajor, ta, tb, (int)m, (int)n, (int)k, 1, a,
	    (int)lda, b, (int)ldb, 0, c, (int)n);
}

CLONES static void
picture_place(
    float *x, const uint8_t *pixels, size_t n, float scale, float shift)
{
	size_t j;

	for (j = 0; j < n; j++)
		x[j] = (float)pixels[j] * scale + shift;
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
bend(float *y, size_t n)
{
	size_t j;

	/* NaN must stay NaN. */
	for (j = 0; j < n; j++)
		y[j] = y[j] < 0 ? 0 : y[j];
}

/* ReLU and, with a step, dropout; then the constant for the next layer. */
static void
slot_bend(
    struct mlp_slot *s, size_t l, size_t n, const struct mlp_layout_step *turn)
{
	size_t out = s->shape.out[l], units = s->shape.units[l], i, j;
	float *y;

	for (i = 0; i < n; i++) {
		y = s->y[l] + i * out;
		bend(y, units);
		if (turn != NULL && s->hyper.dropout > 0)
			for (j = 0; j < units; j++)
				y[j] *=
				    mlp_keep(turn, s->hyper.dropout, l, i, j);
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
		multiply(CblasNoTrans, CblasNoTrans, n, h->out[l], h->in[l],
		    l > 0 ? s->y[l - 1] : s->x, s->params + h->at[l], s->y[l]);
		if (l + 1 < h->layers)
			slot_bend(s, l, n, turn);
	}
}

/* Gradient of dropout and ReLU; the constant has none. */
static void
slot_unbend(struct mlp_slot *s, size_t l, size_t n)
{
	size_t out = s->shape.out[l], units = s->shape.units[l], i, j;
	const float keep = 1 / (1 - s->hyper.dropout);
	const float *y;
	float *dy;

	for (i = 0; i < n; i++) {
		y = s->y[l] + i * out;
		dy = s->dy[l] + i * out;
		for (j = 0; j < units; j++)
			dy[j] = y[j] > 0 ? dy[j] * keep : 0;
		for (; j < out; j++)
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

/* Compute the gradient of all weights. */
void
mlp_network_backward(struct mlp_slot *s, size_t n)
{
	const struct mlp_layout *h = &s->shape;
	size_t l;

	for (l = h->layers; l-- > 0;) {
		multiply(CblasTrans, CblasNoTrans, h->in[l], h->out[l], n,
		    l > 0 ? s->y[l - 1] : s->x, s->dy[l], s->grads + h->at[l]);
		if (l == 0)
			return;
		multiply(CblasNoTrans, CblasTrans, n, h->in[l], h->out[l],
		    s->dy[l], s->params + h->at[l], s->dy[l - 1]);
		slot_unbend(s, l - 1, n);
	}
}

CLONES static void
step_sgd(const struct mlp_layout_step *t, float momentum, size_t n,
    float *restrict p, const float *restrict g, float *restrict v)
{
	const float shrink = t->shrink, rate = t->rate;
	size_t i;

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
