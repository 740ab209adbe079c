/* Which of three rules suits curves, or those of a study. */

#ifndef HPOTUNE_REPLAY_PRESETS_H
#define HPOTUNE_REPLAY_PRESETS_H

#include <stddef.h>

struct buf;
struct err;
struct replay_sum;
struct store;

/* The rules by kind of run; ends with NULL. */
extern const char *const replay_presets[];

/*
 * Append which of n rules, those of replay_presets, saves most among those that
 * lose few best trials, and what each saves and loses after second looks, with
 * 95 % intervals of independent studies.
 */
void replay_presets_put(struct buf *, const struct replay_sum *, size_t n);

/*
 * Append one line on the curves of a study's completed trials: which rule suits
 * them best, what it saves and loses; nothing where a rule cannot be used.  It
 * takes some 0.25 s for 1000 reports; turn: NULL, or called with arg sixty times
 * on the way.
 */
int replay_presets_of_study(struct buf *, struct store *,
    void (*turn)(void *arg), void *arg, struct err *);

#endif /* HPOTUNE_REPLAY_PRESETS_H */
