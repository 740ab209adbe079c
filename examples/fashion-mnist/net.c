/* The perceptron: forward, loss, backward. */

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "net.h"

/* Counts what a network of these sizes needs. */
static void
net_count(const struct net *net, size_t *params, size_t *activity)
{
	const struct net_layer *l;
	size_t i;

	*params = *activity = 0;
	for (i = 0; i < net->layers; i++) {
		l = &net->layer[i];
		*params += (l->in + 1) * l->out;
		*activity += 2 * net->rows * l->out;
	}
}

void
net_init(struct net *net, const size_t *sizes, size_t layers, size_t rows)
{
	struct net_layer *l;
	size_t i, activity;
	float *p, *g, *a;

	memset(net, 0, sizeof *net);
	net->layers = layers;
	net->rows = rows;
	for (i = 0; i < layers; i++) {
		net->layer[i].in = sizes[i];
		net->layer[i].out = sizes[i + 1];
	}
	net_count(net, &net->count, &activity);
	p = net->params = mem_zero(net->count, sizeof *p);
	g = net->grads = mem_zero(net->count, sizeof *g);
	a = net->activity = mem_zero(activity, sizeof *a);
	for (i = 0; i < layers; i++) {
		l = &net->layer[i];
		l->w = p;
		l->b = p + l->in * l->out;
		l->dw = g;
		l->db = g + l->in * l->out;
		l->y = a;
		l->dy = a + rows * l->out;
		p += (l->in + 1) * l->out;
		g += (l->in + 1) * l->out;
		a += 2 * rows * l->out;
	}
}

void
net_free(struct net *net)
{
	free(net->params);
	free(net->grads);
	free(net->activity);
	memset(net, 0, sizeof *net);
}

void
net_draw(struct net *net, struct rng *r)
{
	struct net_layer *l;
	size_t i, j;
	float bound;

	for (i = 0; i < net->layers; i++) {
		l = &net->layer[i];
		bound = sqrtf(6 / (float)l->in);
		for (j = 0; j < l->in * l->out; j++)
			l->w[j] = (2 * rng_unit(r) - 1) * bound;
		memset(l->b, 0, l->out * sizeof *l->b);
	}
}

/* c = a b, or c = a' b, or c = a b', where c is m x n and k is summed over. */
static void
net_multiply(enum CBLAS_TRANSPOSE ta, enum CBLAS_TRANSPOSE tb, size_t m,
    size_t n, size_t k, const float *a, const float *b, float *c)
{
	int lda, ldb;

	lda = (int)(ta == CblasNoTrans ? k : m);
	ldb = (int)(tb == CblasNoTrans ? n : k);
	cblas_sgemm(CblasRowMajor, ta, tb, (int)m, (int)n, (int)k, 1, a, lda, b,
	    ldb, 0, c, (int)n);
}

static void
net_add_bias(const struct net_layer *l, size_t n)
{
	size_t i, j;

	for (i = 0; i < n; i++) {
		for (j = 0; j < l->out; j++)
			l->y[i * l->out + j] += l->b[j];
	}
}

/* A unit that is switched off reads as 0, as one that ReLU has cut: so y alone
 * tells the backward pass where the gradient goes. NaN must stay NaN. */
static void
net_bend(const struct net_layer *l, size_t n, float dropout, struct rng *r)
{
	const float keep = 1 / (1 - dropout);
	size_t i;

	for (i = 0; i < n * l->out; i++)
		l->y[i] = l->y[i] < 0 ? 0 : l->y[i];
	if (dropout == 0)
		return;
	for (i = 0; i < n * l->out; i++)
		l->y[i] *= rng_unit(r) < dropout ? 0 : keep;
}

void
net_forward(
    struct net *net, const float *x, size_t n, float dropout, struct rng *r)
{
	const struct net_layer *l;
	size_t i;

	for (i = 0; i < net->layers; i++) {
		l = &net->layer[i];
		net_multiply(CblasNoTrans, CblasNoTrans, n, l->out, l->in, x,
		    l->w, l->y);
		net_add_bias(l, n);
		if (i + 1 < net->layers)
			net_bend(l, n, dropout, r);
		x = l->y;
	}
}

/* Softmax of one row into p; returns the cross-entropy. */
static double
net_softmax(const float *y, float *p, size_t n, size_t label, size_t *best)
{
	double sum = 0;
	size_t i, top = 0;

	for (i = 1; i < n; i++) {
		if (y[i] > y[top])
			top = i;
	}
	for (i = 0; i < n; i++)
		sum += p[i] = expf(y[i] - y[top]);
	for (i = 0; i < n; i++)
		p[i] = (float)(p[i] / sum);
	*best = isfinite(sum) ? top : n;
	return log(sum) - (double)(y[label] - y[top]);
}

double
net_loss(struct net *net, const uint8_t *labels, size_t n, size_t *right)
{
	const struct net_layer *l = &net->layer[net->layers - 1];
	double sum = 0;
	size_t i, j, best;
	float *dy;

	for (i = 0; i < n; i++) {
		dy = l->dy + i * l->out;
		sum += net_softmax(
		    l->y + i * l->out, dy, l->out, labels[i], &best);
		*right += best == labels[i];
		dy[labels[i]] -= 1;
		for (j = 0; j < l->out; j++)
			dy[j] /= (float)n;
	}
	return sum;
}

static void
net_sum_bias(const struct net_layer *l, size_t n)
{
	size_t i, j;

	memset(l->db, 0, l->out * sizeof *l->db);
	for (i = 0; i < n; i++) {
		for (j = 0; j < l->out; j++)
			l->db[j] += l->dy[i * l->out + j];
	}
}

/* The way back through dropout and ReLU. */
static void
net_unbend(const struct net_layer *l, size_t n, float dropout)
{
	const float keep = 1 / (1 - dropout);
	size_t i;

	for (i = 0; i < n * l->out; i++)
		l->dy[i] = l->y[i] > 0 ? l->dy[i] * keep : 0;
}

void
net_backward(struct net *net, const float *x, size_t n, float dropout)
{
	const struct net_layer *l, *below;
	size_t i;

	for (i = net->layers; i-- > 0;) {
		l = &net->layer[i];
		below = i > 0 ? l - 1 : NULL;
		net_multiply(CblasTrans, CblasNoTrans, l->in, l->out, n,
		    below != NULL ? below->y : x, l->dy, l->dw);
		net_sum_bias(l, n);
		if (below == NULL)
			break;
		net_multiply(CblasNoTrans, CblasTrans, n, l->in, l->out, l->dy,
		    l->w, below->dy);
		net_unbend(below, n, dropout);
	}
}
