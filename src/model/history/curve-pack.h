/*
 * Values of a finished curve in two or four bytes each, where that is exact: what
 * programs print has few digits, or was a float.  A value that comes back has the
 * same bits.
 */

#ifndef HPOTUNE_CURVE_PACK_H
#define HPOTUNE_CURVE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum curve_pack_form {
	CURVE_PACK_DOUBLE, /* eight bytes: not packed */
	CURVE_PACK_FLOAT, /* four */
	CURVE_PACK_INT32, /* four: a whole number of units */
	CURVE_PACK_INT16 /* two */
};

enum { CURVE_PACK_DIGITS = 9 }; /* after the point, at most */

/* How values are packed. */
struct curve_pack {
	uint8_t form; /* enum curve_pack_form */
	uint8_t digits; /* a unit is 10 to the power of minus this … */
	bool negative; /* … with a minus: so that zero is minus zero */
};

/*
 * The smallest form that has all n values.  negative: most of them are, as those of
 * an objective that is maximized.
 */
struct curve_pack
curve_pack_choose(const double *values, size_t n, bool negative);
/* Eight-byte words that n values take. */
size_t curve_pack_words(struct curve_pack, size_t n);
/* Write n values in the form that was chosen for them. */
void
curve_pack_put(void *to, struct curve_pack, const double *values, size_t n);
/* What whole numbers are divided by. */
double curve_pack_units(struct curve_pack);

/* Value i; units: curve_pack_units. */
static inline double
curve_pack_get(
    const void *from, enum curve_pack_form form, double units, size_t i)
{
	const unsigned char *at = from;
	int32_t whole;
	int16_t small;
	double value;
	float real;

	switch (form) {
	case CURVE_PACK_DOUBLE:
		memcpy(&value, at + i * sizeof value, sizeof value);
		return value;
	case CURVE_PACK_FLOAT:
		memcpy(&real, at + i * sizeof real, sizeof real);
		return (double)real;
	case CURVE_PACK_INT32:
		memcpy(&whole, at + i * sizeof whole, sizeof whole);
		return whole / units;
	case CURVE_PACK_INT16:
		memcpy(&small, at + i * sizeof small, sizeof small);
		return small / units;
	}
	return 0;
}

#endif /* HPOTUNE_CURVE_PACK_H */
