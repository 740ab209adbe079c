/*
 * Points times components times coordinates: loops over blocks of 64
 * components, of constant length, compiled for several vector instruction
 * sets.  A block of all coordinates stays in the L1 cache while all points are
 * processed.
 */

#include <math.h>
#include <stdlib.h>

/* No fused multiply-add, so that results do not depend on the processor. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=off")
#endif

#include "kernels/alloc.h"
#include "kernels/target-clones.h"
#include "kernels/formulas.h"
#include "kernels/mix/mix.h"

enum {
	BLOCK = MIX_BLOCK,
	TOGETHER = 256, /* maximum number of rows in memory, and … */
	ROOM = 96 << 10 /* … of numbers in them, but for two rows */
};

/* Two points at a time: what is read of the components serves both. */
CLONES static void
block_add(const struct mix *mix, size_t at, const double *restrict x,
    const double *restrict y, double *restrict acc, double *restrict more)
{
	const double *mu, *scale;
	double q, r;
	size_t d;
	int i;

	for (d = 0; d < mix->d; d++) {
		mu = mix->mu[d] + at;
		scale = mix->scale[d] + at;
		for (i = 0; i < BLOCK; i++) {
			q = (x[d] - mu[i]) * scale[i];
			r = (y[d] - mu[i]) * scale[i];
			acc[i] -= q * q;
			more[i] -= r * r;
		}
	}
}

/* ln of the sum of exponentials of a row. */
CLONES static double
row_sum(const double *restrict row, size_t n)
{
	double most[BLOCK], sum[BLOCK], top = -INFINITY, total = 0, u;
	size_t at;
	int i;

	for (i = 0; i < BLOCK; i++) {
		most[i] = -INFINITY;
		sum[i] = 0;
	}
	for (at = 0; at < n; at += BLOCK)
		for (i = 0; i < BLOCK; i++)
			most[i] = row[at + i] > most[i] ? row[at + i] : most[i];
	for (i = 0; i < BLOCK; i++)
		top = most[i] > top ? most[i] : top;
	if (isinf(top))
		return top;
	for (at = 0; at < n; at += BLOCK)
		for (i = 0; i < BLOCK; i++) {
			u = row[at + i] - top;
			u = u > -KERNEL_FAR ? u : -KERNEL_FAR;
			sum[i] += kernel_exp(u);
		}
	for (i = 0; i < BLOCK; i++)
		total += sum[i];
	return top + log(total);
}

/* Up to TOGETHER points; row: room for their rows and one more block. */
static void
some_points(const struct mix *mix, const double *x, const double *more,
    size_t m, double *row, double *out)
{
	double *unused = row + m * mix->n, *acc;
	size_t at, i, q;

	for (at = 0; at < mix->n; at += BLOCK)
		for (i = 0; i < m; i++) {
			acc = row + i * mix->n + at;
			for (q = 0; q < BLOCK; q++)
				acc[q] =
				    mix->base[at + q] +
				    (more != NULL ? more[i * mix->n + at + q]
						  : 0);
			if (i % 2 == 1)
				block_add(mix, at, x + (i - 1) * mix->d,
				    x + i * mix->d, acc - mix->n, acc);
			else if (i + 1 == m)
				block_add(mix, at, x + i * mix->d,
				    x + i * mix->d, acc, unused);
		}
	for (i = 0; i < m; i++)
		out[i] = row_sum(row + i * mix->n, mix->n);
}

/*
 * How many of m rows of n numbers are in memory at a time: as many as a cache
 * holds.  Larger blocks are requested from the kernel each time, and to clear
 * their pages takes longer than to fill them.
 */
static size_t
rows_together(size_t n, size_t m)
{
	size_t rows = n == 0 ? TOGETHER : ROOM / n / 2 * 2;

	rows = rows < 2 ? 2 : rows > TOGETHER ? TOGETHER : rows;
	return rows < m ? rows : m;
}

void
mix_density(void *dev, const struct mix *mix, const double *x,
    const double *more, size_t m, double *out)
{
	size_t together = rows_together(mix->n, m), at, some;
	double *row = kernel_alloc(together + 1, mix->n + BLOCK);

	(void)dev;
	for (at = 0; at < m; at += some) {
		some = m - at < together ? m - at : together;
		some_points(mix, x + at * mix->d,
		    more != NULL ? more + at * mix->n : NULL, some, row,
		    out + at);
	}
	free(row);
}
