/*
 * What TPE makes of a history before any density: which trials are good, and
 * which parameters are looked at together.
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
	TPE_GAMMA_TENTH, /* a tenth of the trials, with one objective at most
			  * 25 */
	TPE_GAMMA_ROOT /* a quarter of the root, at most 25 */
};

/* How many of n finished trials are good. */
size_t tpe_split_gamma(enum tpe_split_gamma, size_t n, size_t n_objectives);

/* Numbers of trials, ascending. */
struct tpe_split {
	int64_t *below, *above;
	size_t n_below, n_above;
};

/*
 * The best n trials are below: completed ones by loss (several losses: by rank,
 * and of the rank that does not fit those that dominate much together), then
 * stopped ones, those first that ran further and then by their last value, then
 * those that violate constraints, by how much.  The others are above, with the
 * failed ones; with liar, those that still run, too.
 */
void tpe_split(struct tpe_split *, const struct history *, size_t n, bool liar);
void tpe_split_free(struct tpe_split *);

/*
 * Number the groups of parameters that are sampled together: group has one
 * number per parameter, and those of equal numbers belong together.  Joint: one
 * group of those that every completed or stopped trial had; every other one
 * stands alone.  Grouped: parameters are together that the same trials had.
 */
enum tpe_joint { TPE_ALONE, TPE_JOINT, TPE_GROUPED };
void tpe_groups(
    int *group, const struct space *, const struct history *, enum tpe_joint);

/*
 * The coordinates of the listed trials that have all parameters which (dims
 * indices), as tpe_parzen_fit takes them: dims rows, in a new array.
 */
double *
tpe_groups_observations(const struct history *, const int64_t *trials, size_t n,
    const struct axis *, const size_t *which, size_t dims, size_t *n_kept);

/* One question, once the history is split. */
struct tpe_question {
	const struct strategy_ask *ask;
	struct parzen_rule rule, good_rule; /* of those above, and below */
	struct tpe_split split;
	size_t n_candidates;
	struct rng rng;
};

/* Write the point to x. */
void tpe_candidates_best(struct tpe_question *, double *x, enum tpe_joint);

#endif /* HPOTUNE_TPE_H */
