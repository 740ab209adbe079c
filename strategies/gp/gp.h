/*
 * The parts of strategy gp: parameters as coordinates, a history as a matrix,
 * the fit of the hyperparameters, and the search for the point with the
 * largest expected improvement.
 */

#ifndef HPOTUNE_GP_H
#define HPOTUNE_GP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"
#include "src/base/rng.h"

struct history;
struct option_value;
struct param;
struct space;
struct strategy_ask;

/* One parameter with more than one value. */
struct gp_axis {
	const struct param *param;
	size_t at; /* its index in the space */
	double levels; /* 0 = a continuum */
	bool category; /* levels without an order */
	int parent; /* the axis it depends on, or -1: always active */
};

/*
 * The coordinates of the process, parents before children.  They are those of
 * the unit cube (so a scale is the space's business), levels stand in the
 * middle of their share, and an inactive parameter stands at 1/2: two points
 * that both lack it agree in it, and that one has it and the other has not is
 * seen in its parent, which differs.
 */
struct gp_axes {
	const struct space *space;
	struct gp_axis *axes;
	unsigned char *category; /* d, as the kernels want it */
	size_t d;
};

void gp_axes_init(struct gp_axes *, const struct space *);
void gp_axes_free(struct gp_axes *);
/* A point of the history as a row of d coordinates, and back. */
void gp_axes_encode(const struct gp_axes *, const double *point, double *row);
void gp_axes_decode(const struct gp_axes *, const double *row, double *point);
/* Put m rows on levels and inactive coordinates to 1/2. */
void gp_axes_snap(const struct gp_axes *, double *rows, size_t m);
/* Whether each coordinate of a row (on levels) is active. */
void gp_axes_active(const struct gp_axes *, const double *row, bool *active);
/* The coordinate of level i, and the level of a coordinate. */
double gp_axes_of_level(const struct gp_axis *, double level);
double gp_axes_level(const struct gp_axis *, double x);
/* How many different rows there are; infinite with a continuum. */
double gp_axes_size(const struct gp_axes *);

/* What a trial says. */
enum gp_training_kind {
	GP_UNUSED, /* waiting, cancelled */
	GP_PENDING, /* it runs: its point, no value */
	GP_COMPLETED,
	GP_STOPPED, /* the last value of its curve, and a guess */
	GP_BAD /* failed, or without a value: as bad as the worst */
};

enum gp_training_kind gp_training_kind(const struct history *, int64_t trial);

/* The trials that are learnt from, in order, and those that run. */
struct gp_rows {
	size_t n, d;
	int64_t *trials; /* n */
	enum gp_training_kind *kinds;
	double *x; /* n x d */
	size_t n_pending;
	double *pending; /* n_pending x d */
};

/*
 * At most max of the finished trials: where there are more, the better half of
 * max and of the others the newest.
 */
void gp_training_rows_init(struct gp_rows *, const struct gp_axes *,
    const struct history *, size_t max);
void gp_training_rows_free(struct gp_rows *);

/*
 * One value per row, standardised: mean 0 and variance 1.  What is not finite
 * has become the worst (or best) finite value.
 */
struct gp_targets {
	double *y; /* n */
	double *extra; /* n: variances beyond the noise of all */
	double centre, scale; /* value = centre + scale y */
};

void gp_targets_from_losses(struct gp_targets *, const struct gp_rows *,
    const struct history *, bool warp);
/* Any n numbers; NaN stands for bad. */
void gp_targets_from(struct gp_targets *, const double *values, size_t n);
void gp_targets_free(struct gp_targets *);
/* Of n values, those worse than the median by their ranks. */
void gp_warp(double *y, size_t n);

/*
 * What stopped trials would have come to: to the trial's last value is added
 * the median change from that step to the end in the completed trials that
 * got there, and the spread of that change is its variance.
 */
void gp_targets_guess_stopped(double *values, double *variances,
    const struct gp_rows *, const struct history *);

/* How hyperparameters are fitted. */
struct gp_hyperparameters_rule {
	bool noiseless; /* the floor is all the noise there is */
	size_t restarts;
	size_t fit_trials; /* rows the fit looks at, at most */
};

/* Logarithm of the prior of theta (d + 2), and its gradient. */
double gp_hyperparameters_prior(
    const double *theta, size_t d, double noise_floor, double *slope);
/* The theta that is most probable after the data. */
void gp_hyperparameters_fit(double *theta, const struct kernels *,
    const struct gp_data *, const struct gp_hyperparameters_rule *);

/* log E max(0, best - f), f normal, with its slopes; sd > 0. */
double gp_acquisition_log_ei(
    double mean, double sd, double best, double *d_mean, double *d_sd);
/* log P(f <= limit), f normal, with its slopes. */
double gp_acquisition_log_below(
    double mean, double sd, double limit, double *d_mean, double *d_sd);

/* A fitted process of one quantity: it should come below limit. */
struct gp_model {
	struct gp *gp;
	double limit;
};

/*
 * What makes a point good: the logarithm of the improvement expected below the
 * limit of the first model, less where nothing would be learnt by it, plus that
 * of the probability of each other model's being below its limit.
 */
struct gp_acquisition_goal {
	const struct kernels *kernels;
	const struct gp_axes *space;
	struct gp_model *models;
	size_t n_models;
	bool improve; /* false: the first model is a constraint, too */
	const double *weights; /* d: distances are measured with */
	double noise; /* variance of a result of the first model */
	/*
	 * Above 0: not that, but how little the one model may come to: its mean
	 * less so many deviations, with the sign turned.
	 */
	double lower;
};

/* Scores of m rows; slopes (m x d) may be NULL. */
void gp_acquisition(const struct gp_acquisition_goal *, const double *rows,
    size_t m, double *score, double *slopes);

/* Rows that are tried for their scores before any descent. */
struct gp_candidates_rule {
	size_t candidates;
	const double *good; /* rows; points near them are tried, too */
	size_t n_good;
};

/* The k best rows of a sweep, best first; how many there are. */
size_t gp_candidates_best(double *rows, double *score, size_t k,
    const struct gp_acquisition_goal *, const struct gp_candidates_rule *,
    struct rng *);

/*
 * Improve n rows, each by itself: the continuous coordinates by descent, levels
 * and categories one at a time, in turns.  The scores afterwards.
 */
void gp_local_search(
    const struct gp_acquisition_goal *, double *rows, size_t n, double *score);

enum { GP_GOOD = 16 }; /* good rows that are kept */

/* One question. */
struct gp_question {
	const struct strategy_ask *ask;
	const struct option_value *options;
	struct gp_hyperparameters_rule rule;
	bool warp;
	struct gp_axes space;
	struct gp_rows rows;
	struct rng rng;
	double *good; /* the rows with the least means, best first */
	size_t n_good;
	double *weights; /* d */
};

/*
 * Fit the process of the losses and one for each constraint, and find the good
 * rows.  -1: none can be fitted.  gp_models_free in any case.
 */
int gp_models_fit(struct gp_acquisition_goal *, struct gp_question *);
void gp_models_free(struct gp_acquisition_goal *);

#endif /* HPOTUNE_GP_H */
