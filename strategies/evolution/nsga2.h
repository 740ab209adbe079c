/*
 * The population of NSGA-II, from a history alone: finished trials with usable
 * results, sorted by number, are cut into generations, and from each generation
 * and the previously selected ones the best are selected again.  The last
 * incomplete generation takes part in a selection of its own.
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
	double space; /* crowding distance in its front */
};

/* The selected trials, at most size, best first; the caller frees them. */
struct nsga2_member *
nsga2_select(const struct history *, size_t size, size_t *n);

#endif /* HPOTUNE_NSGA2_H */
