/*
 * Enumerates the settings of a space without storing them: their count, and the
 * setting of a number.  Discrete parameters contribute all their values,
 * continuous ones a fixed number of levels.
 */

#ifndef HPOTUNE_SPACE_INDEX_H
#define HPOTUNE_SPACE_INDEX_H

#include <stdint.h>

struct space_index;
struct space;

#define SPACE_INDEX_MAX (UINT64_C(1) << 53) /* the most points */

/*
 * levels of a continuous parameter, from min to max; with levels 0, a space
 * that has a continuous parameter counts as too large.
 */
struct space_index *space_index_new(const struct space *, uint64_t levels);
void space_index_free(struct space_index *);
/* The number of points; 0 = too many. */
uint64_t space_index_count(const struct space_index *);
/* Point number index, from 0, in the unit cube; NaN = inactive. */
void space_index_point(const struct space_index *, uint64_t index, double *x);

#endif /* HPOTUNE_SPACE_INDEX_H */
