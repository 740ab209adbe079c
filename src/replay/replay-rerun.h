/*
 * One study run again under rules: the reports that they see, the trials that
 * they stop, and the second look when all trials are over.
 */

#ifndef HPOTUNE_REPLAY_RERUN_H
#define HPOTUNE_REPLAY_RERUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strategies/stop/second-look/second-look.h"

struct err;
struct history;
struct replay_rule;
struct stop_report;
struct stop_rule_set;
struct stopper_env;

struct replay_report {
	int64_t step;
	double value; /* in the user's sign */
};

/* One trial: its recorded results, and its state under the rule. */
struct replay_rerun_trial {
	int64_t reports, skipped;
	/* Steps of a whole one; 0: max_steps; -1: it is not on the axis. */
	int64_t own;
	double weight; /* of each report in what is saved; 1 by default */
	int64_t known; /* step at which it was stopped in the recording; -1 */
	bool late; /* … too late: it had run to its end */
	int64_t last; /* greatest step so far, on the axis of the rules */
	double full, found; /* results, smaller is better; NaN = none */
	bool judged; /* stopped, or too late: no further decisions */
	bool stopped;
	bool really; /* stopped at its recorded stop, the last record */
	bool diverged; /* stopped for reports that are not finite */
	bool failed; /* its record does not end completed */
	bool resumed; /* by the second look */
	bool left_out; /* it is no part of the study as it is replayed */
	struct replay_report *rest; /* the skipped reports, owned */
	size_t n_rest, cap_rest;
};

struct replay_rerun {
	struct history *history;
	struct stop_rule_set *set;
	struct replay_rerun_trial *trials; /* [number - 1] */
	size_t n, cap;
	int64_t max_steps, last_step; /* of the rules */
	int64_t greatest; /* step of all */
	bool value_last;
	double look_share; /* option second_look of the rule */
	struct second_look_hurt hurt; /* set by replay_rerun_look */
};

/*
 * An empty study under the rule; the environment is borrowed during the call.
 * Close it with replay_rerun_close.
 */
int replay_rerun_open(struct replay_rerun *, const struct replay_rule *rule,
    const struct stopper_env *env, bool value_last, struct err *);

void replay_rerun_close(struct replay_rerun *);

/*
 * Trials are numbered from 1.  All up to this one are created, so the caller
 * must check its range.
 */
struct replay_rerun_trial *
replay_rerun_trial(struct replay_rerun *, int64_t trial);

/* Create the trial, also when it never reports. */
void replay_rerun_begin(struct replay_rerun *, int64_t trial);

/*
 * In the recording, the trial was stopped at this step; late: the decision came
 * after it had run to its end.
 */
void replay_rerun_set_stop(
    struct replay_rerun *, int64_t trial, int64_t step, bool late);

/*
 * The trial has own steps (study_axis_step), by which rules see its reports; -1:
 * nobody knows them, and no rule sees any.
 */
void replay_rerun_set_own(struct replay_rerun *, int64_t trial, int64_t own);

/* No record of this trial follows; it does not count. */
void replay_rerun_leave_out(struct replay_rerun *, int64_t trial);

/* The next report of a trial, in the user's sign; true when it is stopped. */
bool replay_rerun_report(
    struct replay_rerun *, int64_t trial, int64_t step, double value);

/*
 * A report of a metric that rules read by another axis than its steps, or
 * beside the objective; that of the objective comes after replay_rerun_report.
 */
void
replay_rerun_series(struct replay_rerun *, const struct stop_report *report);

/* The trial got its second look: its recorded end is undone. */
void replay_rerun_revive(struct replay_rerun *, int64_t trial);

/*
 * The trial's recorded end, ignored if the rule stopped it before.  One that
 * would have been stopped at the last report that it made by itself has exited
 * by then: the verdict is too late, as it is in a server.
 */
void replay_rerun_end(struct replay_rerun *, int64_t trial, bool completed);

/*
 * When all trials are over: resume stopped ones, one at a time, each to the end
 * of its record, as second-look.h decides.  Trials have checkpoints.
 */
void replay_rerun_look(struct replay_rerun *);

#endif /* HPOTUNE_REPLAY_RERUN_H */
