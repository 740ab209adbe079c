/* Perturbs the settings of a good member for another one. */

#ifndef HPOTUNE_PBT_H
#define HPOTUNE_PBT_H

struct rng;
struct space;

struct pbt_change {
	double resample; /* probability of a new value from the whole range */
	double up, down; /* else multiply by one of these */
	const char *only; /* names joined by commas; NULL = all */
};

/* Change a point, whose inactive parameters are NaN. */
void pbt_explore(
    double *x, const struct space *, const struct pbt_change *, struct rng *);

#endif /* HPOTUNE_PBT_H */
