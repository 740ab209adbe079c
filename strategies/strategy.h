/*
 * A strategy chooses the next point to try.
 *
 * It is a pure function of what has been learnt so far: same space, same
 * history, same seed, same trial number, same answer.  It sees points in the
 * unit cube and losses, and nothing else: no file, clock, socket or store.
 */

#ifndef STRATEGY_H
#define STRATEGY_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct history;
struct option;
struct option_value;
struct space;

struct strategy_ask {
	const struct space *space;
	const struct history *history;
	uint64_t seed;
	int64_t trial; /* the number the new trial will have, from 1 */
	int64_t n_enqueued; /* trials before it that were not suggested */
};

struct strategy {
	const char *name; /* as written in study.json */
	const char *about; /* one line, for "hpotune strategies" */
	const char *source; /* the paper or document */
	const struct option *options; /* or NULL */
	bool wants_points; /* it looks at the points of the history */

	/* Check what one option alone cannot show; NULL = nothing to check. */
	int (*check)(
	    const struct option_value *, const struct space *, struct err *);
	/*
	 * Write the next point to x, one number in [0, 1] per parameter.
	 * The caller owns x, snaps it and marks inactive parameters.
	 * Return 0; 1 when there is nothing left to try (a grid that is
	 * done); -1 with err filled.
	 */
	int (*suggest)(double *x, const struct strategy_ask *,
	    const struct option_value *, struct err *);
};

/* All of them, in the order of the manual.  Ends with NULL. */
extern const struct strategy *const strategies[];
/* The one with this name, or NULL. */
const struct strategy *strategy_find(const char *name);

#endif /* STRATEGY_H */
