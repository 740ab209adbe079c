/*
 * CMA-ES from a history alone: each call rebuilds the distribution from the
 * past.
 *
 * Finished trials with usable results, sorted by number, are cut into
 * generations of lambda; the last incomplete generation is not used yet.  So a
 * trial that ends late changes only generations from its own position on, no
 * trial is lost, and trials need not record the distribution they came from.
 */

#ifndef HPOTUNE_CMAES_H
#define HPOTUNE_CMAES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strategies/cmaes/cmaes-distribution.h"

struct rng;
struct strategy_ask;

enum cmaes_restart {
	CMAES_NO_RESTART,
	CMAES_IPOP, /* with larger generations */
	/* with larger generations, or smaller ones with smaller steps */
	CMAES_BIPOP
};

struct cmaes_rule {
	size_t popsize; /* 0 = by the number of dimensions */
	double sigma; /* of the first distribution; 0 = 1/6 */
	const double *mean; /* by dimension; NULL = the middle */
	size_t n_startup; /* so many finished trials are no generations */
	bool diagonal, margin, stopped;
	enum cmaes_restart restart;
	double grow; /* factor on popsize at a restart */
};

/* The parameters of the distribution: unconditional numbers. */
struct cmaes_axes {
	struct axis *axes;
	size_t *which;
	size_t dims;
};

/*
 * Compute the distribution from the history; -1 if the eigendecomposition
 * fails.  At least one dimension.
 */
int
cmaes_replay_history(struct cmaes_distribution *, const struct strategy_ask *,
    const struct cmaes_rule *, const struct cmaes_axes *);
/* The random numbers of a trial's draw. */
void cmaes_rng(struct rng *, uint64_t seed, int64_t trial, unsigned redraw);

#endif /* HPOTUNE_CMAES_H */
