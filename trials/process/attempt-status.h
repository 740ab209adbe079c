/*
 * What the locks and records of an attempt's directory say, together: the
 * truth table.  Locks are probed first: a supervisor that ends between the
 * two looks has then left its record behind.
 */

#ifndef HPOTUNE_ATTEMPT_STATUS_H
#define HPOTUNE_ATTEMPT_STATUS_H

#include "trials/process/attempt-record.h"

struct err;

enum truth {
	TRUTH_NEVER, /* no claim, nobody on the way */
	TRUTH_STARTING, /* no claim yet, a supervisor holds the lock */
	TRUTH_RUNNING, /* claimed, the supervisor lives */
	TRUTH_FINISHED, /* ended and recorded, nothing is left */
	TRUTH_ENDING, /* ended and recorded, the supervisor still there */
	TRUTH_REMAINS, /* supervisor gone, processes of the trial left */
	TRUTH_LOST, /* claimed, no record of its end, nothing left */
	TRUTH_ABANDONED, /* the server ruled that it never starts */
	TRUTH_FOREIGN, /* claimed by another attempt: this one cannot begin */
	TRUTH_UNKNOWN /* cannot tell; why is in the error */
};

struct evidence {
	bool shim_lock;
	bool trial_lock;
	bool has_claim, has_exit;
	bool foreign; /* the claim is another attempt's, perhaps its end, too */
	struct claim claim;
	struct claim_exit exit;
};

/* From evidence to truth: the table, pure. */
enum truth truth_of(const struct evidence *);
/* Probe and read a directory; a missing one or empty one is TRUTH_NEVER. */
enum truth
truth_read(struct evidence *, const char *dir, const char *uuid, struct err *);

#endif /* HPOTUNE_ATTEMPT_STATUS_H */
