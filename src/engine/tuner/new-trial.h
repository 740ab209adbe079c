/* New trials: the setting of each, from the queue or the strategy. */

#ifndef HPOTUNE_NEW_TRIAL_H
#define HPOTUNE_NEW_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct live_trial;
struct suggester;
struct tried_settings;
struct tuner;

/*
 * What is known about the next trial.  Everybody reads it; new-trial.c alone
 * writes it.
 */
struct suggestions {
	struct suggester *suggester; /* NULL until first used */
	struct tried_settings *tried;
	int64_t n_enqueued; /* trials that no strategy suggested */
	int64_t n_before; /* trials before the last change of the space */
	unsigned redraws; /* the strategy's answers for it that were known */
	double redraw_seconds;
	double seconds; /* mean duration of trials */
	double time_used; /* of the limits, as in strategy_ask, as of: */
	int64_t seconds_at;
	int64_t failed_at; /* failed trials when memory was last read */
	uint64_t
	    all_tried; /* when exhausted: the number of settings, if all were tried */
	bool exhausted; /* the strategy has nothing left */
};

/* Call after the history was made. */
void new_trial_open(struct tuner *);
void new_trial_close(struct suggestions *);
/* A trial read back, with its params; NULL: they may be tried again. */
void new_trial_restore(
    struct suggestions *, int64_t trial, const char *params, enum trial_source);
/*
 * A new trial, waiting, from the queue or the strategy; NULL when there is
 * none, or not yet (suggesting).
 */
struct live_trial *new_trial_next(struct tuner *);
/*
 * While there is no place for a new trial, let the strategy compute the next
 * setting where it can do so ahead.
 */
void new_trial_ahead(struct tuner *);
/* A setting was put in the queue: it is asked before the strategy. */
void new_trial_reopen(struct suggestions *);

#endif /* HPOTUNE_NEW_TRIAL_H */
