/* Partial settings: one value per parameter, VALUE_NONE where it is open. */

#ifndef HPOTUNE_PARTIAL_SETTING_H
#define HPOTUNE_PARTIAL_SETTING_H

#include <stdbool.h>
#include <stddef.h>

struct space;
struct value;

/*
 * Write the values of over into values; those that become inactive are removed.
 */
void partial_setting_overlay(
    const struct space *, struct value *values, const struct value *over);
/*
 * Give each parameter that became active through the setting, and has no
 * suggested value, its default or the middle of its range.
 */
void partial_setting_complete(const struct space *, struct value *values);
/*
 * The defaults as one setting, without parameters that it makes inactive, into
 * def, which is all VALUE_NONE; whether there are any.
 */
bool partial_setting_defaults(const struct space *, struct value *def);
/*
 * Whether parameter i may be active in a setting with these values, of which
 * VALUE_NONE is open; false only if it cannot.
 */
bool partial_setting_may_have(
    const struct space *, size_t i, const struct value *values);

#endif /* HPOTUNE_PARTIAL_SETTING_H */
