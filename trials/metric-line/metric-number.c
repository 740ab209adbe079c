/*
 * Converts text to double.  Up to 19 digits with a small exponent, the usual
 * case, are rounded here in integer arithmetic; the rest is passed to strtod.
 */

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/mem.h"
#include "trials/metric-line/metric-number.h"

#define DIGITS_MAX 19 /* 10^19 - 1 fits 64 bits */
#define FIVES_MAX 27 /* 5^27 fits 63 bits */
#define EXPONENT_MAX 1000000 /* beyond it the answer is 0 or infinity */
#define EXACT_MAX (UINT64_C(1) << 53)

static const double tens[] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
	1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21,
	1e22 };

static bool
is_digit(char c)
{
	return (unsigned)(c - '0') < 10;
}

/* The word at p, any case; words are letters only. */
static const char *
metric_number_scan_word(const char *p, const char *end, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(end - p) < n || strncasecmp(p, word, n) != 0)
		return NULL;
	return p + n;
}

static const char *
scan_special(struct metric_number *out, const char *p, const char *end)
{
	const char *q;

	out->kind = NUMBER_INFINITE;
	if ((q = metric_number_scan_word(p, end, "infinity")) != NULL ||
	    (q = metric_number_scan_word(p, end, "inf")) != NULL)
		return q;
	out->kind = NUMBER_NAN;
	return metric_number_scan_word(p, end, "nan");
}

/* One digit more: zeros that do not fit become part of the exponent. */
static void
add_digit(struct metric_number *out, int *room, char c, bool fraction)
{
	if (*room > 0) {
		out->digits = out->digits * 10 + (uint64_t)(c - '0');
		if (out->digits != 0)
			--*room;
		out->exponent -= fraction;
		return;
	}
	out->cut |= c != '0';
	out->exponent += !fraction;
}

static const char *
metric_number_scan_digits(
    struct metric_number *out, const char *p, const char *end)
{
	const char *start = p;
	int room = DIGITS_MAX;
	bool any;

	for (; p < end && is_digit(*p); p++)
		add_digit(out, &room, *p, false);
	any = p > start;
	if (p == end || *p != '.')
		return any ? p : NULL;
	for (start = ++p; p < end && is_digit(*p); p++)
		add_digit(out, &room, *p, true);
	return any || p > start ? p : NULL;
}

/* Parse "e-3" at p; returns p if there is none. */
static const char *
scan_exponent(struct metric_number *out, const char *p, const char *end)
{
	const char *q = p;
	int64_t e = 0;
	bool negative;

	if (q == end || (*q != 'e' && *q != 'E'))
		return p;
	q++;
	negative = q < end && *q == '-';
	if (q < end && (*q == '-' || *q == '+'))
		q++;
	if (q == end || !is_digit(*q))
		return p;
	for (; q < end && is_digit(*q); q++)
		if (e < EXPONENT_MAX)
			e = e * 10 + (*q - '0');
	out->exponent += negative ? -e : e;
	return q;
}

const char *
metric_number_scan(struct metric_number *out, const char *p, const char *end)
{
	*out = (struct metric_number){ .kind = NUMBER_FINITE };
	if (p < end && (*p == '-' || *p == '+'))
		out->negative = *p++ == '-';
	if (p == end)
		return NULL;
	out->text = p;
	if (!is_digit(*p) && *p != '.')
		return scan_special(out, p, end);
	p = metric_number_scan_digits(out, p, end);
	if (p == NULL)
		return NULL;
	p = scan_exponent(out, p, end);
	out->len = (size_t)(p - out->text);
	return p;
}

static uint64_t
power_of_five(int n)
{
	uint64_t x = 1;

	while (n-- > 0)
		x *= 5;
	return x;
}

/* x * 2^exp2 to the nearest double, ties to even; more: x has a tail. */
static double
round_wide(unsigned __int128 x, int exp2, bool more)
{
	unsigned __int128 rest, half;
	uint64_t high = (uint64_t)(x >> 64);
	int bits, drop;

	bits = high != 0 ? 128 - __builtin_clzll(high)
			 : 64 - __builtin_clzll((uint64_t)x);
	drop = bits - 53;
	if (drop <= 0)
		return ldexp((double)(uint64_t)x, exp2);
	half = (unsigned __int128)1 << (drop - 1);
	rest = x & ((half << 1) - 1);
	x >>= drop;
	if (rest > half || (rest == half && (more || (x & 1) != 0)))
		x++;
	return ldexp((double)(uint64_t)x, exp2 + drop);
}

/* m * 10^e for m > 0 and |e| <= FIVES_MAX: 10^e is 5^e * 2^e. */
static double
scale(uint64_t m, int e)
{
	unsigned __int128 x, q;
	uint64_t five;
	int shift;

	if (m <= EXACT_MAX && e >= -22 && e <= 22)
		return e < 0 ? (double)m / tens[-e] : (double)m * tens[e];
	five = power_of_five(e < 0 ? -e : e);
	if (e >= 0)
		return round_wide((unsigned __int128)m * five, e, false);
	shift = __builtin_clzll(m) + 64;
	x = (unsigned __int128)m << shift;
	q = x / five;
	return round_wide(q, e - shift, q * five != x);
}

static double
library_value(const struct metric_number *n)
{
	char small[128], *text = small;
	locale_t c;
	double v;

	if (n->len >= sizeof small)
		text = xmalloc(n->len + 1);
	memcpy(text, n->text, n->len);
	text[n->len] = '\0';
	/* The C library keeps one such locale for all: nothing is made. */
	c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	v = c != (locale_t)0 ? strtod_l(text, NULL, c) : strtod(text, NULL);
	if (c != (locale_t)0)
		freelocale(c);
	if (text != small)
		free(text);
	return v;
}

double
metric_number_value(const struct metric_number *n)
{
	double v;

	if (n->kind == NUMBER_NAN)
		return NAN;
	if (n->kind == NUMBER_INFINITE)
		v = INFINITY;
	else if (n->digits == 0)
		v = 0;
	else if (!n->cut && n->exponent >= -FIVES_MAX &&
		 n->exponent <= FIVES_MAX)
		v = scale(n->digits, (int)n->exponent);
	else
		v = library_value(n);
	return n->negative ? -v : v;
}

bool
metric_number_integer(const struct metric_number *n, int64_t *out)
{
	uint64_t m = n->digits;
	int64_t e = n->exponent;

	if (n->kind != NUMBER_FINITE || n->cut || (n->negative && m != 0))
		return false;
	for (; m != 0 && e < 0; e++) {
		if (m % 10 != 0)
			return false;
		m /= 10;
	}
	for (; m != 0 && e > 0; e--) {
		if (m > EXACT_MAX / 10)
			return false;
		m *= 10;
	}
	*out = (int64_t)m;
	return m <= EXACT_MAX;
}
