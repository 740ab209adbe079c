/*
 * The learning-curve bank: Bayesian linear regression on a fixed grid of shapes
 * and noise levels.  The families are those of the prior of LC-PFN (Adriaensen
 * et al., "Efficient Bayesian learning curve extrapolation using prior-data
 * fitted networks", NeurIPS 2023): pow3, ilog2 and janoschek, all linear in the
 * remaining parameters once their shape is fixed.  Deterministic, in closed
 * form.
 */

#include <math.h>
#include <stddef.h>
#include <string.h>

/* No fused multiplications: the same sums on every machine. */
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("tree-vectorize", "fp-contract=off")
#endif

#include "kernels/alloc.h"
#include "kernels/curve-bank/curve-bank.h"
#include "kernels/formulas.h"

#define INLINE inline __attribute__((always_inline))

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
static INLINE double
curve_bank_weight(size_t k, size_t n)
{
	double u = (double)(k + 1) / (double)n;

	return u * u * u;
}

/*
 * Posterior of (c, a) given one shape and noise variance v, prior N((m, m), 1 /
 * precision), and the evidence, up to a constant common to all cells.
 */
static INLINE struct curve_bank_cell
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
static INLINE void
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
static INLINE void
curve_bank_mix_result(
    const struct curve_bank_mix *x, double *p, double *mean, double *sd)
{
	*p = x->p / x->sum;
	*mean = x->mean / x->sum;
	*sd = sqrt(fmax(x->square / x->sum - *mean * *mean, 0.0));
}

static const double noise_least = 0.004, noise_most = 0.25;

/* Sums over the known values, weighted by slot: for each shape, and without. */
struct sums {
	double one, y, yy;
	double g[CURVE_BANK_SHAPES], gg[CURVE_BANK_SHAPES],
	    gy[CURVE_BANK_SHAPES];
};

/* Add a shape from its raw values; constant shapes are skipped. */
static void
shape_add(struct curve_bank *b, const double *raw)
{
	double first = raw[0], last = raw[b->slots - 1];
	size_t k;

	if (fabs(first - last) < 1e-9)
		return;
	for (k = 0; k < b->slots; k++)
		b->g[k * CURVE_BANK_SHAPES + b->n] =
		    (raw[k] - last) / (first - last);
	b->n++;
}

/* (u + delay)^-alpha */
static void
add_pow3(struct curve_bank *b, double *raw)
{
	static const double delays[] = { 0, 0.05, 0.3 };
	double h = (double)b->slots;
	size_t i, d, k;

	for (i = 0; i < 8; i++)
		for (d = 0; d < 3; d++) {
			for (k = 0; k < b->slots; k++)
				raw[k] = pow((double)(k + 1) + delays[d] * h,
				    -pow(10, -1.3 + 0.3 * (double)i));
			shape_add(b, raw);
		}
}

/* 1 / ln(u + delay) */
static void
add_ilog2(struct curve_bank *b, double *raw)
{
	static const double delays[] = { 1, 3, 9, 27, 81 };
	size_t d, k;

	for (d = 0; d < 5; d++) {
		for (k = 0; k < b->slots; k++)
			raw[k] = 1 / log((double)(k + 1) + delays[d]);
		shape_add(b, raw);
	}
}

/* exp(-(u / time)^delta) */
static void
add_janoschek(struct curve_bank *b, double *raw)
{
	static const double deltas[] = { 0.4, 0.6, 0.85, 1.2, 1.8, 3 };
	double time;
	size_t i, d, k;

	for (i = 0; i < 13; i++)
		for (d = 0; d < 6; d++) {
			time =
			    (double)b->slots * pow(10, -2.3 + 0.25 * (double)i);
			for (k = 0; k < b->slots; k++)
				raw[k] = exp(
				    -pow((double)(k + 1) / time, deltas[d]));
			shape_add(b, raw);
		}
}

/* The shapes of a family share its weight. */
static void
add_family(struct curve_bank *b, double weight, double *raw,
    void (*add)(struct curve_bank *, double *))
{
	size_t first = b->n, s;

	add(b, raw);
	for (s = first; s < b->n; s++)
		b->log_prior[s] = log(weight / (double)(b->n - first));
}

static void
add_noises(struct curve_bank *b)
{
	size_t i;

	for (i = 0; i < CURVE_BANK_NOISES; i++) {
		b->log_v[i] = 2 * (log(noise_least) +
				      log(noise_most / noise_least) *
					  (double)i / (CURVE_BANK_NOISES - 1));
		b->v[i] = exp(b->log_v[i]);
	}
}

struct curve_bank *
curve_bank_new(void *dev, size_t slots)
{
	struct curve_bank *b = calloc(1, sizeof(*b));
	double *raw = kernel_alloc(slots, 1);

	(void)dev;
	if (b == NULL)
		abort();
	b->slots = slots;
	b->g = kernel_alloc(slots, CURVE_BANK_SHAPES);
	memset(b->g, 0, slots * CURVE_BANK_SHAPES * sizeof(double));
	add_family(b, 1, raw, add_pow3);
	add_family(b, 0.2, raw, add_ilog2);
	add_family(b, 1, raw, add_janoschek);
	add_noises(b);
	free(raw);
	return b;
}

void
curve_bank_free(void *dev, struct curve_bank *b)
{
	(void)dev;
	if (b == NULL)
		return;
	free(b->g);
	free(b);
}

static void
sums_add(struct sums *restrict t, const double *restrict g, double y, double w)
{
	size_t s;

	t->one += w;
	t->y += w * y;
	t->yy += w * y * y;
	for (s = 0; s < CURVE_BANK_SHAPES; s++) {
		t->g[s] += w * g[s];
		t->gg[s] += w * g[s] * g[s];
		t->gy[s] += w * g[s] * y;
	}
}

static void
sums_take(struct sums *t, const struct curve_bank *b, const double *y, size_t n)
{
	size_t k;

	memset(t, 0, sizeof(*t));
	while (n > 0 && !isfinite(y[n - 1]))
		n--;
	for (k = 0; k < n; k++)
		if (isfinite(y[k]))
			sums_add(t, b->g + k * CURVE_BANK_SHAPES, y[k],
			    curve_bank_weight(k, n));
}

/* The cells of all noises and shapes; how many. */
static size_t
cells_solve(const struct curve_bank *b, const struct sums *t, double temper,
    struct curve_bank_cell *cells)
{
	struct curve_bank_sums one = { t->one, t->y, t->yy, 0, 0, 0 };
	size_t i, s, at = 0;

	for (i = 0; i < CURVE_BANK_NOISES; i++)
		for (s = 0; s < b->n; s++, at++) {
			one.g = t->g[s];
			one.gg = t->gg[s];
			one.gy = t->gy[s];
			cells[at] = curve_bank_solve(
			    &one, b->v[i], b->log_v[i], temper);
			cells[at].log_weight += b->log_prior[s];
		}
	return at;
}

static double
cells_best(const struct curve_bank_cell *cells, size_t n)
{
	double best = cells[0].log_weight;
	size_t i;

	for (i = 1; i < n; i++)
		if (cells[i].log_weight > best)
			best = cells[i].log_weight;
	return best;
}

static void
cells_mix(const struct curve_bank_cell *cells, size_t n, double threshold,
    struct curve_guess *out)
{
	double best = cells_best(cells, n), least = best + log(CURVE_BANK_MIN);
	struct curve_bank_mix mix = { 0, 0, 0, 0 };
	size_t i;

	for (i = 0; i < n; i++)
		if (!(cells[i].log_weight < least))
			curve_bank_mix_add(&mix, &cells[i], best, threshold);
	curve_bank_mix_result(&mix, &out->p, &out->mean, &out->sd);
}

void
curve_bank_guess(void *dev, const struct curve_bank *b, const double *y,
    size_t n, double temper, double threshold, struct curve_guess *out)
{
	struct curve_bank_cell cells[CURVE_BANK_SHAPES * CURVE_BANK_NOISES];
	struct sums t;
	size_t n_cells;

	(void)dev;
	sums_take(&t, b, y, n);
	n_cells = cells_solve(b, &t, temper, cells);
	cells_mix(cells, n_cells, threshold, out);
}
