/*
 * Bounded minimisation by L-BFGS, from many starts in lock-step: the next
 * evaluations of all starts are done in one batch.
 */

#ifndef HPOTUNE_LBFGS_H
#define HPOTUNE_LBFGS_H

#include <stddef.h>

struct lbfgs {
	size_t d; /* coordinates */
	const double *low, *high; /* d each, low <= high */
	/*
	 * Values f (k) and gradients g (k x d) at k points x (k x d); which
	 * (k): index of each start.  A non-finite value marks an invalid point.
	 */
	void (*eval)(void *arg, const size_t *which, const double *x, size_t k,
	    double *f, double *g);
	void *arg;
	unsigned max_evals; /* per start */
	double gradient_tol; /* largest gradient component that counts as 0 */
	double value_tol; /* largest relative decrease that counts as none */
};

/*
 * Minimise from r starts x (r x d), which are replaced by the final points; f
 * (r): their values, never above those of the starts.
 */
void lbfgs_run(const struct lbfgs *, double *x, size_t r, double *f);

#endif /* HPOTUNE_LBFGS_H */
