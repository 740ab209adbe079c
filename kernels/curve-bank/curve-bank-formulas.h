/*
 * The learning-curve bank: its shapes, and the formulas of one cell (a shape
 * and a noise level) and of the mixture of cells.
 */

#ifndef HPOTUNE_CURVE_BANK_FORMULAS_H
#define HPOTUNE_CURVE_BANK_FORMULAS_H

#include <math.h>
#include <stddef.h>

#include "kernels/formulas.h"

enum {
	CURVE_BANK_SHAPES = 112,
	CURVE_BANK_NOISES =
	    4 /* levels, 0.004 to 0.25, evenly in the logarithm */
};

/* Prior of c and a. */
#define CURVE_BANK_MEAN 0.5
#define CURVE_BANK_PRECISION 1.0

/* Cells with less than this share of the largest weight are skipped. */
#define CURVE_BANK_MIN 1e-3

struct curve_bank {
	size_t slots, n;
	double *g; /* slots x CURVE_BANK_SHAPES, of which n are shapes */
	double log_prior[CURVE_BANK_SHAPES];
	double v[CURVE_BANK_NOISES],
	    log_v[CURVE_BANK_NOISES]; /* variances of the noise */
};

/* Sums over the known values, weighted by slot: without shape, and for one. */
struct curve_bank_sums {
	double one, y, yy;
	double g, gg, gy;
};

/* Prediction of one cell for the last value. */
struct curve_bank_cell {
	double log_weight, mean, variance;
};

/* The mixture so far. */
struct curve_bank_mix {
	double sum, p, mean, square;
};

/*
 * The weight of slot k when the newest value is at slot n - 1, which has weight
 * 1.
 */
KERNEL_INLINE double
curve_bank_weight(size_t k, size_t n)
{
	double u = (double)(k + 1) / (double)n;

	return u * u * u;
}

/*
 * Posterior of (c, a) given one shape and noise variance v, prior N((m, m), 1 /
 * precision), and the evidence, up to a constant common to all cells.
 */
KERNEL_INLINE struct curve_bank_cell
curve_bank_solve(
    const struct curve_bank_sums *t, double v, double log_v, double temper)
{
	double m = CURVE_BANK_MEAN, g = t->g, gg = t->gg, gy = t->gy;
	double ry = t->y - m * t->one - m * g;
	double rg = gy - m * g - m * gg;
	double rr = t->yy - 2 * m * t->y - 2 * m * gy + m * m * t->one +
		    2 * m * m * g + m * m * gg;
	double a = t->one / v + CURVE_BANK_PRECISION;
	double b = g / v;
	double c = gg / v + CURVE_BANK_PRECISION;
	double det = a * c - b * b;
	double dc = (c * ry - b * rg) / (v * det);
	double da = (a * rg - b * ry) / (v * det);
	struct curve_bank_cell cell;

	cell.log_weight =
	    -0.5 * temper *
	    ((rr - dc * ry - da * rg) / v + t->one * log_v + log(det));
	cell.mean = m + dc;
	cell.variance = c / det + v;
	return cell;
}

/* Add a cell; best: the largest log weight of all cells. */
KERNEL_INLINE void
curve_bank_mix_add(struct curve_bank_mix *x, const struct curve_bank_cell *cell,
    double best, double threshold)
{
	double w = exp(cell->log_weight - best);

	x->sum += w;
	x->mean += w * cell->mean;
	x->square += w * (cell->variance + cell->mean * cell->mean);
	x->p +=
	    w * 0.5 * erfc((cell->mean - threshold) / sqrt(2 * cell->variance));
}

/* Probability, mean and standard deviation of the mixture. */
KERNEL_INLINE void
curve_bank_mix_result(
    const struct curve_bank_mix *x, double *p, double *mean, double *sd)
{
	*p = x->p / x->sum;
	*mean = x->mean / x->sum;
	*sd = sqrt(fmax(x->square / x->sum - *mean * *mean, 0.0));
}

#endif /* HPOTUNE_CURVE_BANK_FORMULAS_H */
