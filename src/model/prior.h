/*
 * Priors: where the values of a parameter are likely to be, as the user says:
 * a normal distribution of a number, or of its logarithm, cut off at min and
 * max, and weights of choices.  Points of the unit cube do not depend on them:
 * random points are moved to where they are likely.
 */

#ifndef HPOTUNE_PRIOR_H
#define HPOTUNE_PRIOR_H

#include <stdbool.h>

struct buf;
struct param;
struct space;

/* "normal, mean 0.1, sd 0.02", "weights 1, 3", or nothing. */
void prior_put(struct buf *, const struct param *);

/*
 * Mean and deviation of a normal prior in the coordinate of the parameter in the
 * unit cube; false: it is uniform.
 */
bool prior_normal(const struct param *, double *mean, double *sd);
/*
 * Move a point (space.n numbers) that is uniform in the cube to one that is
 * distributed as the priors; without priors it stays.  Order is kept, so that
 * evenly spread points stay so.
 */
void prior_move(const struct space *, double *u);
/* The same of one parameter. */
double prior_move_one(const struct param *, double u);

#endif /* HPOTUNE_PRIOR_H */
