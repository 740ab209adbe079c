/* When nothing can be started on a backend. */

#ifndef HPOTUNE_START_FAILURES_H
#define HPOTUNE_START_FAILURES_H

#include <stdbool.h>
#include <stdint.h>

#include "trials/backend.h"

struct live_trial;
struct tuner;

/* Of one backend. */
struct start_failures {
	int64_t since_ms; /* of the first failure in a row */
	char why[LAUNCH_WHY]; /* of the latest failure, "" = none */
	int ended; /* consecutive attempts that started and could not run */
	bool accepted; /* one of them had been accepted */
	int64_t next_ms; /* nothing is placed before, when there are failures */
	bool warned; /* the user was informed */
	bool worked; /* recovered, and the user is to be informed */
};

/* The backend failed temporarily to start this attempt. */
void
start_failures_refused(struct tuner *, struct live_trial *, const char *why);
/*
 * The attempt started, and ended because nothing can run now; paid: it had a
 * cost.
 */
void start_failures_ended(
    struct tuner *, struct live_trial *, const char *why, bool paid);
enum start_proof { START_CALLED, START_ACCEPTED, START_RUNS };
/* The attempt was started: so much is known of it. */
void
start_failures_begun(struct tuner *, struct live_trial *, enum start_proof);
/* The user asks for an immediate retry: end the pause. */
void start_failures_reset(struct tuner *);
/* Whether to call the backend's start for this attempt again. */
bool start_failures_due(struct tuner *, const struct live_trial *);
/* Whether an attempt may be placed on this backend now. */
bool start_failures_ready(struct tuner *, int backend);
/* Record events about failures and recovery, within a transaction. */
void start_failures_report(struct tuner *);

#endif /* HPOTUNE_START_FAILURES_H */
