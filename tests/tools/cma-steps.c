/*
 * The distribution of CMA-ES, step by step: for tests/peers/cmaes.t, which
 * compares it with the package of that name.  Input: numbers dims lambda
 * diagonal margin sigma, dims numbers of levels (0 = continuous), dims x mean,
 * and then generations: lambda points, the best first.  Output after each:
 * mean, sigma, stretches and the covariance (or its diagonal).
 */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/kernels.h"
#include "src/base/mem.h"
#include "strategies/cmaes/cmaes-distribution.h"

static bool
read_numbers(double *x, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (scanf("%lf", &x[i]) != 1)
			return false;
	return true;
}

static void
print_numbers(const double *x, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		printf("%.17g ", x[i]);
}

static void
axes_make(struct axis *axes, const double *levels, size_t dims)
{
	size_t i;

	for (i = 0; i < dims; i++) {
		axes[i] = (struct axis){ .kind = TPE_AXIS_NUMBER, .width = 1 };
		if (levels[i] > 0)
			axes[i] = (struct axis){ .kind = TPE_AXIS_LEVELS,
				.levels = levels[i] };
	}
}

int
main(void)
{
	double head[5], *mean, *points;
	struct axis *axes;
	struct cmaes_distribution cma;
	size_t dims, all;

	if (!read_numbers(head, 5))
		return 2;
	dims = (size_t)head[0];
	mean = xcalloc(2 * dims, sizeof *mean);
	axes = xcalloc(dims, sizeof *axes);
	if (!read_numbers(mean, 2 * dims))
		return 2;
	axes_make(axes, mean, dims);
	cmaes_distribution_init(&cma, &(struct cmaes_start){ .dims = dims,
					  .lambda = (size_t)head[1],
					  .diagonal = head[2] != 0,
					  .margin = head[3] != 0,
					  .axes = axes,
					  .kernels = kernels_cpu(),
					  .mean = mean + dims,
					  .sigma = head[4] });
	points = xcalloc(cma.lambda * dims, sizeof *points);
	all = cma.diagonal ? dims : dims * dims;
	while (read_numbers(points, cma.lambda * dims)) {
		if (cmaes_update(&cma, points, 0, 1) != 0)
			return 1;
		print_numbers(cma.mean, dims);
		print_numbers(&cma.sigma, 1);
		print_numbers(cma.stretch, dims);
		print_numbers(cma.cov, all);
		putchar('\n');
	}
	cmaes_distribution_free(&cma);
	free(points);
	free(axes);
	free(mean);
	return 0;
}
