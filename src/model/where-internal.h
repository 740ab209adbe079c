/* Shared by where.c, which reads conditions, and where-search.c. */

#ifndef HPOTUNE_WHERE_INTERNAL_H
#define HPOTUNE_WHERE_INTERNAL_H

#include "src/model/expression.h"
#include "src/model/where.h"

struct where {
	struct expression **list;
	char **texts;
	size_t n;
};

/* Part of a space: of each parameter a range. */
struct where_range {
	double low, high; /* levels, or for a continuous one coordinates */
};

/* The whole range of each parameter, or the one value that it has in fixed. */
void where_box(
    struct where_range *, const struct space *, const struct value *fixed);
/* The values of each parameter in a box; SPAN_NONE where it may be inactive. */
void
where_spans(struct span *, const struct space *, const struct where_range *);

#endif /* HPOTUNE_WHERE_INTERNAL_H */
