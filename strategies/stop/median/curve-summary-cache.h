/*
 * Values of curves that are asked for report after report, each from the one
 * before it.  A cache only: the numbers are those of curve_summary_at.
 */

#ifndef HPOTUNE_CURVE_SUMMARY_CACHE_H
#define HPOTUNE_CURVE_SUMMARY_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "strategies/stop/median/curve-summary.h"

struct curve_summary_cache;

struct curve_summary_cache *
curve_summary_cache_new(const struct curve_summary_rule *);
void curve_summary_cache_free(struct curve_summary_cache *);
/* The value of this trial's curve at report i. */
double curve_summary_cache_at(struct curve_summary_cache *, int64_t trial,
    const struct curve *, size_t i);
/* The curve changed other than at its end. */
void curve_summary_cache_forget(struct curve_summary_cache *, int64_t trial);

#endif /* HPOTUNE_CURVE_SUMMARY_CACHE_H */
