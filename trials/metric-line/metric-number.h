/*
 * Decimal numbers, independent of the locale.  Values equal those of strtod in
 * the C locale, to the last bit.
 */

#ifndef HPOTUNE_METRIC_NUMBER_H
#define HPOTUNE_METRIC_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum metric_number_kind {
	NUMBER_FINITE, /* includes 1e999 */
	NUMBER_INFINITE,
	NUMBER_NAN
};

/* A parsed number: digits * 10^exponent. */
struct metric_number {
	enum metric_number_kind kind;
	bool negative;
	bool cut; /* non-zero digits were dropped */
	uint64_t digits;
	int64_t exponent;
	const char *text; /* borrowed; without the sign */
	size_t len;
};

/*
 * Parse [+-] 12, 1.5, .5, 1., 1e-3, inf, infinity or nan (any case) at p.
 * Returns the first byte after it, or NULL if there is no number.
 */
const char *
metric_number_scan(struct metric_number *, const char *p, const char *end);
double metric_number_value(const struct metric_number *);
/* The value if it is an integer within 0 to 2^53; exact.  False: it is not. */
bool metric_number_integer(const struct metric_number *, int64_t *);

enum { METRIC_NUMBER_TEXT = 64 }; /* bytes of a number as people write it */
/*
 * A number as people write it, which is the whole text: with a decimal comma, with
 * groups of three digits, before a unit, or in an object as Python shows it.
 * room is what the number may borrow.
 * False: it is none, or may be two, as 1,234.
 */
bool metric_number_text(struct metric_number *, const char *p, const char *end,
    char room[METRIC_NUMBER_TEXT]);
/* The same of a step, whose 1,234 and 1.5k are whole numbers. */
bool metric_number_step(struct metric_number *, const char *p, const char *end,
    char room[METRIC_NUMBER_TEXT]);
/*
 * The start of the number in an object as Python shows it, 0.5 of tensor(0.5), or
 * NULL.
 */
const char *metric_number_object(const char *p, const char *end);
/* Whether a text is one number that may be two, as 1,234, or is none that is read, 0x1p3. */
bool metric_number_doubt(const char *p, const char *end);
/*
 * Whether a text from *from to *to, within start and end, is a part of a longer
 * number: then they become those of the whole one.
 */
bool metric_number_around(
    const char **from, const char **to, const char *start, const char *end);

#endif /* HPOTUNE_METRIC_NUMBER_H */
