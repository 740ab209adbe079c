/*
 * Logarithms of the probabilities of many intervals of the normal distribution.
 *
 * erfc(z) = t exp(f(t) - z^2) with t = 2 / (2 + z): f is smooth on all of
 * [0, infinity), and here a Chebyshev series of 2 t - 1, computed with 40 digits
 * (as in Schonfelder, "Chebyshev expansions for the error and related functions",
 * Mathematics of Computation 32, 1978).
 */

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* No fused multiply-add, so that results do not depend on the processor. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize( \
    "O3", "fp-contract=off", "no-math-errno", "no-trapping-math")
#endif

#include "kernels/formulas.h"
#include "kernels/target-clones.h"
#include "strategies/tpe/tpe-masses.h"
#include "strategies/tpe/tpe-normal.h"

enum { BLOCK = 64, TERMS = 28 };

#define FAR 26.0 /* beyond it erfc is nothing, even against erfc of NEAR */
#define NEAR 35.0 /* deviations; an interval beyond them is for tpe_normal */

static const double series[TERMS] = { -1.3026537197817094342,
	0.6419697923564902603, 0.019476473204185836312,
	-0.0095615147868086316419, -0.0009465953444820368663,
	0.00036683949785276145187, 0.000042523324806907771645,
	-0.000020278578112534243154, -1.6242900046470255135e-6,
	1.3036558355805232018e-6, 1.5626441722066143178e-8,
	-8.5238095914926542525e-8, 6.5290544390988514964e-9,
	5.0593434955514689418e-9, -9.9136415649303308674e-10,
	-2.2736512229318358557e-10, 9.646791102015526802e-11,
	2.3940380830391147447e-12, -6.8860275264975533984e-12,
	8.9448792730907257167e-13, 3.1309213993429580783e-13,
	-1.1270822361367252366e-13, 3.8109052551892320552e-16,
	7.1060976136092369878e-15, -1.5230282014571043043e-15,
	-9.4574945712912340005e-17, 1.2101371892242789923e-16,
	-2.8166630877471769718e-17 };

/* Replace each number by the probability above it. */
CLONES static void
block_above(double *restrict x)
{
	double z[BLOCK], y[BLOCK], d[BLOCK], e[BLOCK], was, v;
	int i, k;

	for (i = 0; i < BLOCK; i++) {
		z[i] = fabs(x[i]) * M_SQRT1_2;
		z[i] = z[i] > FAR ? FAR : z[i];
		y[i] = 8 / (2 + z[i]) - 2;
		d[i] = e[i] = 0;
	}
	/* Clenshaw's recurrence; y is twice the argument. */
	for (k = TERMS - 1; k > 0; k--)
		for (i = 0; i < BLOCK; i++) {
			was = d[i];
			d[i] = y[i] * d[i] - e[i] + series[k];
			e[i] = was;
		}
	for (i = 0; i < BLOCK; i++) {
		v = 0.5 * (series[0] + y[i] * d[i]) - e[i] - z[i] * z[i];
		v = kernel_exp(v) / (2 + z[i]);
		x[i] = x[i] < 0 ? 1 - v : v;
	}
}

/*
 * Replace low by ln(low - high): the method of FreeBSD's e_log.c (Sun, 1993),
 * without branches, for differences that are normal numbers.
 */
CLONES static void
block_log(double *restrict low, const double *restrict high)
{
	const uint64_t half_root = UINT64_C(0x3fe6a09e667f3bcd); /* sqrt(1/2) */
	const double round = 6755399441055744.0; /* 1.5 * 2^52 */
	double x, k, f, s, z, w, r, square;
	uint64_t bits, power;
	int i;

	for (i = 0; i < BLOCK; i++) {
		x = low[i] - high[i];
		memcpy(&bits, &x, sizeof bits);
		power = (bits - half_root + (UINT64_C(1024) << 52)) >> 52;
		bits -= (power - 1024) << 52;
		memcpy(&x, &bits, sizeof x);
		bits = power + UINT64_C(0x4338000000000000);
		memcpy(&k, &bits, sizeof k);
		k = k - round - 1024;
		f = x - 1;
		s = f / (2 + f);
		z = s * s;
		w = z * z;
		r = w * (3.999999999940941908e-01 +
			    w * (2.222219843214978396e-01 +
				    w * 1.531383769920937332e-01));
		r += z * (6.666666666666735130e-01 +
			     w * (2.857142874366239149e-01 +
				     w * (1.818357216161805012e-01 +
					     w * 1.479819860511658591e-01)));
		square = 0.5 * f * f;
		low[i] = k * 6.93147180369123816490e-01 -
			 ((square - (s * (square + r) +
					k * 1.90821492927058770002e-10)) -
			     f);
	}
}

/* Whether the two tails give the mass: neither short nor far out. */
static bool
by_tails(double middle, double half)
{
	return (half > 0.25 || middle * half > 0.5) && middle - half < NEAR;
}

/* A block of n intervals, right of 0 or around it. */
static void
block_masses(double *log_mass, const double *middle, const double *half, int n)
{
	double low[BLOCK] = { 0 }, high[BLOCK] = { 0 }, m;
	int i, which[BLOCK], count = 0;

	for (i = 0; i < n; i++) {
		m = fabs(middle[i]);
		low[count] = m - half[i];
		high[count] = m + half[i];
		which[count] = i;
		if (by_tails(m, half[i]))
			count++;
		else
			log_mass[i] = tpe_normal_log_around(m, half[i]);
	}
	if (count == 0)
		return;
	block_above(low);
	block_above(high);
	block_log(low, high);
	for (i = 0; i < count; i++)
		log_mass[which[i]] = low[i];
}

void
tpe_masses_log(
    double *log_mass, const double *middle, const double *half, size_t n)
{
	size_t at;

	for (at = 0; at < n; at += BLOCK)
		block_masses(log_mass + at, middle + at, half + at,
		    n - at < BLOCK ? (int)(n - at) : BLOCK);
}
