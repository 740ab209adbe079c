/*
 * Kernels on the CPU: scalar formulas, likelihood, predictions and their
 * gradients, compared with tests/support/gp-reference.c; difficult data.
 */

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "kernels/formulas.h"
#include "kernels/kernels.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "tests/support/gp-reference.h"
#include "tests/support/tap.h"

static const struct kernels *cpu;

/* How far a is from b, relative to the larger of b and unit. */
static double
apart(double a, long double b, double unit)
{
	double size = fmax(fabs((double)b), unit);

	return isfinite(a) ? (double)fabsl(a - b) / size : INFINITY;
}

static double
worse(double worst, double now)
{
	return now > worst || isnan(now) ? now : worst;
}

static void
small(double worst, double limit, const char *what)
{
	if (!ok(worst <= limit, "%s", what))
		printf("# off by %g, at most %g\n", worst, limit);
}

static void
test_scalars(void)
{
	const struct matern five = matern_form(0), three = matern_form(1);
	double worst = 0, gain = 0, x, step = -INFINITY;

	for (x = 0; x > -708; x -= 0.00917)
		worst =
		    worse(worst, (double)fabsl(kernel_exp(x) / expl(x) - 1));
	small(worst, 1e-14, "the exponential");
	ok(kernel_exp(0) == 1, "the exponential of 0 is 1");
	for (x = 6; x > -60; x -= 0.0131)
		gain = worse(gain,
		    apart(log_gain(x), gp_reference_improvement(0, 1, x), 1));
	for (x = 60; x < 1e8; x *= 1.7)
		gain = worse(gain,
		    apart(log_gain(-x), gp_reference_improvement(0, 1, -x), 1));
	small(gain, 1e-10, "the logarithm of the expected improvement");
	for (x = -24; x > -26; x -= 1e-3)
		step = worse(step, log_gain(x) - log_gain(x + 1e-3));
	ok(step < 0, "it falls across the seam at -25");
	ok(matern_reach(five, 1e300) == KERNEL_FAR &&
		matern_reach(three, 1e300) == KERNEL_FAR,
	    "infinitely far is the end of the range");
	ok(fabs(matern_local_reach(0.01) / (20 * matern_reach(five, 0.01)) -
		1) < 1e-14 &&
		matern_local_reach(1) == KERNEL_FAR,
	    "the local variation has a twentieth of the scales");
}

/* One problem: value and all slopes. */
static void
hold_likelihood(const struct gp_reference *p, double *value, double *slope)
{
	const struct gp_data *data = &p->data;
	double got, *gradient = xcalloc(data->d + 3, sizeof *gradient);
	int status;
	size_t j;

	cpu->gp_likelihood(
	    cpu->dev, data, p->theta, 1, &got, gradient, &status);
	*value = worse(
	    *value, apart(got, gp_reference_likelihood(data, p->theta), 1));
	for (j = 0; j < data->d + 3; j++)
		*slope = worse(
		    *slope, apart(gradient[j],
				gp_reference_slope(data, p->theta, j), 1));
	if (status != 0)
		*value = INFINITY;
	free(gradient);
}

static void
test_likelihood(void)
{
	static const size_t sizes[] = { 1, 2, 7, 63, 64, 65, 90 };
	static const size_t dims[] = { 1, 2, 5, 9 };
	double value = 0, slope = 0;
	struct gp_reference p;
	struct rng rng;
	size_t i, j, q;

	rng_init(&rng, 1, 1);
	for (i = 0; i < sizeof sizes / sizeof *sizes; i++)
		for (j = 0; j < sizeof dims / sizeof *dims; j++)
			for (q = 0; q < 3 && (q == 0 || sizes[i] < 60); q++) {
				gp_reference_make(
				    &p, &rng, sizes[i], dims[j], q, 1e-6);
				if (q == 2)
					p.data.extra = NULL;
				if (q == 0)
					p.data.category = NULL;
				hold_likelihood(&p, &value, &slope);
				gp_reference_free(&p);
			}
	small(value, 1e-10, "likelihoods");
	small(slope, 1e-7, "gradients of the likelihood");
}

/* Several vectors at once give what each gives alone. */
static void
hold_batch(bool rough)
{
	double theta[3 * 6], value[3], one, gradient[3 * 6], alone[6];
	struct gp_reference p;
	struct rng rng;
	bool same = true;
	int status[3];
	size_t i, j;

	rng_init(&rng, 1, 2);
	gp_reference_make(&p, &rng, 70, 3, 1, 1e-6);
	p.data.rough = rough;
	for (i = 0; i < 18; i++)
		theta[i] = p.theta[i % 6] + 0.3 * rng_normal(&rng);
	cpu->gp_likelihood(
	    cpu->dev, &p.data, theta, 3, value, gradient, status);
	for (i = 0; i < 3; i++) {
		cpu->gp_likelihood(
		    cpu->dev, &p.data, theta + i * 6, 1, &one, alone, status);
		same = same && one == value[i];
		for (j = 0; j < 6; j++)
			same = same && alone[j] == gradient[i * 6 + j];
	}
	ok(same, "a batch of hyperparameters gives what each gives alone");
	gp_reference_free(&p);
}

static bool
all_finite(const double *x, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!isfinite(x[i]))
			return false;
	return true;
}

/* Likelihood, means, variances, slopes: finite, variances positive. */
static void
survives(struct gp_reference *p, const char *what)
{
	double value, *gradient = xcalloc(p->data.d + 3, sizeof *gradient);
	double mean[2], variance[2], *slope;
	size_t d = p->data.d, i;
	struct gp *gp;
	bool good;
	int status;

	cpu->gp_likelihood(
	    cpu->dev, &p->data, p->theta, 1, &value, gradient, &status);
	good = status >= 0 && isfinite(value) && all_finite(gradient, d + 3);
	gp = cpu->gp_fit(cpu->dev, &p->data, p->theta);
	slope = xcalloc(4 * d, sizeof *slope);
	good = good && gp != NULL;
	if (gp != NULL) {
		double *x = xcalloc(2 * d, sizeof *x);

		for (i = 0; i < d; i++) {
			x[i] = p->x[i];
			x[d + i] = p->x[i] / 2;
		}
		cpu->gp_pend(cpu->dev, gp, x, 2);
		cpu->gp_slope(
		    cpu->dev, gp, x, 2, mean, variance, slope, slope + 2 * d);
		good = good && all_finite(mean, 2) &&
		       all_finite(slope, 4 * d) && variance[0] > 0 &&
		       variance[1] > 0;
		free(x);
	}
	ok(good, "%s", what);
	cpu->gp_free(cpu->dev, gp);
	free(gradient);
	free(slope);
}

static void
test_trying(void)
{
	struct gp_reference p;
	struct rng rng;
	size_t i, n = 40, d = 3;

	rng_init(&rng, 1, 3);
	gp_reference_make(&p, &rng, n, d, 0, 0);
	p.data.extra = NULL;
	p.theta[d + 1] = -60;
	p.theta[d + 2] = -60;
	for (i = 0; i < n * d; i++)
		p.x[i] = p.x[i % (d * 4)];
	survives(&p, "points that are there ten times, without noise");
	for (i = 0; i < n * d; i++)
		p.x[i] = 0.5 + 1e-9 * rng_uniform(&rng);
	survives(&p, "points that are all but one, without noise");
	for (i = 0; i < n * d; i++)
		p.x[i] = rng_uniform(&rng);
	p.theta[0] = p.theta[1] = -30;
	survives(&p, "coordinates that do not matter at all");
	p.theta[0] = p.theta[1] = 800;
	survives(&p, "coordinates that matter infinitely");
	p.theta[0] = p.theta[1] = 0;
	for (i = 0; i < n; i++)
		p.y[i] = 3;
	survives(&p, "all values equal");
	for (i = 0; i < n; i++)
		p.y[i] = 1e12 * rng_normal(&rng);
	survives(&p, "huge values");
	for (i = 0; i < n; i++)
		p.y[i] = 1e-200 * rng_normal(&rng);
	survives(&p, "tiny values");
	for (i = 0; i < n * d; i++)
		p.x[i] = 1e8 * rng_normal(&rng);
	survives(&p, "huge coordinates");
	gp_reference_free(&p);
}

static void
test_hopeless(void)
{
	struct gp_reference p;
	struct rng rng;
	double value, gradient[5];
	int status;

	rng_init(&rng, 1, 4);
	gp_reference_make(&p, &rng, 5, 2, 0, 0);
	p.theta[0] = NAN;
	cpu->gp_likelihood(
	    cpu->dev, &p.data, p.theta, 1, &value, gradient, &status);
	ok(status == -1 && value == -INFINITY && gradient[0] == 0 &&
		gradient[4] == 0,
	    "hyperparameters that are no numbers have no likelihood");
	ok(cpu->gp_fit(cpu->dev, &p.data, p.theta) == NULL, "… and no process");
	gp_reference_free(&p);
}

/* Points with some coordinates of others in place of those of the first. */
static double
near_apart(const struct gp *gp, const double *x, size_t m, size_t d)
{
	double *near = xcalloc(m * (d + 4), sizeof *near), worst = 0;
	double *mean = near + m * d, *variance = mean + m;
	double *other = variance + m, *square = other + m;
	size_t i, j;

	for (i = 0; i < m; i++)
		for (j = 0; j < d; j++)
			near[i * d + j] =
			    j == i % d || j == i / d % d ? x[i * d + j] : x[j];
	cpu->gp_near(cpu->dev, gp, x, near, m, mean, variance);
	cpu->gp_predict(cpu->dev, gp, near, m, other, square);
	for (i = 0; i < m; i++) {
		worst = worse(worst, apart(mean[i], other[i], 1));
		worst = worse(worst, apart(variance[i], square[i], 1));
	}
	free(near);
	return worst;
}

/* Predictions of one problem, pending points told in two parts. */
static void
hold_predictions(const struct gp_reference *p, struct rng *rng, size_t pending,
    double *worst_mean, double *worst_variance)
{
	size_t d = p->data.d, m = 300, i;
	double *x = xcalloc(m * d, sizeof *x), *mean = xcalloc(m, sizeof *mean);
	double *more = xcalloc(pending * d + 1, sizeof *more);
	double *variance = xcalloc(m, sizeof *variance);
	double *alone = xcalloc(m, sizeof *alone);
	struct gp *gp = cpu->gp_fit(cpu->dev, &p->data, p->theta);
	long double wide, square;

	for (i = 0; i < m; i++)
		gp_reference_point(p, rng, x + i * d);
	for (i = 0; i < d && p->data.n > 0; i++)
		x[i] = p->x[i];
	for (i = 0; i < pending; i++)
		gp_reference_point(p, rng, more + i * d);
	cpu->gp_pend(cpu->dev, gp, more, pending / 3);
	cpu->gp_pend(
	    cpu->dev, gp, more + pending / 3 * d, pending - pending / 3);
	cpu->gp_predict(cpu->dev, gp, x, m, mean, variance);
	cpu->gp_predict(cpu->dev, gp, x, m, alone, NULL);
	*worst_mean = worse(*worst_mean, near_apart(gp, x, m, d));
	for (i = 0; i < m; i++) {
		if (i % 37 == 0 || i == m - 1) {
			gp_reference_predict(&p->data, p->theta, more, pending,
			    x + i * d, &wide, &square);
			*worst_mean =
			    worse(*worst_mean, apart(mean[i], wide, 1));
			*worst_variance = worse(
			    *worst_variance, apart(variance[i], square, 1));
		}
		*worst_mean = worse(*worst_mean, apart(alone[i], mean[i], 1));
	}
	cpu->gp_free(cpu->dev, gp);
	free(x);
	free(more);
	free(mean);
	free(variance);
	free(alone);
}

static void
test_predict(void)
{
	static const size_t sizes[] = { 0, 1, 5, 64, 70 };
	double mean = 0, variance = 0;
	struct gp_reference p;
	struct rng rng;
	size_t i, q;

	rng_init(&rng, 1, 5);
	for (i = 0; i < sizeof sizes / sizeof *sizes; i++)
		for (q = 0; q < 3; q++) {
			gp_reference_make(&p, &rng, sizes[i], 4, q, 1e-6);
			hold_predictions(&p, &rng, q * 5, &mean, &variance);
			gp_reference_free(&p);
		}
	small(mean, 1e-9, "means, also alone, of 0 … 70 observations");
	small(variance, 1e-9, "variances, also with points that are pending");
}

/* Slopes against differences of predictions in long double. */
static void
hold_slope(bool rough)
{
	enum { D = 4, M = 5, PENDING = 3 };
	double x[M * D], pending[PENDING * D], z[D], mean[M], variance[M];
	double d_mean[M * D], d_variance[M * D], worst = 0;
	const double h = 1e-5;
	long double up, down, above, below;
	struct gp_reference p;
	struct rng rng;
	struct gp *gp;
	size_t i, j;

	rng_init(&rng, 1, 6);
	gp_reference_make(&p, &rng, 80, D, 1, 1e-6);
	p.data.rough = rough;
	for (i = 0; i < M; i++)
		gp_reference_point(&p, &rng, x + i * D);
	for (i = 0; i < PENDING; i++)
		gp_reference_point(&p, &rng, pending + i * D);
	gp = cpu->gp_fit(cpu->dev, &p.data, p.theta);
	cpu->gp_pend(cpu->dev, gp, pending, PENDING);
	cpu->gp_slope(cpu->dev, gp, x, M, mean, variance, d_mean, d_variance);
	for (i = 0; i < M * D; i++) {
		j = i % D;
		memcpy(z, x + i - j, sizeof z);
		z[j] = x[i] + h;
		gp_reference_predict(
		    &p.data, p.theta, pending, PENDING, z, &up, &above);
		z[j] = x[i] - h;
		gp_reference_predict(
		    &p.data, p.theta, pending, PENDING, z, &down, &below);
		if (p.category[j])
			up = down = above = below = 0;
		worst = worse(worst, apart(d_mean[i], (up - down) / 2 / h, 1));
		worst = worse(
		    worst, apart(d_variance[i], (above - below) / 2 / h, 1));
	}
	small(worst, 1e-7, "slopes of means and variances");
	gp_reference_predict(
	    &p.data, p.theta, pending, PENDING, x, &up, &above);
	small(worse(apart(mean[0], up, 1), apart(variance[0], above, 1)), 1e-9,
	    "… beside the means and variances");
	cpu->gp_free(cpu->dev, gp);
	gp_reference_free(&p);
}

int
main(void)
{
	cpu = kernels_cpu();
	is_str(cpu->name, "cpu", "the kernels of the CPU");
	test_scalars();
	test_likelihood();
	hold_batch(false);
	hold_batch(true);
	test_trying();
	test_hopeless();
	test_predict();
	hold_slope(false);
	hold_slope(true);
	return done_testing();
}
