/*
 * Which form values have is tried out: a form is used if every value comes back
 * with the same bits.
 *
 * A decimal with up to nine digits after the point is the quotient of two whole
 * numbers that a double has exactly, and division rounds it as reading the
 * decimal did.  With more digits than a value needs the quotient is the same
 * number, so one count of digits, the largest, does for all.
 */

#include <float.h>
#include <math.h>

#include "src/model/history/curve-pack.h"

static const double powers[CURVE_PACK_DIGITS + 1] = { 1, 1e1, 1e2, 1e3, 1e4,
	1e5, 1e6, 1e7, 1e8, 1e9 };

/* Up to this number, digits after the point are distinct in a double. */
#define SMALL 9e6

/* Minus zero is not zero here, and each NaN is itself alone. */
static bool
same_bits(double a, double b)
{
	return memcmp(&a, &b, sizeof a) == 0;
}

static bool
is_float(double v)
{
	/* A larger one has no float; converting it is undefined. */
	if (isfinite(v) && fabs(v) > (double)FLT_MAX)
		return false;
	return same_bits((double)(float)v, v);
}

/* Whether a value is a whole number of units, at most INT32_MAX. */
static bool
curve_pack_is_whole(double v, double units, double *whole)
{
	*whole = rint(v * units);
	if (!(fabs(*whole) <= INT32_MAX))
		return false;
	/* A number is stored without the sign of zero. */
	*whole = (double)(int32_t)*whole;
	return same_bits(*whole / units, v);
}

/*
 * Whether a value may have few digits: at most CURVE_PACK_DIGITS behind the
 * point, or a size at which digits are not looked at.
 */
static bool
is_decimal(double v)
{
	return isfinite(v) &&
	       (fabs(v) > SMALL || rint(v * powers[CURVE_PACK_DIGITS]) /
					   powers[CURVE_PACK_DIGITS] ==
				       v);
}

/* The digits that this value needs, not fewer than at least; -1: too many. */
static int
digits_of(double v, bool negative, int at_least)
{
	struct curve_pack p = { .negative = negative };
	double whole;
	int d;

	if (!is_decimal(v))
		return -1;
	for (d = at_least; d <= CURVE_PACK_DIGITS; d++) {
		p.digits = (uint8_t)d;
		if (curve_pack_is_whole(v, curve_pack_units(p), &whole))
			return d;
	}
	return -1;
}

/* The largest whole number that one of the values is, or -1. */
static double
largest(const double *values, size_t n, double units)
{
	double whole, most = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		if (!curve_pack_is_whole(values[i], units, &whole))
			return -1;
		most = fmax(most, fabs(whole));
	}
	return most;
}

/* Choose whole numbers for the values; false: they have too many digits. */
static bool
choose_whole(struct curve_pack *p, const double *values, size_t n)
{
	int digits = 0;
	double most;
	size_t i;

	for (i = 0; i < n; i++) {
		digits = digits_of(values[i], p->negative, digits);
		if (digits < 0)
			return false;
	}
	p->digits = (uint8_t)digits;
	most = largest(values, n, curve_pack_units(*p));
	if (most < 0)
		return false;
	p->form = most <= INT16_MAX ? CURVE_PACK_INT16 : CURVE_PACK_INT32;
	return true;
}

static bool
all_floats(const double *values, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!is_float(values[i]))
			return false;
	return true;
}

struct curve_pack
curve_pack_choose(const double *values, size_t n, bool negative)
{
	struct curve_pack p = { .form = CURVE_PACK_DOUBLE,
		.negative = negative };

	if (n > 0 && !choose_whole(&p, values, n) && all_floats(values, n))
		p.form = CURVE_PACK_FLOAT;
	return p;
}

static size_t
bytes_each(struct curve_pack p)
{
	switch ((enum curve_pack_form)p.form) {
	case CURVE_PACK_DOUBLE:
		return sizeof(double);
	case CURVE_PACK_FLOAT:
	case CURVE_PACK_INT32:
		return sizeof(int32_t);
	case CURVE_PACK_INT16:
		return sizeof(int16_t);
	}
	return sizeof(double);
}

size_t
curve_pack_words(struct curve_pack p, size_t n)
{
	return (n * bytes_each(p) + sizeof(double) - 1) / sizeof(double);
}

double
curve_pack_units(struct curve_pack p)
{
	return p.negative ? -powers[p.digits] : powers[p.digits];
}

static void
curve_pack_value_put(unsigned char *to, struct curve_pack p, double value)
{
	float real;
	int32_t whole;
	int16_t small;

	switch ((enum curve_pack_form)p.form) {
	case CURVE_PACK_DOUBLE:
		memcpy(to, &value, sizeof value);
		break;
	case CURVE_PACK_FLOAT:
		real = (float)value;
		memcpy(to, &real, sizeof real);
		break;
	case CURVE_PACK_INT32:
		whole = (int32_t)rint(value * curve_pack_units(p));
		memcpy(to, &whole, sizeof whole);
		break;
	case CURVE_PACK_INT16:
		small = (int16_t)rint(value * curve_pack_units(p));
		memcpy(to, &small, sizeof small);
		break;
	}
}

void
curve_pack_put(void *to, struct curve_pack p, const double *values, size_t n)
{
	size_t i, each = bytes_each(p);

	if (p.form == CURVE_PACK_DOUBLE && n > 0) {
		memcpy(to, values, n * each);
		return;
	}
	for (i = 0; i < n; i++)
		curve_pack_value_put(
		    (unsigned char *)to + i * each, p, values[i]);
}
