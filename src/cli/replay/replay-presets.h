/* hpotune replay --presets: which of three rules suits the curves. */

#ifndef HPOTUNE_REPLAY_PRESETS_H
#define HPOTUNE_REPLAY_PRESETS_H

#include <stddef.h>

struct buf;
struct replay_sum;

/* The rules by kind of run; ends with NULL. */
extern const char *const replay_presets[];

/*
 * Append which of n rules, those of replay_presets, saves most among those that
 * lose few best trials, and what each saves and loses after second looks, with
 * 95 % intervals of independent studies.
 */
void replay_presets_put(struct buf *, const struct replay_sum *, size_t n);

#endif /* HPOTUNE_REPLAY_PRESETS_H */
