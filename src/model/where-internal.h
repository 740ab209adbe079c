/* Shared by where.c, which reads conditions, where-search.c and where-repair.c. */

#ifndef HPOTUNE_WHERE_INTERNAL_H
#define HPOTUNE_WHERE_INTERNAL_H

#include "src/model/expression.h"
#include "src/model/where.h"

struct param;
struct rng;

struct where {
	struct expression **list;
	char **texts;
	size_t n;
};

/* Part of a space: of each parameter a range. */
struct where_range {
	double low, high; /* levels, or for a continuous one coordinates */
};

/* The whole range of a parameter, or one value, unless it is NULL or none. */
void where_range_of(
    struct where_range *, const struct param *, const struct value *);
/* Add the values of a range. */
void where_range_span(
    struct span *, const struct param *, const struct where_range *);
/* The range of each parameter; fixed: values, or NULL. */
void where_box(
    struct where_range *, const struct space *, const struct value *fixed);
/*
 * The values of parameter i in a box, with SPAN_NONE if it may be inactive;
 * spans has those of the parameters before it in space->order.
 */
void where_span(struct span *spans, const struct space *,
    const struct where_range *box, size_t i);
/* The spans of all parameters. */
void
where_spans(struct span *, const struct space *, const struct where_range *);
/* The values of a setting without open parameters, each as a set of one. */
void where_setting_spans(
    struct span *, const struct space *, const struct value *values);
/*
 * A setting that satisfies all conditions, into u, by moving a random one;
 * matters: per parameter, whether a condition depends on it.  False: not found.
 */
bool where_repair(double *u, const struct space *space,
    const struct value *fixed, const bool *matters, struct rng *rng);

#endif /* HPOTUNE_WHERE_INTERNAL_H */
