/*
 * The Pareto front, updated as trials end: the trials that no other one
 * dominates.  Input: trial numbers and rows of losses (smaller is better, all
 * finite).
 */

#ifndef HPOTUNE_PARETO_FRONT_H
#define HPOTUNE_PARETO_FRONT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pareto_front;

enum pareto_front_place {
	PARETO_FRONT_DOMINATED, /* a member dominates it */
	PARETO_FRONT_EQUAL, /* on the front, equal to an earlier member */
	PARETO_FRONT_BETTER /* on the front, and not equal to any member */
};

/* A new, empty front of n losses per trial; free with pareto_front_free. */
struct pareto_front *pareto_front_new(size_t n);
void pareto_front_free(struct pareto_front *);
size_t pareto_front_count(const struct pareto_front *);
/* Add a trial that is a member for certain, without comparison. */
void
pareto_front_load(struct pareto_front *, int64_t trial, const double *losses);
/*
 * A trial ended: add it unless it is dominated, and remove the members that it
 * dominates. *out are the removed numbers, n_out of them, borrowed until the
 * next call.
 */
enum pareto_front_place pareto_front_add(struct pareto_front *, int64_t trial,
    const double *losses, const int64_t **out, size_t *n_out);

#endif /* HPOTUNE_PARETO_FRONT_H */
