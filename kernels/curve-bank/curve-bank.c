/*
 * The learning-curve bank: Bayesian linear regression on a fixed grid of shapes
 * and noise levels.  The families are those of the prior of LC-PFN (Adriaensen
 * et al., "Efficient Bayesian learning curve extrapolation using prior-data
 * fitted networks", NeurIPS 2023): pow3, ilog2 and janoschek, all linear in the
 * remaining parameters once their shape is fixed.  Deterministic, in closed
 * form.
 */

#include <math.h>
#include <string.h>

/* No fused multiplications: the same sums on every machine. */
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("tree-vectorize", "fp-contract=off")
#endif

#include "kernels/alloc.h"
#include "kernels/curve-bank/curve-bank-formulas.h"
#include "kernels/curve-bank/curve-bank.h"

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
