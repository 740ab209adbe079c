/* Waiting for somebody who holds a study's lock for a moment. */

#ifndef HPOTUNE_LOCK_RETRY_H
#define HPOTUNE_LOCK_RETRY_H

#include <stdbool.h>
#include <time.h>

struct err;

struct lock_retry {
	time_t until; /* 0 = nobody has waited yet */
};

/*
 * Whether to try again what failed for this reason, after a short pause: a
 * lock was held, by one who lets go of it or becomes a server; for some
 * seconds in all.  The error is forgotten then.
 */
bool lock_retry_left(struct lock_retry *, struct err *);

#endif /* HPOTUNE_LOCK_RETRY_H */
