/*
 * Values of curves in fewer bytes: each comes back with the same bits, and what
 * programs print is small.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/history/curve-pack.h"
#include "tests/support/tap.h"

enum { MOST = 40 };

static const char *const forms[] = { "double", "float", "int32", "int16" };

/* Whether all come back; *pack is how they were packed. */
static bool
returns(const double *values, size_t n, bool negative, struct curve_pack *pack)
{
	uint64_t words[MOST + 1];
	double back, units;
	bool good = true;
	size_t i, used;

	*pack = curve_pack_choose(values, n, negative);
	used = curve_pack_words(*pack, n);
	words[used] = UINT64_C(0x5a5a5a5a5a5a5a5a);
	curve_pack_put(words, *pack, values, n);
	units = curve_pack_units(*pack);
	for (i = 0; i < n; i++) {
		back = curve_pack_get(
		    words, (enum curve_pack_form)pack->form, units, i);
		good = good && memcmp(&back, &values[i], sizeof back) == 0;
	}
	return good && words[used] == UINT64_C(0x5a5a5a5a5a5a5a5a);
}

static void
is_form(const char *want, const double *values, size_t n, const char *what)
{
	struct curve_pack pack;
	bool good = returns(values, n, false, &pack);

	is_str(forms[pack.form], want, what);
	ok(good, "%s: the same bits", what);
}

/* The same with the signs that a goal to maximize gives them. */
static void
is_form_negative(
    const char *want, const double *values, size_t n, const char *what)
{
	double turned[MOST];
	struct curve_pack pack;
	bool good;
	size_t i;

	for (i = 0; i < n; i++)
		turned[i] = -values[i];
	good = returns(turned, n, true, &pack);
	is_str(forms[pack.form], want, what);
	ok(good, "%s: the same bits", what);
}

static void
test_forms(void)
{
	static const double digits[] = { 0.0, 0.9134, 0.1, 0.91, 3.2767 };
	static const double more[] = { 0.913425, 2.5, 17.25, 214.0 };
	static const double floats[] = { (double)0.1f, (double)1e-20f, NAN,
		INFINITY, -INFINITY, (double)0.3f };
	static const double mixed[] = { 0.9134, (double)0.1f };
	static const double full[] = { 0.1, 1.0 / 3 };
	static const double zeros[] = { 0.0, -0.0 };
	static const double big[] = { 1e300, 1 };
	static const double whole[] = { 2147483647, -2147483647, 1 };
	static const double over[] = { 2147483648, 0.5 };
	static const double over_by_digits[] = { 2147483647, 0.1 };
	static const double nans[] = { 0.9134, NAN };

	is_form("int16", digits, 5, "four digits after the point");
	is_form("int32", more, 4, "six digits after the point");
	is_form("float", floats, 6, "floats, and what is no number");
	is_form("double", mixed, 2, "a decimal and a float");
	is_form("double", full, 2, "all digits");
	is_form("float", zeros, 2, "zero and minus zero");
	is_form("double", big, 2, "a number that no float is");
	is_form("int32", whole, 3, "whole numbers");
	is_form("float", over, 2, "a whole number that is too large");
	is_form("double", over_by_digits, 2, "one that is with its digits");
	is_form("double", nans, 2, "a decimal and none");
	is_form_negative("int16", digits, 5, "decimals to be maximized");
	is_form_negative("float", zeros, 2, "zeros to be maximized");
	is_form_negative("float", floats, 6, "floats to be maximized");
	is_form("double", NULL, 0, "no values");
}

/* As a program prints it, and as a number is read. */
static double
printed(struct rng *r, int digits)
{
	char text[64];

	(void)snprintf(text, sizeof text, "%.*f", digits,
	    (rng_uniform(r) - 0.3) * pow(10, (double)rng_below(r, 4)));
	return strtod(text, NULL);
}

static double
any_value(struct rng *r, uint64_t kind)
{
	uint64_t bits;
	double v;

	switch (kind) {
	case 0:
		return (double)(float)(rng_uniform(r) * 1e3);
	case 1:
		return rng_uniform(r);
	case 2: /* any bits: NaN of all kinds, too */
		bits = rng_below(r, UINT64_MAX);
		memcpy(&v, &bits, sizeof v);
		return v;
	default:
		return printed(r, (int)kind % 12);
	}
}

static void
test_any(void)
{
	double values[MOST];
	struct curve_pack pack;
	long bad = 0, small[4] = { 0 };
	uint64_t seed, kind;
	struct rng r;
	size_t i, n;

	for (seed = 1; seed <= 20000; seed++) {
		rng_init(&r, seed, 1);
		n = 1 + (size_t)rng_below(&r, MOST);
		kind = rng_below(&r, 15);
		for (i = 0; i < n; i++)
			values[i] = any_value(&r,
			    rng_below(&r, 60) == 0 ? rng_below(&r, 15) : kind);
		if (!returns(values, n, rng_below(&r, 2) == 1, &pack)) {
			printf("# seed %llu\n", (unsigned long long)seed);
			bad++;
		}
		small[pack.form]++;
	}
	is_int(bad, 0, "20,000 curves come back as they were");
	ok(small[CURVE_PACK_DOUBLE] > 1000 && small[CURVE_PACK_FLOAT] > 500 &&
		small[CURVE_PACK_INT32] > 1000 && small[CURVE_PACK_INT16] > 500,
	    "of all forms: %ld, %ld, %ld, %ld", small[0], small[1], small[2],
	    small[3]);
}

int
main(void)
{
	test_forms();
	test_any();
	return done_testing();
}
