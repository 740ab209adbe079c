/* Value ranges and ticks. */

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/html/axis.h"
#include "src/model/plugin-options.h"

/* Differences of larger values would overflow. */
#define HUGEST 1e300
/*
 * A few values that are further away than this many widths of the rest are
 * ignored.
 */
#define FAR 2.0
#define MANY 10 /* number of values from which a few may be outliers */
#define DECADES 1.7 /* number of decades from which an axis is logarithmic */
#define ROOM 0.04

static int
real_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sort, and drop values that are not finite. */
static size_t
tidy(double *values, size_t n)
{
	size_t i, kept = 0;

	for (i = 0; i < n; i++)
		if (isfinite(values[i]))
			values[kept++] = fmax(fmin(values[i], HUGEST), -HUGEST);
	qsort(values, kept, sizeof *values, real_compare);
	return kept;
}

static void
widen(struct axis *a, double low, double high)
{
	double room = ROOM * (high - low);

	if (room <= 0)
		room = low != 0 ? fabs(low) / 10 : 0.5;
	a->low = low - room;
	a->high = high + room;
}

void
axis_fit(struct axis *a, double *values, size_t n)
{
	double low, high, near, far, width;
	size_t i;

	if ((n = tidy(values, n)) == 0) {
		a->low = 0;
		a->high = 1;
		return;
	}
	near = values[n / 20];
	far = values[n - 1 - n / 20];
	if (a->kind == AXIS_LINEAR && values[0] > 0 &&
	    log10(far) - log10(near) > DECADES)
		a->kind = AXIS_LOG;
	if (a->kind == AXIS_LOG) {
		for (i = 0; i < n; i++)
			values[i] = log10(values[i]);
		near = log10(near);
		far = log10(far);
	}
	low = values[0];
	high = values[n - 1];
	width = far - near;
	if (n >= MANY && width > 0) {
		low = fmax(low, near - FAR * width);
		high = fmin(high, far + FAR * width);
	}
	widen(a, low, high);
	if (a->kind == AXIS_LOG) {
		a->low = pow(10, a->low);
		a->high = pow(10, a->high);
	}
}

void
axis_include(struct axis *a, double value)
{
	if (!isfinite(value) || (a->kind == AXIS_LOG && value <= 0))
		return;
	value = fmax(fmin(value, HUGEST), -HUGEST);
	if (value < a->low)
		a->low = value;
	if (value > a->high)
		a->high = value;
}

bool
axis_holds(const struct axis *a, double value)
{
	return value >= a->low && value <= a->high;
}

double
axis_at(const struct axis *a, double value)
{
	double share;

	if (value <= a->low)
		return a->from;
	if (value >= a->high)
		return a->to;
	if (a->kind == AXIS_LOG)
		share = log(value / a->low) / log(a->high / a->low);
	else
		share = (value - a->low) / (a->high - a->low);
	return a->from + share * (a->to - a->from);
}

/* 1, 2 or 5 times a power of ten, at least width. */
static double
nice(double width)
{
	double power = pow(10, floor(log10(width)));

	if (width <= power)
		return power;
	if (width <= 2 * power)
		return 2 * power;
	return width <= 5 * power ? 5 * power : 10 * power;
}

static double
nice_time(double width)
{
	static const double steps[] = { 1, 2, 5, 10, 15, 30, 60, 120, 300, 600,
		900, 1800, 3600, 7200, 10800, 21600, 43200, 86400 };
	size_t i;

	if (width < 1)
		return nice(width);
	for (i = 0; i < sizeof steps / sizeof steps[0]; i++)
		if (width <= steps[i])
			return steps[i];
	return nice(width / 86400) * 86400;
}

/* As many digits as distinguish two ticks. */
static void
number_label(struct tick *t, double value, double step, double most)
{
	int decimals = (int)fmax(0, ceil(-log10(step) - 1e-9));
	int digits = 1 + (int)fmax(0, floor(log10(most / step) + 1e-9));

	if (most < 1e6 && decimals <= 6)
		(void)snprintf(
		    t->label, sizeof t->label, "%.*f", decimals, value);
	else
		(void)snprintf(t->label, sizeof t->label, "%.*g",
		    digits > 15 ? 15 : digits, value);
}

static void
time_label(struct tick *t, double seconds)
{
	struct buf text = { 0 };

	duration_put(&text, (int64_t)llround(seconds * 1000));
	(void)snprintf(t->label, sizeof t->label, "%s", buf_str(&text));
	buf_free(&text);
}

/*
 * The distance between ticks, so that there are at most most; first: the
 * position of the first one.
 */
static double
even_step(const struct axis *a, size_t most, double *first)
{
	double range = a->high - a->low, step = range / (double)most, count;

	for (;;) {
		step = a->kind == AXIS_TIME ? nice_time(step) : nice(step);
		if (a->kind == AXIS_COUNT && step < 1)
			step = 1;
		*first = ceil(a->low / step - 1e-9);
		count = floor(a->high / step + 1e-9) - *first + 1;
		if (!(count > (double)most) || step >= 2 * range)
			break;
		step *= 1.01;
	}
	return step;
}

static size_t
even_ticks(const struct axis *a, size_t most, struct tick *out)
{
	double first, step = even_step(a, most, &first), value;
	size_t n = 0;

	for (; n < most; n++) {
		value = (first + (double)n) * step;
		if (value > a->high + step * 1e-9)
			break;
		/* Range ends that differ in their last digits only. */
		if (n > 0 && value == out[n - 1].value)
			break;
		out[n].value = value;
		out[n].at = axis_at(a, value);
		if (a->kind == AXIS_TIME)
			time_label(&out[n], value);
		else
			number_label(&out[n], value, step,
			    fmax(fabs(a->low), fabs(a->high)));
	}
	return n;
}

/* 1, 2 and 5 times powers of ten; with decades only the powers. */
static size_t
log_some(const struct axis *a, double every, size_t most, struct tick *out)
{
	static const double times[] = { 1, 2, 5 };
	double low = floor(log10(a->low)), high = ceil(log10(a->high)), k, v;
	size_t n = 0, m, per = every > 0 ? 1 : 3;

	if (every > 0)
		low = ceil(log10(a->low) - 1e-9);
	for (k = low; k <= high; k += every > 0 ? every : 1)
		for (m = 0; m < per; m++) {
			v = times[m] * pow(10, k);
			if (v < a->low * (1 - 1e-9) || v > a->high * (1 + 1e-9))
				continue;
			if (n == most)
				return most + 1;
			out[n].value = v;
			out[n].at = axis_at(a, v);
			(void)snprintf(
			    out[n].label, sizeof out[n].label, "%g", v);
			n++;
		}
	return n;
}

static size_t
log_ticks(const struct axis *a, size_t most, struct tick *out)
{
	double decades = log10(a->high) - log10(a->low);
	size_t n = log_some(a, 0, most, out);

	if (n < 2)
		return even_ticks(a, most, out);
	if (n <= most)
		return n;
	return log_some(
	    a, fmax(1, ceil((decades + 1) / (double)most)), most, out);
}

size_t
axis_ticks(const struct axis *a, size_t most, struct tick *out)
{
	if (most > AXIS_TICKS)
		most = AXIS_TICKS;
	if (most == 0)
		return 0;
	if (a->kind == AXIS_LOG)
		return log_ticks(a, most, out);
	return even_ticks(a, most, out);
}
