/*
 * A space as a list of settings that nobody writes down: how many there are,
 * and which one has a number.  Discrete parameters give all their values,
 * continuous ones a number of levels.
 */

#ifndef HPOTUNE_SPACE_INDEX_H
#define HPOTUNE_SPACE_INDEX_H

#include <stdint.h>

struct space_index;
struct space;

#define SPACE_INDEX_MAX (UINT64_C(1) << 53) /* points; more are too many */

/*
 * levels of a continuous parameter, from min to max; with 0 levels a space
 * with one has too many points.
 */
struct space_index *space_index_new(const struct space *, uint64_t levels);
void space_index_free(struct space_index *);
/* How many points; 0 = too many. */
uint64_t space_index_count(const struct space_index *);
/* Point number index, from 0, in the unit cube; NaN: inactive. */
void space_index_point(const struct space_index *, uint64_t index, double *x);

#endif /* HPOTUNE_SPACE_INDEX_H */
