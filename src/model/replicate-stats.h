/*
 * Replicates of a setting: the value of a setting from those of its replicates,
 * whether one setting is better than another beyond chance, and the race that
 * decides which settings get further replicates.  Values are losses (smaller is
 * better), one for each value of the replicate parameter, NaN = none.
 */

#ifndef HPOTUNE_REPLICATE_STATS_H
#define HPOTUNE_REPLICATE_STATS_H

#include <stdbool.h>
#include <stddef.h>

enum { REPLICATES_MAX = 100 };

/*
 * The value of a setting from its n losses: their mean, or a quantile (0 to 1,
 * interpolated; 1 = the worst, 0.5 = the median), NaN = the mean.  NaN without a
 * finite loss; losses that are NaN do not count.
 */
double replicate_stats_value(const double *losses, size_t n, double quantile);
/* How many are not NaN, their mean, and its standard error (NaN below two). */
size_t replicate_stats_mean(
    const double *losses, size_t n, double *mean, double *error);

/*
 * P(T > t) of Student's distribution with df degrees of freedom (at least 1).
 * Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
 */
double replicate_stats_student_tail(double t, size_t df);

/*
 * The probability that a mean this much below, or lower, comes by chance when a
 * and b are equally good: a paired t test over the replicates that both have.
 * pairs: their number; NaN below two.
 */
double replicate_stats_better(
    const double *a, const double *b, size_t n, size_t *pairs);

/* A race among m settings, of which number best is the best so far. */
struct replicate_race {
	const double *losses; /* n for each setting, one after the other */
	size_t n, best;
	double variance; /* of a difference to the best */
	size_t df;
	double within; /* variance within a setting; 0 = unknown */
	size_t df_within;
};

/*
 * Whether setting k may still be the best: a t test of the paired differences to
 * the best over the replicates that both have, at 5 %, with the variance of these
 * differences pooled over all settings (as the t test of irace: López-Ibáñez et
 * al., Operations Research Perspectives 3, 2016; racing: Maron and Moore, NIPS 6,
 * 1994).  Pooled, because a setting is to be given up after its first replicate,
 * too.  True without two degrees of freedom.
 */
bool replicate_stats_may_win(const struct replicate_race *, size_t k);
/* Whether setting k and the best one have the same values where both have one. */
bool replicate_stats_same(const struct replicate_race *, size_t k);
/*
 * Whether the mean of setting k is above 0 beyond chance: a t test at 5 % with
 * the variance within settings.  For violations of a constraint.
 */
bool replicate_stats_positive(const struct replicate_race *, size_t k);
/*
 * The standard error of the value of a setting with k replicates (at least 1),
 * as an estimate of what it has with all n: r / k + s (1 / k - 1 / n), where r is
 * the variance of a replicate against others of the same number, half of that of
 * differences, and s what the numbers (folds) add to that within a setting.  All
 * settings with n replicates have the same numbers, which make no difference
 * then.  0 = unknown: no setting has two.
 */
double replicate_stats_noise(const struct replicate_race *, size_t k);
/* The losses are borrowed: m settings with n replicates each. */
struct replicate_race
replicate_stats_race(const double *losses, size_t m, size_t n, size_t best);

#endif /* HPOTUNE_REPLICATE_STATS_H */
