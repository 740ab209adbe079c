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
struct err;
struct json;
struct param;
struct space;

/*
 * mean and sd of a float or int, whose type and scale are read; bounds that are
 * not given are 4 sd away.  No error without both keys.
 */
int prior_read_normal(struct param *, const struct json *block, struct err *);
/* Once the bounds are read: the mean is between them. */
int prior_check_normal(
    const struct param *, const struct json *block, struct err *);
/* weights of a choice, whose values are read: one for each. */
int prior_read_weights(struct param *, const struct json *block, struct err *);
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
