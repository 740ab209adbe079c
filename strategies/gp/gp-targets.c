/*
 * Results of trials as the values of a process: finite, standardised, and for
 * stopped trials an estimate with its variance.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "strategies/gp/gp.h"

enum { GUESS_MIN = 3 }; /* completed curves that make a guess */

/* A stopped row: where it stopped, and with what value. */
struct stop {
	int64_t step;
	size_t row;
	double value;
	bool curve; /* false: only a value */
};

static int
gp_targets_by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* n > 0 numbers, which are sorted. */
static double
median(double *v, size_t n)
{
	qsort(v, n, sizeof *v, gp_targets_by_number);
	return (v[(n - 1) / 2] + v[n / 2]) / 2;
}

/* The changes of completed curves after step; returns their number. */
static size_t
changes(double *v, const struct gp_rows *rows, const struct history *h,
    int64_t step)
{
	struct curve c;
	ptrdiff_t at;
	double change;
	size_t i, n = 0;

	for (i = 0; i < rows->n; i++) {
		if (rows->kinds[i] != GP_COMPLETED)
			continue;
		c = history_curve(h, rows->trials[i]);
		at = curve_at(&c, step);
		if (at < 0 || curve_step(&c, c.n - 1) < step)
			continue;
		change = history_loss(h, rows->trials[i]) - curve_value(&c, at);
		if (isfinite(change))
			v[n++] = change;
	}
	return n;
}

/* The median change after step, and its variance by the median deviation. */
static double
guess(double *variance, double *v, const struct gp_rows *rows,
    const struct history *h, int64_t step)
{
	size_t n = changes(v, rows, h, step), i;
	double middle, spread;

	*variance = NAN;
	if (n < GUESS_MIN)
		return 0;
	middle = median(v, n);
	for (i = 0; i < n; i++)
		v[i] = fabs(v[i] - middle);
	spread = 1.4826 * median(v, n);
	*variance = spread * spread;
	return middle;
}

static int
by_step(const void *a, const void *b)
{
	const struct stop *x = a, *y = b;

	if (x->curve != y->curve)
		return x->curve - y->curve;
	return (x->step > y->step) - (x->step < y->step);
}

static size_t
stops_find(struct stop *s, const struct gp_rows *rows, const struct history *h)
{
	struct curve c;
	size_t i, n = 0;

	for (i = 0; i < rows->n; i++) {
		if (rows->kinds[i] != GP_STOPPED)
			continue;
		c = history_curve(h, rows->trials[i]);
		s[n] = (struct stop){ .row = i, .curve = c.n > 0 };
		if (c.n > 0) {
			s[n].step = curve_step(&c, c.n - 1);
			s[n].value = curve_value(&c, c.n - 1);
		} else
			s[n].value = history_loss(h, rows->trials[i]);
		n++;
	}
	qsort(s, n, sizeof *s, by_step);
	return n;
}

void
gp_targets_guess_stopped(double *values, double *variances,
    const struct gp_rows *rows, const struct history *h)
{
	struct stop *s = xcalloc(rows->n + 1, sizeof *s);
	double *room = xcalloc(rows->n + 1, sizeof *room);
	double change = 0, variance = NAN;
	size_t n = stops_find(s, rows, h), i;

	for (i = 0; i < n; i++) {
		if (s[i].curve &&
		    (i == 0 || !s[i - 1].curve || s[i].step != s[i - 1].step))
			change = guess(&variance, room, rows, h, s[i].step);
		values[s[i].row] = s[i].value + change;
		variances[s[i].row] = variance;
	}
	free(s);
	free(room);
}

static void
finite_range(double *low, double *high, const double *v, size_t n)
{
	size_t i;

	*low = INFINITY;
	*high = -INFINITY;
	for (i = 0; i < n; i++) {
		if (!isfinite(v[i]))
			continue;
		*low = fmin(*low, v[i]);
		*high = fmax(*high, v[i]);
	}
	if (*low > *high)
		*low = *high = 0;
}

/* Mean 0 and variance 1; all 0 when they hardly differ. */
static void
standardise(struct gp_targets *v, size_t n)
{
	double mean = 0, squares = 0, deviation;
	size_t i;

	for (i = 0; i < n; i++)
		mean += v->y[i] / (double)n;
	for (i = 0; i < n; i++) {
		v->y[i] -= mean;
		squares += v->y[i] * v->y[i] / (double)n;
	}
	deviation = squares > 1e-24 ? sqrt(squares) : 1;
	for (i = 0; i < n; i++)
		v->y[i] = squares > 1e-24 ? v->y[i] / deviation : 0;
	v->centre += mean * v->scale;
	v->scale *= deviation;
}

void
gp_targets_from(struct gp_targets *out, const double *values, size_t n)
{
	double low, high;
	size_t i;

	*out = (struct gp_targets){ 0 };
	out->y = xcalloc(n + 1, sizeof *out->y);
	out->extra = xcalloc(n + 1, sizeof *out->extra);
	finite_range(&low, &high, values, n);
	/* In units of the greatest number no sum overflows. */
	out->scale = fmax(fmax(fabs(low), fabs(high)), 1e-300);
	for (i = 0; i < n; i++)
		out->y[i] = (values[i] == -INFINITY   ? low
				: isfinite(values[i]) ? values[i]
						      : high) /
			    out->scale;
	standardise(out, n);
}

/*
 * Variances in the units of y; slope: of the transformation at each value.
 * Where nothing could be guessed, they are no more than all values have.
 */
static void
extra_fill(struct gp_targets *out, const double *variances, const double *slope,
    size_t n)
{
	double extra;
	size_t i;

	for (i = 0; i < n; i++) {
		extra = slope[i] * sqrt(variances[i]) / out->scale;
		out->extra[i] = extra < 1 ? extra * extra : 1;
	}
}

/* Values and their variances, transformed and standardised. */
static void
results_transform(struct gp_targets *out, const double *values,
    const double *variances, size_t n, enum gp_warp warp)
{
	double *slope = xcalloc(n + 1, sizeof *slope);
	size_t i;

	gp_targets_from(out, values, n);
	for (i = 0; i < n; i++)
		slope[i] = 1;
	if (warp == GP_WARP_RANKS)
		gp_warp_ranks(out->y, n);
	else if (warp == GP_WARP_POWER)
		(void)gp_warp_power(out->y, slope, n);
	if (warp != GP_WARP_NONE)
		standardise(out, n);
	extra_fill(out, variances, slope, n);
	free(slope);
}

void
gp_targets_from_losses(struct gp_targets *out, const struct gp_rows *rows,
    const struct history *h, enum gp_warp warp)
{
	double *values = xcalloc(2 * rows->n + 1, sizeof *values);
	double *variances = values + rows->n, noise;
	size_t i;

	gp_targets_guess_stopped(values, variances, rows, h);
	for (i = 0; i < rows->n; i++) {
		if (rows->kinds[i] == GP_BAD)
			values[i] = NAN;
		else if (rows->kinds[i] == GP_COMPLETED) {
			values[i] = history_loss(h, rows->trials[i]);
			noise = history_noise(h, rows->trials[i]);
			variances[i] = noise * noise;
		}
	}
	results_transform(out, values, variances, rows->n, warp);
	free(values);
}

void
gp_targets_from_loss(struct gp_targets *out, const struct gp_rows *rows,
    const struct history *h, size_t k)
{
	double *values = xcalloc(rows->n + 1, sizeof *values);
	size_t i;

	for (i = 0; i < rows->n; i++)
		values[i] = rows->kinds[i] == GP_COMPLETED
				? history_losses(h, rows->trials[i])[k]
				: NAN;
	gp_targets_from(out, values, rows->n);
	free(values);
}

void
gp_targets_from_several(struct gp_targets *out, const struct gp_rows *rows,
    const struct history *h, enum gp_warp warp, struct rng *rng)
{
	double *values = xcalloc(2 * rows->n + 1, sizeof *values);

	gp_several_losses(values, rows, h, rng);
	results_transform(out, values, values + rows->n, rows->n, warp);
	free(values);
}

void
gp_targets_free(struct gp_targets *v)
{
	free(v->y);
	free(v->extra);
}
