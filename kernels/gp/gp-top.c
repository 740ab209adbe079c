/*
 * The CPU backend of gp-sweep.c: means, and the triangular solve for a strip of
 * rows at a time.  One column per active candidate; dropping some compacts the
 * columns.
 */

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/alloc.h"
#include "kernels/formulas.h"
#include "kernels/gp/gp-few.h"
#include "kernels/gp/gp-model.h"
#include "kernels/gp/gp-near.h"
#include "kernels/gp/gp-sweep.h"
#include "kernels/target-clones.h"

enum { TOGETHER = 256 /* maximum number of columns in memory */ };

enum { FIRST = 64 /* as many as are wanted, usually */ };

struct under_way {
	const struct gp *gp;
	const struct gp_near *near; /* NULL: candidates are anywhere */
	double best;
	const double *z; /* placed candidates, by number */
	size_t m;
	double *mean; /* by number */
	/* By place. */
	size_t *number;
	double *point, *column, *taken;
	size_t stride;
};

static int
way_means(void *arg, double *mean)
{
	struct under_way *w = arg;

	if (w->near != NULL)
		gp_near_means(w->near, w->z, w->m, w->mean);
	else
		gp_predict_means(w->gp, w->z, w->m, w->mean);
	memcpy(mean, w->mean, w->m * sizeof *mean);
	return 0;
}

static int
way_load(void *arg, const size_t *number, size_t m)
{
	struct under_way *w = arg;
	size_t i, d = w->gp->shape.d;

	for (i = 0; i < m; i++) {
		w->number[i] = number[i];
		w->taken[i] = 0;
		memcpy(w->point + i * d, w->z + number[i] * d,
		    d * sizeof *w->point);
	}
	return 0;
}

/* Covariances of a strip of rows with the m active candidates. */
static void
way_cross(const struct under_way *w, size_t strip, size_t m, double *k)
{
	size_t i;

	if (w->near == NULL)
		gp_predict_cross(w->gp, strip, w->point, m, k, w->stride);
	else
		for (i = 0; i < m; i++)
			gp_near_cross(w->near, strip,
			    w->point + i * w->gp->shape.d, k + i * w->stride);
}

/* at is the first row of a strip: k becomes L^-1 k in these rows. */
static int
way_solve(void *arg, size_t at, size_t rows, size_t m, double *score)
{
	struct under_way *w = arg;
	const struct gp *gp = w->gp;
	const double *l = gp->factor + at;
	double *k = w->column + at, sum, *v;
	size_t i, q;

	way_cross(w, at / STRIP, m, k);
	if (at > 0)
		cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans,
		    (int)rows, (int)m, (int)at, -1, l, (int)gp->stride,
		    w->column, (int)w->stride, 1, k, (int)w->stride);
	cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans,
	    CblasNonUnit, (int)rows, (int)m, 1, l + at * gp->stride,
	    (int)gp->stride, k, (int)w->stride);
	for (i = 0; i < m; i++) {
		v = k + i * w->stride;
		for (sum = 0, q = 0; q < rows; q++)
			sum += v[q] * v[q];
		w->taken[i] += sum;
		score[i] = log_improvement(w->mean[w->number[i]],
		    gp_predict_variance(gp, w->taken[i]), w->best);
	}
	return 0;
}

static int
way_keep(void *arg, const size_t *which, size_t left, size_t solved)
{
	struct under_way *w = arg;
	size_t i, from, d = w->gp->shape.d;

	for (i = 0; i < left; i++) {
		from = which[i];
		if (from == i)
			continue;
		w->number[i] = w->number[from];
		w->taken[i] = w->taken[from];
		memcpy(w->point + i * d, w->point + from * d,
		    d * sizeof *w->point);
		memcpy(w->column + i * w->stride, w->column + from * w->stride,
		    solved * sizeof *w->column);
	}
	return 0;
}

static size_t
top_of(const struct gp *gp, const struct gp_near *near, const double *x,
    size_t m, double best, size_t k, size_t *index, double *score,
    struct gp_sweep *said)
{
	double *z = gp_predict_place(gp, x, m);
	struct under_way w = {
		.gp = gp, .near = near, .best = best, .z = z, .m = m
	};
	struct gp_sweep_device way = { .arg = &w,
		.rows = gp->strips.n,
		.block = STRIP,
		.first = near == NULL ? FIRST : 0,
		.together = TOGETHER,
		.signal = gp->shape.signal + gp->shape.local,
		.best = best,
		.means = way_means,
		.load = way_load,
		.solve = way_solve,
		.keep = way_keep };
	size_t found;

	w.stride = gp->strips.count * STRIP;
	w.mean = kernel_alloc(m, 1);
	w.number = kernel_alloc_sizes(TOGETHER);
	w.point = kernel_alloc(TOGETHER, gp->shape.d);
	w.column = kernel_alloc(TOGETHER, w.stride);
	w.taken = kernel_alloc(TOGETHER, 1);
	found = gp_sweep_top(&way, m, k, index, score, said);
	free(w.taken);
	free(w.column);
	free(w.point);
	free(w.number);
	free(w.mean);
	free(z);
	return found;
}

size_t
gp_top(void *dev, const struct gp *gp, const double *x, size_t m, double best,
    size_t k, size_t *index, double *score, struct gp_sweep *said)
{
	(void)dev;
	return top_of(gp, NULL, x, m, best, k, index, score, said);
}

size_t
gp_near_top(void *dev, const struct gp *gp, const double *base, const double *x,
    size_t m, double best, size_t k, size_t *index, double *score,
    struct gp_sweep *said)
{
	struct gp_near near;
	size_t found;

	(void)dev;
	gp_near_init(&near, gp, base);
	found = top_of(gp, &near, x, m, best, k, index, score, said);
	gp_near_free(&near);
	return found;
}
