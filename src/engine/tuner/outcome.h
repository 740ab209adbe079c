/* Results of trials: objectives, constraints, the front, the best trial. */

#ifndef HPOTUNE_OUTCOME_H
#define HPOTUNE_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/trial.h"

struct err;
struct history;
struct live_trial;
struct pareto_front;
struct study;
struct tuner;

/* All files may read it; only outcome.c writes it. */
struct outcomes {
	const struct study *study;
	size_t n_aims; /* objectives and constraints; 0: a single objective */
	const char *
	    *also; /* metrics of aims without the objective, no duplicates */
	size_t n_also;
	struct pareto_front *front; /* of several objectives, or NULL */
	int64_t n_over; /* ends of trials; after a second look it is two */
	int64_t n_news; /* of them, all but second looks without improvement */
	int64_t n_failed; /* of them */
	int64_t n_completed; /* trials that have completed */
	int64_t failed_in_row; /* trials since one completed */
	int64_t since_better; /* consecutive trials without a better one */
	bool *counted; /* each trial, from 1: it is one of these, or was */
	size_t n_counted;
	double best_loss; /* NaN = none */
	int64_t best_trial;
	bool warned_unreported; /* a constraint's metric is not reported */
};

/* How a trial ended, in this run or an earlier one. */
struct outcome {
	int64_t trial;
	enum trial_state state;
	enum end_class last; /* of its last attempt, where it failed */
	double objective;
	const double *values; /* of all aims, NaN = none; NULL without aims */
	bool known; /* read back: front and better are recorded already */
	bool better;
	bool
	    outside; /* the space does not have its setting: no strategy sees it */
};
/* Call after the history was made. */
void outcome_open(struct outcomes *, const struct study *, struct history *);
/* The goals and constraints of the study, for another history of its results. */
void outcome_open_history(const struct study *, struct history *);
void outcome_close(struct outcomes *);
/* Whether this metric is an objective or a constraint. */
bool outcome_has_metric(const struct outcomes *, const char *metric);
/* Record a report of any metric. */
void outcome_report(struct tuner *, struct live_trial *, const char *metric,
    int64_t step, double value);
/*
 * The class of a successful end: END_OK only with all objectives; END_NO_REPORT
 * or END_DIVERGED: metric is the objective that has none, or no finite one.
 */
enum end_class outcome_class(
    const struct outcomes *, const struct live_trial *, const char **metric);
/*
 * Whether the trial has its whole result, however it ends now: all its steps,
 * and a value for each objective and constraint.
 */
bool outcome_whole(const struct tuner *, const struct live_trial *);
/*
 * live_trial_set_state for a move that may end the trial: then its results are
 * recorded first, in its row and the outcome tables.
 */
void outcome_move(
    struct tuner *, struct live_trial *, enum trial_event, const char *why);
/* Copy the results of another trial, except the first objective. */
int
outcome_copy(struct tuner *, struct live_trial *, int64_t from, struct err *);
/* Pass an ended trial to the history, the rules and the counts. */
void outcome_ended(struct tuner *, const struct outcome *);
void outcome_finish(struct tuner *, struct live_trial *);
/* The last reports of a trial's other aims, read from the database. */
int outcome_restore(struct tuner *, struct live_trial *, struct err *);
/*
 * Read a trial that has ended, to run again; NULL: a database error.  The caller
 * owns it.
 */
struct live_trial *outcome_read_ended(struct tuner *, int64_t trial);
/* A trial that had ended runs again; failed: it had failed. */
void outcome_revive(struct tuner *, int64_t trial, bool failed);
/*
 * Write the front again from the recorded results, without the forgotten trials;
 * only the database has it then.
 */
int outcome_front_again(struct tuner *);
/* Pass the results so far of a paused trial to the history. */
void outcome_pause(struct tuner *, struct live_trial *);

#endif /* HPOTUNE_OUTCOME_H */
