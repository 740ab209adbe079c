/*
 * Log masses of levels by their distance from the centre of a component: there
 * are few distances and bandwidths, and many pairs of a level and a component.
 */

#ifndef HPOTUNE_TPE_LEVELS_H
#define HPOTUNE_TPE_LEVELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct parzen;

/* Of one dimension of an estimator, which is borrowed. */
struct tpe_levels {
	const struct parzen *p;
	size_t d, levels;
	double *mass; /* bandwidths x levels: by bandwidth and distance */
	size_t *row; /* by group: its first mass; SIZE_MAX: none */
	size_t *centre; /* by group: its level */
};

/*
 * False where it does not save computing the masses of m levels in each group
 * of the dimension, and then there is nothing to free.
 */
bool
tpe_levels_init(struct tpe_levels *, const struct parzen *, size_t d, size_t m);
void tpe_levels_free(struct tpe_levels *);
/*
 * The masses at coordinate x by group; rest receives the groups that have none
 * here, whose number is returned.
 */
size_t tpe_levels_fill(
    const struct tpe_levels *, double x, double *table, uint32_t *rest);

#endif /* HPOTUNE_TPE_LEVELS_H */
