/* Partial settings: one value per parameter, VALUE_NONE where left open. */

#ifndef HPOTUNE_PARTIAL_SETTING_H
#define HPOTUNE_PARTIAL_SETTING_H

#include <stdbool.h>

struct space;
struct value;

/* Lay over over values; what it makes inactive goes. */
void partial_setting_overlay(
    const struct space *, struct value *values, const struct value *over);
/*
 * A parameter that became active through the setting has no suggested value:
 * it takes its default, or the middle of its range.
 */
void partial_setting_complete(const struct space *, struct value *values);
/* Whether nothing is left open. */
bool partial_setting_is_full(const struct space *, const struct value *values);

#endif /* HPOTUNE_PARTIAL_SETTING_H */
