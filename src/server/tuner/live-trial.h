/*
 * A trial that is not final: its row, its newest attempt, and what this server
 * knows of both.  Everybody reads the struct; live-trial.c alone writes it, by
 * the functions below, which also mark what the store has to be given.
 */

#ifndef HPOTUNE_LIVE_TRIAL_H
#define HPOTUNE_LIVE_TRIAL_H

#include "src/server/tuner/attempt-metrics.h"
#include "src/store/store.h"
#include "strategies/stopper.h"
#include "trials/launcher.h"

struct tuner;

/* How far the start of the attempt has come. */
enum live_start {
	LIVE_START_CALLED,
	LIVE_START_DUE, /* start must be called again */
	LIVE_START_UNKNOWN /* adopt could not tell whether it runs */
};

/* The last report of an objective or of a constraint's metric. */
struct live_aim {
	int64_t step; /* -1 = none */
	double value;
};

struct live_trial {
	struct store_trial row;
	struct value *values; /* of row.params; NULL = not read yet */
	struct store_attempt
	    att; /* its newest attempt, when row.attempts > 0 */
	bool row_dirty, att_dirty; /* the store has an older one */
	bool open; /* att has not ended */
	bool external; /* whoever asked for it runs it, and tells */
	int backend; /* index, when open and not external */
	struct store_past past; /* its ended attempts */

	struct judgement verdict; /* the newest; rule NULL = none */
	bool verdict_due; /* verdict ends it, once this turn has read all */
	int64_t judged_step; /* -1 = none */

	enum live_start start;
	char *start_error; /* start said no for good */
	int refusals; /* start said so often in a row: not now */
	int64_t start_at_ms; /* then it is not called before */
	bool found; /* begun by an earlier server: its start may be late */
	bool asked; /* the launcher was asked to stop it */
	bool trains; /* a stop would save dollars */
	bool warned; /* the user has heard that its state is unknown */

	struct attempt_metrics metrics; /* what the attempt has reported */
	struct live_aim *aims; /* last reports; NULL = none yet */
};

/*
 * A trial that waits.  Takes over what row owns, and values: one for each
 * parameter, or NULL.  live_trial_free frees it; to have it among the live
 * ones: live_set_add.
 */
struct live_trial *
live_trial_new(struct store_trial *row, struct value *values);
void live_trial_free(struct live_trial *);

/* Its setting, decoded; NULL: its row has none of this study's space. */
const struct value *
live_trial_values(const struct tuner *, struct live_trial *, struct err *);
/* Write what is dirty; a failure is the tuner's (tuner_store_failed). */
void live_trial_write(struct tuner *, struct live_trial *);
/* The one setter of a trial's state: checks the move, records and logs it. */
void live_trial_set_state(
    struct tuner *, struct live_trial *, enum trial_event, const char *why);

/* Whether it has reported the step that completes it. */
bool live_trial_segment_done(const struct live_trial *);
/* Whether it has reported all of trial.max_steps, when that is known. */
bool live_trial_all_steps(const struct tuner *, const struct live_trial *);

/*
 * Its next attempt begins, on this backend (index), or with -1 externally.  att
 * says uuid, backend, slot, log and worst_cost; what it owns is taken over.
 * False: the store failed.
 */
bool live_trial_begin(struct tuner *, struct live_trial *, int backend,
    const struct store_attempt *att);
/* The same of an attempt read back, which is copied. */
void live_trial_restore(
    struct live_trial *, const struct store_attempt *att, int backend);
/* What its ended attempts came to, read back. */
void live_trial_restore_past(struct live_trial *, const struct store_past *);
/* A metric that the open attempt has reported so often, read back. */
void live_trial_restore_metric(struct live_trial *, const char *name,
    int64_t last_step, int64_t reports, bool objective);

void live_trial_set_start(struct live_trial *, enum live_start);
/* Why start will never succeed; NULL: it may. */
void live_trial_set_start_error(struct live_trial *, const char *error);
/* Start said: not now; it is called again at start_at_ms of the loop's time. */
void live_trial_refused(struct live_trial *, int64_t start_at_ms);
void live_trial_accepted(struct live_trial *);
/* Call start again without a pause. */
void live_trial_hurry(struct live_trial *);
/* Whether the launcher was asked to stop it. */
void live_trial_set_asked(struct live_trial *, bool asked);
void live_trial_set_trains(struct live_trial *, bool trains);
/* True once for each attempt: the user is to hear that its state is unknown. */
bool live_trial_warn_once(struct live_trial *);

/* What the launcher says of the open attempt. */
void live_trial_up(struct tuner *, struct live_trial *, int64_t started_us);
void live_trial_set_place(struct live_trial *, const char *place);
void live_trial_set_cursor(struct live_trial *, const struct launch_cursor *);
void live_trial_set_usage(struct live_trial *, const struct gpu_usage *);
/* Dollars that it may come to; written at once. */
void
live_trial_set_worst_cost(struct tuner *, struct live_trial *, double dollars);
/* Dollars of an attempt that has ended, as the store has them already. */
void live_trial_set_cost(struct live_trial *, double dollars);

/*
 * A report of the objective; is_new: of a step that no attempt had reported.
 */
void live_trial_report(struct tuner *, struct live_trial *, int64_t step,
    double value, bool is_new);
/* The last report of aim i, of n_aims. */
void live_trial_set_aim(
    struct live_trial *, size_t n_aims, size_t i, int64_t step, double value);
void live_trial_set_objective(struct live_trial *, double objective);
/* By how much it breaks the constraints, summed. */
void live_trial_set_violation(struct live_trial *, double violation);

/* A rule was asked about this step, and said so. */
void live_trial_set_judged(struct live_trial *, int64_t step);
void live_trial_set_verdict(struct live_trial *, const struct judgement *);
/* The verdict that was due is carried out, or comes too late. */
void live_trial_verdict_taken(struct live_trial *);
void live_trial_verdict_late(struct live_trial *);

/* Begin to stop a placed trial, or change who asked for it. */
void live_trial_stop(
    struct tuner *, struct live_trial *, enum stop_cause, const char *why);
/* No stop is on its way any more; paused: it has ended by one that pauses. */
void live_trial_stop_done(struct live_trial *, bool paused);
/* It was paused and goes on. */
void live_trial_resume(struct live_trial *);

/* When the attempt began, if that is not known, and when it ended. */
void live_trial_end_times(
    struct tuner *, struct live_trial *, const struct launch_exit *);
/* The attempt has ended; x NULL: it is lost.  Its row is written. */
void live_trial_end(struct tuner *, struct live_trial *,
    const struct launch_exit *x, enum end_class, const char *why);
/* Its attempt has never been: the row of it is gone. */
void live_trial_undo(struct live_trial *);
/* Nothing that was asked of the launcher for the last attempt counts now. */
void live_trial_reset_start(struct live_trial *);
/* The next attempt begins at this wall time; 0 = as soon as it can. */
void live_trial_set_not_before(struct live_trial *, int64_t time_us);
/* One more attempt that counts against retries. */
void live_trial_add_failure(struct live_trial *);
/* One more in a row that does not. */
void live_trial_add_free_retry(struct live_trial *);
/* It runs alone from now on. */
void live_trial_set_alone(struct live_trial *);

#endif /* HPOTUNE_LIVE_TRIAL_H */
