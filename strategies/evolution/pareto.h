/*
 * Several losses at once, all minimised: domination, crowding, and
 * hypervolume.  Arithmetic on rows of numbers; a NaN counts as the worst value.
 *
 * losses: n rows of m numbers.
 */

#ifndef HPOTUNE_PARETO_H
#define HPOTUNE_PARETO_H

#include <stdbool.h>
#include <stddef.h>

/*
 * rank[i] = 0 for the rows that no other one dominates, 1 for those that only
 * rows of rank 0 dominate, and so on.
 */
void pareto_ranks(size_t *rank, const double *losses, size_t n, size_t m);
/*
 * The same with constraints: violation <= 0 where all are satisfied; those rows
 * come first, then the others by violation, then those with unknown violation
 * (NaN), by their losses.  NULL = no constraints.
 */
void pareto_ranks_constrained(size_t *rank, const double *losses,
    const double *violation, size_t n, size_t m);
/*
 * Crowding distances of the n rows of one front: of each loss the distance
 * between the neighbours as a share of the front's range, summed; infinite at
 * the ends.  Deb, Pratap, Agarwal and Meyarivan, "A fast and elitist
 * multiobjective genetic algorithm: NSGA-II" (2002).
 */
void
pareto_crowding(double *distance, const double *losses, size_t n, size_t m);
/*
 * The volume between the rows and the reference point; a row that is not
 * better than it in everything adds nothing.  Exact.
 */
double hypervolume_of(
    const double *losses, size_t n, size_t m, const double *reference);
/* The increase of the volume of n others by this row. */
double hypervolume_gain(const double *row, const double *losses, size_t n,
    size_t m, const double *reference);
/* For each loss the worst of the rows plus a tenth of the range. */
void hypervolume_reference(
    double *reference, const double *losses, size_t n, size_t m);
/*
 * Choose k <= n rows with large volume, greedily: each time the row with the
 * largest contribution, the first in case of ties.  A duplicate row is chosen
 * only when nothing else is left.
 */
void hypervolume_subset(size_t *chosen, size_t k, const double *losses,
    size_t n, size_t m, const double *reference);

#endif /* HPOTUNE_PARETO_H */
