/* Waits while another process briefly holds a study's lock. */

#ifndef HPOTUNE_LOCK_RETRY_H
#define HPOTUNE_LOCK_RETRY_H

#include <stdbool.h>
#include <time.h>

struct err;

struct lock_retry {
	time_t until; /* 0 = no wait yet */
};

/*
 * Whether to retry what failed with this error, after a short pause: true for a
 * held lock, for some seconds in total.  The error is then cleared.
 */
bool lock_retry_left(struct lock_retry *, struct err *);

#endif /* HPOTUNE_LOCK_RETRY_H */
