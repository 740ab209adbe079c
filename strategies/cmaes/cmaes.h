/*
 * CMA-ES from a history alone: the distribution is made anew for every question
 * by telling it the past.
 *
 * The trials that have ended and say something, in the order of their numbers,
 * are cut into generations of lambda; the last ones, too few for a generation,
 * wait.  So a trial that ends late changes only generations from its own place
 * on, none is wasted, and no trial has to say what it was drawn from.
 */

#ifndef HPOTUNE_CMAES_H
#define HPOTUNE_CMAES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strategies/cmaes/cmaes-distribution.h"

struct history;
struct strategy_ask;

enum cmaes_restart {
	CMAES_NO_RESTART,
	CMAES_IPOP, /* with more points in a generation */
	CMAES_BIPOP /* with more, or with fewer and smaller steps */
};

struct cmaes_rule {
	size_t popsize; /* 0 = by the number of dimensions */
	double sigma; /* of the first distribution; 0 = 1/6 */
	const double *mean; /* by dimension; NULL = the middle */
	bool diagonal, margin, stopped;
	enum cmaes_restart restart;
	double grow; /* of popsize at a restart */
};

/* The parameters it moves: numbers without a condition. */
struct cmaes_axes {
	struct axis *axes;
	size_t *which;
	size_t dims;
};

/*
 * The distribution after all that was told; -1 when the kernels cannot split
 * its covariance.  There is at least one dimension.
 */
int
cmaes_replay_history(struct cmaes_distribution *, const struct strategy_ask *,
    const struct cmaes_rule *, const struct cmaes_axes *);
/* The random numbers of trial's draw. */
void cmaes_rng(struct rng *, uint64_t seed, int64_t trial, unsigned redraw);

#endif /* HPOTUNE_CMAES_H */
