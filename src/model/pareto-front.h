/*
 * The front of several losses, kept while trials end: those that no other one
 * dominates.  Knows numbers and rows of losses (smaller is better, all finite).
 */

#ifndef HPOTUNE_PARETO_FRONT_H
#define HPOTUNE_PARETO_FRONT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct front;

enum front_place {
	FRONT_OUT, /* a member dominates it */
	FRONT_EQUAL, /* it is on the front, and so was its equal before */
	FRONT_BETTER /* it is on the front with something new */
};

/* n losses of each trial. */
struct front *front_new(size_t n);
void front_free(struct front *);
size_t front_count(const struct front *);
/* A member that is known to be one. */
void front_load(struct front *, int64_t trial, const double *losses);
/*
 * A trial ended: let it in unless it is dominated; members that it dominates
 * leave.  *out are their numbers, n_out of them, until the next call.
 */
enum front_place front_enter(struct front *, int64_t trial,
    const double *losses, const int64_t **out, size_t *n_out);

#endif /* HPOTUNE_PARETO_FRONT_H */
