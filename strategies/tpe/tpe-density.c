/*
 * The density of a Parzen estimator at many points.  Most time goes into points
 * times components times dimensions: numbers are left to the kernels, and
 * logarithms of masses are computed once per pair of a level and a group of
 * equal components.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "src/base/mem.h"
#include "strategies/tpe/tpe-masses.h"
#include "strategies/tpe/tpe-parzen.h"

enum {
	/* Points that are computed together, when tables are needed: … */
	TOGETHER = 256,
	TOGETHER_LEAST = 8, /* which share a table where they are equal */
	ROOM = 96 << 10 /* … in so many numbers, which a cache holds */
};

/* Log masses from tables: one row of components per point. */
struct sums {
	const struct parzen *p;
	const double *points;
	size_t n;
	double *acc; /* n x stride; NULL: no tables */
};

static void
row_table(double *restrict acc, const uint32_t *restrict group,
    const double *restrict table, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		acc[i] += table[group[i]];
}

/*
 * The log mass of level or choice x in each group of components; spare: room for
 * two numbers a group.
 */
static void
table_fill(
    double *table, const struct parzen *p, size_t d, double x, double *spare)
{
	const double *mu = p->mu + d * p->stride;
	const double *scale = p->scale + d * p->stride;
	const uint32_t *member = p->member + p->table[d] * p->stride;
	double levels = p->axes[d].levels, sum, left, right, by;
	double *middle = spare, *half = spare + p->n_groups[d];
	size_t g;
	uint32_t k;

	if (p->axes[d].kind == TPE_AXIS_CHOICE) {
		sum = p->own + levels * p->other;
		for (g = 0; g < p->n_groups[d]; g++)
			table[g] = log(p->other / sum);
		table[(size_t)x] = log((p->own + p->other) / sum);
		table[(size_t)levels] = -log(levels);
		return;
	}
	tpe_axis_share(&p->axes[d], x, &left, &right);
	for (g = 0; g < p->n_groups[d]; g++) {
		k = member[g];
		by = scale[k] * M_SQRT2;
		middle[g] = ((left + right) / 2 - mu[k]) * by;
		half[g] = (right - left) / 2 * by;
	}
	tpe_masses_log(table, middle, half, p->n_groups[d]);
}

/* The first point that has the same number in this dimension. */
static size_t
same_before(const struct sums *s, size_t d, size_t i)
{
	double x = s->points[i * s->p->dims + d];
	size_t k;

	for (k = 0; k < i; k++)
		if (s->points[k * s->p->dims + d] == x)
			break;
	return k;
}

static void
add_levels(struct sums *s, size_t d, double *tables, double *spare)
{
	const struct parzen *p = s->p;
	size_t i, first;
	const uint32_t *group = p->group + p->table[d] * p->stride;
	double *table;

	for (i = 0; i < s->n; i++) {
		first = same_before(s, d, i);
		table = tables + first * p->n_groups[d];
		if (first == i)
			table_fill(
			    table, p, d, s->points[i * p->dims + d], spare);
		row_table(s->acc + i * p->stride, group, table, p->stride);
	}
}

static size_t
most_groups(const struct parzen *p)
{
	size_t d, most = 0;

	for (d = 0; d < p->dims; d++)
		if (p->n_groups[d] > most)
			most = p->n_groups[d];
	return most;
}

/* The coordinates that are numbers, of the mixture and of points. */
struct numbers {
	struct mix mix;
	const double **mu, **scale; /* rows */
	double *x; /* n x mix.d */
};

static void
numbers_init(struct numbers *k, const struct parzen *p, size_t n)
{
	size_t d;

	k->mu = xcalloc(p->dims + 1, sizeof *k->mu);
	k->scale = xcalloc(p->dims + 1, sizeof *k->scale);
	k->mix = (struct mix){
		.n = p->stride, .base = p->base, .mu = k->mu, .scale = k->scale
	};
	for (d = 0; d < p->dims; d++)
		if (p->axes[d].kind == TPE_AXIS_NUMBER) {
			k->mu[k->mix.d] = p->mu + d * p->stride;
			k->scale[k->mix.d++] = p->scale + d * p->stride;
		}
	k->x = xcalloc(n * k->mix.d + 1, sizeof *k->x);
}

static void
numbers_free(struct numbers *k)
{
	free(k->mu);
	free(k->scale);
	free(k->x);
}

static void
numbers_gather(struct numbers *k, const struct sums *s)
{
	const struct parzen *p = s->p;
	size_t i, d, at = 0;

	for (i = 0; i < s->n; i++)
		for (d = 0; d < p->dims; d++)
			if (p->axes[d].kind == TPE_AXIS_NUMBER)
				k->x[at++] = s->points[i * p->dims + d];
}

static size_t
points_together(size_t stride, size_t n)
{
	size_t some = ROOM / (stride + 1);

	some = some < TOGETHER_LEAST ? TOGETHER_LEAST
	       : some > TOGETHER     ? TOGETHER
				     : some;
	return n < some ? n : some;
}

void
tpe_density_log(
    const struct parzen *p, const double *points, size_t n, double *out)
{
	const struct kernels *kernels = kernels_plain();
	size_t some = points_together(p->stride, n), d, at;
	size_t groups = most_groups(p);
	double *tables = xcalloc((some + 2) * groups + 1, sizeof *tables);
	struct sums s = { .p = p };
	struct numbers k;

	numbers_init(&k, p, some);
	if (k.mix.d < p->dims)
		s.acc =
		    xreallocarray(NULL, some * p->stride + 1, sizeof *s.acc);
	for (at = 0; at < n; at += s.n) {
		s.points = points + at * p->dims;
		s.n = n - at < some ? n - at : some;
		if (s.acc != NULL)
			memset(s.acc, 0, s.n * p->stride * sizeof *s.acc);
		for (d = 0; d < p->dims; d++)
			if (p->axes[d].kind != TPE_AXIS_NUMBER)
				add_levels(
				    &s, d, tables, tables + some * groups);
		numbers_gather(&k, &s);
		kernels->mix_density(
		    kernels->dev, &k.mix, k.x, s.acc, s.n, out + at);
	}
	numbers_free(&k);
	free(s.acc);
	free(tables);
}
