/*
 * Decimal numbers as programs print them, whatever the locale.  Values are
 * those of strtod in the C locale, to the last bit.
 */

#ifndef HPOTUNE_METRIC_NUMBER_H
#define HPOTUNE_METRIC_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum metric_number_kind {
	NUMBER_FINITE, /* as written: 1e999 has this kind, too */
	NUMBER_INFINITE,
	NUMBER_NAN
};

/* A number as it stands in a text: digits * 10^exponent. */
struct metric_number {
	enum metric_number_kind kind;
	bool negative;
	bool cut; /* digits that are not 0 did not fit */
	uint64_t digits;
	int64_t exponent;
	const char *text; /* borrowed; without the sign */
	size_t len;
};

/*
 * Read [+-] 12, 1.5, .5, 1., 1e-3, inf, infinity or nan (any case) at p.
 * Returns the first byte after it, or NULL when no number stands there.
 */
const char *
metric_number_scan(struct metric_number *, const char *p, const char *end);
double metric_number_value(const struct metric_number *);
/* The number when it is whole and within 0 … 2^53; exact. */
bool metric_number_integer(const struct metric_number *, int64_t *);

#endif /* HPOTUNE_METRIC_NUMBER_H */
