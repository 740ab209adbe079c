/*
 * Axes of drawings: which values one shows, where each stands, which are
 * written beside it.  Numbers only; knows no page.
 */

#ifndef HPOTUNE_AXIS_H
#define HPOTUNE_AXIS_H

#include <stdbool.h>
#include <stddef.h>

struct param;
struct space;

enum axis_kind {
	AXIS_LINEAR,
	AXIS_COUNT, /* ticks are whole numbers */
	AXIS_LOG,
	AXIS_TIME /* seconds: ticks as clocks have them */
};

struct axis {
	enum axis_kind kind; /* axis_fit makes AXIS_LOG of AXIS_LINEAR where
			      * values span decades */
	double low, high; /* values at its ends, low < high, finite */
	double from, to; /* where the ends stand; to < from upwards */
};

enum { AXIS_TICKS = 12 }; /* at most */

struct tick {
	double value;
	double at; /* where it stands */
	char label[64];
};

/*
 * Set low and high so that n values (sorted by the call) fit with a little
 * room.  Those that are not finite do not count, and a few that lie far from
 * all others do not either; none: 0 to 1.
 */
void axis_fit(struct axis *, double *values, size_t n);
/* Make room for one more value, if it is finite. */
void axis_include(struct axis *, double);
/* Whether a value lies on it. */
bool axis_holds(const struct axis *, double);
/* Where a finite value stands; one beyond an end stands at that end. */
double axis_at(const struct axis *, double);
/* At most this many ticks (up to AXIS_TICKS), ascending; gives their number. */
size_t axis_ticks(const struct axis *, size_t most, struct tick *);
/*
 * Ticks of parameter i of a space, which stands in the cube from 0 at from to
 * 1 at to: those of its scale, or its choices, of which some may be left out.
 */
size_t axis_param(const struct space *, size_t i, double from, double to,
    size_t most, struct tick *);

#endif /* HPOTUNE_AXIS_H */
