/*
 * fANOVA.  A tree's prediction is constant in the boxes of its leaves, so the
 * mean over all other parameters is a step function of one parameter with steps
 * at its splits: sums over leaves, without sampling.
 */

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/base/search.h"
#include "src/model/space.h"
#include "strategies/importance/importance.h"
#include "strategies/importance/regression-tree.h"
#include "strategies/tpe/tpe-parzen.h"

/* The box of the node that a walk is at. */
struct box {
	double *low, *high; /* of numbers */
	unsigned char **open; /* of choices: which are in it */
	double *width; /* share of each dimension */
};

/* One dimension of one tree: the mean over all others, step by step. */
struct steps {
	double *cuts; /* of a number: its splits, ascending */
	size_t n_cuts;
	double *mean; /* n_cuts + 1, or one per choice */
};

struct walk {
	const struct regression_tree_data *data;
	const struct regression_tree *tree;
	struct box box;
	struct steps *steps; /* dims */
	double mean, square; /* over the whole space */
	/* one pair of dimensions, or NULL: differences along both */
	const struct importance_pair *pair;
	double *grid; /* (steps of a + 1) x (steps of b + 1) */
};

static void
steps_init(struct walk *w)
{
	const struct regression_tree_node *node;
	size_t i, d, n;
	struct steps *s;

	for (i = 0; i < w->tree->n; i++) {
		node = &w->tree->nodes[i];
		s = &w->steps[node->dim];
		if (node->left == 0 || w->data->choices[node->dim] > 0)
			continue;
		if ((s->n_cuts & (s->n_cuts - 1)) == 0)
			s->cuts = xreallocarray(s->cuts,
			    s->n_cuts == 0 ? 1 : 2 * s->n_cuts,
			    sizeof *s->cuts);
		s->cuts[s->n_cuts++] = node->at;
	}
	for (d = 0; d < w->data->dims; d++) {
		s = &w->steps[d];
		if (s->n_cuts > 0)
			qsort(s->cuts, s->n_cuts, sizeof *s->cuts,
			    search_by_double);
		n = w->data->choices[d];
		s->mean =
		    xcalloc((n > 0 ? n : s->n_cuts + 1) + 1, sizeof *s->mean);
	}
}

static size_t
steps_count(const struct walk *w, size_t d)
{
	return w->data->choices[d] > 0 ? w->data->choices[d]
				       : w->steps[d].n_cuts + 1;
}

/* The step of a number at the lower or the upper end of the box. */
static size_t
step_at(const struct steps *s, double at)
{
	return at <= 0	 ? 0
	       : at >= 1 ? s->n_cuts + 1
			 : search_lower_bound(s->cuts, s->n_cuts, at) + 1;
}

/*
 * The steps that the box begins and ends at, begins first, of turns in a row:
 * one of a number, one of each choice in it; their number.
 */
static size_t
turns_of(const struct walk *w, size_t d, size_t *turns)
{
	size_t c, n = 0;

	if (w->data->choices[d] == 0) {
		turns[0] = step_at(&w->steps[d], w->box.low[d]);
		turns[1] = step_at(&w->steps[d], w->box.high[d]);
		return 2;
	}
	for (c = 0; c < w->data->choices[d]; c++)
		if (w->box.open[d][c]) {
			turns[n++] = c;
			turns[n++] = c + 1;
		}
	return n;
}

/* The same for a pair: each corner changes the mean from there on. */
static void
leaf_add_pair(struct walk *w, double volume, double value)
{
	size_t a = w->pair->a, b = w->pair->b, i, k, n, m;
	size_t wide = steps_count(w, b) + 1;
	size_t *x = xcalloc(2 * w->data->choices[a] + 2, sizeof *x);
	size_t *y = xcalloc(2 * w->data->choices[b] + 2, sizeof *y);
	double part = volume / w->box.width[a] / w->box.width[b] * value;

	n = turns_of(w, a, x);
	m = turns_of(w, b, y);
	for (i = 0; i < n; i++)
		for (k = 0; k < m; k++)
			w->grid[x[i] * wide + y[k]] +=
			    (i + k) % 2 == 0 ? part : -part;
	free(x);
	free(y);
}

/*
 * A leaf adds its value, times its share of all other dimensions, where it
 * stands along each.  Numbers are added as differences from step to step.
 */
static void
leaf_add(struct walk *w, double value)
{
	double volume = 1, part;
	struct steps *s;
	size_t d, c;

	for (d = 0; d < w->data->dims; d++)
		volume *= w->box.width[d];
	w->mean += volume * value;
	w->square += volume * value * value;
	if (w->pair != NULL) {
		leaf_add_pair(w, volume, value);
		return;
	}
	for (d = 0; d < w->data->dims; d++) {
		s = &w->steps[d];
		part = volume / w->box.width[d] * value;
		for (c = 0; c < w->data->choices[d]; c++)
			if (w->box.open[d][c])
				s->mean[c] += part;
		if (w->data->choices[d] > 0)
			continue;
		s->mean[w->box.low[d] <= 0 ? 0
					   : search_lower_bound(s->cuts,
						 s->n_cuts, w->box.low[d]) +
						 1] += part;
		if (w->box.high[d] < 1)
			s->mean[search_lower_bound(
				    s->cuts, s->n_cuts, w->box.high[d]) +
				1] -= part;
	}
}

static void walk_node(struct walk *, size_t node);

static void
walk_choice(struct walk *w, const struct regression_tree_node *node)
{
	unsigned char *open = w->box.open[node->dim];
	double share = 1 / (double)w->data->choices[node->dim];
	double width = w->box.width[node->dim];
	size_t n = w->data->choices[node->dim], at = (size_t)node->at;
	unsigned char *saved = xcalloc(n, 1);

	memcpy(saved, open, n);
	memset(open, 0, n);
	open[at] = 1;
	w->box.width[node->dim] = share;
	walk_node(w, node->left);
	memcpy(open, saved, n);
	open[at] = 0;
	w->box.width[node->dim] = width - share;
	walk_node(w, node->right);
	open[at] = 1;
	w->box.width[node->dim] = width;
	free(saved);
}

static void
walk_number(struct walk *w, const struct regression_tree_node *node)
{
	double *low = &w->box.low[node->dim], *high = &w->box.high[node->dim];
	double *width = &w->box.width[node->dim];
	double from = *low, to = *high;

	*high = node->at;
	*width = node->at - from;
	walk_node(w, node->left);
	*high = to;
	*low = node->at;
	*width = to - node->at;
	walk_node(w, node->right);
	*low = from;
	*width = to - from;
}

static void
walk_node(struct walk *w, size_t i)
{
	const struct regression_tree_node *node = &w->tree->nodes[i];

	if (node->left == 0)
		leaf_add(w, node->value);
	else if (w->data->choices[node->dim] > 0)
		walk_choice(w, node);
	else
		walk_number(w, node);
}

/* Variance of a dimension's step function. */
static double
steps_variance(const struct walk *w, size_t d)
{
	const struct steps *s = &w->steps[d];
	size_t i, n = w->data->choices[d];
	double sum = 0, mean = 0, from = 0, to;

	for (i = 0; i < n; i++)
		sum +=
		    (s->mean[i] - w->mean) * (s->mean[i] - w->mean) / (double)n;
	if (n > 0)
		return sum;
	for (i = 0; i <= s->n_cuts; i++) {
		to = i < s->n_cuts ? s->cuts[i] : 1;
		mean += s->mean[i];
		sum += (to - from) * (mean - w->mean) * (mean - w->mean);
		from = to;
	}
	return sum;
}

static void
box_init(struct box *b, const struct regression_tree_data *data)
{
	size_t d;

	b->low = xcalloc(3 * data->dims, sizeof *b->low);
	b->high = b->low + data->dims;
	b->width = b->high + data->dims;
	b->open = xcalloc(data->dims, sizeof *b->open);
	for (d = 0; d < data->dims; d++) {
		b->high[d] = b->width[d] = 1;
		b->open[d] = xcalloc(data->choices[d] + 1, 1);
		memset(b->open[d], 1, data->choices[d]);
	}
}

static double
step_width(const struct walk *w, size_t d, size_t i)
{
	const struct steps *s = &w->steps[d];

	if (w->data->choices[d] > 0)
		return 1 / (double)w->data->choices[d];
	return (i < s->n_cuts ? s->cuts[i] : 1) - (i > 0 ? s->cuts[i - 1] : 0);
}

/* Variance of the mean over all dimensions but two. */
static double
pair_variance(const struct walk *w)
{
	size_t a = w->pair->a, b = w->pair->b, i, k;
	size_t high = steps_count(w, a), wide = steps_count(w, b);
	double *column = xcalloc(wide + 1, sizeof *column), sum = 0, mean;

	for (i = 0; i < high; i++) {
		mean = 0;
		for (k = 0; k < wide; k++) {
			/* of all rows above, then of all columns before */
			column[k] += w->grid[i * (wide + 1) + k];
			mean += column[k];
			sum += step_width(w, a, i) * step_width(w, b, k) *
			       (mean - w->mean) * (mean - w->mean);
		}
	}
	free(column);
	return sum;
}

static void
walk_init(struct walk *w, const struct regression_tree *tree,
    const struct regression_tree_data *data)
{
	*w = (struct walk){ .data = data, .tree = tree };
	w->steps = xcalloc(data->dims, sizeof *w->steps);
	box_init(&w->box, data);
	steps_init(w);
}

static void
walk_fini(struct walk *w)
{
	size_t d;

	for (d = 0; d < w->data->dims; d++) {
		free(w->steps[d].cuts);
		free(w->steps[d].mean);
		free(w->box.open[d]);
	}
	free(w->steps);
	free(w->box.low);
	free(w->box.open);
}

/* Shares of the variance of one tree are added to out. */
static void
fanova_tree_add(double *out, const struct regression_tree *tree,
    const struct regression_tree_data *data)
{
	struct walk w;
	double variance;
	size_t d;

	walk_init(&w, tree, data);
	walk_node(&w, 0);
	variance = w.square - w.mean * w.mean;
	for (d = 0; d < data->dims; d++)
		if (tree->n > 1 && variance > 0)
			out[d] += fmin(steps_variance(&w, d) / variance, 1);
	walk_fini(&w);
}

/* The same for pairs. */
static void
tree_add_pairs(struct importance_pair *pairs, size_t n,
    const struct regression_tree *tree, const struct regression_tree_data *data)
{
	double variance, both, *alone;
	struct walk w;
	size_t i;

	walk_init(&w, tree, data);
	walk_node(&w, 0);
	variance = w.square - w.mean * w.mean;
	alone = xcalloc(data->dims, sizeof *alone);
	for (i = 0; i < data->dims; i++)
		alone[i] = steps_variance(&w, i);
	for (i = 0; i < n && tree->n > 1 && variance > 0; i++) {
		w.pair = &pairs[i];
		w.mean = w.square = 0;
		w.grid = xcalloc((steps_count(&w, pairs[i].a) + 1) *
				     (steps_count(&w, pairs[i].b) + 1),
		    sizeof *w.grid);
		walk_node(&w, 0);
		both =
		    pair_variance(&w) - alone[pairs[i].a] - alone[pairs[i].b];
		pairs[i].share += fmin(fmax(both / variance, 0), 1);
		free(w.grid);
	}
	free(alone);
	walk_fini(&w);
}

/* Losses around their mean, so that squares stay exact. */
static double *
centred(const struct importance_data *data)
{
	double *y = xcalloc(data->n + 1, sizeof *y), mean = 0;
	size_t i;

	for (i = 0; i < data->n; i++)
		mean += data->losses[i] / (double)data->n;
	for (i = 0; i < data->n; i++)
		y[i] = data->losses[i] - mean;
	return y;
}

/* Coordinates by dimension; an inactive parameter is anywhere. */
static void
fanova_fill(double *x, size_t *choices, const struct importance_data *data,
    struct rng *rng)
{
	size_t i, d, dims = data->space->n;
	struct axis axis;
	bool varies;
	double u;

	for (d = 0; d < dims; d++) {
		varies = tpe_axis_init(&axis, &data->space->params[d]);
		choices[d] = varies && axis.kind == TPE_AXIS_CHOICE
				 ? (size_t)axis.levels
				 : 0;
		for (i = 0; i < data->n; i++) {
			u = data->points[i * dims + d];
			if (isnan(u))
				u = rng_uniform(rng);
			x[d * data->n + i] =
			    varies ? tpe_axis_from_cube(&axis, u) : 0.5;
		}
	}
}

/* Either out, one number per parameter, or pairs. */
static void
forest_add(double *out, struct importance_pair *pairs, size_t n_pairs,
    const struct importance_data *data, size_t trees)
{
	size_t dims = data->space->n, i;
	struct regression_tree_data fd = { .n = data->n, .dims = dims };
	double *y = centred(data);
	size_t *choices = xcalloc(dims + 1, sizeof *choices);
	double *x = xcalloc(dims * data->n + 1, sizeof *x);
	struct regression_tree tree;
	struct rng rng;

	rng_init(&rng, 0, 0);
	fanova_fill(x, choices, data, &rng);
	fd.x = x;
	fd.y = y;
	fd.choices = choices;
	for (i = 0; i < trees && data->n > 1 && dims > 0; i++) {
		regression_tree_grow(&tree, &fd, &rng);
		if (out != NULL)
			fanova_tree_add(out, &tree, &fd);
		else
			tree_add_pairs(pairs, n_pairs, &tree, &fd);
		regression_tree_free(&tree);
	}
	free(x);
	free(y);
	free(choices);
}

void
importance_fanova(double *out, const struct importance_data *data, size_t trees)
{
	size_t d;

	for (d = 0; d < data->space->n; d++)
		out[d] = 0;
	forest_add(out, NULL, 0, data, trees);
	for (d = 0; d < data->space->n; d++)
		out[d] /= (double)trees;
}

void
importance_fanova_pairs(struct importance_pair *pairs, size_t n,
    const struct importance_data *data, size_t trees)
{
	size_t i;

	for (i = 0; i < n; i++)
		pairs[i].share = 0;
	forest_add(NULL, pairs, n, data, trees);
	for (i = 0; i < n; i++)
		pairs[i].share /= (double)trees;
}

#define LEAST_SHARE 0.01

/* The parameters of the greatest shares, which are not fixed; their number. */
static size_t
greatest(size_t *out, const struct space *space, const double *share)
{
	size_t i, k, n = 0;

	for (i = 0; i < space->n; i++) {
		if (space->params[i].type == PARAM_FIXED)
			continue;
		for (k = n; k > 0 && share[out[k - 1]] < share[i]; k--)
			if (k < IMPORTANCE_PAIR_PARAMS)
				out[k] = out[k - 1];
		if (k < IMPORTANCE_PAIR_PARAMS)
			out[k] = i;
		n += n < IMPORTANCE_PAIR_PARAMS;
	}
	return n;
}

static int
pair_compare(const void *a, const void *b)
{
	double x = ((const struct importance_pair *)a)->share;
	double y = ((const struct importance_pair *)b)->share;

	return (x < y) - (x > y);
}

/* Every step-th trial, into new arrays. */
static struct importance_data
data_thinned(
    const struct importance_data *data, double **points, double **losses)
{
	size_t dims = data->space->n, i;
	size_t step = data->n / IMPORTANCE_PAIR_TRIALS + 1;
	struct importance_data out = { .space = data->space };

	*points = xcalloc(data->n / step * dims + dims + 1, sizeof **points);
	*losses = xcalloc(data->n / step + 2, sizeof **losses);
	for (i = 0; i * step < data->n; i++) {
		memcpy(*points + i * dims, data->points + i * step * dims,
		    dims * sizeof **points);
		(*losses)[i] = data->losses[i * step];
	}
	out.n = i;
	out.points = *points;
	out.losses = *losses;
	return out;
}

size_t
importance_interactions(struct importance_pair *pairs, size_t *trials,
    const struct importance_data *data, const double *share, size_t trees)
{
	struct importance_pair
	    all[IMPORTANCE_PAIR_PARAMS * IMPORTANCE_PAIR_PARAMS];
	size_t params[IMPORTANCE_PAIR_PARAMS], i, k, n, n_all = 0;
	struct importance_data few;
	double *points, *losses;

	n = greatest(params, data->space, share);
	for (i = 0; i < n; i++)
		for (k = 0; k < i; k++)
			all[n_all++] =
			    (struct importance_pair){ params[k], params[i], 0 };
	few = data_thinned(data, &points, &losses);
	*trials = few.n;
	importance_fanova_pairs(all, n_all, &few, trees);
	free(points);
	free(losses);
	if (n_all > 0)
		qsort(all, n_all, sizeof *all, pair_compare);
	for (i = 0;
	     i < n_all && i < IMPORTANCE_PAIRS && all[i].share >= LEAST_SHARE;
	     i++)
		pairs[i] = all[i];
	return i;
}
