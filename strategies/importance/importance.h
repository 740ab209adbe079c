/*
 * Parameter importance: how much the results depend on each parameter alone.
 * No I/O.
 */

#ifndef HPOTUNE_IMPORTANCE_H
#define HPOTUNE_IMPORTANCE_H

#include <stddef.h>

struct space;

/* Finished trials. */
struct importance_data {
	const struct space *space;
	size_t n; /* trials */
	const double *points; /* n x parameters, in the cube; NaN = inactive */
	const double *losses; /* n finite numbers, smaller is better */
};

/*
 * PED-ANOVA: how much the density of each parameter among the trials better
 * than quantile target differs from that among those better than region, as a
 * Pearson divergence (Watanabe, Bansal and Hutter, "PED-ANOVA", IJCAI 2023,
 * arXiv:2304.10255); a conditional parameter is evaluated where it is active,
 * weighted by the share of such trials (arXiv:2601.20800). 0 < target <= region
 * <= 1. out: one number of at least 0 per parameter.
 */
void importance_ped_anova(
    double *out, const struct importance_data *, double target, double region);

/*
 * fANOVA: the share of the variance of a random forest's predictions over the
 * whole space that each parameter explains alone (Hutter, Hoos and
 * Leyton-Brown, "An efficient approach for assessing hyperparameter
 * importance", ICML 2014); the rest to 1 is due to interactions.  An inactive
 * parameter has no influence: it counts as uniform. out: shares in [0, 1], one
 * per parameter; all 0 if the results do not vary.
 */
void
importance_fanova(double *out, const struct importance_data *, size_t trees);

struct importance_pair {
	size_t a, b; /* two parameters, not the same */
	double share;
};

/*
 * fANOVA of pairs: the share of the variance that both parameters explain
 * together beyond what each explains alone (the same source, section 2.3), with
 * the trees of importance_fanova. a and b are given; share is set, in [0, 1].
 */
void importance_fanova_pairs(struct importance_pair *, size_t n,
    const struct importance_data *, size_t trees);

enum {
	IMPORTANCE_PAIR_PARAMS = 5, /* whose pairs are looked at */
	IMPORTANCE_PAIRS = 5, /* at most */
	IMPORTANCE_PAIR_TRIALS = 400 /* at most, evenly chosen */
};

/*
 * The interactions worth a line: fANOVA of the pairs of the parameters with the
 * greatest share (one per parameter, of either method; fixed parameters are
 * left out), those that explain at least 1 % of the variance, the greatest
 * first.  pairs has room for IMPORTANCE_PAIRS; returns how many there are.
 * *trials: of how many trials the forest was made.
 */
size_t importance_interactions(struct importance_pair *pairs, size_t *trials,
    const struct importance_data *, const double *share, size_t trees);

#endif /* HPOTUNE_IMPORTANCE_H */
