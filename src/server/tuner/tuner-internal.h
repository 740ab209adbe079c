/*
 * Shared by the files of the tuner: tuner.c (open, close, turn), restore.c
 * (read the database back), launcher-events.c (events of launchers),
 * attempt-end.c (rules and ends), outcome.c (secondary results), study-end.c,
 * shutdown.c (when all is done), new-trial.c (settings of new trials),
 * schedule.c (what runs next), paused.c (paused trials), effects.c (effects
 * after a commit).
 */

#ifndef HPOTUNE_TUNER_INTERNAL_H
#define HPOTUNE_TUNER_INTERNAL_H

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/server/plugins/plugins.h"
#include "src/server/tuner/attempt-metrics.h"
#include "src/server/tuner/live-set.h"
#include "src/server/tuner/live-trial.h"
#include "src/server/tuner/slots.h"
#include "src/store/study-id.h"
#include "src/server/tuner/tuner.h"
#include "src/store/store.h"
#include "strategies/stopper.h"
#include "strategies/strategy.h"
#include "trials/launcher.h"

struct suggester;
struct pareto_front;
struct history;
struct loop_timer;
struct notices;
struct tried_settings;

#define RETRY_PAUSE_MAX_MS 64000 /* between two attempts of one trial */
#define RETRY_WAIT_MAX_MS 300000 /* while it waits for capacity */

/* Whether attempts can be started on a backend. */
struct start_failures {
	int64_t since_ms; /* of the first failure in a row */
	char why[LAUNCH_WHY]; /* of the latest failure, "" = none */
	int ended; /* consecutive attempts that started and could not run */
	int64_t next_ms; /* nothing is placed before, when there are failures */
	bool warned; /* the user was informed */
	bool worked; /* recovered, and the user is to be informed */
};

struct backend {
	const struct launcher *launcher;
	void *ctx;
	struct slots slots;
	double worst_cost; /* most dollars of one attempt; 0 = free */
	struct start_failures starts;
};

enum effect_kind { EFFECT_START, EFFECT_STOP, EFFECT_KILL };

/*
 * An effect on one attempt, after the commit: the attempt may have ended by
 * then.
 */
struct effect {
	enum effect_kind kind;
	int64_t trial;
	int attempt;
};

struct request {
	enum tuner_request_kind ask;
	int64_t trial;
	char *params;
	tuner_reply *reply;
	void *arg;
	bool good;
	bool later; /* the strategy is computing: handle it again next turn */
	int64_t given; /* trials given to a request for several */
	struct buf data; /* JSON */
	char text[192];
};

/* An event to be recorded in view events. */
struct pending_event {
	const char *level, *area; /* static text */
	char *text;
};

/* A step with at least one report. */
struct median_view_step {
	int64_t step;
	bool old; /* its row in medians is outdated */
};

struct tuner {
	struct tuner_env env;
	const struct study *study;
	struct store *store;
	struct store_study row;
	char study_id[STUDY_ID];
	struct plugins plugins;
	struct history *history;
	struct suggester *suggester; /* NULL until first used */
	struct suggester *converge; /* the same, for convergence checks */
	struct plugins converge_plugs; /* its plug-ins */
	struct tried_settings *tried; /* settings */
	struct stop_rule_set *rules;
	const struct stopper *median; /* for the view medians */
	void *median_state; /* NULL when the study's rule keeps these medians */
	struct option_value *median_options;

	struct backend *backends;
	int n_backends;
	struct live_set live;
	struct live_trial **paused_trials; /* by a rule; not in live */
	size_t n_paused;

	int64_t n_trials; /* rows */
	int64_t n_failed;
	int64_t n_over; /* of these, ended ones */
	int64_t converge_at; /* n_over at the latest convergence check */
	int64_t n_enqueued; /* trials that the strategy did not suggest */
	size_t n_aims; /* objectives and constraints; 0: a single objective */
	const char *
	    *also; /* metrics of aims without the objective, no duplicates */
	size_t n_also;
	struct pareto_front *front; /* of several objectives, or NULL */
	int64_t since_better; /* consecutive trials without a better one */
	double best_loss; /* NaN = none */
	int64_t best_trial;

	struct effect *acts;
	size_t n_effects;
	struct request *requests;
	size_t n_requests;
	size_t n_served; /* of these, in this turn */
	struct pending_event *notes;
	size_t n_notes;
	struct notices *notices; /* or NULL */
	struct median_view_step *median_steps; /* ascending */
	size_t n_median_steps, cap_median_steps;
	size_t median_next; /* where the next flush continues */

	struct loop_timer *wake; /* retries, limits, a locked store */
	struct loop_timer *flush; /* medians and elapsed time */
	int64_t opened_ms; /* loop time */
	int64_t elapsed_ms; /* of earlier servers */
	int64_t turn_us; /* wall time of this turn */
	int64_t busy_since_ms; /* the database is locked since; -1 = no */
	int64_t wake_ms; /* loop time at which wake is due */
	bool flush_due;
	bool tend_log; /* after the commit of this turn */
	bool log_long; /* warned of it */
	bool gpus_new; /* view gpus has rows of this server */
	bool warned_unreported; /* a constraint's metric is not reported */
	bool warned_cost; /* warned: limits.cost prevents a start */
	bool durable; /* this turn must be synced */
	bool paused;
	bool held; /* place nothing for now */
	bool asking; /* the strategy is computing the next trial */
	unsigned redraws; /* its answers for this trial that had been tried */
	double redraw_seconds;
	uint64_t
	    all_tried; /* when exhausted: the number of settings, if all were tried */
	bool exhausted; /* the strategy has nothing left */
	bool converged; /* result of the check at converge_at */
	bool converge_broken; /* checks fail */
	bool shutdown, shutdown_now;
	bool over; /* a limit or the target ended it */
	bool awaits; /* … by a limit that may be raised: it continues then */
	bool failed;
	bool store_failed; /* err below holds the reason */
	struct err err;
	char why[256];
	char converge_why[256]; /* when converged */
	char last_bad[200]; /* why the latest slot was drained */
	char trouble[256];
};

/* tuner.c */
int64_t tuner_elapsed_ms(const struct tuner *);
/* Record a database error: the turn will be rolled back. */
void tuner_store_failed(struct tuner *, const struct err *);
void
tuner_event(struct tuner *, const char *level, const char *area, int64_t trial,
    int attempt, const char *, ...) __attribute__((format(printf, 6, 7)));
/* Wake up for a turn in ms at the latest. */
void tuner_wake_in(struct tuner *, int64_t ms);
/* The state of an attempt cannot be determined: warn once, check again soon. */
void
tuner_attempt_unknown(struct tuner *, struct live_trial *, const char *what);

/* outcome.c */
/* How a trial ended, in this run or an earlier one. */
struct outcome {
	int64_t trial;
	enum trial_state state;
	enum end_class last; /* of its last attempt, where it failed */
	double objective;
	const double *values; /* of all aims, NaN = none; NULL without aims */
	bool known; /* read back: front and better are recorded already */
	bool better;
};
/* Call after the history was made. */
void outcome_open(struct tuner *);
void outcome_close(struct tuner *);
/* Whether this metric is an objective or a constraint. */
bool outcome_has_metric(const struct tuner *, const char *metric);
/* Record a report of any metric. */
void outcome_report(struct tuner *, struct live_trial *, const char *metric,
    int64_t step, double value);
/* The class of a successful end: END_OK only with all objectives. */
enum end_class outcome_class(
    const struct tuner *, const struct live_trial *, char *why, size_t n);
/* Record the results of an ended trial, in its row and the outcome tables. */
void outcome_settle(struct tuner *, struct live_trial *);
/* Copy the results of another trial, except the first objective. */
int
outcome_copy(struct tuner *, struct live_trial *, int64_t from, struct err *);
/* Pass an ended trial to the history, the rules and the counts. */
void outcome_ended(struct tuner *, const struct outcome *);
void outcome_finish(struct tuner *, struct live_trial *);
/* Pass the results so far of a paused trial to the history. */
void outcome_pause(struct tuner *, struct live_trial *);

/* restore-outcome.c */
struct restored_outcomes;
/* Call after the trials were counted; free the result also after an error. */
int restore_outcomes_load(
    struct restored_outcomes **, struct tuner *, struct err *);
void restore_outcomes_free(struct restored_outcomes *);
/* outcome_ended for one that was read back. */
void restore_outcomes_ended(struct restored_outcomes *, int64_t trial,
    enum trial_state, double objective);
/* Load the last reports of a trial that has not ended. */
int restore_outcome_live(struct tuner *, struct live_trial *, struct err *);

/* restore.c */
int restore_tuner(struct tuner *, struct err *);
/* Look up all open attempts at their launchers again. */
void restore_adopt_attempts(struct tuner *);
/*
 * GPUs that were out of service when the last server ended: uuid and why of
 * each, from view gpus.  0, or -1; restore_broken_gpus_free even then.
 */
int restore_broken_gpus(
    struct gpu_status **gpus, size_t *n, struct store *, struct err *);
void restore_broken_gpus_free(struct gpu_status *, size_t n);

/* warm-trials.c: call before any trial of this study. */
int warm_trials_load(struct tuner *, struct err *);

/* launcher-events.c */
launch_cb tuner_on_event;
/*
 * The last attempt of a trial has ended, and all its reports are read: when
 * steps per second are an aim and were never reported, compute them and record
 * them as a report of its last step.
 */
void tuner_hear_speed(struct tuner *, struct live_trial *);

/* stopping.c */
void stopping_judge(struct tuner *, struct live_trial *, int64_t step);
/*
 * All available reports are read: execute a verdict that ends the trial, unless
 * all its steps are done already.
 */
void stopping_settle(struct tuner *, struct live_trial *);
/* A verdict came too late: it is kept as information. */
void stopping_verdict_late(struct tuner *, struct live_trial *);
/* Record what a rule said at this step; verdict: as in view stops. */
void stopping_record(struct tuner *, const struct live_trial *, int64_t step,
    const struct judgement *, const char *verdict);

/* attempt-end.c */
void attempt_end_handle(struct tuner *, struct live_trial *,
    const struct launch_exit *, const char *lost_why);

/* study-end.c */
void study_end_check(struct tuner *);
/* Whether a result ended the study, and the reason. */
bool
study_end_by_result(const struct tuner *, bool *failed, char *why, size_t n);
/* The greatest number of trials, and which limit sets it; 0 = none. */
int64_t study_end_trials_max(const struct tuner *, const char **name);
/* Whether no trial can be asked for now, and why: a clause. */
bool study_end_blocks_new(const struct tuner *, char *why, size_t n);
/* The server is to leave: end what runs here. */
void study_end_stop_all(struct tuner *);
/* Update the study's row when nothing is left to do. */
void study_end_record(struct tuner *);

/* median-view.c */
/* The trial has reported this step: mark rows of the view as outdated. */
void median_view_touch(struct tuner *, int64_t trial, int64_t step);
/* The same for a report read from the database. */
void median_view_load(struct tuner *, int64_t step);
/* Open a pool for the view, when the study's own rule keeps none like it. */
int median_view_open(struct tuner *, const struct stopper_env *, struct err *);
void median_view_close(struct tuner *);
/* Update that pool after a report, or an end. */
void median_view_observe(struct tuner *, int64_t trial, int64_t step);
void median_view_end(struct tuner *, int64_t trial);
/*
 * Write outdated rows: all, or as many as one turn allows.  True: some remain.
 */
bool median_view_flush(struct tuner *, bool all);

/* new-trial.c */
/*
 * A new trial, waiting, from the queue or the strategy; NULL when there is
 * none, or not yet (asking).
 */
struct live_trial *new_trial_next(struct tuner *);
/* Why nothing is left to try, when exhausted. */
void new_trial_exhausted_text(const struct tuner *, char *text, size_t n);

/* converge.c */
/*
 * Check for convergence, when requested and trials have ended since the last
 * check.  False: the check is being computed, and nothing is started meanwhile.
 */
bool converge_known(struct tuner *);
/* Whether the search had converged at the latest check. */
bool converge_over(const struct tuner *);

/* ask-tell.c */
#define ASK_TELL_BACKEND "ask" /* backend name of attempts that others run */
/* Requests of ask/tell. */
void ask_tell_ask(struct tuner *, struct request *);
void ask_tell_tell(struct tuner *, struct request *);
void ask_tell_judge(struct tuner *, struct request *);
/* End it as if its program had exited: no report is awaited. */
void ask_tell_cancel(struct tuner *, struct live_trial *);

/* schedule.c */
void schedule_place(struct tuner *);
bool schedule_may_place_new(const struct tuner *);
/* Whether paused trials may be resumed. */
bool schedule_may_resume(const struct tuner *);

/* capacity.c */
enum { CAPACITY_BACKENDS_MAX = 64 };
/* Where the next attempts can go: a free slot of each backend, or -1. */
struct capacity {
	int slot[CAPACITY_BACKENDS_MAX];
	bool any;
};
/* limits.parallel, over all backends; 0 = not given. */
int64_t capacity_parallel(const struct tuner *);
void capacity_find(struct tuner *, struct capacity *);
/* The backend for a waiting trial, or with NULL for a new one; or -1. */
int capacity_backend(
    const struct tuner *, const struct capacity *, const struct live_trial *);
/*
 * Whether limits.cost is all that prevents the start of waiting and new trials;
 * why then holds the reason.
 */
bool capacity_cost_blocks(struct tuner *, char *why, size_t n);
/*
 * Record the upper bound of running attempts' cost; least: the total if all
 * ended now.
 */
void capacity_put_costs(struct tuner *, double *least);

/* paused.c */
/* Move a paused trial from the live list to the paused list. */
void paused_add(struct tuner *, struct live_trial *);
struct live_trial *paused_find(struct tuner *, int64_t trial);
/* It will not resume: give it its final state. */
void paused_final(
    struct tuner *, struct live_trial *, enum trial_event, const char *why);
/*
 * The next trial that the rules resume and that has room (NULL: any), and the
 * reason; or NULL.
 */
struct live_trial *
paused_next(struct tuner *, const struct capacity *, struct judgement *);
/* Resume the next one: it waits for a slot now. */
struct live_trial *paused_resume(struct tuner *, const struct capacity *);
/* End all: no more results will come that could resume any. */
void paused_settle(struct tuner *);
void paused_end_all(struct tuner *);

/* effects.c */
struct attempt_spec;
int effects_attempt_spec(struct attempt_spec *, const struct tuner *,
    const struct live_trial *, struct err *);
void effects_add(struct tuner *, enum effect_kind, const struct live_trial *);
void effects_run(struct tuner *);

/* requests.c */
/* Execute requests and record them; answers are sent after the commit. */
void requests_serve(struct tuner *);
void requests_reply_all(struct tuner *, bool good);

/* start-failures.c */
/* The launcher failed temporarily to start this attempt. */
void
start_failures_refused(struct tuner *, struct live_trial *, const char *why);
/* It started, and ended because nothing can run now; paid: it had a cost. */
void start_failures_ended(
    struct tuner *, struct live_trial *, const char *why, bool paid);
/* It was started; up: and is running. */
void start_failures_begun(struct tuner *, struct live_trial *, bool up);
/* The user asks for an immediate retry: end the pause. */
void start_failures_reset(struct tuner *);
/* Whether to call the launcher's start for this attempt again. */
bool start_failures_due(struct tuner *, const struct live_trial *);
/* Whether an attempt may be placed on this backend now. */
bool start_failures_ready(struct tuner *, int backend);
/* Attempts that never started: end them, or start them again. */
void start_failures_settle(struct tuner *);
/* Record events about failures and recovery, within a transaction. */
void start_failures_report(struct tuner *);

#endif /* HPOTUNE_TUNER_INTERNAL_H */
