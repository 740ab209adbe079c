/*
 * The steps of TPE before the densities: which trials are good, and which
 * parameters are sampled together.
 */

#ifndef HPOTUNE_TPE_H
#define HPOTUNE_TPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/rng.h"
#include "strategies/tpe/tpe-parzen.h"

struct history;
struct space;
struct strategy_ask;

enum tpe_split_gamma {
	/* a tenth of the trials, with one objective at most 25 */
	TPE_GAMMA_TENTH,
	TPE_GAMMA_ROOT /* a quarter of the square root, at most 25 */
};

/* Number of good ones among n finished trials. */
size_t tpe_split_gamma(enum tpe_split_gamma, size_t n, size_t n_objectives);

/* Numbers of trials, ascending. */
struct tpe_split {
	int64_t *below, *above;
	size_t n_below, n_above;
};

/*
 * The best n trials are below: completed ones by loss (several losses: by rank,
 * and of the rank that does not fit entirely those with the largest
 * hypervolume), then stopped ones by last step and last value, then those that
 * violate constraints, by how much.  The others are above, with the failed
 * ones; with liar, also the running ones.
 */
void tpe_split(struct tpe_split *, const struct history *, size_t n, bool liar);
void tpe_split_free(struct tpe_split *);

/*
 * Number the groups of parameters that are sampled together: group has one
 * number per parameter.  Joint: one group of the parameters that every
 * completed or stopped trial had; every other one is alone.  Grouped:
 * parameters that the same trials had are together.
 */
enum tpe_joint { TPE_ALONE, TPE_JOINT, TPE_GROUPED };
void tpe_groups(
    int *group, const struct space *, const struct history *, enum tpe_joint);

/*
 * The coordinates of the listed trials that have all parameters which (dims
 * indices), in the format of tpe_parzen_fit: dims rows, in a new array.
 */
double *
tpe_groups_observations(const struct history *, const int64_t *trials, size_t n,
    const struct axis *, const size_t *which, size_t dims, size_t *n_kept);

/* One suggestion, after the history was split. */
struct tpe_question {
	const struct strategy_ask *ask;
	struct parzen_rule rule, good_rule; /* for those above, and below */
	struct tpe_split split;
	size_t n_candidates;
	struct rng rng;
};

/* Write the point to x. */
void tpe_candidates_best(struct tpe_question *, double *x, enum tpe_joint);

#endif /* HPOTUNE_TPE_H */
