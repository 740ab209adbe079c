/* Partial settings: one value per parameter, VALUE_NONE where left open. */

#ifndef HPOTUNE_PARTIAL_SETTING_H
#define HPOTUNE_PARTIAL_SETTING_H

#include <stdbool.h>

struct space;
struct value;

/* Lay over over values; what it makes inactive goes. */
void setting_lay_over(
    const struct space *, struct value *values, const struct value *over);
/*
 * A parameter that became active through the setting has no suggested value:
 * it takes its default, or the middle of its range.
 */
void setting_complete(const struct space *, struct value *values);
/* Whether nothing is left open. */
bool setting_whole(const struct space *, const struct value *values);

#endif /* HPOTUNE_PARTIAL_SETTING_H */
