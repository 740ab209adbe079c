/* Shared by when.c and where.c. */

#ifndef HPOTUNE_WHEN_INTERNAL_H
#define HPOTUNE_WHEN_INTERNAL_H

#include "src/model/expression.h"
#include "src/model/when.h"

/*
 * What a test may be for the values that the caller looks at: SPAN_TRUE,
 * SPAN_FALSE, SPAN_NONE (its parameter is inactive) or several of them.
 */
typedef unsigned when_test_fn(const struct when_test *, const void *arg);

/*
 * What the condition may be for these values: tests are asked for, and spans
 * has the set of values of each parameter, for an expression.
 */
unsigned when_truth(const struct when *, when_test_fn *, const void *arg,
    const struct span *spans);

#endif /* HPOTUNE_WHEN_INTERNAL_H */
