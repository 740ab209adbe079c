/*
 * Processor time of the kernels under Gaussian processes, on one core:
 *	bench/gp-kernel [cuda] [N ...]
 * cuda: time of the clock, by the kernels of hpotune-worker-cuda; 1: there is no GPU.
 * One line for each number of observations N: one likelihood with its gradient,
 * one process, one sweep over 100,000 candidates and what was not pruned of it.
 * The data are draws of a smooth function of 20 coordinates, with noise.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/kernels.h"
#include "src/base/mem.h"
#include "src/base/rng.h"

enum { D = 20, CANDIDATES = 100000, TOP = 10 };

static clockid_t by = CLOCK_PROCESS_CPUTIME_ID;

static double
now(void)
{
	struct timespec t;

	clock_gettime(by, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A few cosines in random directions. */
static double
smooth(const double *x)
{
	struct rng rng;
	double sum = 0, along;
	int i, j;

	rng_init(&rng, 7, 7);
	for (i = 0; i < 8; i++) {
		for (along = 0, j = 0; j < D; j++)
			along += rng_normal(&rng) * x[j];
		sum += cos(1.5 * along + rng_uniform(&rng) * 6);
	}
	return sum / 2;
}

static double
likelihood_time(
    const struct kernels *k, const struct gp_data *data, const double *theta)
{
	double value, gradient[D + 3], start = now(), least = INFINITY, took;
	int status;

	while (now() - start < 1 || least > 1e9) {
		took = -now();
		k->gp_likelihood(
		    k->dev, data, theta, 1, &value, gradient, &status);
		took += now();
		least = fmin(least, took);
	}
	return least;
}

static void
measure(const struct kernels *k, size_t n)
{
	double *x = xcalloc(n * D, sizeof *x), *y = xcalloc(n, sizeof *y);
	double *c = xcalloc((size_t)CANDIDATES * D, sizeof *c), theta[D + 3];
	double score[TOP], best = INFINITY, fit, top, one;
	struct gp_data data = { n, D, x, NULL, y, NULL, 1e-6, false };
	struct gp_sweep said;
	size_t i, index[TOP];
	struct rng rng;
	struct gp *gp;

	rng_init(&rng, 1, n);
	for (i = 0; i < n * D; i++)
		x[i] = rng_uniform(&rng);
	for (i = 0; i < n; i++) {
		y[i] = smooth(x + i * D) + 0.01 * rng_normal(&rng);
		best = fmin(best, y[i]);
	}
	for (i = 0; i < (size_t)CANDIDATES * D; i++)
		c[i] = rng_uniform(&rng);
	for (i = 0; i < D; i++)
		theta[i] = log(0.5);
	theta[D] = 0;
	theta[D + 1] = log(1e-4);
	theta[D + 2] = log(1e-4);
	one = likelihood_time(k, &data, theta);
	fit = -now();
	gp = k->gp_fit(k->dev, &data, theta);
	fit += now();
	top = -now();
	k->gp_top(k->dev, gp, c, CANDIDATES, best, TOP, index, score, &said);
	top += now();
	printf("%s n=%zu d=%d: likelihood and gradient %.2f ms, fit %.2f ms, "
	       "best %d of %d %.0f ms, %.2f %% of the variances\n",
	    k->name, n, D, 1e3 * one, 1e3 * fit, TOP, CANDIDATES, 1e3 * top,
	    100 * said.share);
	k->gp_free(k->dev, gp);
	free(x);
	free(y);
	free(c);
}

/* NULL with a line when there is no GPU. */
static const struct kernels *
kernels_given(bool cuda)
{
	char why[256] = "built without CUDA";
	const struct kernels *k = NULL;

	if (!cuda)
		return kernels_cpu();
	by = CLOCK_MONOTONIC;
#ifdef HAVE_CUDA
	k = kernels_cuda(why, sizeof why);
#endif
	if (k == NULL)
		(void)fprintf(stderr, "gp-kernel: %s\n", why);
	return k;
}

int
main(int argc, char **argv)
{
	static const size_t usual[] = { 200, 1000, 4000 };
	const bool cuda = argc > 1 && strcmp(argv[1], "cuda") == 0;
	const struct kernels *k = kernels_given(cuda);
	size_t i, first = 1 + cuda;

	if (k == NULL)
		return 1;
	/* As hpotune-worker begins. */
	mem_settle_matrices();
	for (i = first; i < (size_t)argc; i++)
		measure(k, strtoull(argv[i], NULL, 10));
	for (i = 0; (size_t)argc <= first && i < sizeof usual / sizeof *usual;
	     i++)
		measure(k, usual[i]);
	return 0;
}
