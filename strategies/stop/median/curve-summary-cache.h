/*
 * Values of curves that are asked for report after report, each from the one
 * before it.  A cache only: the numbers are those of value_at.
 */

#ifndef HPOTUNE_CURVE_SUMMARY_CACHE_H
#define HPOTUNE_CURVE_SUMMARY_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "strategies/stop/median/curve-summary.h"

struct value_cache;

struct value_cache *value_cache_new(const struct value_rule *);
void value_cache_free(struct value_cache *);
/* The value of this trial's curve at report i. */
double value_cache_at(
    struct value_cache *, int64_t trial, const struct curve *, size_t i);
/* The curve changed other than at its end. */
void value_cache_forget(struct value_cache *, int64_t trial);

#endif /* HPOTUNE_CURVE_SUMMARY_CACHE_H */
