/*
 * The distribution of CMA-ES: a normal distribution that is updated by each
 * generation of points.  Formulas and constants: Hansen, "The CMA evolution
 * strategy: a tutorial", arXiv:1604.00772 (2016); diagonal only: Ros and
 * Hansen, "A simple modification in CMA-ES" (2008); discrete coordinates keep a
 * minimum probability of every level: Hamano, Saito, Nomura and Shirakawa,
 * "CMA-ES with margin" (2022).
 *
 * Coordinates are those of tpe-parzen.h, 0 to 1.
 */

#ifndef HPOTUNE_CMAES_DISTRIBUTION_H
#define HPOTUNE_CMAES_DISTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strategies/tpe/tpe-parzen.h"

struct kernels;
struct rng;

struct cmaes_distribution {
	size_t dims;
	size_t lambda, mu; /* generation size, and number of selected points */
	bool diagonal;
	bool margin; /* for coordinates with levels */
	const struct axis *axes; /* borrowed; NULL = all continuous */
	const struct kernels *kernels;

	double *weights; /* lambda, best first */
	double mu_eff, c_one, c_mu, c_path, c_sigma, d_sigma, chi;

	int64_t generation;
	double sigma;
	double *mean;
	double *path_sigma, *path;
	double *stretch; /* factors for coordinates with levels, else 1 */
	double *cov; /* dims x dims, or the diagonal */
	double *vectors; /* of cov, one per row; unused for a diagonal */
	double *roots; /* of its eigenvalues */
	bool is_split; /* vectors and roots match cov */

	double sigma_first;
	double *recent; /* best and worst losses of the last generations */
	size_t n_recent;
};

struct cmaes_start {
	size_t dims;
	size_t lambda; /* 0 = 4 + floor(3 ln dims); at least 4 */
	bool diagonal, margin;
	const struct axis *axes;
	const struct kernels *kernels; /* needs sym_eigen, unless diagonal */
	const double *mean; /* NULL = the middle */
	double sigma;
	const double *cov; /* NULL = the unit matrix */
};

size_t cmaes_distribution_lambda(size_t dims);
void cmaes_distribution_init(
    struct cmaes_distribution *, const struct cmaes_start *);
void cmaes_distribution_free(struct cmaes_distribution *);
/*
 * Draw a point: x as drawn, at rounded to levels. -1: the eigendecomposition
 * failed.
 */
int cmaes_distribution_draw(
    struct cmaes_distribution *, struct rng *, double *x, double *at);
/* The x of coordinate d that corresponds to a level. */
double
cmaes_distribution_undo(const struct cmaes_distribution *, size_t d, double at);
/*
 * Update by one generation: lambda points as drawn, best first, with the losses
 * of the best and the worst.  A point far outside of the distribution is moved
 * to a distance of sqrt(dims) + 5. -1 as cmaes_distribution_draw.
 */
int cmaes_update(struct cmaes_distribution *, const double *points, double best,
    double worst);
/* Whether the distribution has converged, diverged or stalled. */
bool cmaes_distribution_is_over(struct cmaes_distribution *);
/* Compute roots and vectors of the covariance if outdated; -1 as above. */
int cmaes_distribution_split(struct cmaes_distribution *);

#endif /* HPOTUNE_CMAES_DISTRIBUTION_H */
