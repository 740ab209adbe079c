/*
 * Steps of reports whose library does not print those of the trial: an attempt that
 * goes on from a checkpoint continues the steps of earlier attempts.
 */

#ifndef HPOTUNE_ATTEMPT_STEPS_H
#define HPOTUNE_ATTEMPT_STEPS_H

#include <stdbool.h>
#include <stdint.h>

struct attempt_places;
struct launch_event;
struct store;

/* The metric of an attempt whose report is read. */
struct attempt_steps_of {
	struct store *store;
	int64_t trial;
	int attempt;
	const char *metric;
	bool restored; /* an earlier server has recorded some of it */
};

/* How an attempt is counted on. */
struct attempt_steps_again {
	int64_t
	    offset; /* is added to its steps; 0: they are those of the trial */
	int64_t near; /* the last step of earlier attempts */
};

void attempt_steps_free(struct attempt_places *);
/*
 * The step of a report with a place (an epoch of 0.5) and no step.  A place that the
 * trial has reported keeps its step, a greater one goes on.  -1: it is no report,
 * since this attempt has reported the place already.  The places, NULL at first,
 * are kept by the caller, and freed.
 */
int64_t attempt_steps_of_place(struct attempt_places **,
    const struct attempt_steps_of *, const struct launch_event *);
/*
 * For the first report of an attempt whose library begins at its first number again:
 * whether it goes on from a checkpoint, and then what leads behind the last step of
 * earlier attempts.
 */
struct attempt_steps_again attempt_steps_begin(
    const struct attempt_steps_of *, const struct launch_event *);

#endif /* HPOTUNE_ATTEMPT_STEPS_H */
