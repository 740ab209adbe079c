/*
 * The parts of strategy gp: parameters as coordinates, a history as a matrix,
 * the fit of the hyperparameters, and the search for the point with the largest
 * expected improvement.
 */

#ifndef HPOTUNE_GP_H
#define HPOTUNE_GP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"
#include "src/base/rng.h"

struct gp_boxes;
struct history;
struct memory_model;
struct option_value;
struct param;
struct space;
struct strategy_ask;

/* One parameter with more than one value. */
struct gp_axis {
	const struct param *param;
	size_t at; /* its index in the space */
	double levels; /* 0 = continuous */
	bool category; /* unordered levels */
	bool log_int; /* whole numbers in shares by their logarithms */
};

/*
 * The coordinates of the process, parents before children.  They are those of
 * the unit cube, so scales are handled by the space.  Levels are at the middle
 * of their share, and an inactive parameter is at 1/2: two points without it
 * agree in it, and if only one has it, they differ in a parent.
 */
struct gp_axes {
	const struct space *space;
	struct gp_axis *axes;
	unsigned char *category; /* d, in the format of the kernels */
	size_t d;
	bool conditional; /* whether an axis has a condition */
	int *axis_of; /* per parameter: its axis, or -1 */
	bool *decides; /* per parameter: named by a condition */
	/* Rows that are unlikely to fit into memory are not searched; or NULL. */
	const struct memory_model *memory;
};

void gp_axes_init(struct gp_axes *, const struct space *);
void gp_axes_free(struct gp_axes *);
/* Convert a point of the history to a row of d coordinates, and back. */
void gp_axes_encode(const struct gp_axes *, const double *point, double *row);
void gp_axes_decode(const struct gp_axes *, const double *row, double *point);
/* Put m rows on levels and inactive coordinates to 1/2. */
void gp_axes_snap(const struct gp_axes *, double *rows, size_t m);
/* Whether each coordinate of a row (on levels) is active. */
void gp_axes_active(const struct gp_axes *, const double *row, bool *active);
/* The coordinate of level i, and the level of a coordinate. */
double gp_axes_of_level(const struct gp_axis *, double level);
double gp_axes_level(const struct gp_axis *, double x);
/* Number of different rows; infinite with a continuous axis. */
double gp_axes_size(const struct gp_axes *);
/* Whether no axis has levels. */
bool gp_axes_continuous(const struct gp_axes *);

/*
 * Whether two rows (on levels) are neighbours: at most one choice, or number of
 * at most 16 levels, that is active in both is different.
 */
bool gp_neighbours_are(const struct gp_axes *, const double *, const double *);
/*
 * Make m rows neighbours of centre: restore all of those coordinates but none
 * or one, and what depends on it.
 */
void gp_neighbours_make(double *rows, size_t m, const struct gp_axes *,
    const double *centre, struct rng *);

/* How a trial enters the training data. */
enum gp_training_kind {
	GP_UNUSED, /* waiting or cancelled */
	GP_PENDING, /* running: its point, without a value */
	GP_COMPLETED,
	GP_STOPPED, /* the last value of its curve, extrapolated */
	GP_BAD /* failed or without a value: counts as the worst */
};

enum gp_training_kind gp_training_kind(const struct history *, int64_t trial);

/* The finished trials in use, in order, and the running ones. */
struct gp_rows {
	size_t n, d;
	int64_t *trials; /* n */
	enum gp_training_kind *kinds;
	double *x; /* n x d */
	size_t n_pending;
	double *pending; /* n_pending x d */
};

/*
 * Select at most max finished trials: if there are more, the better half of max
 * and the newest of the others.
 */
void gp_training_rows_init(struct gp_rows *, const struct gp_axes *,
    const struct history *, size_t max);
void gp_training_rows_free(struct gp_rows *);

/*
 * The trial whose surroundings are to be searched: the best one; for every
 * second region, after five finished trials per axis without an improvement,
 * the best of those that are not in the surroundings of the best one.
 */
int64_t gp_region_centre(const struct gp_rows *, const struct gp_axes *,
    const struct strategy_ask *);
/*
 * Keep the rows next to that of the trial centre, whose bounds low and high (d
 * each) receive, and those between these bounds.  False: the trial is not among
 * the rows; nothing is changed then.
 */
bool gp_region_choose(struct gp_rows *, const struct gp_axes *, int64_t centre,
    double *low, double *high);
/*
 * Whether this suggestion is for the surroundings of the best trial: every
 * second one, when so many trials have ended without an improvement; 0: never.
 */
bool gp_region_wanted(const struct strategy_ask *, size_t after);

/*
 * Number of finished trials of this study since the last progress: the best
 * value became better by more than a thousandth of what it is better than the
 * median.  Trials of other studies may be progress, but are not counted.
 */
size_t gp_stagnation_trials(const struct history *);
/*
 * By what the relevances (inverse squared scales) of the axes are multiplied
 * for this suggestion: 1 where none has levels or choices, for every fourth
 * trial, with several objectives, and up to after trials without progress (0:
 * always); then 1 + rate / d for each further one, 16 at most.
 */
double gp_stagnation_factor(const struct strategy_ask *, const struct gp_axes *,
    size_t after, double rate);

/* How the values are transformed before the fit. */
enum gp_warp {
	GP_WARP_NONE,
	GP_WARP_RANKS, /* only the order of the worse half */
	GP_WARP_POWER
};

/*
 * The median of n values or, if that is larger, of the first ten: when most
 * trials are close to the best one, the median is, too.
 */
double gp_warp_middle(const double *y, size_t n);
/*
 * What is above that middle becomes the mirror image of normal values below it:
 * keeps the order and drops the distances, so that outliers do not hide the
 * differences between good values.  After Song, Zhang, Lee and others, "The Vizier Gaussian
 * process bandit algorithm", arXiv:2408.11527 (2024).
 */
void gp_warp_ranks(double *y, size_t n);
/*
 * The power after which n values are likeliest normal is applied to them, after
 * values far above the median were brought nearer by a logarithm.  slope (n):
 * derivative of the result at each value.  Returns the power, from -3 to 1; 1
 * leaves the values as they are, but for mean and deviation.  I. Yeo and R.
 * Johnson, "A new family of power transformations to improve normality or
 * symmetry", Biometrika 87 (2000).
 */
double gp_warp_power(double *y, double *slope, size_t n);
/* One value after Yeo and Johnson's power, and the derivative there. */
double gp_warp_power_of(double y, double power, double *slope);

/*
 * One value per row, standardised: mean 0 and variance 1.  Infinite values were
 * replaced by the worst (or best) finite value.
 */
struct gp_targets {
	double *y; /* n */
	double *extra; /* n: variances in addition to the noise */
	double centre, scale; /* value = centre + scale y, where not warped */
};

void gp_targets_from_losses(struct gp_targets *, const struct gp_rows *,
    const struct history *, enum gp_warp);
/* Loss k of completed rows; the others count as the worst. */
void gp_targets_from_loss(struct gp_targets *, const struct gp_rows *,
    const struct history *, size_t k);
/* The same of several losses, by gp_several_losses. */
void gp_targets_from_several(struct gp_targets *, const struct gp_rows *,
    const struct history *, enum gp_warp, struct rng *);
/* Compute from any n numbers; NaN = bad. */
void gp_targets_from(struct gp_targets *, const double *values, size_t n);
void gp_targets_free(struct gp_targets *);

/*
 * One value per row from several losses: they are shares of the range that the
 * front has of each, weights with sum 1 are drawn, and the value is the
 * weighted norm.  NaN where the row did not complete or a loss is NaN.
 */
void gp_several_losses(double *values, const struct gp_rows *,
    const struct history *, struct rng *);
/* The largest of the m weighted losses, plus 0.05 times their sum. */
double gp_several_norm(const double *losses, const double *weights, size_t m);

/*
 * Estimate the final values of stopped trials: the trial's last value plus the
 * median change from that step to the end in the completed trials that reached
 * it; the spread of the change gives the variance.
 */
void gp_targets_guess_stopped(double *values, double *variances,
    const struct gp_rows *, const struct history *);

/* How hyperparameters are fitted. */
struct gp_hyperparameters_rule {
	bool noiseless; /* no noise beyond the floor */
	double noise_log; /* of the prior of the noise, as below */
	double noise_weight; /* the same; 0: 30 */
	bool local; /* whether there may be a local variation */
	size_t restarts;
	size_t fit_trials; /* maximum number of rows used by the fit */
	/*
	 * For a suggestion that fits several processes: the starts have 64 rows
	 * at most, the last part of the fit 160.
	 */
	bool brief;
	/* d + 3: the only start, on all rows; NULL: starts of its own. */
	const double *from;
	double shorten; /* added to the logarithms of the relevances found */
};

/*
 * Logarithm of the prior of theta (d + 3), and its gradient.  That of the noise
 * variance v is noise_log log v - noise_weight v: with noise_log 0 the noise may
 * vanish.
 * That of the variance u of the local variation is -40 u.
 * The relevances of numbers are like one another, and so are those of
 * categories (category as in struct gp_data).
 */
double gp_hyperparameters_prior(const double *theta, size_t d,
    const unsigned char *category, double noise_floor, double noise_log,
    double noise_weight, double *slope);
/* The maximum a posteriori theta; then its scales are shortened. */
void gp_hyperparameters_fit(double *theta, const struct kernels *,
    const struct gp_data *, const struct gp_hyperparameters_rule *);

/* log E max(0, best - f), f normal, with its slopes; sd > 0. */
double gp_acquisition_log_ei(
    double mean, double sd, double best, double *d_mean, double *d_sd);
/* log P(f <= limit), f normal, with its slopes. */
double gp_acquisition_log_below(
    double mean, double sd, double limit, double *d_mean, double *d_sd);

/* A fitted process of one quantity that should be below limit. */
struct gp_model {
	struct gp *gp;
	double limit;
};

/*
 * The score of a point: log expected improvement below the limit of the first
 * model, plus the log probability of each further model to be below its limit.
 */
struct gp_acquisition_goal {
	/*
	 * If not NULL: the mean of this process, times the weight, is taken off
	 * the score.
	 */
	struct gp *cost;
	double cost_weight;
	/*
	 * If not NULL: the first models are of several losses, and the log
	 * expected improvement is that of their hypervolume.
	 */
	struct gp_boxes *boxes;
	const struct kernels *kernels;
	const struct gp_axes *space;
	struct gp_model *models;
	size_t n_models;
	bool improve; /* false: the first model is a constraint, too */
	size_t failures; /* 1: the last model is of where trials fail */
	const double *weights; /* d: weights of the distance */
	const double *low, *high; /* d: bounds of the search */
	/*
	 * If positive: instead of the improvement the score has the lower
	 * confidence bound of the first model, mean minus this many deviations,
	 * negated.
	 */
	double lower;
	const double *centre; /* d: search its neighbours; NULL: everywhere */
};

/* Scores of m rows; slopes (m x d) may be NULL. */
void gp_acquisition(const struct gp_acquisition_goal *, const double *rows,
    size_t m, double *score, double *slopes);
/*
 * The same, but for rounding, of m rows that differ from base in few coordinates;
 * and the numbers of the k best of them, best first.  Returns how many there are.
 */
void gp_acquisition_near(const struct gp_acquisition_goal *, const double *base,
    const double *rows, size_t m, double *score);
size_t gp_acquisition_near_best(const struct gp_acquisition_goal *,
    const double *base, const double *rows, size_t m, size_t k, size_t *best);
/*
 * Whether the score is the expected improvement of one model alone, of which the
 * kernels find the best without all scores.
 */
bool gp_acquisition_is_improvement(const struct gp_acquisition_goal *);

/* Number of candidate rows scored before local search. */
struct gp_candidates_rule {
	size_t candidates;
	size_t whole; /* a space of at most so many rows: all of them */
	const double *good; /* rows; points near them are candidates, too */
	size_t n_good;
};

/* The k best candidates, best first; returns their number. */
size_t gp_candidates_best(double *rows, double *score, size_t k,
    const struct gp_acquisition_goal *, const struct gp_candidates_rule *,
    struct rng *);

/*
 * m starts for local searches: of n rows (at least m), the best first, those
 * that are not next to a start before them; if these are fewer, the best ones
 * again.
 */
void gp_local_search_starts(double *starts, size_t m,
    const struct gp_acquisition_goal *, const double *rows, size_t n);
/*
 * Improve n rows independently: continuous coordinates by descent, levels and
 * categories one at a time, in turns.  Returns the scores.
 */
void gp_local_search(
    const struct gp_acquisition_goal *, double *rows, size_t n, double *score);

enum { GP_GOOD = 16 }; /* number of good rows */

/* The trials among the finished ones that had no result. */
struct gp_failures {
	size_t n, failed; /* of n trials; 0: nothing is to be learned */
	double *x; /* n x d, of all rows */
	double *labels; /* n: 1 = without a result */
};

/* One suggestion. */
struct gp_question {
	const struct strategy_ask *ask;
	const struct option_value *options;
	struct gp_hyperparameters_rule rule;
	enum gp_warp warp;
	bool rough; /* the processes of losses are */
	bool noisy; /* progress cannot be told from luck */
	double *known; /* hyperparameters of that question; NULL: not asked */
	size_t n_known; /* rows of it */
	struct gp_axes space;
	struct gp_rows rows;
	struct gp_failures failures;
	struct rng rng;
	double *good; /* the rows with the lowest means, best first */
	size_t n_good;
	double *weights; /* d */
	double *low, *high; /* d: bounds of the search */
	double *centre; /* d: of the surroundings that are searched; or NULL */
};

/*
 * Fit the process of the losses and one per constraint, and find the good rows.
 * -1: no fit is possible.  Call gp_models_free in any case.
 */
int gp_models_fit(struct gp_acquisition_goal *, struct gp_question *);
void gp_models_free(struct gp_acquisition_goal *);

/*
 * A process of values at n rows, and of running trials, rough as in struct
 * gp_data; NULL: there is none.
 */
struct gp *gp_models_of(const struct gp_question *, const double *x, size_t n,
    const struct gp_targets *, bool rough, double *theta);

/*
 * Take the trials without a result off the rows and keep where they were; rows
 * with fewer than two results stay as they are.
 */
void gp_failures_set_apart(struct gp_rows *, struct gp_failures *);
void gp_failures_free(struct gp_failures *);
/*
 * A process of failures, and the limit it should be below; NULL: there is none
 * that tells one place from another.
 */
struct gp *
gp_failures_fit(const struct gp_question *, double *theta, double *limit);

/*
 * Whether the results of one objective have noise that is large beside the
 * differences of good trials, by a process of all rows, whose hyperparameters
 * theta (d + 3) receives.
 */
bool gp_noise_is_large(const struct gp_question *, double *theta);

/* Whether durations count: by the option or, without it, the limits. */
bool gp_cost_counts(const struct gp_question *);
/*
 * A process of the logarithm of the duration, and by what it is multiplied in
 * the score: none where the durations of fewer than five trials are known or
 * all are alike.
 */
void gp_cost_fit(struct gp_acquisition_goal *, const struct gp_question *);

/*
 * Conditions of the space, and memory: whether a point satisfies them and is likely
 * to fit.
 */
bool gp_where_holds(const struct gp_axes *, const double *point);
/* Move the rows that do to the front; returns their number. */
size_t gp_where_rows(const struct gp_axes *, double *rows, size_t m);
/* A copy of m rows, which the caller frees; NULL when there is no condition. */
double *gp_where_copy(const struct gp_axes *, const double *rows, size_t m);
/*
 * Bring rows that satisfy them no more back towards what they were before, and
 * score them again.
 */
void gp_where_approach(const struct gp_acquisition_goal *, double *rows,
    const double *before, size_t m, double *score);

#endif /* HPOTUNE_GP_H */
