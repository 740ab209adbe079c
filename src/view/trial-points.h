/* Recorded settings as points of the unit cube, for importance. */

#ifndef HPOTUNE_TRIAL_POINTS_H
#define HPOTUNE_TRIAL_POINTS_H

#include <stddef.h>

struct err;
struct space;
struct store;
struct study;

/*
 * The study of the last run, as recorded in the database; free with study_free.
 */
int trial_points_study(struct study **, struct store *, struct err *);
/* params (JSON) of a trial -> u, one number per parameter. */
int trial_points_read(
    double *u, const struct space *, const char *params, struct err *);
/*
 * Scale numbers of at least 0 to shares that add up to 1; returns their former
 * sum.
 */
double trial_points_shares(double *, size_t n);

#endif /* HPOTUNE_TRIAL_POINTS_H */
