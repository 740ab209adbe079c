/*
 * The expected improvement of the hypervolume: against closed forms, against
 * the mean over draws, and its slopes.
 */

#include <math.h>
#include <string.h>

#include "src/base/rng.h"
#include "strategies/evolution/pareto.h"
#include "strategies/gp/gp-hypervolume.h"
#include "strategies/gp/gp.h"
#include "tests/support/tap.h"

enum { ROWS = 12, CASES = 12, DRAWS = 20000 };

static const double reference[GP_LOSSES_MAX] = { 1, 1.1, 0.9 };

static double
gain(const double *rows, size_t n, size_t m, const double *mean,
    const double *sd)
{
	double by_mean[GP_LOSSES_MAX], by_sd[GP_LOSSES_MAX], log_gain;
	struct gp_boxes b;

	gp_boxes_init(&b, rows, n, m, reference);
	log_gain = gp_boxes_log_gain(&b, mean, sd, by_mean, by_sd);
	gp_boxes_free(&b);
	return log_gain;
}

/* Some dominate others, some are equal in a loss, some behind the reference. */
static void
rows_draw(double *rows, size_t m, struct rng *rng)
{
	size_t i;

	for (i = 0; i < ROWS * m; i++)
		rows[i] = floor(rng_uniform(rng) * 16) / 12;
}

static double
normal(struct rng *rng)
{
	return sqrt(-2 * log(1 - rng_uniform(rng))) *
	       cos(2 * M_PI * rng_uniform(rng));
}

/* Mean and standard error of the gain over draws. */
static double
drawn(double *error, const double *rows, size_t m, const double *mean,
    const double *sd, struct rng *rng)
{
	double y[GP_LOSSES_MAX], sum = 0, squares = 0, x;
	size_t i, k;

	for (i = 0; i < DRAWS; i++) {
		for (k = 0; k < m; k++)
			y[k] = mean[k] + sd[k] * normal(rng);
		x = hypervolume_gain(y, rows, ROWS, m, reference);
		sum += x / DRAWS;
		squares += x * x / DRAWS;
	}
	*error = sqrt(fmax(squares - sum * sum, 0) / DRAWS);
	return sum;
}

static void
check_draws(size_t m)
{
	double rows[ROWS * GP_LOSSES_MAX], mean[GP_LOSSES_MAX];
	double sd[GP_LOSSES_MAX], want, error, worst = 0, exact = 0, x;
	struct rng rng;
	size_t i, k;

	rng_init(&rng, 5, m);
	for (i = 0; i < CASES; i++) {
		rows_draw(rows, m, &rng);
		for (k = 0; k < m; k++) {
			mean[k] = rng_uniform(&rng);
			sd[k] = 0.05 + 0.5 * rng_uniform(&rng);
		}
		want = drawn(&error, rows, m, mean, sd, &rng);
		x = exp(gain(rows, ROWS, m, mean, sd));
		worst = fmax(worst, fabs(x - want) / (error + 1e-9));
		for (k = 0; k < m; k++)
			sd[k] = 1e-7;
		want = hypervolume_gain(mean, rows, ROWS, m, reference);
		x = exp(gain(rows, ROWS, m, mean, sd));
		exact = fmax(exact, fabs(x - want));
	}
	ok(worst < 4, "%zu losses: the mean over draws, to %.2f errors", m,
	    worst);
	ok(exact < 1e-5, "what is known for certain: the gain itself: %g",
	    exact);
}

static void
check_closed(void)
{
	static const double mean[] = { 0.3, 0.8, 0.5 }, sd[] = { 0.2, 0.5, 1 };
	static const double far[] = { 60, 70, 50 };
	double none = 0, one, a, b, x;
	size_t k;

	for (k = 0; k < 3; k++)
		none +=
		    gp_acquisition_log_ei(mean[k], sd[k], reference[k], &a, &b);
	ok(fabs(gain(NULL, 0, 3, mean, sd) - none) < 1e-12,
	    "without a front it is the product of improvements");
	/* One row: all below the reference but the corner behind it. */
	x = none - gp_acquisition_log_ei(mean[2], sd[2], reference[2], &a, &b);
	one = exp(x);
	for (x = 1, k = 0; k < 2; k++)
		x *= exp(gp_acquisition_log_ei(
			 mean[k], sd[k], reference[k], &a, &b)) -
		     exp(gp_acquisition_log_ei(mean[k], sd[k], 0.5, &a, &b));
	ok(fabs(exp(gain((double[]){ 0.5, 0.5 }, 1, 2, mean, sd)) - (one - x)) <
		1e-12,
	    "with one row the corner behind it is missing");
	x = gain((double[]){ 0.5, 0.5, 0.5 }, 1, 3, far, sd);
	ok(isfinite(x) && x < -5000, "far away it is a number: %g", x);
}

static void
check_slopes(size_t m)
{
	static const double step = 1e-6;
	double rows[ROWS * GP_LOSSES_MAX], at[2 * GP_LOSSES_MAX];
	double slope[2 * GP_LOSSES_MAX], keep, up, down, worst = 0;
	struct gp_boxes b;
	struct rng rng;
	size_t i, k;

	rng_init(&rng, 6, m);
	for (i = 0; i < CASES; i++) {
		rows_draw(rows, m, &rng);
		for (k = 0; k < m; k++) {
			at[k] = 2 * rng_uniform(&rng);
			at[m + k] = 0.05 + 0.5 * rng_uniform(&rng);
		}
		gp_boxes_init(&b, rows, ROWS, m, reference);
		(void)gp_boxes_log_gain(&b, at, at + m, slope, slope + m);
		gp_boxes_free(&b);
		for (k = 0; k < 2 * m; k++) {
			keep = at[k];
			at[k] = keep + step;
			up = gain(rows, ROWS, m, at, at + m);
			at[k] = keep - step;
			down = gain(rows, ROWS, m, at, at + m);
			at[k] = keep;
			worst = fmax(
			    worst, fabs((up - down) / (2 * step) - slope[k]) /
				       (1 + fabs(slope[k])));
		}
	}
	ok(worst < 1e-4, "%zu losses: slopes are those of differences: %g", m,
	    worst);
}

int
main(void)
{
	check_closed();
	check_draws(2);
	check_draws(3);
	check_slopes(2);
	check_slopes(3);
	return done_testing();
}
