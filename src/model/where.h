/*
 * "where": conditions that every setting of a study satisfies, known before it
 * is tried; and the search for settings that satisfy all of them.
 */

#ifndef HPOTUNE_WHERE_H
#define HPOTUNE_WHERE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct json;
struct space;
struct span;
struct value;
struct where;

/*
 * Read the list into space->where.  ERR_USAGE: an expression cannot be read, or
 * no setting was found that satisfies all of them.
 */
int where_read(struct space *, const struct json *list, struct err *);
void where_free(struct where *);

/*
 * The set of values of each parameter of the space (space->n), for expressions.
 */
void where_all(struct span *, const struct space *);

size_t where_count(const struct space *);
/* Condition number i as it is written. */
const char *where_text(const struct space *, size_t i);
/*
 * The first condition that does not hold for a setting, or NULL.  A parameter
 * that is active but VALUE_NONE is open: the condition holds for none of its
 * values.
 */
const char *where_broken(const struct space *, const struct value *values);
/* Whether all conditions hold at a point of the cube. */
bool where_holds(const struct space *, const double *u);
/* The share of n random points of the cube at which all hold. */
double where_share(const struct space *, uint64_t seed, size_t n);

enum where_found {
	WHERE_FOUND,
	WHERE_EMPTY, /* there is none */
	WHERE_UNKNOWN /* none was found */
};

/*
 * A random setting that satisfies all conditions, into u (n numbers); of those
 * with the values in fixed (VALUE_NONE = open), unless it is NULL.  Random
 * points first, so that it is uniform where such settings are frequent; then
 * boxes of the space are halved and those without such a setting left out; then
 * random points are moved towards such a setting.
 * The same seed and stream give the same setting.
 */
enum where_found where_search(double *u, const struct space *,
    const struct value *fixed, uint64_t seed, uint64_t stream);
/*
 * Move a point of the cube on a straight line to another one, at which all
 * conditions hold, as little as it takes.  from: n numbers, overwritten.
 */
void where_approach(double *from, const struct space *, const double *to);
/*
 * Complete a setting: open parameters keep their value in suggested where it is
 * possible.  False when no completion was found.
 */
bool where_complete(const struct space *, struct value *suggested,
    const struct value *fixed, uint64_t seed, uint64_t stream);

#endif /* HPOTUNE_WHERE_H */
