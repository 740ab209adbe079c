/*
 * The density of a Parzen estimator at many points.  Most time goes into points
 * times components times dimensions: numbers are left to the kernels, and
 * logarithms of masses are computed once per pair of a level and a group of
 * equal components.
 */

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "src/base/mem.h"
#include "strategies/tpe/tpe-levels.h"
#include "strategies/tpe/tpe-masses.h"
#include "strategies/tpe/tpe-parzen.h"

enum {
	/* Points that are computed together, when tables are needed: … */
	TOGETHER = 256,
	TOGETHER_LEAST = 8, /* which share a table where they are equal */
	ROOM = 96 << 10, /* … in so many numbers, which a cache holds */
	TABLES = 4 /* dimensions whose tables are there together */
};

/* Log masses from tables: one row of components per point. */
struct sums {
	const struct parzen *p;
	const double *points;
	size_t n;
	double *acc; /* n x stride; NULL: no tables */
};

/* The masses of one dimension at the points. */
struct tables {
	size_t d, groups;
	const uint32_t *group; /* of a component */
	double
	    *mass; /* n x groups, where they are not those of another point */
	size_t *first; /* n: the first point with the same number */
};

/* Numbers for the groups of one table. */
struct spare {
	double *middle, *half, *mass;
	uint32_t *which;
};

static void
row_table(double *restrict acc, const struct tables *t, size_t i, size_t n)
{
	const uint32_t *restrict group = t->group;
	const double *restrict table = t->mass + t->first[i] * t->groups;
	size_t k;

	for (k = 0; k < n; k++)
		acc[k] += table[group[k]];
}

/* The same of TABLES dimensions: the row is read and written once. */
static void
row_tables(double *restrict acc, const struct tables *t, size_t i, size_t n)
{
	const uint32_t *restrict a = t[0].group, *restrict b = t[1].group;
	const uint32_t *restrict c = t[2].group, *restrict d = t[3].group;
	const double *restrict in_a = t[0].mass + t[0].first[i] * t[0].groups;
	const double *restrict in_b = t[1].mass + t[1].first[i] * t[1].groups;
	const double *restrict in_c = t[2].mass + t[2].first[i] * t[2].groups;
	const double *restrict in_d = t[3].mass + t[3].first[i] * t[3].groups;
	size_t k;

	for (k = 0; k < n; k++)
		acc[k] =
		    acc[k] + in_a[a[k]] + in_b[b[k]] + in_c[c[k]] + in_d[d[k]];
}

static void
choice_fill(double *table, const struct parzen *p, size_t d, double x)
{
	double levels = p->axes[d].levels, sum = p->own + levels * p->other;
	size_t g;

	for (g = 0; g < p->n_groups[d]; g++)
		table[g] = log(p->other / sum);
	table[(size_t)x] = log((p->own + p->other) / sum);
	table[(size_t)levels] = -log(levels);
}

/*
 * The log mass of level x in each group of components; l: those that are known
 * by distance, or NULL.
 */
static void
level_fill(double *table, const struct parzen *p, size_t d, double x,
    const struct tpe_levels *l, struct spare *s)
{
	const double *mu = p->mu + d * p->stride;
	const double *scale = p->scale + d * p->stride;
	const uint32_t *member = p->member + p->table[d] * p->stride;
	double left, right, by;
	size_t i, n = p->n_groups[d];
	uint32_t k;

	if (l != NULL)
		n = tpe_levels_fill(l, x, table, s->which);
	tpe_axis_share(&p->axes[d], x, &left, &right);
	for (i = 0; i < n; i++) {
		k = member[l != NULL ? s->which[i] : i];
		by = scale[k] * M_SQRT2;
		s->middle[i] = ((left + right) / 2 - mu[k]) * by;
		s->half[i] = (right - left) / 2 * by;
	}
	tpe_masses_log(l != NULL ? s->mass : table, s->middle, s->half, n);
	for (i = 0; l != NULL && i < n; i++)
		table[s->which[i]] = s->mass[i];
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

/* The tables of dimension d. */
static void
tables_fill(
    struct tables *t, const struct sums *s, size_t d, struct spare *spare)
{
	const struct parzen *p = s->p;
	struct tpe_levels levels;
	size_t i, different = 0;
	double *table, x;
	bool by_distance;

	t->d = d;
	t->groups = p->n_groups[d];
	t->group = p->group + p->table[d] * p->stride;
	for (i = 0; i < s->n; i++) {
		t->first[i] = same_before(s, d, i);
		different += t->first[i] == i;
	}
	by_distance = tpe_levels_init(&levels, p, d, different);
	for (i = 0; i < s->n; i++) {
		table = t->mass + i * t->groups;
		x = s->points[i * p->dims + d];
		if (t->first[i] != i)
			continue;
		if (p->axes[d].kind == TPE_AXIS_CHOICE)
			choice_fill(table, p, d, x);
		else
			level_fill(table, p, d, x, by_distance ? &levels : NULL,
			    spare);
	}
	if (by_distance)
		tpe_levels_free(&levels);
}

/* What count dimensions add to the rows of all points. */
static void
tables_add(struct sums *s, const struct tables *t, size_t count)
{
	size_t stride = s->p->stride, i, k;

	for (i = 0; i < s->n; i++) {
		if (count == TABLES) {
			row_tables(s->acc + i * stride, t, i, stride);
			continue;
		}
		for (k = 0; k < count; k++)
			row_table(s->acc + i * stride, t + k, i, stride);
	}
}

static void
levels_add(struct sums *s, struct tables *t, struct spare *spare)
{
	size_t d, count = 0;

	for (d = 0; d < s->p->dims; d++) {
		if (s->p->axes[d].kind == TPE_AXIS_NUMBER)
			continue;
		tables_fill(&t[count++], s, d, spare);
		if (count == TABLES) {
			tables_add(s, t, count);
			count = 0;
		}
	}
	tables_add(s, t, count);
}

/* Room for tables of some points; the caller frees tables[0].mass and .first. */
static void
tables_alloc(struct tables *t, struct spare *spare, size_t some, size_t groups)
{
	size_t i, all = some * groups;
	double *mass =
	    xreallocarray(NULL, TABLES * all + 4 * groups + 1, sizeof *mass);
	size_t *first = xreallocarray(NULL, TABLES * some + 1, sizeof *first);

	for (i = 0; i < TABLES; i++) {
		t[i].mass = mass + i * all;
		t[i].first = first + i * some;
	}
	spare->middle = mass + TABLES * all;
	spare->half = spare->middle + groups;
	spare->mass = spare->half + groups;
	spare->which = (uint32_t *)(spare->mass + groups);
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
	size_t some = points_together(p->stride, n), at;
	struct tables tables[TABLES];
	struct sums s = { .p = p };
	struct spare spare;
	struct numbers k;

	tables_alloc(tables, &spare, some, most_groups(p));
	numbers_init(&k, p, some);
	if (k.mix.d < p->dims)
		s.acc =
		    xreallocarray(NULL, some * p->stride + 1, sizeof *s.acc);
	for (at = 0; at < n; at += s.n) {
		s.points = points + at * p->dims;
		s.n = n - at < some ? n - at : some;
		if (s.acc != NULL) {
			memset(s.acc, 0, s.n * p->stride * sizeof *s.acc);
			levels_add(&s, tables, &spare);
		}
		numbers_gather(&k, &s);
		kernels->mix_density(
		    kernels->dev, &k.mix, k.x, s.acc, s.n, out + at);
	}
	numbers_free(&k);
	free(s.acc);
	free(tables[0].mass);
	free(tables[0].first);
}
