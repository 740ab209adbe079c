/*
 * A regression tree.  The trials are sorted once along every dimension; a split
 * partitions all orders stably, so a level of the tree costs trials times
 * dimensions.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/space.h"
#include "strategies/importance/regression-tree.h"

enum {
	SPLIT_LEAST = 2, /* trials of a node that is split */
	DEPTH_MOST = 64
};

struct grow {
	const struct regression_tree_data *data;
	struct rng *rng;
	struct regression_tree *tree;
	size_t cap;
	uint32_t *order; /* dims rows of n: samples, sorted along each */
	uint32_t *spare; /* n */
	uint32_t *row; /* of a sample: which trial */
	unsigned char *left; /* of a sample: where the split sends it */
	size_t *dims; /* to draw some from */
	double *sum, *count; /* of the choices of one dimension */
};

/* The best split found so far. */
struct split {
	double gain;
	size_t dim;
	double at;
};

static double
sample_x(const struct grow *g, size_t dim, uint32_t sample)
{
	return g->data->x[dim * g->data->n + g->row[sample]];
}

static double
sample_y(const struct grow *g, uint32_t sample)
{
	return g->data->y[g->row[sample]];
}

/* Sums of squares that a split explains, up to what all splits share. */
static double
gain_of(double sum, double n, double all, double n_all)
{
	return sum * sum / n + (all - sum) * (all - sum) / (n_all - n);
}

static void
split_number(const struct grow *g, size_t dim, size_t from, size_t to,
    double all, struct split *best)
{
	const uint32_t *o = g->order + dim * g->data->n;
	double sum = 0, a, b, gain;
	size_t i;

	for (i = from; i + 1 < to; i++) {
		sum += sample_y(g, o[i]);
		a = sample_x(g, dim, o[i]);
		b = sample_x(g, dim, o[i + 1]);
		if (!(a < b))
			continue;
		gain = gain_of(
		    sum, (double)(i + 1 - from), all, (double)(to - from));
		if (gain > best->gain)
			*best = (struct split){ gain, dim, a + (b - a) / 2 };
	}
}

static void
split_choice(const struct grow *g, size_t dim, size_t from, size_t to,
    double all, struct split *best)
{
	const uint32_t *o = g->order + dim * g->data->n;
	size_t i, c, n = g->data->choices[dim];
	double gain;

	memset(g->sum, 0, n * sizeof *g->sum);
	memset(g->count, 0, n * sizeof *g->count);
	for (i = from; i < to; i++) {
		c = (size_t)sample_x(g, dim, o[i]);
		g->sum[c] += sample_y(g, o[i]);
		g->count[c]++;
	}
	for (c = 0; c < n; c++) {
		if (g->count[c] == 0 || g->count[c] == (double)(to - from))
			continue;
		gain =
		    gain_of(g->sum[c], g->count[c], all, (double)(to - from));
		if (gain > best->gain)
			*best = (struct split){ gain, dim, (double)c };
	}
}

static bool
goes_left(const struct grow *g, const struct split *s, uint32_t sample)
{
	double x = sample_x(g, s->dim, sample);

	return g->data->choices[s->dim] > 0 ? x == s->at : x <= s->at;
}

/* The best of all dimensions in a random order: equals are drawn. */
static struct split
find_split(struct grow *g, size_t from, size_t to, double all)
{
	double n = (double)(to - from);
	struct split best = { .gain = all * all / n * (1 + 1e-12) + 1e-300 };
	size_t i, k, dim;

	best.dim = g->data->dims;
	for (i = g->data->dims; i > 0; i--) {
		k = (size_t)rng_below(g->rng, i);
		dim = g->dims[k];
		g->dims[k] = g->dims[i - 1];
		g->dims[i - 1] = dim;
		if (g->data->choices[dim] > 0)
			split_choice(g, dim, from, to, all, &best);
		else
			split_number(g, dim, from, to, all, &best);
	}
	return best;
}

/*
 * Partition every order in two sorted parts; returns the start of the second.
 */
static size_t
part(struct grow *g, const struct split *s, size_t from, size_t to)
{
	size_t d, i, n_left = 0, n_right = 0;
	uint32_t *o = g->order + s->dim * g->data->n;

	for (i = from; i < to; i++)
		g->left[o[i]] = goes_left(g, s, o[i]);
	for (d = 0; d < g->data->dims; d++) {
		o = g->order + d * g->data->n;
		n_left = n_right = 0;
		for (i = from; i < to; i++)
			if (g->left[o[i]])
				o[from + n_left++] = o[i];
			else
				g->spare[n_right++] = o[i];
		memcpy(o + from + n_left, g->spare, n_right * sizeof *o);
	}
	return from + n_left;
}

static size_t
node_new(struct grow *g, double value)
{
	struct regression_tree *t = g->tree;

	XGROW(t->nodes, t->n, g->cap);
	t->nodes[t->n] = (struct regression_tree_node){ .value = value };
	return t->n++;
}

static size_t
grow_node(struct grow *g, size_t from, size_t to, int depth)
{
	double all = 0;
	struct split s;
	size_t i, middle, node, left, right;

	for (i = from; i < to; i++)
		all += sample_y(g, g->order[i]);
	node = node_new(g, all / (double)(to - from));
	if (to - from < SPLIT_LEAST || depth == DEPTH_MOST)
		return node;
	s = find_split(g, from, to, all);
	if (s.dim == g->data->dims)
		return node;
	middle = part(g, &s, from, to);
	left = grow_node(g, from, middle, depth + 1);
	right = grow_node(g, middle, to, depth + 1);
	g->tree->nodes[node].left = left;
	g->tree->nodes[node].right = right;
	g->tree->nodes[node].dim = s.dim;
	g->tree->nodes[node].at = s.at;
	return node;
}

/* What qsort compares. */
struct place {
	double x;
	uint32_t sample;
};

static int
by_place(const void *a, const void *b)
{
	const struct place *p = a, *q = b;

	if (p->x != q->x)
		return p->x < q->x ? -1 : 1;
	return (p->sample > q->sample) - (p->sample < q->sample);
}

static void
sort_dims(struct grow *g)
{
	size_t d, i, n = g->data->n;
	struct place *places = xcalloc(n, sizeof *places);

	for (d = 0; d < g->data->dims; d++) {
		for (i = 0; i < n; i++)
			places[i] = (struct place){ sample_x(g, d, (uint32_t)i),
				(uint32_t)i };
		qsort(places, n, sizeof *places, by_place);
		for (i = 0; i < n; i++)
			g->order[d * n + i] = places[i].sample;
		g->dims[d] = d;
	}
	free(places);
}

static size_t
choices_most(const struct regression_tree_data *data)
{
	size_t d, most = 1;

	for (d = 0; d < data->dims; d++)
		if (data->choices[d] > most)
			most = data->choices[d];
	return most;
}

void
regression_tree_grow(struct regression_tree *t,
    const struct regression_tree_data *data, struct rng *rng)
{
	size_t i, n = data->n, most = choices_most(data);
	struct grow g = { .data = data, .rng = rng, .tree = t };

	*t = (struct regression_tree){ 0 };
	g.order = xcalloc(data->dims * n, sizeof *g.order);
	g.spare = xcalloc(n, sizeof *g.spare);
	g.row = xcalloc(n, sizeof *g.row);
	g.left = xcalloc(n, sizeof *g.left);
	g.dims = xcalloc(data->dims, sizeof *g.dims);
	g.sum = xcalloc(most, sizeof *g.sum);
	g.count = xcalloc(most, sizeof *g.count);
	for (i = 0; i < n; i++)
		g.row[i] = (uint32_t)rng_below(rng, n);
	sort_dims(&g);
	(void)grow_node(&g, 0, n, 0);
	free(g.order);
	free(g.spare);
	free(g.row);
	free(g.left);
	free(g.dims);
	free(g.sum);
	free(g.count);
}

void
regression_tree_free(struct regression_tree *t)
{
	free(t->nodes);
	*t = (struct regression_tree){ 0 };
}
