/*
 * The settings that a study has tried: a hash of each, 12 bytes in a table that
 * is 60 to 90 % full.  Two settings with the same hash are not distinguished:
 * the caller verifies a match in the database.
 */

#ifndef HPOTUNE_TRIED_SETTINGS_H
#define HPOTUNE_TRIED_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

struct space;
struct tried_settings;
struct value;

struct tried_settings *tried_settings_new(const struct space *, uint64_t seed);
void tried_settings_free(struct tried_settings *);
/* Make room for so many settings at once; there is always room for more. */
void tried_settings_reserve(struct tried_settings *, size_t n);
/* params: the JSON of a trial.  The first trial of a setting represents it. */
void
tried_settings_add(struct tried_settings *, const char *params, int64_t trial);
/* The first trial of this setting, or 0. */
int64_t tried_settings_find(const struct tried_settings *, const char *params);
/*
 * The number of settings of the space that satisfy its conditions; 0 = infinite,
 * or too many to be counted.
 */
uint64_t tried_settings_count(const struct tried_settings *);
/* The number of settings of the space when all were tried, otherwise 0. */
uint64_t tried_settings_all(const struct tried_settings *);
/*
 * A setting that was not tried, the same one for the same seed and tried
 * settings; false when there is none, or when the space is infinite.  It
 * satisfies the conditions of the space; false, too, when very many settings in
 * a row do not.
 */
bool tried_settings_other(struct tried_settings *, struct value *values);

#endif /* HPOTUNE_TRIED_SETTINGS_H */
