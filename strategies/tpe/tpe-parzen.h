/*
 * A Parzen estimator: a mixture with one component per observation and one for
 * the prior; a component is a product over the parameters of the joint space.
 *
 * Coordinates: a number is at its position between the bounds, on its scale (0
 * to 1); levels are at the middle of their share; an integer on a log scale at
 * its logarithm; a choice is its index.
 */

#ifndef HPOTUNE_TPE_PARZEN_H
#define HPOTUNE_TPE_PARZEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct param;
struct rng;

enum axis_kind {
	TPE_AXIS_NUMBER,
	TPE_AXIS_LEVELS, /* an integer, a step, ordered choices */
	TPE_AXIS_LOG_INT,
	TPE_AXIS_CHOICE
};

struct axis {
	enum axis_kind kind;
	double levels; /* TPE_AXIS_LEVELS, TPE_AXIS_CHOICE */
	double low, least,
	    most; /* TPE_AXIS_LOG_INT: ln(least - 1/2), min, max */
	double width; /* of the interval, in the user's numbers or their ln */
	double mean, sd; /* of the prior of a number; sd 0: 0.5 and 1 */
};

/* False: the parameter has only one value. */
bool tpe_axis_init(struct axis *, const struct param *);
/* The coordinate of a number of the unit cube (not NaN), and back. */
double tpe_axis_from_cube(const struct axis *, double u);
double tpe_axis_to_cube(const struct axis *, double z);
/* The coordinate of the level that contains a number drawn from 0 to 1. */
double tpe_axis_round(const struct axis *, double z);
/* The share of the interval of a level. */
void tpe_axis_share(const struct axis *, double z, double *left, double *right);

enum parzen_weights {
	PARZEN_RECENT, /* the newest 25 count fully, older ones less */
	PARZEN_UNIFORM
};

struct parzen_rule {
	double prior_weight;
	bool magic_clip;
	bool endpoints;
	enum parzen_weights weights;
};

enum {
	PARZEN_BLOCK = 64 /* components computed together */
};

/* Arrays by component have stride elements, padded to a block. */
struct parzen {
	const struct axis *axes; /* borrowed */
	size_t dims;
	size_t n; /* components; the last one is the prior */
	size_t stride;
	double *mu; /* dims x stride; of a choice the index, prior: levels */
	double *scale; /* dims x stride: 1 / (sigma sqrt(2)) */
	size_t
	    /* dims: row of the next two arrays, for levels and choices */
	    *table;
	uint32_t *group; /* rows x stride: components equal in a dimension */
	uint32_t *member; /* rows x stride: the first component of a group */
	size_t *n_groups; /* dims */
	double *base; /* ln of weight / norm; -inf for padding */
	double *share; /* cumulated weights; the last is 1 */
	/* for choices: mass of the observed one; each has other, too */
	double own;
	double other;
};

/* n observations, oldest first: z has dims rows of n. */
void tpe_parzen_fit(struct parzen *, const struct parzen_rule *,
    const struct axis *, size_t dims, const double *z, size_t n);
void tpe_parzen_free(struct parzen *);
/* Unnormalised weights of n observations, oldest first. */
void tpe_parzen_weigh(double *w, size_t n, enum parzen_weights);
/*
 * ln of the density at points (rows of dims numbers) in the coordinates above;
 * levels and choices have a mass.
 */
void tpe_density_log(
    const struct parzen *, const double *points, size_t n, double *out);
/* Draw n points. */
void tpe_sample(const struct parzen *, struct rng *, double *points, size_t n);

#endif /* HPOTUNE_TPE_PARZEN_H */
