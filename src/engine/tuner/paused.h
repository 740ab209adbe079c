/* Trials that a rule has paused; they are not among the live ones. */

#ifndef HPOTUNE_PAUSED_H
#define HPOTUNE_PAUSED_H

#include <stddef.h>
#include <stdint.h>

#include "src/model/trial.h"

struct capacity;
struct judgement;
struct live_trial;
struct tuner;

/* All zero: empty.  All files may read it; only paused.c writes it. */
struct paused_set {
	struct live_trial **list;
	size_t n;
};

/* Frees the trials, too. */
void paused_free(struct paused_set *);
/* Move a paused trial from the live list to the paused list. */
void paused_add(struct tuner *, struct live_trial *);
struct live_trial *paused_find(const struct paused_set *, int64_t trial);
/*
 * Write why a trial waits that a rule has paused, for its row: the step, and the
 * rule's reason, which is in the row as the reason of the stop.
 */
void paused_put_why(const struct live_trial *, char *why, size_t n);
/* Give a paused trial that will not resume its final state. */
void paused_final(
    struct tuner *, struct live_trial *, enum trial_event, const char *why);
/*
 * The next trial that the rules resume and that has room (NULL: any), and the
 * reason; or NULL.
 */
struct live_trial *
paused_next(struct tuner *, const struct capacity *, struct judgement *);
/* Resume the next one: it waits for a slot now. */
struct live_trial *paused_resume(struct tuner *, const struct capacity *);
/* End all: no more results will come that could resume any. */
void paused_settle(struct tuner *);
void paused_end_all(struct tuner *);

#endif /* HPOTUNE_PAUSED_H */
