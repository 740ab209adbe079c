/*
 * Scalar formulas shared by the CPU kernels and their CUDA versions, so that
 * both compute the same.
 */

#ifndef HPOTUNE_FORMULAS_H
#define HPOTUNE_FORMULAS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define KERNEL_INLINE static __host__ __device__ __forceinline__
#else
#define KERNEL_INLINE static inline __attribute__((always_inline, unused))
#endif

/* Where exp(-t) is negligible: larger distances are cut to this. */
#define KERNEL_FAR 700.0

/*
 * exp(x) for -708 <= x <= 0, relative error below 1e-15.  Without branches and
 * integer conversions, so that compilers vectorise loops of it: adding 1.5 *
 * 2^52 leaves the nearest integer in the low bits.
 */
KERNEL_INLINE double
kernel_exp(double x)
{
	const double round = 6755399441055744.0;
	double shifted = x * 1.44269504088896340736 + round, k, r, p;
	uint64_t bits, power;

	k = shifted - round;
	r = x - k * 6.93147180369123816490e-01;
	r = r - k * 1.90821492927058770002e-10;
	p = 1.0 / 479001600;
	p = p * r + 1.0 / 39916800;
	p = p * r + 1.0 / 3628800;
	p = p * r + 1.0 / 362880;
	p = p * r + 1.0 / 40320;
	p = p * r + 1.0 / 5040;
	p = p * r + 1.0 / 720;
	p = p * r + 1.0 / 120;
	p = p * r + 1.0 / 24;
	p = p * r + 1.0 / 6;
	p = p * r + 0.5;
	p = p * r + 1;
	p = p * r + 1;
	memcpy(&power, &shifted, sizeof power);
	memcpy(&bits, &p, sizeof bits);
	bits += power << 52;
	memcpy(&p, &bits, sizeof p);
	return p;
}

/*
 * A Matern covariance: (1 + t + square t^2) exp(-t) with t = sqrt(twice_nu r2);
 * its derivative with respect to r2 is -fall (1 + more t) exp(-t).  Coefficients
 * and no branch, so that loops over points are vectorised.
 */
struct matern {
	double twice_nu, square, fall, more;
};

/* 3/2, whose functions have a first derivative, or 5/2, which have a second. */
KERNEL_INLINE struct matern
matern_form(int rough)
{
	const struct matern three = { 3, 0, 1.5, 0 };
	const struct matern five = { 5, 1.0 / 3, 5.0 / 6, 1 };

	return rough ? three : five;
}

/* t for a squared distance. */
KERNEL_INLINE double
matern_reach(struct matern m, double r2)
{
	double t = sqrt(m.twice_nu * r2);

	return t > KERNEL_FAR ? KERNEL_FAR : t;
}

/*
 * t of the local variation, which is of the form 5/2 and whose squared distances
 * are 400 times as large: its scales are a twentieth.  Its covariance at t = 30
 * is 3e-11 and is 0 beyond, so that pairs far apart need no second exponential.
 */
#define MATERN_LOCAL 400.0
#define MATERN_LOCAL_FAR 30.0

KERNEL_INLINE int
matern_is_local(double r2)
{
	return 5 * MATERN_LOCAL * r2 < MATERN_LOCAL_FAR * MATERN_LOCAL_FAR;
}

KERNEL_INLINE double
matern_local_reach(double r2)
{
	return matern_is_local(r2) ? sqrt(5 * MATERN_LOCAL * r2) : KERNEL_FAR;
}

/* The covariance for t and e = exp(-t), without the signal. */
KERNEL_INLINE double
matern_value(struct matern m, double t, double e)
{
	return (1 + t + t * t * m.square) * e;
}

/* The derivative of the kernel with respect to the squared distance. */
KERNEL_INLINE double
matern_slope(struct matern m, double t, double e)
{
	return -m.fall * (1 + m.more * t) * e;
}

/*
 * ln of z Phi(z) + phi(z).  Left of -25 the two terms cancel and soon
 * underflow; there phi(z) is factored out of the asymptotic series of Mills'
 * ratio, whose terms are below 1e-15 after eight of them.
 */
KERNEL_INLINE double
log_gain(double z)
{
	const double ln_sqrt_2pi = 0.91893853320467274178;
	const double inv_sqrt_2pi = 0.39894228040143267794;
	double phi, u, series;

	if (z >= -25) {
		phi = exp(-0.5 * z * z) * inv_sqrt_2pi;
		return log(phi + z * 0.5 * erfc(-z * 0.70710678118654752440));
	}
	u = 1 / (z * z);
	series = 1 - 15 * u * (1 - 17 * u);
	series = 1 - 13 * u * series;
	series = 1 - 11 * u * series;
	series = 1 - 9 * u * series;
	series = 1 - 7 * u * series;
	series = 1 - 5 * u * series;
	series = 1 - 3 * u * series;
	return -0.5 * z * z - ln_sqrt_2pi + log(u) + log(series);
}

/* ln of the expected improvement below best: mean and variance > 0. */
KERNEL_INLINE double
log_improvement(double mean, double variance, double best)
{
	double sd = sqrt(variance);

	return log_gain((best - mean) / sd) + log(sd);
}

#endif /* HPOTUNE_FORMULAS_H */
