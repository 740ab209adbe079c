/*
 * A trial that is not final: its row, its latest attempt, and this server's
 * state for both.  All files may read the struct; only live-trial.c writes it,
 * by the functions below, which also mark what must be written to the database.
 */

#ifndef HPOTUNE_LIVE_TRIAL_H
#define HPOTUNE_LIVE_TRIAL_H

#include "src/engine/attempts/asker.h"
#include "src/engine/tuner/attempt-metrics.h"
#include "src/store/store.h"
#include "strategies/stopper.h"
#include "trials/backend.h"

struct tuner;

#define ASK_BACKEND "ask" /* backend name of attempts that others run */

/* The state of the start of an attempt. */
enum live_start {
	LIVE_START_CALLED,
	LIVE_START_ACCEPTED, /* … and its backend has said so */
	LIVE_START_DUE, /* start must be called again */
	LIVE_START_UNKNOWN /* the backend could not determine whether it runs */
};

/* The last report of an objective or constraint. */
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
	bool external; /* another program runs it and reports (ask/tell) */
	struct asker asker; /* of that program, where it is known */
	int backend; /* index, when open and not external */
	struct store_past past; /* its ended attempts */

	struct judgement verdict; /* the latest; rule NULL = none */
	bool verdict_due; /* ends it when this turn's reports are read */
	int64_t judged_step; /* -1 = none */

	enum live_start start;
	char *start_error; /* start failed permanently */
	int refusals; /* consecutive temporary refusals of start */
	int64_t start_at_ms; /* start is not called before */
	bool found; /* started by an earlier server: may still begin */
	bool had_checkpoint; /* before att, another one of it having reported */
	bool looked; /* it has its second look: no rule stops it again */
	bool asked; /* the backend was asked to stop it */
	bool trains; /* stopping it would save cost */
	bool warned; /* the user was informed of its unknown state */

	struct attempt_metrics metrics; /* reports of the attempt */
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

/*
 * The trial's setting, decoded; NULL: its row has none of this study's space.
 */
const struct value *
live_trial_values(const struct tuner *, struct live_trial *, struct err *);
/* Write what is dirty. */
void live_trial_write(struct tuner *, struct live_trial *);
/*
 * The only function that sets a trial's state: checks the transition, records
 * and logs it.  One that may be final: outcome_move.
 */
void live_trial_set_state(
    struct tuner *, struct live_trial *, enum trial_event, const char *why);

/* Whether the trial has reported the step that completes it. */
bool live_trial_segment_done(const struct live_trial *);
/* The steps of the trial, its own where it has some; 0 = unknown. */
int64_t live_trial_steps(const struct tuner *, const struct live_trial *);
/* Whether the trial has reported all of them, if known. */
bool live_trial_all_steps(const struct tuner *, const struct live_trial *);

/*
 * Start its next attempt on this backend (index; -1 = ask/tell). att has uuid,
 * backend, slot, log and worst_cost; takes ownership of its texts.
 */
void live_trial_begin(struct tuner *, struct live_trial *, int backend,
    const struct store_attempt *att);
/* The same for an attempt read from the database, which is copied. */
void live_trial_restore(
    struct live_trial *, const struct store_attempt *att, int backend);
/* Who has asked for the trial's attempt. */
void live_trial_set_asker(struct live_trial *, const struct asker *);
/* Counts over the trial's ended attempts, read from the database. */
void live_trial_restore_past(struct live_trial *, const struct store_past *);

void live_trial_set_start(struct live_trial *, enum live_start);
/* Why start failed permanently; NULL: it did not. */
void live_trial_set_start_error(struct live_trial *, const char *error);
/* start failed temporarily; call it again at start_at_ms (loop time). */
void live_trial_refused(struct live_trial *, int64_t start_at_ms);
void live_trial_accepted(struct live_trial *);
/* Whether the trial's next attempt begins with a checkpoint of the last one. */
void live_trial_set_had_checkpoint(struct live_trial *, bool);
/* Call start again without a pause. */
void live_trial_hurry(struct live_trial *);
/* Whether the backend was asked to stop it. */
void live_trial_set_asked(struct live_trial *, bool asked);
void live_trial_set_trains(struct live_trial *, bool trains);
/* True once per attempt: warn the user of its unknown state. */
bool live_trial_warn_once(struct live_trial *);

/* Changes of the open attempt that the backend reports. */
void live_trial_up(
    struct tuner *, struct live_trial *, int64_t started_us, int cpus);
void live_trial_set_place(struct live_trial *, const char *place);
/*
 * Why the trial does not run yet, or stands still: the reason of its row until it
 * runs; NULL: it runs.
 */
void live_trial_set_waits(struct live_trial *, const char *why);
void live_trial_set_cursor(struct live_trial *, const struct launch_cursor *);
void live_trial_set_usage(struct live_trial *, const struct gpu_usage *);
/* The upper bound of its cost in dollars; written at once. */
void
live_trial_set_worst_cost(struct tuner *, struct live_trial *, double dollars);
/* The cost in dollars of an ended attempt, as recorded already. */
void live_trial_set_cost(struct live_trial *, double dollars);

/* A report of the objective; is_new: of a step not reported before. */
void live_trial_report(struct tuner *, struct live_trial *, int64_t step,
    double value, bool is_new);
/* The last report of aim i of n_aims. */
void live_trial_set_aim(
    struct live_trial *, size_t n_aims, size_t i, int64_t step, double value);
void live_trial_set_objective(struct live_trial *, double objective);
/* The sum of its constraint violations. */
void live_trial_set_violation(struct live_trial *, double violation);

/* Record that a rule decided at this step, and its decision. */
void live_trial_set_own_steps(struct live_trial *, int64_t steps);
void live_trial_set_judged(struct live_trial *, int64_t step);
void live_trial_set_verdict(struct live_trial *, const struct judgement *);
/* The verdict that was due is being executed, or comes too late. */
void live_trial_verdict_taken(struct live_trial *);
void live_trial_verdict_late(struct live_trial *);

/* Start to stop a placed trial, or change the cause of its stop. */
void live_trial_stop(
    struct tuner *, struct live_trial *, enum stop_cause, const char *why);
/* The trial has its second look from now on. */
void live_trial_set_looked(struct live_trial *);
/* A trial that had ended waits as if no attempt had used up a retry. */
void live_trial_renew(struct live_trial *);
/*
 * Clear the stop and the start state of the last attempt; paused: it ended by a
 * pause.
 */
void live_trial_stop_done(struct live_trial *, bool paused);
/* Resume the trial after a pause. */
void live_trial_resume(struct live_trial *);

/* Set when the attempt started, if unknown, and when it ended. */
void live_trial_end_times(
    struct tuner *, struct live_trial *, const struct launch_exit *);
/* The attempt has ended; x NULL: it is lost.  Writes its row. */
void live_trial_end(struct tuner *, struct live_trial *,
    const struct launch_exit *x, enum end_class, const char *why);
/* Undo an attempt that was never started, whose row was deleted. */
void live_trial_undo(struct live_trial *);
/* Set the wall time of the next attempt; 0 = as soon as possible. */
void live_trial_set_not_before(struct live_trial *, int64_t time_us);
/* Count one more attempt towards retries; free: one more consecutive free one. */
void live_trial_add_retry(struct live_trial *, bool free);
/* The trial runs alone on the machine from now on. */
void live_trial_set_alone(struct live_trial *);

/*
 * The trials that are not final, except those that a rule has paused.  All zero:
 * empty.  All files may read it; only live-trial.c writes it.
 */
struct live_set {
	struct live_trial **list; /* in no order */
	size_t n;
	struct live_trial *last_found;
};

/* Free the set and its trials. */
void live_set_free(struct live_set *);
struct live_trial *live_set_find(struct live_set *, int64_t trial);
/* Add a trial; takes ownership. */
void live_set_add(struct live_set *, struct live_trial *);
/* Remove a trial without freeing it: the caller owns it. */
void live_set_take(struct live_set *, const struct live_trial *);
/* Remove a trial and free it. */
void live_set_remove(struct live_set *, struct live_trial *);
/* How many trials hold a slot; those of ask/tell hold none. */
size_t live_set_n_placed(const struct live_set *);
size_t live_set_n_external(const struct live_set *);

#endif /* HPOTUNE_LIVE_TRIAL_H */
