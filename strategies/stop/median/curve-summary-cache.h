/*
 * Values of curves for successive reports, each computed from the previous
 * one.  A cache: the numbers equal those of curve_summary_at.
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
/* The curve changed before its end: drop the entry. */
void curve_summary_cache_forget(struct curve_summary_cache *, int64_t trial);

#endif /* HPOTUNE_CURVE_SUMMARY_CACHE_H */
