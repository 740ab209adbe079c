/*
 * The best of many candidates, whoever computes: this side knows scores, bounds
 * and who is dropped, the other one covariances and triangles.
 */

#ifndef HPOTUNE_GP_SWEEP_H
#define HPOTUNE_GP_SWEEP_H

#include <stddef.h>

#include "kernels/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Who computes.  Candidates have numbers, 0 … m - 1; those that were taken under
 * way stand in places, 0 … .  Functions return 0, or -1 when the device failed.
 */
struct gp_sweep_device {
	void *arg;
	size_t rows; /* of the factor, pending points included */
	size_t block; /* rows that are solved at a time */
	size_t together; /* candidates that are under way at a time, at most */
	double signal; /* the variance before any observation */
	double best;
	/* All means, by number. */
	int (*means)(void *arg, double *mean);
	/* Take these under way. */
	int (*load)(void *arg, const size_t *number, size_t m);
	/*
	 * Solve for the next rows, from at on, of all m under way; the scores
	 * with the variances that are left.
	 */
	int (*solve)(
	    void *arg, size_t at, size_t rows, size_t m, double *score);
	/* Only the places which, ascending, go on; so many rows are solved. */
	int (*keep)(void *arg, const size_t *which, size_t left, size_t solved);
};

/*
 * As gp_top of kernels.h: how many were found, or SIZE_MAX when the device
 * failed.
 */
size_t gp_sweep_top(const struct gp_sweep_device *, size_t m, size_t k,
    size_t *index, double *score, struct gp_sweep *);

#ifdef __cplusplus
}
#endif

#endif /* HPOTUNE_GP_SWEEP_H */
