/*
 * What the locks and records of an attempt's directory say, together: the
 * truth table.  Locks are probed first: a supervisor that ends between the
 * two looks has then left its record behind.
 */

#ifndef HPOTUNE_ATTEMPT_STATUS_H
#define HPOTUNE_ATTEMPT_STATUS_H

#include "trials/process/attempt-record.h"

struct err;

enum attempt_status {
	ATTEMPT_NEVER, /* no claim, nobody on the way */
	ATTEMPT_STARTING, /* no claim yet, a supervisor holds the lock */
	ATTEMPT_RUNNING, /* claimed, the supervisor lives */
	ATTEMPT_FINISHED, /* ended and recorded, nothing is left */
	ATTEMPT_ENDING, /* ended and recorded, the supervisor still there */
	ATTEMPT_REMAINS, /* supervisor gone, processes of the trial left */
	ATTEMPT_LOST, /* claimed, no record of its end, nothing left */
	ATTEMPT_ABANDONED, /* the server ruled that it never starts */
	ATTEMPT_FOREIGN, /* claimed by another attempt: this one cannot begin */
	ATTEMPT_UNKNOWN /* cannot tell; why is in the error */
};

struct attempt_evidence {
	bool shim_lock;
	bool trial_lock;
	bool has_claim, has_exit;
	bool foreign; /* the claim is another attempt's, perhaps its end, too */
	struct claim claim;
	struct attempt_exit exit;
};

/* From evidence to truth: the table, pure. */
enum attempt_status attempt_status_of(const struct attempt_evidence *);
/* Probe and read a directory; a missing one or empty one is ATTEMPT_NEVER. */
enum attempt_status attempt_status_read(
    struct attempt_evidence *, const char *dir, const char *uuid, struct err *);

#endif /* HPOTUNE_ATTEMPT_STATUS_H */
