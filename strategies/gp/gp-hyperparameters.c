/*
 * Maximum a posteriori hyperparameters: several starts ascend in lock-step on a
 * small part of the rows for a few steps; the best continues there, and then
 * with more and more rows.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "strategies/gp/gp.h"
#include "strategies/gp/lbfgs.h"

enum {
	PART_MIN = 128, /* rows that the first part has at most */
	PART_GROWTH = 3,
	PART_BRIEF = 64, /* rows of the first of two parts */
	LAST_BRIEF = 160, /* and of the last one at most */
	EVALS_EACH = 12, /* of each start, on the first part */
	EVALS_BEST = 60, /* of the best of them, there */
	EVALS_LATER = 12,
	EVALS_LAST = 20 /* of the last of two parts */
};

/* Where the logarithms of theta stay. */
static const double scale_low = -7, scale_high = 9;
static const double variance_low = -7, variance_high = 7;
static const double noise_low = -18, noise_high = 1, noise_none = -40;
static const double local_none = -1000; /* its variance is 0 */

/*
 * Of the logarithms of the relevances.  Few trials do not determine which of
 * many parameters matter: without this prior a parameter may count as
 * irrelevant, and the search goes to its bounds.
 */
static const double alike_deviation = 1;

/*
 * The prior of the noise and of the local variation is exponential in their
 * variances.  Where the trials do not tell them apart, it is noise: then the
 * same place is soon asked for again, and that tells.  Where it is the other way
 * round, functions with noise are explored as if each result were the truth.
 */
static const double noise_weight_usual = 30, local_weight = 40;

struct fit {
	const struct kernels *kernels;
	const struct gp_data *data;
	int *status; /* one per start */
	double noise_log, noise_weight;
};

/*
 * The relevances of numbers (of = 0) or of categories (1) are normal in the
 * logarithm around their common mean, which is free.  slope receives the rest.
 */
static double
relevances_alike(const double *theta, size_t d, const unsigned char *category,
    int of, double *slope)
{
	double mean = 0, step, sum = 0;
	size_t n = 0, j;

	for (j = 0; j < d; j++)
		if ((category != NULL && category[j]) == of) {
			mean += theta[j];
			n++;
		}
	for (j = 0; j < d; j++)
		if ((category != NULL && category[j]) == of) {
			step = (theta[j] - mean / (double)n) / alike_deviation;
			sum -= step * step / 2;
			slope[j] -= step / alike_deviation;
		}
	return sum;
}

/*
 * a: smaller values are preferred, within a range; s near 1, as the values are
 * standardised; both, and with noise_log 0.1 the noise, as in Optuna's
 * GPSampler.  That the relevances are alike, and the local variation, are our
 * own.
 */
double
gp_hyperparameters_prior(const double *theta, size_t d,
    const unsigned char *category, double noise_floor, double noise_log,
    double noise_weight, double *slope)
{
	double s = exp(theta[d]), above = exp(theta[d + 1]);
	double noise = noise_floor + above, a, sum = 0;
	size_t j;

	for (j = 0; j < d; j++) {
		a = exp(theta[j]);
		sum -= 0.1 / a + 0.1 * a;
		slope[j] = 0.1 / a - 0.1 * a;
	}
	sum += relevances_alike(theta, d, category, 0, slope);
	sum += relevances_alike(theta, d, category, 1, slope);
	slope[d] = 1 - s;
	slope[d + 1] = (noise_log / noise - noise_weight) * above;
	slope[d + 2] = -local_weight * exp(theta[d + 2]);
	return sum + theta[d] - s + noise_log * log(noise) -
	       noise_weight * noise + slope[d + 2];
}

/* Minus the logarithm of the posterior. */
static void
fit_eval(void *arg, const size_t *which, const double *theta, size_t k,
    double *f, double *g)
{
	struct fit *fit = arg;
	const struct gp_data *data = fit->data;
	size_t n = data->d + 3, i, j;
	double *slope = xcalloc(n, sizeof *slope);

	(void)which;
	fit->kernels->gp_likelihood(
	    fit->kernels->dev, data, theta, k, f, g, fit->status);
	for (i = 0; i < k; i++) {
		f[i] = -f[i] - gp_hyperparameters_prior(theta + i * n, data->d,
				   data->category, data->noise_floor,
				   fit->noise_log, fit->noise_weight, slope);
		for (j = 0; j < n; j++)
			g[i * n + j] = -g[i * n + j] - slope[j];
	}
	free(slope);
}

/* Short, middle and long scales, then mixed ones. */
static void
starts_fill(double *theta, size_t r, size_t d)
{
	static const double all[] = { 0, 2.3, -2 };
	double turn, *t;
	size_t i, j;

	for (i = 0; i < r; i++) {
		t = theta + i * (d + 3);
		for (j = 0; j < d; j++) {
			turn =
			    fmod((double)((i + 1) * (j + 1)) * 0.6180339887, 1);
			t[j] = i < 3 ? all[i] : 5 * turn - 2.5;
		}
		t[d] = 0;
		t[d + 1] = i % 2 == 0 ? -6 : -3;
		t[d + 2] = -3;
	}
}

static void
gp_hyperparameters_bounds_fill(
    double *low, double *high, size_t d, bool noiseless, bool local)
{
	size_t j;

	for (j = 0; j < d; j++) {
		low[j] = scale_low;
		high[j] = scale_high;
	}
	low[d] = variance_low;
	high[d] = variance_high;
	low[d + 1] = noiseless ? noise_none : noise_low;
	high[d + 1] = noiseless ? noise_none : noise_high;
	low[d + 2] = local ? noise_low : local_none;
	high[d + 2] = local ? noise_high : local_none;
}

/* m of the rows, evenly spread; the caller frees x, y and extra. */
static struct gp_data
part_of(const struct gp_data *all, size_t m)
{
	double *x = xcalloc(m * all->d + 1, sizeof *x);
	double *y = xcalloc(m, sizeof *y), *extra = xcalloc(m, sizeof *extra);
	struct gp_data part = *all;
	size_t i, from;

	for (i = 0; i < m; i++) {
		from = i * all->n / m;
		memcpy(
		    x + i * all->d, all->x + from * all->d, all->d * sizeof *x);
		y[i] = all->y[from];
		extra[i] = all->extra != NULL ? all->extra[from] : 0;
	}
	part.n = m;
	part.x = x;
	part.y = y;
	part.extra = extra;
	return part;
}

static void
part_free(struct gp_data *part)
{
	free((double *)part->x);
	free((double *)part->y);
	free((double *)part->extra);
}

/* Go on from r starts on m rows; the best becomes the first. */
static void
fit_part(struct lbfgs *l, struct fit *fit, const struct gp_data *all, size_t m,
    double *theta, size_t r)
{
	double *f = xcalloc(r, sizeof *f);
	struct gp_data part = part_of(all, m);
	size_t i, best = 0;

	fit->data = &part;
	lbfgs_run(l, theta, r, f);
	for (i = 1; i < r; i++)
		if (f[i] < f[best])
			best = i;
	memmove(theta, theta + best * l->d, l->d * sizeof *theta);
	fit->data = all;
	part_free(&part);
	free(f);
}

/* Rows of the first part. */
static size_t
first_rows(size_t most, bool brief)
{
	size_t m = most;

	if (brief)
		return m < PART_BRIEF ? m : PART_BRIEF;
	while (m > PART_MIN)
		m /= PART_GROWTH;
	return m;
}

/* From r starts to the best of them on most rows, which becomes the first. */
static void
fit_from_starts(struct lbfgs *l, struct fit *fit, const struct gp_data *data,
    size_t most, double *starts, size_t r, bool brief)
{
	size_t m = first_rows(most, brief);

	l->max_evals = EVALS_EACH;
	fit_part(l, fit, data, m, starts, r);
	l->max_evals = EVALS_BEST;
	for (fit_part(l, fit, data, m, starts, 1); m < most;) {
		m = brief || m * PART_GROWTH + PART_GROWTH > most
			? most
			: m * PART_GROWTH;
		l->max_evals = brief ? EVALS_LAST : EVALS_LATER;
		fit_part(l, fit, data, m, starts, 1);
	}
}

void
gp_hyperparameters_fit(double *theta, const struct kernels *kernels,
    const struct gp_data *data, const struct gp_hyperparameters_rule *rule)
{
	size_t n = data->d + 3, r = rule->restarts, most, j;
	double *starts = xcalloc(r * n, sizeof *starts);
	double *low = xcalloc(2 * n, sizeof *low), *high = low + n;
	struct fit fit = { .kernels = kernels, .noise_log = rule->noise_log };
	struct lbfgs l = { .d = n, .low = low, .high = high };

	fit.noise_weight =
	    rule->noise_weight > 0 ? rule->noise_weight : noise_weight_usual;
	l.eval = fit_eval;
	l.arg = &fit;
	l.gradient_tol = 1e-2;
	l.value_tol = 1e-6;
	fit.status = xcalloc(r, sizeof *fit.status);
	gp_hyperparameters_bounds_fill(
	    low, high, data->d, rule->noiseless, rule->local);
	most = data->n < rule->fit_trials ? data->n : rule->fit_trials;
	if (rule->brief && most > LAST_BRIEF)
		most = LAST_BRIEF;
	if (rule->from != NULL) {
		memcpy(starts, rule->from, n * sizeof *starts);
		l.max_evals = most > LAST_BRIEF ? EVALS_LATER : EVALS_LAST;
		fit_part(&l, &fit, data, most, starts, 1);
	} else {
		starts_fill(starts, r, data->d);
		fit_from_starts(&l, &fit, data, most, starts, r, rule->brief);
	}
	memcpy(theta, starts, n * sizeof *theta);
	for (j = 0; j < data->d; j++)
		theta[j] += rule->shorten;
	free(starts);
	free(low);
	free(fit.status);
}
