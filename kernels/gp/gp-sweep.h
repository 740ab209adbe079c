/*
 * The best of many candidates, independent of the backend: this side handles
 * scores, bounds and pruning, the backend covariances and triangular solves.
 */

#ifndef HPOTUNE_GP_SWEEP_H
#define HPOTUNE_GP_SWEEP_H

#include <stddef.h>

#include "kernels/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The backend.  Candidates are numbered 0 to m - 1; active ones have places
 * from 0.  Functions return 0, or -1 when the device failed.
 */
struct gp_sweep_device {
	void *arg;
	size_t rows; /* of the factor, including pending points */
	size_t block; /* rows per solve */
	size_t first; /* candidates that make the first bound, at least */
	size_t together; /* maximum number of active candidates after them */
	double signal; /* the variance without observations */
	double best;
	/* All means, by number. */
	int (*means)(void *arg, double *mean);
	/* Make these candidates active. */
	int (*load)(void *arg, const size_t *number, size_t m);
	/*
	 * Solve for the next rows, from at on, of all m active candidates;
	 * writes the scores with the remaining variances.
	 */
	int (*solve)(
	    void *arg, size_t at, size_t rows, size_t m, double *score);
	/*
	 * Keep only the active candidates at the places which (ascending); rows
	 * were solved so far.
	 */
	int (*keep)(void *arg, const size_t *which, size_t left, size_t solved);
};

/*
 * As gp_top of kernels.h: the number found, or SIZE_MAX when the device failed.
 */
size_t gp_sweep_top(const struct gp_sweep_device *, size_t m, size_t k,
    size_t *index, double *score, struct gp_sweep *);

#ifdef __cplusplus
}
#endif

#endif /* HPOTUNE_GP_SWEEP_H */
