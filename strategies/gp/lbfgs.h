/*
 * Minimisation inside a box by a limited-memory quasi-Newton method, of many
 * starts in lock-step: what all of them want to know next is asked in one
 * batch.  Knows numbers; refuses to know what is minimised.
 */

#ifndef HPOTUNE_LBFGS_H
#define HPOTUNE_LBFGS_H

#include <stddef.h>

struct lbfgs {
	size_t d; /* coordinates */
	const double *low, *high; /* d each, low <= high */
	/*
	 * Values f (k) and gradients g (k x d) at k points x (k x d); which
	 * (k): the start each belongs to.  A value that is not finite stands
	 * for a point where there is none.
	 */
	void (*eval)(void *arg, const size_t *which, const double *x, size_t k,
	    double *f, double *g);
	void *arg;
	unsigned max_evals; /* of each start */
	double gradient_tol; /* largest component that still counts as 0 */
	double value_tol; /* relative decrease that is none */
};

/*
 * Go down from r starts x (r x d), which become the points that were reached;
 * f (r): the values there, never above those of the starts.
 */
void lbfgs_run(const struct lbfgs *, double *x, size_t r, double *f);

#endif /* HPOTUNE_LBFGS_H */
