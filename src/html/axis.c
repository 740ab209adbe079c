/* Value ranges and ticks. */

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/search.h"
#include "src/base/text.h"
#include "src/html/axis.h"
#include "src/model/plugin-options.h"
#include "src/model/space.h"

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

/* Sort, and drop values that are not finite. */
static size_t
tidy(double *values, size_t n)
{
	size_t i, kept = 0;

	for (i = 0; i < n; i++)
		if (isfinite(values[i]))
			values[kept++] = fmax(fmin(values[i], HUGEST), -HUGEST);
	qsort(values, kept, sizeof *values, search_by_double);
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

void
axis_zoom(struct axis *a, const double range[2])
{
	a->low = fmax(range[0], -HUGEST);
	a->high = fmin(range[1], HUGEST);
	a->open = true;
	if (a->kind == AXIS_LOG && !(a->low > 0))
		a->kind = AXIS_LINEAR;
}

double
axis_at(const struct axis *a, double value)
{
	double share;

	if (value <= a->low && !a->open)
		return a->from;
	if (value >= a->high && !a->open)
		return a->to;
	if (a->kind == AXIS_LOG)
		share = log(value / a->low) / log(a->high / a->low);
	else
		share = (value - a->low) / (a->high - a->low);
	if (a->open)
		share = fmin(fmax(share, -9), 10);
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
	double low = floor(log10(a->low)), high = ceil(log10(a->high)), v;
	int step = every > 0 ? (int)every : 1, k;
	size_t n = 0, m, per = every > 0 ? 1 : 3;

	if (every > 0)
		low = ceil(log10(a->low) - 1e-9);
	for (k = (int)low; k <= (int)high; k += step)
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

/* Ticks of parameters: by their scale, at the positions of their values. */

enum {
	LABEL = 12, /* columns of a choice */
	LABEL_LEAST = 4,
	LETTER = 7 /* width of a column, about */
};

static double
cube_at(const struct space *s, size_t i, const struct value *v)
{
	struct value *values = xcalloc(s->n, sizeof *values);
	double *u = xcalloc(s->n, sizeof *u), at;

	values[i] = *v;
	space_encode(s, values, u);
	at = u[i];
	free(values);
	free(u);
	return at;
}

/* The part of a choice that fits below a column. */
static void
choice_label(struct tick *t, const struct value *v, size_t columns)
{
	struct buf text = { 0 };
	const char *s;
	size_t n;

	param_value_put(&text, v);
	s = buf_str(&text);
	n = text_fit(s, columns);
	while (n >= sizeof t->label - 4 || (n > 0 && (s[n] & 0xc0) == 0x80))
		n--;
	(void)snprintf(t->label, sizeof t->label, "%.*s%s", (int)n, s,
	    s[n] != '\0' ? "…" : "");
	buf_free(&text);
}

/* The columns that its labels need at least. */
static size_t
choice_width(const struct param *p)
{
	struct buf text = { 0 };
	size_t k, most = 0;

	for (k = 0; k < p->n_values && most < LABEL_LEAST; k++) {
		buf_clear(&text);
		param_value_put(&text, &p->values[k]);
		if (text_width(buf_str(&text)) > most)
			most = text_width(buf_str(&text));
	}
	buf_free(&text);
	return most < LABEL_LEAST ? most : LABEL_LEAST;
}

/* across: what the labels have beside each other, or not above 0: upwards. */
static size_t
choice_ticks(const struct space *s, size_t i, double across, size_t most,
    struct tick *out)
{
	const struct param *p = &s->params[i];
	size_t every = (p->n_values + most - 1) / most, k, n = 0;
	double each = across / (double)p->n_values / LETTER;
	size_t columns = LABEL, least = choice_width(p);

	while (across > 0 && every < p->n_values &&
	       each * (double)every < (double)least + 1)
		every++;
	if (across > 0 && each * (double)every < LABEL + 1)
		columns = (size_t)fmax(LABEL_LEAST, each * (double)every - 1);

	for (k = 0; k < p->n_values; k += every, n++) {
		out[n].value = (double)k;
		out[n].at = cube_at(s, i, &p->values[k]);
		choice_label(&out[n], &p->values[k], columns);
	}
	return n;
}

/* 0.9, 0.99, 0.999, …: when at least two lie in the range. */
static size_t
reverse_ticks(const struct param *p, size_t most, struct tick *out)
{
	size_t n = 0;
	double value;
	int k;

	for (k = 0; k < 16 && n < most; k++) {
		value = k == 0 ? 0 : 1 - pow(10, -k);
		if (value < p->min || value > p->max)
			continue;
		out[n].value = value;
		(void)snprintf(
		    out[n].label, sizeof out[n].label, "%.*f", k, value);
		n++;
	}
	return n < 2 ? 0 : n;
}

static size_t
number_ticks(const struct space *s, size_t i, const double *range, size_t most,
    struct tick *out)
{
	const struct param *p = &s->params[i];
	struct axis a = { .kind =
			      p->type == PARAM_INT ? AXIS_COUNT : AXIS_LINEAR,
		.low = range != NULL ? range[0] : p->min,
		.high = range != NULL ? range[1] : p->max };
	struct value v = { .kind = VALUE_REAL };
	size_t n = 0, kept = 0, k;

	if (!(a.high > a.low))
		a.high = a.low + 1;
	if (p->scale == SCALE_LOG && a.low > 0)
		a.kind = AXIS_LOG;
	if (p->scale == SCALE_REVERSE_LOG && range == NULL)
		n = reverse_ticks(p, most, out);
	if (n == 0)
		n = axis_ticks(&a, most, out);
	for (k = 0; k < n; k++) {
		v.real = out[k].value;
		if (v.real < p->min || v.real > p->max ||
		    (p->type == PARAM_INT && v.real != floor(v.real)))
			continue;
		out[k].at = cube_at(s, i, &v);
		out[kept++] = out[k];
	}
	return kept;
}

size_t
axis_param(const struct space *s, size_t i, const double *range, double from,
    double to, size_t most, struct tick *out)
{
	double low = 0, high = 1;
	size_t n = 0, k;

	if (most > AXIS_TICKS)
		most = AXIS_TICKS;
	switch (s->params[i].type) {
	case PARAM_FIXED:
		return 0;
	case PARAM_CHOICE:
		n = choice_ticks(s, i, to - from, most, out);
		break;
	case PARAM_FLOAT:
	case PARAM_INT:
		n = number_ticks(s, i, range, most, out);
		if (range != NULL) {
			low = axis_param_unit(s, i, range[0]);
			high = axis_param_unit(s, i, range[1]);
		}
		break;
	}
	for (k = 0; k < n; k++)
		out[k].at =
		    from + (out[k].at - low) / (high - low) * (to - from);
	return n;
}

double
axis_param_unit(const struct space *s, size_t i, double value)
{
	struct value v = { .kind = VALUE_REAL, .real = value };

	return cube_at(s, i, &v);
}
