/*
 * Axes of charts: the range of values, the position of each value, and the
 * labelled ticks.  Numbers only.
 */

#ifndef HPOTUNE_AXIS_H
#define HPOTUNE_AXIS_H

#include <stdbool.h>
#include <stddef.h>

struct space;

enum axis_kind {
	AXIS_LINEAR,
	AXIS_COUNT, /* ticks are whole numbers */
	AXIS_LOG,
	AXIS_TIME /* seconds: ticks at clock intervals */
};

struct axis {
	enum axis_kind kind; /* axis_fit may change LINEAR to LOG */
	double low, high; /* values at its ends, low < high, finite */
	double from, to; /* positions of the ends; to < from when upwards */
	bool open; /* positions of values beyond the ends are beyond them */
};

enum { AXIS_TICKS = 12 }; /* at most */

struct tick {
	double value;
	double at; /* position */
	char label[64];
};

/*
 * Set low and high so that n values (sorted by the call) fit with a margin.
 * Values that are not finite and a few outliers are ignored; without values: 0
 * to 1.
 */
void axis_fit(struct axis *, double *values, size_t n);
/* Extend the range to one more value, if it is finite. */
void axis_include(struct axis *, double);
/* Whether a value lies in the range. */
bool axis_holds(const struct axis *, double);
/* Set the range to another one, with from < to, whose ends are open. */
void axis_zoom(struct axis *, const double range[2]);
/*
 * The position of a finite value, clamped to the ends; when they are open, to 9
 * lengths of the axis beyond them.
 */
double axis_at(const struct axis *, double);
/* At most most ticks (up to AXIS_TICKS), ascending; returns their number. */
size_t axis_ticks(const struct axis *, size_t most, struct tick *);
/*
 * Ticks of parameter i of a space, for positions from (0 in the unit interval)
 * to to (1): those of its scale, or its choices, some of which may be omitted.
 * With a range of values (NULL = all) from and to are the positions of its ends.
 */
size_t axis_param(const struct space *, size_t i, const double *range,
    double from, double to, size_t most, struct tick *);
/* The value of a numeric parameter in the unit interval. */
double axis_param_unit(const struct space *, size_t i, double value);

#endif /* HPOTUNE_AXIS_H */
