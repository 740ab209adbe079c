/*
 * Predictions of the learning-curve bank on the device, for many curves at
 * once: the CUDA version of curve-bank.c. One thread per curve computes the
 * weights of its values, one per curve and shape computes sums and solves the
 * cells, one per curve mixes them.  Neighbouring threads have neighbouring
 * curves and the same shape.  Compiled without fused multiply-add, as
 * curve-bank.c is, so the sums are equal.
 */

#include <math.h>

#include "kernels/curve-bank/curve-bank-formulas.h"
#include "kernels/cuda/cuda.h"

extern "C" {
#include "kernels/alloc.h"
#include "kernels/curve-bank/curve-bank.h"
}

enum { TOGETHER = 8192 /* curves on the device at a time */ };

/* Numbers of one curve. */
enum curve_row {
	ROW_COUNT, /* number of values present */
	ROW_THRESHOLD,
	ROW_ONE, /* sums */
	ROW_Y,
	ROW_YY,
	ROWS
};

/* All on the device; m to a row, but for the shapes. */
struct curves {
	size_t m, slots, shapes;
	double temper, v[CURVE_BANK_NOISES], log_v[CURVE_BANK_NOISES];
	const double *g; /* slots x CURVE_BANK_SHAPES */
	const double *log_prior; /* CURVE_BANK_SHAPES */
	double *y, *weight; /* slots rows each; unknown: 0 and 0 */
	double *row; /* ROWS rows */
	double *cell; /* three for each level of noise and shape */
	struct curve_guess *out; /* m */
};

/* The three numbers of cell at of curve i. */
#define CELL(c, at, i, which) ((c).cell[(3 * (at) + (which)) * (c).m + (i)])

static __global__ void
weigh_kernel(struct curves c)
{
	CUDA_PLACE(i, c.m);
	size_t n = (size_t)c.row[ROW_COUNT * c.m + i], k;
	double one = 0, sum = 0, square = 0, w, y;

	while (n > 0 && !isfinite(c.y[(n - 1) * c.m + i]))
		n--;
	for (k = 0; k < c.slots; k++) {
		y = k < n ? c.y[k * c.m + i] : NAN;
		w = isfinite(y) ? curve_bank_weight(k, n) : 0;
		y = isfinite(y) ? y : 0;
		one += w;
		sum += w * y;
		square += w * y * y;
		c.y[k * c.m + i] = y;
		c.weight[k * c.m + i] = w;
	}
	c.row[ROW_ONE * c.m + i] = one;
	c.row[ROW_Y * c.m + i] = sum;
	c.row[ROW_YY * c.m + i] = square;
}

static __global__ void
cells_kernel(struct curves c)
{
	CUDA_PLACE(i, c.m);
	struct curve_bank_sums t;
	struct curve_bank_cell cell;
	size_t s = CUDA_Y, k, at;
	double g, w, y;

	t.one = c.row[ROW_ONE * c.m + i];
	t.y = c.row[ROW_Y * c.m + i];
	t.yy = c.row[ROW_YY * c.m + i];
	t.g = t.gg = t.gy = 0;
	for (k = 0; k < c.slots; k++) {
		g = c.g[k * CURVE_BANK_SHAPES + s];
		w = c.weight[k * c.m + i];
		y = c.y[k * c.m + i];
		t.g += w * g;
		t.gg += w * g * g;
		t.gy += w * g * y;
	}
	for (k = 0; k < CURVE_BANK_NOISES; k++) {
		cell = curve_bank_solve(&t, c.v[k], c.log_v[k], c.temper);
		at = k * c.shapes + s;
		CELL(c, at, i, 0) = cell.log_weight + c.log_prior[s];
		CELL(c, at, i, 1) = cell.mean;
		CELL(c, at, i, 2) = cell.variance;
	}
}

static __global__ void
mix_kernel(struct curves c)
{
	CUDA_PLACE(i, c.m);
	struct curve_bank_mix mix = { 0, 0, 0, 0 };
	size_t n = CURVE_BANK_NOISES * c.shapes, at;
	double best = CELL(c, 0, i, 0), least;
	struct curve_bank_cell cell;

	for (at = 1; at < n; at++)
		best = CELL(c, at, i, 0) > best ? CELL(c, at, i, 0) : best;
	least = best + log(CURVE_BANK_MIN);
	for (at = 0; at < n; at++) {
		cell.log_weight = CELL(c, at, i, 0);
		if (cell.log_weight < least)
			continue;
		cell.mean = CELL(c, at, i, 1);
		cell.variance = CELL(c, at, i, 2);
		curve_bank_mix_add(
		    &mix, &cell, best, c.row[ROW_THRESHOLD * c.m + i]);
	}
	curve_bank_mix_result(&mix, &c.out[i].p, &c.out[i].mean, &c.out[i].sd);
}

/* The shapes to the device, and room for m curves. */
static int
curves_open(
    struct curves *s, struct cuda *c, const struct curve_bank *b, size_t m)
{
	size_t shapes = b->slots * CURVE_BANK_SHAPES;
	double *bank =
	    cuda_numbers(c, CUDA_BUFFER_MATRIX, shapes + CURVE_BANK_SHAPES);

	s->slots = b->slots;
	s->shapes = b->n;
	s->g = bank;
	s->log_prior = bank + shapes;
	s->y = cuda_numbers(c, CUDA_BUFFER_POINTS, 2 * m * b->slots);
	s->row = cuda_numbers(c, CUDA_BUFFER_SCALARS, m * ROWS);
	s->cell = cuda_numbers(
	    c, CUDA_BUFFER_COLUMNS, 3 * CURVE_BANK_NOISES * b->n * m);
	s->out = (struct curve_guess *)cuda_bytes(
	    c, CUDA_BUFFER_OTHER, m * sizeof *s->out);
	if (bank == NULL || s->y == NULL || s->row == NULL || s->cell == NULL ||
	    s->out == NULL)
		return -1;
	TRY(cuda_upload(bank, b->g, shapes));
	return cuda_upload(bank + shapes, b->log_prior, CURVE_BANK_SHAPES);
}

static int
some_curves(struct curves *s, struct cuda *c, const double *y, const size_t *n,
    const double *threshold, struct curve_guess *out)
{
	double *count = kernel_alloc(s->m, 1);
	size_t i;
	int given;

	for (i = 0; i < s->m; i++)
		count[i] = (double)n[i];
	given = cuda_upload(s->row + ROW_COUNT * s->m, count, s->m);
	free(count);
	TRY(given);
	TRY(cuda_upload(s->row + ROW_THRESHOLD * s->m, threshold, s->m));
	TRY(cuda_tile_place(c, y, s->m, s->slots, s->y));
	s->weight = s->y + s->m * s->slots;
	CUDA_LAUNCH(weigh_kernel, s->m, (size_t)1, (size_t)1, *s);
	CUDA_LAUNCH(cells_kernel, s->m, s->shapes, (size_t)1, *s);
	CUDA_LAUNCH(mix_kernel, s->m, (size_t)1, (size_t)1, *s);
	TRY(cudaGetLastError());
	return cudaMemcpy(out, s->out, s->m * sizeof *out,
		   cudaMemcpyDeviceToHost) == cudaSuccess
		   ? 0
		   : -1;
}

static int
guesses(struct cuda *c, const struct curve_bank *b, const double *y,
    const size_t *n, size_t m, double temper, const double *threshold,
    struct curve_guess *out)
{
	struct curves s;
	size_t at, i;

	TRY(curves_open(&s, c, b, m < TOGETHER ? m : (size_t)TOGETHER));
	s.temper = temper;
	for (i = 0; i < CURVE_BANK_NOISES; i++) {
		s.v[i] = b->v[i];
		s.log_v[i] = b->log_v[i];
	}
	for (at = 0; at < m; at += s.m) {
		s.m = m - at < TOGETHER ? m - at : (size_t)TOGETHER;
		TRY(some_curves(&s, c, y + at * b->slots, n + at,
		    threshold + at, out + at));
	}
	return 0;
}

extern "C" void
cuda_curve_bank_guesses(void *dev, const struct curve_bank *b, const double *y,
    const size_t *n, size_t m, double temper, const double *threshold,
    struct curve_guess *out)
{
	struct cuda *c = (struct cuda *)dev;

	if (!c->failed && guesses(c, b, y, n, m, temper, threshold, out) == 0)
		return;
	if (!c->failed)
		cuda_fail(c);
	curve_bank_guesses(NULL, b, y, n, m, temper, threshold, out);
}

extern "C" void
cuda_curve_bank_free(void *dev, struct curve_bank *b)
{
	curve_bank_free(NULL, b);
	cuda_release((struct cuda *)dev);
}
