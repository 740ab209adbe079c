/*
 * The front of several losses, kept while trials end: those that no other one
 * dominates.  Knows numbers and rows of losses (smaller is better, all finite).
 */

#ifndef HPOTUNE_PARETO_FRONT_H
#define HPOTUNE_PARETO_FRONT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pareto_front;

enum pareto_front_place {
	PARETO_FRONT_DOMINATED, /* a member dominates it */
	PARETO_FRONT_EQUAL, /* it is on the front, and so was its equal before */
	PARETO_FRONT_BETTER /* it is on the front with something new */
};

/* n losses of each trial. */
struct pareto_front *pareto_front_new(size_t n);
void pareto_front_free(struct pareto_front *);
size_t pareto_front_count(const struct pareto_front *);
/* A member that is known to be one. */
void
pareto_front_load(struct pareto_front *, int64_t trial, const double *losses);
/*
 * A trial ended: let it in unless it is dominated; members that it dominates
 * leave.  *out are their numbers, n_out of them, until the next call.
 */
enum pareto_front_place pareto_front_add(struct pareto_front *, int64_t trial,
    const double *losses, const int64_t **out, size_t *n_out);

#endif /* HPOTUNE_PARETO_FRONT_H */
