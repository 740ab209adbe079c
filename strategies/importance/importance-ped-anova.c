/*
 * PED-ANOVA.  Each parameter is counted on a grid; a Parzen estimator over the
 * grid, with Scott's bandwidth and a prior, smooths the counts.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/search.h"
#include "src/model/space.h"
#include "strategies/importance/importance.h"
#include "strategies/tpe/tpe-normal.h"
#include "strategies/tpe/tpe-parzen.h"

enum {
	GRID_STEPS = 50,
	REGIME_LEAST = 2 /* minimum number of trials for a density */
};

/* Where on a parameter's grid a trial is. */
struct grid {
	struct axis axis;
	size_t n; /* places */
};

static void
grid_init(struct grid *g)
{
	double n = GRID_STEPS;

	switch (g->axis.kind) {
	case TPE_AXIS_NUMBER:
		break;
	case TPE_AXIS_LEVELS:
		n = fmin(g->axis.levels, n);
		break;
	case TPE_AXIS_LOG_INT:
		/* Few places: at its low end such a scale is coarse. */
		n = fmin(ceil(log2(g->axis.most - g->axis.least + 1)) + 1, n);
		break;
	case TPE_AXIS_CHOICE:
		n = g->axis.levels;
		break;
	}
	g->n = (size_t)n;
}

/* The place of a number of the cube. */
static size_t
grid_place(const struct grid *g, double u)
{
	const struct axis *a = &g->axis;
	double t = u, last = (double)g->n - 1;

	switch (a->kind) {
	case TPE_AXIS_NUMBER:
		break;
	case TPE_AXIS_LEVELS:
		t = fmin(floor(u * a->levels), a->levels - 1) / (a->levels - 1);
		break;
	case TPE_AXIS_LOG_INT:
		t = rint(exp(a->low + tpe_axis_from_cube(a, u) * a->width));
		t = log(t / a->least) / log(a->most / a->least);
		break;
	case TPE_AXIS_CHOICE:
		return (size_t)fmin(tpe_axis_from_cube(a, u), last);
	}
	return (size_t)fmin(fmax(ceil(t * last - 0.5), 0), last);
}

/* Scott's bandwidth of counts on a grid, and not less than a place needs. */
static double
grid_bandwidth(const double *counts, size_t n)
{
	double all = 0, mean = 0, square = 0, sum = 0, sigma;
	double first = -1, third = -1, last = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		all += counts[i];
		mean += counts[i] * (double)i;
	}
	mean /= all;
	for (i = 0; i < n; i++) {
		if (counts[i] == 0)
			continue;
		square += counts[i] * ((double)i - mean) * ((double)i - mean);
		sum += counts[i];
		last = (double)i;
		if (first < 0 && sum >= floor(all / 4))
			first = last;
		if (third < 0 && sum > floor(all * 3 / 4))
			third = last;
	}
	if (third < 0)
		third = last;
	sigma = sqrt(square / fmax(1, all - 1));
	sigma = 1.059 * fmin((third - first) / 1.34, sigma) * pow(all, -0.2);
	return fmax(sigma, 0.5 / 1.64);
}

/* The mass of a normal, cut to the grid, at each place: added with weight. */
static void
add_normal(double *mass, size_t n, double mu, double sigma, double weight)
{
	double half = 0.5 / sigma, low = (-0.5 - mu) / sigma;
	double high = ((double)n - 0.5 - mu) / sigma;
	double all = tpe_normal_log_between(low, high);
	size_t i;

	for (i = 0; i < n; i++)
		mass[i] += weight * exp(tpe_normal_log_around(
					    ((double)i - mu) / sigma, half) -
					all);
}

/* The estimator of a numeric parameter: one component per value seen. */
static void
density_of_number(double *mass, const double *counts, size_t n, double all)
{
	double sigma = grid_bandwidth(counts, n), last = (double)n - 1;
	size_t i;

	for (i = 0; i < n; i++)
		if (counts[i] > 0)
			add_normal(
			    mass, n, (double)i, sigma, counts[i] / (all + 1));
	add_normal(mass, n, last / 2, last + 1, 1 / (all + 1));
}

/* The estimator of a choice: each component gives every choice some mass. */
static void
density_of_choice(double *mass, const double *counts, size_t n, double all)
{
	double seen = 0, other, norm, sum = 1 / (all + 1);
	size_t i;

	for (i = 0; i < n; i++)
		seen += counts[i] > 0;
	other = 1 / (seen + 1);
	norm = 1 + (double)n * other;
	for (i = 0; i < n; i++)
		mass[i] = counts[i] / (all + 1) / norm + sum / (double)n +
			  all / (all + 1) * other / norm;
}

/* The density over the grid of the trials that which lists. */
static void
ped_anova_density(double *mass, const struct importance_data *data,
    size_t param, const struct grid *g, const size_t *which, size_t n)
{
	double *counts = xcalloc(g->n, sizeof *counts);
	size_t i, dims = data->space->n;

	memset(mass, 0, g->n * sizeof *mass);
	for (i = 0; i < n; i++)
		counts[grid_place(g, data->points[which[i] * dims + param])]++;
	if (g->axis.kind == TPE_AXIS_CHOICE)
		density_of_choice(mass, counts, g->n, (double)n);
	else
		density_of_number(mass, counts, g->n, (double)n);
	free(counts);
}

static double
divergence(const double *top, const double *all, size_t n)
{
	double sum = 0, a, ratio;
	size_t i;

	for (i = 0; i < n; i++) {
		a = all[i] + 1e-12;
		ratio = (top[i] + 1e-12) / a - 1;
		sum += a * ratio * ratio;
	}
	return sum;
}

/* The loss of the worst trial in the best share. */
static double
quantile(const struct importance_data *data, double share)
{
	double *sorted, cut = data->losses[0];
	size_t i;

	if (share >= 1) {
		for (i = 1; i < data->n; i++)
			cut = fmax(cut, data->losses[i]);
		return cut;
	}
	sorted = xcalloc(data->n, sizeof *sorted);
	memcpy(sorted, data->losses, data->n * sizeof *sorted);
	qsort(sorted, data->n, sizeof *sorted, search_by_double);
	cut = sorted[(size_t)fmax(ceil(share * (double)data->n) - 1, 0)];
	free(sorted);
	return cut;
}

/* Trials up to cut, all or those where the parameter is active (< dims). */
static size_t
select_trials(
    size_t *which, const struct importance_data *data, double cut, size_t param)
{
	size_t i, n = 0, dims = data->space->n;

	for (i = 0; i < data->n; i++)
		if (data->losses[i] <= cut &&
		    (param >= dims || !isnan(data->points[i * dims + param])))
			which[n++] = i;
	return n;
}

static double
importance_one(const struct importance_data *data, size_t param, double target,
    double region)
{
	size_t dims = data->space->n;
	size_t *which = xcalloc(2 * data->n, sizeof *which);
	size_t *top = which + data->n;
	double n_all = (double)select_trials(which, data, region, dims);
	double n_top = (double)select_trials(top, data, target, dims);
	size_t in_all = select_trials(which, data, region, param);
	size_t in_top = select_trials(top, data, target, param);
	double *mass, alpha, beta, value = 0;
	struct grid g;

	if (tpe_axis_init(&g.axis, &data->space->params[param]) &&
	    in_all >= REGIME_LEAST && in_top > 0) {
		grid_init(&g);
		mass = xcalloc(2 * g.n, sizeof *mass);
		ped_anova_density(mass, data, param, &g, which, in_all);
		ped_anova_density(mass + g.n, data, param, &g, top, in_top);
		alpha = (double)in_top / n_top;
		beta = (double)in_all / n_all;
		value = alpha * alpha / beta * (n_top / n_all) *
			(n_top / n_all) * divergence(mass + g.n, mass, g.n);
		free(mass);
	}
	free(which);
	return value;
}

void
importance_ped_anova(double *out, const struct importance_data *data,
    double target, double region)
{
	double cut_target, cut_region;
	size_t i;

	for (i = 0; i < data->space->n; i++)
		out[i] = 0;
	if (data->n < 2)
		return;
	cut_target = quantile(data, target);
	cut_region = quantile(data, region);
	for (i = 0; i < data->space->n; i++)
		out[i] = importance_one(data, i, cut_target, cut_region);
}
