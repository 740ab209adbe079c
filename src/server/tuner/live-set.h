/* The trials that are not final, except those that a rule has paused. */

#ifndef HPOTUNE_LIVE_SET_H
#define HPOTUNE_LIVE_SET_H

#include <stddef.h>
#include <stdint.h>

struct live_trial;

/* All zero: empty.  All files may read it; only live-set.c writes it. */
struct live_set {
	struct live_trial **list; /* in no order */
	size_t n;
	struct live_trial *last_found;
};

/* Free the set and its trials. */
void live_set_free(struct live_set *);
struct live_trial *live_set_find(struct live_set *, int64_t trial);
/* Add a trial; takes ownership. */
void live_set_add(struct live_set *, struct live_trial *);
/* Remove a trial without freeing it: the caller owns it. */
void live_set_take(struct live_set *, const struct live_trial *);
/* Remove a trial and free it. */
void live_set_remove(struct live_set *, struct live_trial *);
/* How many trials hold a slot; those of ask/tell hold none. */
size_t live_set_n_placed(const struct live_set *);
size_t live_set_n_external(const struct live_set *);

#endif /* HPOTUNE_LIVE_SET_H */
