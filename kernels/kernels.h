/*
 * Numeric kernels behind one table of functions, with one implementation for
 * the CPU and, where that saves time (README.md), one for the GPU.  NAME.c is
 * the definition and NAME.cu beside it the CUDA version;
 * tests/unit/kernels/t_twins.c compares the two.
 *
 * Arrays are of double, matrices row-major.  Kernels include nothing of the
 * model (spaces, histories, studies).  A function that a backend lacks is NULL:
 * the hpotune program is linked without LAPACK, hpotune-worker with it.
 */

#ifndef HPOTUNE_KERNELS_H
#define HPOTUNE_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Gaussian process: n observations at points of d coordinates.  The covariance
 * of two points is
 *	s M(r2),  r2 = sum_j a_j (x_j - z_j)^2,  a category: a_j [x_j != z_j]
 *	M = (1 + t + t^2 / 3) exp(-t),  t = sqrt(5 r2)
 * (Matern 5/2 with automatic relevance determination; Rasmussen and Williams,
 * "Gaussian processes for machine learning", 2006, ch. 4 and 5), or, rough,
 *	M = (1 + t) exp(-t),  t = sqrt(3 r2)
 * (Matern 3/2) of functions that are less smooth, and each
 * observation has noise_floor + exp(theta[d + 1]) + extra[i] more on the
 * diagonal.  What looks like noise may be of the function: v M(400 r2), a local
 * variation of the first form whose scales are a twentieth, is added.  theta (d
 * + 3): ln a_1 … ln a_d, ln s, ln of the noise above the floor, ln v.
 */
struct gp_data {
	size_t n, d;
	const double *x; /* n x d */
	const unsigned char *category; /* d: 1 = a category; NULL = none is */
	const double *y; /* n */
	const double *extra; /* n variances; NULL = 0 */
	double noise_floor;
	bool rough;
};

/* One process with fixed hyperparameters, factorised. */
struct gp;

/* Statistics of a sweep, for benchmarks and tests of the pruning. */
struct gp_sweep {
	double share; /* share of the work for variances that was not pruned */
};

/*
 * Learning curves: the value at slot k of H, of a curve that ends at slot H -
 * 1, is c + a g(k) plus noise, where g is one of a few hundred shapes with g(0)
 * = 1 and g(H - 1) = 0; so c is the value at the end.  Smaller is better.
 * Values are scaled so that 0 is the best known value and 1 that at the start
 * of curves; the priors of c and a assume this.
 */
struct curve_bank;

enum { MIX_BLOCK = 64 };

/*
 * A mixture of products of normals.  ln of the density at x is
 *	ln sum_i exp(base_i + more_i - sum_j ((x_j - mu_j,i) scale_j,i)^2)
 */
struct mix {
	size_t d; /* coordinates */
	size_t n; /* components: a multiple of MIX_BLOCK; base -inf: none */
	const double *base; /* n */
	const double *const *mu, *const *scale; /* d rows of n */
};

struct curve_guess {
	double p; /* probability that the last value is below the threshold */
	double mean, sd; /* of the last value */
};

/*
 * Recorded curves, concatenated in flat arrays; smaller is better, NaN and
 * infinities are non-finite reports.
 */
struct replay_curves {
	size_t n;
	const size_t
	    *start; /* n + 1: curve i has start[i] … start[i + 1] - 1 */
	const int64_t *step; /* ascending in each curve */
	const double *value;
	int64_t max_steps; /* 0 = unknown */
	/* the result of a trial is its last report, not its best */
	int value_last;
	int64_t last_step; /* last step of a trial; 0 = max_steps */
};

enum replay_value { REPLAY_LAST, REPLAY_BEST, REPLAY_MEAN, REPLAY_VALUES };

/* Options of the rule "median". */
struct replay_policy {
	enum replay_value own, reference;
	int completed; /* the pool has completed trials only */
	int guard;
	double share; /* percentile / 100 */
	int64_t min_trials, interval, diverged_after;
	int64_t warmup_steps, warmup_reports;
};

/* Studies of this many trials, started in the order of their row. */
struct replay_studies {
	size_t n, trials;
	const size_t *order; /* n x trials: curves */
	size_t workers; /* number of parallel trials; each reports in turn */
};

struct replay_score {
	int64_t skipped; /* reports saved by stopping */
	int64_t stopped; /* number of stopped trials */
	int64_t killed; /* 1: the best trial was stopped */
	double found; /* the best result; NaN: there is none */
};

struct kernels {
	const char *name; /* "cpu", "cuda" */
	const char *device; /* its name, for messages */
	void *dev; /* of the backend: first argument of the functions */

	/*
	 * Log marginal likelihood of r vectors theta (r x (d + 3)) in value
	 * (r), its gradient in gradient (r x (d + 3)); status[i]: steps of
	 * jitter that the factorisation needed, -1 = it failed with all (value
	 * is then -inf, the gradient 0).
	 */
	void (*gp_likelihood)(void *dev, const struct gp_data *,
	    const double *theta, size_t r, double *value, double *gradient,
	    int *status);
	/* Factorise once.  NULL if it fails with all jitter. */
	struct gp *(*gp_fit)(
	    void *dev, const struct gp_data *, const double *theta);
	void (*gp_free)(void *dev, struct gp *);
	/*
	 * Mean and variance (of the function, without noise) at m points (m x
	 * d); variance may be NULL: only the means, which take O(n) per point
	 * instead of O(n^2).
	 */
	void (*gp_predict)(void *dev, const struct gp *, const double *x,
	    size_t m, double *mean, double *variance);
	/*
	 * The same, but for rounding, at points that differ from base (d) in few
	 * coordinates: faster by the others.  NULL: ask gp_predict.
	 */
	void (*gp_near)(void *dev, const struct gp *, const double *base,
	    const double *x, size_t m, double *mean, double *variance);
	/* As gp_predict, with gradients (m x d); 0 for categories. */
	void (*gp_slope)(void *dev, const struct gp *, const double *x,
	    size_t m, double *mean, double *variance, double *d_mean,
	    double *d_variance);
	/*
	 * Add k points whose values are unknown yet (running trials): they
	 * lower the variance around them and leave the mean unchanged.
	 */
	void (*gp_pend)(void *dev, struct gp *, const double *x, size_t k);
	/*
	 * The k of m candidates (m x d) with the largest log expected
	 * improvement over best for minimisation (Ament et al., "Unexpected
	 * improvements to expected improvement", NeurIPS 2023), best first:
	 * their indices and scores.  Equal to the result without pruning, up to
	 * a relative 1e-6 in the score.  Returns their number: k, or m when
	 * that is less.
	 */
	size_t (*gp_top)(void *dev, const struct gp *, const double *x,
	    size_t m, double best, size_t k, size_t *index, double *score,
	    struct gp_sweep *);
	/* The same of candidates as of gp_near.  NULL: ask gp_top. */
	size_t (*gp_near_top)(void *dev, const struct gp *, const double *base,
	    const double *x, size_t m, double best, size_t k, size_t *index,
	    double *score, struct gp_sweep *);

	/*
	 * Create the bank of shapes for curves of this many slots (at least 2).
	 */
	struct curve_bank *(*bank_new)(void *dev, size_t slots);
	void (*bank_free)(void *dev, struct curve_bank *);
	/*
	 * Predict the last value of a curve from its first n values (NaN: a
	 * missing value): a linear regression in closed form for each shape and
	 * each of a few noise levels, mixed by their evidence to the power of
	 * temper.  Late values have more weight, by the cube of the slot.
	 */
	void (*bank_guess)(void *dev, const struct curve_bank *,
	    const double *y, size_t n, double temper, double threshold,
	    struct curve_guess *);

	/*
	 * ln of the density at m points (m x d); more (m x n) is added per
	 * component, NULL: nothing.
	 */
	void (*mix_density)(void *dev, const struct mix *, const double *x,
	    const double *more, size_t m, double *out);

	/*
	 * Evaluate each policy on each study: n x studies.n scores.
	 */
	void (*replay)(void *dev, const struct replay_curves *,
	    const struct replay_policy *, size_t n,
	    const struct replay_studies *, struct replay_score *);

	/*
	 * Eigenvalues (ascending) of the symmetric n x n matrix a, which is
	 * replaced by its eigenvectors, one per row.  0, or -1 when LAPACK
	 * does not converge.
	 */
	int (*sym_eigen)(void *dev, double *a, size_t n, double *values);
};

/* Kernels without libraries: always available.  Static. */
const struct kernels *kernels_plain(void);
/* All kernels on one core, with LAPACK.  In hpotune-worker. */
const struct kernels *kernels_cpu(void);
/*
 * The value that OPENBLAS_CORETYPE needs for OpenBLAS to use this processor
 * well: it takes a model newer than itself for one of 2004 and is then three
 * times slower.  NULL: its choice is good.  OpenBLAS reads the variable before
 * main, so a program that sets it must execute itself again.
 */
const char *openblas_core(void);
/*
 * All kernels on a GPU; NULL with the reason in why (of n bytes) if there is
 * none.  In hpotune-worker-cuda.
 */
const struct kernels *kernels_cuda(char *why, size_t n);
/* Whether there is a driver; if not, the reason likewise.  Takes no time. */
bool kernels_cuda_possible(char *why, size_t n);

#ifdef __cplusplus
}
#endif

#endif /* HPOTUNE_KERNELS_H */
