/*
 * The density of a Parzen estimator at many points.  Points times components
 * times dimensions is where the time goes: the loops over components run over
 * whole blocks, without branches, and logarithms of masses are taken once for
 * each pair of a level and a group of equal components.
 */

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "strategies/tpe-normal.h"
#include "strategies/tpe-parzen.h"

/* Beyond this an exponential changes no digit of a sum that holds a 1. */
#define NEGLIGIBLE (-60.0)

/* Logarithms: one row of components for each point, block by block. */
struct sums {
	const struct parzen *p;
	const double *points;
	size_t n;
	double *acc; /* blocks x points x PARZEN_BLOCK */
};

static double *
sums_row(const struct sums *s, size_t block, size_t point)
{
	return s->acc + (block * s->n + point) * PARZEN_BLOCK;
}

static void
row_set(double *restrict acc, const double *restrict from)
{
	int i;

	for (i = 0; i < PARZEN_BLOCK; i++)
		acc[i] = from[i];
}

/* Two points at a time: what is read of the components serves both. */
static void
rows_number(double *restrict acc, double *restrict more,
    const double *restrict mu, const double *restrict scale, double x, double y)
{
	double q, r;
	int i;

	for (i = 0; i < PARZEN_BLOCK; i++) {
		q = (x - mu[i]) * scale[i];
		r = (y - mu[i]) * scale[i];
		acc[i] -= q * q;
		more[i] -= r * r;
	}
}

static void
row_table(double *restrict acc, const uint32_t *restrict group,
    const double *restrict table)
{
	int i;

	for (i = 0; i < PARZEN_BLOCK; i++)
		acc[i] += table[group[i]];
}

/* All numbers of one block: what it needs stays near the processor. */
static void
add_numbers(struct sums *s, size_t block)
{
	const struct parzen *p = s->p;
	double unused[PARZEN_BLOCK] = { 0 };
	const double *x;
	size_t d, i, at;

	for (i = 0; i < s->n; i++)
		row_set(sums_row(s, block, i), p->base + block * PARZEN_BLOCK);
	for (d = 0; d < p->dims; d++) {
		if (p->axes[d].kind != AXIS_NUMBER)
			continue;
		at = d * p->stride + block * PARZEN_BLOCK;
		x = s->points + d;
		for (i = 0; i + 1 < s->n; i += 2)
			rows_number(sums_row(s, block, i),
			    sums_row(s, block, i + 1), p->mu + at,
			    p->scale + at, x[i * p->dims],
			    x[(i + 1) * p->dims]);
		if (i < s->n)
			rows_number(sums_row(s, block, i), unused, p->mu + at,
			    p->scale + at, x[i * p->dims], 0);
	}
}

/* What each group of components gives the level or choice x. */
static void
table_fill(double *table, const struct parzen *p, size_t d, double x)
{
	const double *mu = p->mu + d * p->stride;
	const double *scale = p->scale + d * p->stride;
	const uint32_t *member = p->member + p->table[d] * p->stride;
	double levels = p->axes[d].levels, sum, left, right, by;
	size_t g;
	uint32_t k;

	if (p->axes[d].kind == AXIS_CHOICE) {
		sum = p->own + levels * p->other;
		for (g = 0; g < p->n_groups[d]; g++)
			table[g] = log(p->other / sum);
		table[(size_t)x] = log((p->own + p->other) / sum);
		table[(size_t)levels] = -log(levels);
		return;
	}
	axis_share(&p->axes[d], x, &left, &right);
	for (g = 0; g < p->n_groups[d]; g++) {
		k = member[g];
		by = scale[k] * M_SQRT2;
		table[g] = normal_log_around(
		    ((left + right) / 2 - mu[k]) * by, (right - left) / 2 * by);
	}
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
add_levels(struct sums *s, size_t d, double *tables)
{
	const struct parzen *p = s->p;
	size_t blocks = p->stride / PARZEN_BLOCK, i, b, first;
	const uint32_t *group = p->group + p->table[d] * p->stride;
	double *table;

	for (i = 0; i < s->n; i++) {
		first = same_before(s, d, i);
		table = tables + first * p->n_groups[d];
		if (first == i)
			table_fill(table, p, d, s->points[i * p->dims + d]);
		for (b = 0; b < blocks; b++)
			row_table(
			    sums_row(s, b, i), group + b * PARZEN_BLOCK, table);
	}
}

/* ln of the sum of the exponentials of point i's row. */
static double
log_sum(const struct sums *s, size_t i)
{
	size_t b, blocks = s->p->stride / PARZEN_BLOCK;
	double most = -INFINITY, sum = 0;
	const double *row;
	int k;

	for (b = 0; b < blocks; b++) {
		row = sums_row(s, b, i);
		for (k = 0; k < PARZEN_BLOCK; k++)
			most = row[k] > most ? row[k] : most;
	}
	if (isinf(most))
		return most;
	for (b = 0; b < blocks; b++) {
		row = sums_row(s, b, i);
		for (k = 0; k < PARZEN_BLOCK; k++)
			if (row[k] - most > NEGLIGIBLE)
				sum += exp(row[k] - most);
	}
	return most + log(sum);
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

void
parzen_log_density(
    const struct parzen *p, const double *points, size_t n, double *out)
{
	struct sums s = { .p = p, .points = points, .n = n };
	double *tables = xcalloc(n * most_groups(p) + 1, sizeof *tables);
	size_t b, d, i;

	s.acc = xreallocarray(NULL, n * p->stride + 1, sizeof *s.acc);
	for (b = 0; b < p->stride / PARZEN_BLOCK; b++)
		add_numbers(&s, b);
	for (d = 0; d < p->dims; d++)
		if (p->axes[d].kind != AXIS_NUMBER)
			add_levels(&s, d, tables);
	for (i = 0; i < n; i++)
		out[i] = log_sum(&s, i);
	free(s.acc);
	free(tables);
}
