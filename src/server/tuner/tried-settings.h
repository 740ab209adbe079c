/*
 * Settings that a study has tried: a hash of each, 12 bytes in a table that is
 * between six tenths and nine tenths full.  Two settings with one hash are not
 * told apart: whoever finds one asks the store.
 */

#ifndef HPOTUNE_TRIED_SETTINGS_H
#define HPOTUNE_TRIED_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

struct space;
struct tried;
struct value;

struct tried *tried_new(const struct space *, uint64_t seed);
void tried_free(struct tried *);
/* params: the JSON of a trial.  The first trial of a setting stands for it. */
void tried_add(struct tried *, const char *params, int64_t trial);
/* The first trial of this setting, or 0. */
int64_t tried_find(const struct tried *, const char *params);
/* How many settings the space has when each was tried, else 0. */
uint64_t tried_all(const struct tried *);
/*
 * Some setting that was not tried, the same one for the same seed and tried
 * settings; false where there is none, or where there is no end of them.
 */
bool tried_other(struct tried *, struct value *values);

#endif /* HPOTUNE_TRIED_SETTINGS_H */
