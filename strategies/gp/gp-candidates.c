/*
 * Generates candidate points: an even set over the whole cube and points near
 * good ones or, if there are fewer, all possible points.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "strategies/gp/gp.h"
#include "strategies/sobol.h"

enum {
	BLOCK_NUMBERS = 1 << 22, /* of a block of candidates: 32 MiB */
	NEAR_SHARE = 4 /* one of so many candidates is near a good row */
};

/* The best rows so far. */
struct found {
	double *rows, *score;
	size_t n, max, d;
};

static void
found_show(struct found *f, const double *row, double score)
{
	size_t i;

	if (isnan(score) || f->max == 0 ||
	    (f->n == f->max && !(score > f->score[f->n - 1])))
		return;
	if (f->n < f->max)
		f->n++;
	for (i = f->n - 1; i > 0 && score > f->score[i - 1]; i--) {
		f->score[i] = f->score[i - 1];
		memcpy(f->rows + i * f->d, f->rows + (i - 1) * f->d,
		    f->d * sizeof *row);
	}
	f->score[i] = score;
	memcpy(f->rows + i * f->d, row, f->d * sizeof *row);
}

/* With one model the kernels find the best without computing all scores. */
static void
block_top(struct found *f, const struct gp_acquisition_goal *g,
    const double *rows, size_t m)
{
	size_t *index = xcalloc(f->max, sizeof *index), n, i;
	double *score = xcalloc(f->max, sizeof *score);
	struct gp_sweep sweep = { 0 };

	n = g->kernels->gp_top(g->kernels->dev, g->models[0].gp, rows, m,
	    g->models[0].limit, f->max, index, score, &sweep);
	for (i = 0; i < n; i++)
		found_show(f, rows + index[i] * f->d, score[i]);
	free(index);
	free(score);
}

static void
block_score(struct found *f, const struct gp_acquisition_goal *g, double *rows,
    size_t m)
{
	double *score;
	size_t i;

	gp_axes_snap(g->space, rows, m);
	m = gp_where_rows(g->space, rows, m);
	if (m == 0)
		return;
	if (gp_acquisition_is_improvement(g)) {
		block_top(f, g, rows, m);
		return;
	}
	score = xcalloc(m, sizeof *score);
	gp_acquisition(g, rows, m, score, NULL);
	for (i = 0; i < m; i++)
		found_show(f, rows + i * f->d, score[i]);
	free(score);
}

/* Fold into [0, 1] at the bounds. */
static double
gp_candidates_fold(double x)
{
	x = fmod(fabs(x), 2);
	return x > 1 ? 2 - x : x;
}

/* Between -1 and 1, most of it near 0. */
static double
wiggle(struct rng *rng)
{
	uint64_t word = rng_u64(rng);

	return ((double)(word >> 32) + (double)(word & UINT32_MAX)) * 0x1p-32 -
	       1;
}

/*
 * A row near another: some of its coordinates moved, by steps from a
 * thousandth of the range to all of it.
 */
static void
near_fill(
    double *row, const struct gp_axes *g, const double *good, struct rng *rng)
{
	double reach = pow(1e-3, rng_uniform(rng));
	double share = rng_uniform(rng);
	size_t sure = (size_t)rng_below(rng, g->d), k;
	const struct gp_axis *a;

	for (k = 0; k < g->d; k++) {
		row[k] = good[k];
		if (k != sure && rng_uniform(rng) >= share)
			continue;
		a = &g->axes[k];
		if (a->category)
			row[k] = rng_uniform(rng);
		else
			row[k] = gp_candidates_fold(
			    row[k] +
			    wiggle(rng) *
				fmax(reach, a->levels > 0 ? 2 / a->levels : 0));
	}
}

static void
even_fill(double *rows, size_t m, size_t d, struct rng *rng)
{
	uint32_t shift[SOBOL_DIMS];
	size_t i, k;

	for (k = 0; k < SOBOL_DIMS; k++)
		shift[k] = rng_u32(rng);
	sobol_rows(rows, m, d, shift);
	for (i = 0; i < m; i++)
		for (k = SOBOL_DIMS; k < d; k++)
			rows[i * d + k] = rng_uniform(rng);
}

/* Even rows move between the bounds, the others to them. */
static void
bounds_apply(
    double *rows, size_t even, size_t m, const struct gp_acquisition_goal *g)
{
	size_t d = g->space->d, i, k;
	double *x = rows;

	for (i = 0; i < m; i++)
		for (k = 0; k < d; k++, x++)
			*x = i < even
				 ? g->low[k] + *x * (g->high[k] - g->low[k])
				 : fmin(fmax(*x, g->low[k]), g->high[k]);
}

/* Row number i of all possible rows. */
static void
every_fill(double *row, const struct gp_axes *g, size_t i)
{
	const struct gp_axis *a;
	size_t k, levels;

	for (k = 0; k < g->d; k++) {
		a = &g->axes[k];
		levels = (size_t)a->levels;
		row[k] = gp_axes_of_level(a, (double)(i % levels));
		i /= levels;
	}
}

static size_t
block_size(size_t d)
{
	size_t m = BLOCK_NUMBERS / (d + 1);

	return m < 1024 ? 1024 : m;
}

static void
gp_candidates_every(
    struct found *f, const struct gp_acquisition_goal *g, size_t all)
{
	size_t most = block_size(f->d), at, m, i;
	double *rows = xcalloc((most < all ? most : all) * f->d, sizeof *rows);

	for (at = 0; at < all; at += m) {
		m = all - at < most ? all - at : most;
		for (i = 0; i < m; i++)
			every_fill(rows + i * f->d, g->space, at + i);
		block_score(f, g, rows, m);
	}
	free(rows);
}

size_t
gp_candidates_best(double *rows, double *score, size_t k,
    const struct gp_acquisition_goal *g, const struct gp_candidates_rule *rule,
    struct rng *rng)
{
	struct found f = { rows, score, 0, k, g->space->d };
	size_t most = block_size(f.d), near, at, m, i;
	double size = gp_axes_size(g->space), *block;

	if (size <= (double)rule->whole) {
		gp_candidates_every(&f, g, (size_t)size);
		return f.n;
	}
	block =
	    xcalloc((most < rule->candidates ? most : rule->candidates) * f.d,
		sizeof *block);
	for (at = 0; at < rule->candidates; at += m) {
		m = rule->candidates - at < most ? rule->candidates - at : most;
		near = rule->n_good > 0 ? m / NEAR_SHARE : 0;
		even_fill(block, m - near, f.d, rng);
		for (i = m - near; i < m; i++)
			near_fill(block + i * f.d, g->space,
			    rule->good + i % rule->n_good * f.d, rng);
		bounds_apply(block, m - near, m, g);
		if (g->centre != NULL)
			gp_neighbours_make(block, m, g->space, g->centre, rng);
		block_score(&f, g, block, m);
	}
	free(block);
	return f.n;
}
