/*
 * The status of an attempt from the locks and records of its directory.  Locks
 * are probed before the records are read: a supervisor that ends in between has
 * then left its record.
 */

#ifndef HPOTUNE_ATTEMPT_STATUS_H
#define HPOTUNE_ATTEMPT_STATUS_H

#include "trials/process/attempt-record.h"

struct err;
struct launch_exit;

enum attempt_status {
	ATTEMPT_NEVER, /* no claim, no supervisor */
	ATTEMPT_STARTING, /* no claim yet, a supervisor holds the lock */
	ATTEMPT_RUNNING, /* claimed, the supervisor lives */
	/* ended and recorded; a supervisor may still write to the disk */
	ATTEMPT_FINISHED,
	ATTEMPT_ENDING, /* ended and recorded, the supervisor still runs */
	ATTEMPT_REMAINS, /* no supervisor, processes of the trial still run */
	ATTEMPT_LOST, /* claimed, no record of its end, no processes */
	ATTEMPT_ABANDONED, /* the server forbade its start */
	/* another attempt made the claim: this one cannot start */
	ATTEMPT_FOREIGN,
	ATTEMPT_UNKNOWN /* see the error */
};

struct attempt_evidence {
	bool shim_lock;
	bool trial_lock;
	bool has_claim, has_exit;
	/* the claim, and perhaps the end, is of another attempt */
	bool foreign;
	struct claim claim;
	struct attempt_exit exit;
};

/* The truth table: status of this evidence.  No side effects. */
enum attempt_status attempt_status_of(const struct attempt_evidence *);
/*
 * Probe and read a directory; ATTEMPT_NEVER if it is missing or empty.
 * ATTEMPT_UNKNOWN sets the error.
 */
enum attempt_status attempt_status_read(
    struct attempt_evidence *, const char *dir, const char *uuid, struct err *);

/*
 * Set the fields that the record of an end has; the others are left as they
 * are.
 */
void attempt_status_exit(struct launch_exit *, const struct attempt_exit *);

#endif /* HPOTUNE_ATTEMPT_STATUS_H */
