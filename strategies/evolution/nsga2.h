/*
 * The population of NSGA-II, from a history alone: trials that have ended and
 * say something, in the order of their numbers, are cut into generations, and of
 * each generation together with those that were selected before it the best are
 * selected again.  The last ones, too few for a generation, wait for no one:
 * they take part in a selection of their own.
 */

#ifndef HPOTUNE_NSGA2_H
#define HPOTUNE_NSGA2_H

#include <stddef.h>
#include <stdint.h>

#include "strategies/trial-rank.h"

struct history;

struct nsga2_member {
	struct trial_rank told;
	size_t rank; /* 0 is best */
	double space; /* how far its neighbours in the front are */
};

/* The selected ones, at most size, the best first; the caller frees them. */
struct nsga2_member *
nsga2_select(const struct history *, size_t size, size_t *n);

#endif /* HPOTUNE_NSGA2_H */
