/*
 * What the files of the tuner share: tuner.c (open, close, turn), restore.c (the
 * store read back), launcher-events.c (events of launchers), attempt-end.c (rules and ends),
 * outcome.c (what a trial came to), study-end.c, shutdown.c (when it is over), new-trial.c
 * (the setting of a new trial), schedule.c (who runs next), paused.c (whom a rule
 * has paused), effects.c (what follows a commit).
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
#define RETRY_WAIT_MAX_MS 300000 /* when it waits for a machine */

/* Whether attempts can be started on a backend. */
struct start_failures {
	int64_t since_ms; /* of the first failure in a row */
	char why[LAUNCH_WHY]; /* of the last one, "" = all is well */
	int ended; /* attempts in a row that began and could not run */
	int64_t next_ms; /* nothing is placed before, when there were any */
	bool warned; /* the user has heard of it */
	bool worked; /* it is over, which is to be said */
};

struct backend {
	const struct launcher *launcher;
	void *ctx;
	struct slots slots;
	double worst_cost; /* dollars of one attempt; 0 = it is free */
	struct start_failures starts;
};

enum effect_kind { EFFECT_START, EFFECT_STOP, EFFECT_KILL };

/* What is done after the commit, to one attempt: it may be over by then. */
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
	bool later; /* the strategy thinks: it stays for another turn */
	int64_t given; /* trials, to one that asked for some */
	struct buf data; /* JSON */
	char text[192];
};

/* What the server has to say in view events. */
struct pending_event {
	const char *level, *area; /* static text */
	char *text;
};

/* A step that anybody reported. */
struct median_view_step {
	int64_t step;
	bool old; /* its row in medians is */
};

struct tuner {
	struct tuner_env env;
	const struct study *study;
	struct store *store;
	struct store_study row;
	char study_id[STUDY_ID];
	struct plugins plugins;
	struct history *history;
	struct suggester *suggester; /* NULL until somebody is asked */
	struct suggester *converge; /* the same, about convergence */
	struct plugins converge_plugs; /* of it */
	struct tried_settings *tried; /* settings */
	struct stop_rule_set *rules;
	const struct stopper *median; /* for the view medians */
	void *median_state; /* NULL when the study's rule keeps them */
	struct option_value *median_options;

	struct backend *backends;
	int n_backends;
	struct live_set live;
	struct live_trial **paused_trials; /* by a rule; not among live */
	size_t n_paused;

	int64_t n_trials; /* rows */
	int64_t n_failed;
	int64_t n_over; /* of them, that will not run again */
	int64_t converge_at; /* n_over when convergence was looked for */
	int64_t n_enqueued; /* rows that no strategy suggested */
	size_t n_aims; /* objectives and constraints; 0: one objective alone */
	const char **also; /* metrics of aims, each once, but the objective */
	size_t n_also;
	struct pareto_front *front; /* of several objectives, or NULL */
	int64_t since_better; /* finished in a row without a better one */
	double best_loss; /* NaN = none */
	int64_t best_trial;

	struct effect *acts;
	size_t n_effects;
	struct request *requests;
	size_t n_requests;
	size_t n_served; /* of them, in this turn */
	struct pending_event *notes;
	size_t n_notes;
	struct notices *notices; /* or NULL */
	struct median_view_step *median_steps; /* ascending */
	size_t n_median_steps, cap_median_steps;
	size_t median_next; /* where the next flush goes on */

	struct loop_timer *wake; /* retries, limits, a locked store */
	struct loop_timer *flush; /* medians and elapsed time */
	int64_t opened_ms; /* loop time */
	int64_t elapsed_ms; /* of earlier servers */
	int64_t turn_us; /* wall time of this turn */
	int64_t busy_since_ms; /* the store is locked; -1 = no */
	int64_t wake_ms; /* loop time at which wake is due */
	bool flush_due;
	bool tend_log; /* after the commit of this turn */
	bool log_long; /* said so */
	bool gpus_new; /* rows of gpus are those of this server */
	bool warned_unreported; /* a metric of a constraint never comes */
	bool warned_cost; /* that limits.cost keeps something from beginning */
	bool durable; /* this turn must be synced */
	bool paused;
	bool held; /* place nothing for now */
	bool asking; /* the strategy thinks about the next trial */
	unsigned redraws; /* its answers for that one that were known */
	double redraw_seconds;
	uint64_t all_tried; /* when exhausted: settings, all were tried */
	bool exhausted; /* the strategy has nothing left */
	bool converged; /* so it was found at converge_at */
	bool converge_broken; /* it cannot be looked for */
	bool shutdown, shutdown_now;
	bool over; /* a limit or the target ended it */
	bool awaits; /* … that its owner may raise: it goes on then */
	bool failed;
	bool store_failed; /* err below holds why */
	struct err err;
	char why[256];
	char converge_why[256]; /* when converged */
	char last_bad[200]; /* what drained a slot last */
	char trouble[256];
};

/* tuner.c */
int64_t tuner_elapsed_ms(const struct tuner *);
/* Why there is nothing left to try, when it is so. */
void tuner_exhausted_text(const struct tuner *, char *text, size_t n);
/* Remember that the store said no: the turn will be undone. */
void tuner_store_failed(struct tuner *, const struct err *);
void
tuner_event(struct tuner *, const char *level, const char *area, int64_t trial,
    int attempt, const char *, ...) __attribute__((format(printf, 6, 7)));
/* Wake up for a turn in ms at the latest. */
void tuner_wake_in(struct tuner *, int64_t ms);
/* Nobody can tell what became of an attempt: say so once, ask again soon. */
void
tuner_attempt_unknown(struct tuner *, struct live_trial *, const char *what);

/* outcome.c */
/* How a trial ended, now or long ago. */
struct outcome {
	int64_t trial;
	enum trial_state state;
	enum end_class last; /* of its last attempt, where it failed */
	double objective;
	const double *values; /* of all aims, NaN = none; NULL without aims */
	bool known; /* read back: the front has it, and it was better or not */
	bool better;
};
/* After the history was made. */
void outcome_open(struct tuner *);
void outcome_close(struct tuner *);
/* Whether this metric is an objective or has bounds. */
bool outcome_has_metric(const struct tuner *, const char *metric);
/* A report of any metric. */
void outcome_report(struct tuner *, struct live_trial *, const char *metric,
    int64_t step, double value);
/* What a good end comes to: END_OK only with all objectives. */
enum end_class outcome_class(
    const struct tuner *, const struct live_trial *, char *why, size_t n);
/* Record what a trial comes to, in its row and beside it, when it is over. */
void outcome_settle(struct tuner *, struct live_trial *);
/* It comes to what another trial came to, but for the first objective. */
int
outcome_copy(struct tuner *, struct live_trial *, int64_t from, struct err *);
/* A trial is over: the history, the rules and the counts hear of it. */
void outcome_ended(struct tuner *, const struct outcome *);
void outcome_finish(struct tuner *, struct live_trial *);
/* It has come to this so far: only the history hears of it. */
void outcome_pause(struct tuner *, struct live_trial *);

/* restore-outcome.c */
struct restored_outcomes;
/* After the trials were counted; freed in any case. */
int restore_outcomes_load(
    struct restored_outcomes **, struct tuner *, struct err *);
void restore_outcomes_free(struct restored_outcomes *);
/* outcome_ended for one that was read back. */
void restore_outcomes_ended(struct restored_outcomes *, int64_t trial,
    enum trial_state, double objective);
/* The last reports of one that has not ended. */
int restore_outcome_live(struct tuner *, struct live_trial *, struct err *);

/* restore.c */
int restore_tuner(struct tuner *, struct err *);
/* Look for every open attempt again. */
void restore_adopt_attempts(struct tuner *);

/* warm-trials.c: before any trial of our own. */
int warm_trials_load(struct tuner *, struct err *);

/* launcher-events.c */
launch_cb tuner_on_event;
/*
 * A trial whose last attempt has ended, and all of it is read: where steps per
 * second count, and it has never reported them, they are computed and recorded
 * as a report of its last step.
 */
void tuner_hear_speed(struct tuner *, struct live_trial *);

/* Attempts that never started: end them, or try again. */
void tuner_settle_unstarted(struct tuner *);

/* attempt-end.c */
void stopping_judge(struct tuner *, struct live_trial *, int64_t step);
/*
 * Everything that there was to read is read: a verdict that ends the trial
 * takes effect, unless all its steps are there already.
 */
void stopping_settle(struct tuner *, struct live_trial *);
void attempt_end_handle(struct tuner *, struct live_trial *,
    const struct launch_exit *, const char *lost_why);

/* study-end.c */
void study_end_check(struct tuner *);
/* When the last of so many settings that wait is tried: a clause. */
void enqueue_answer_text(
    const struct tuner *, int64_t waiting, char *text, size_t n);
/* Whether nobody may have a new trial now, and why: a clause. */
bool tuner_new_trial_blocked(const struct tuner *, char *why, size_t n);

/* median-view.c */
/* The trial has reported this step: some rows of the view are old now. */
void median_view_touch(struct tuner *, int64_t trial, int64_t step);
/* The same for a report that was read back. */
void median_view_load(struct tuner *, int64_t step);
/* A pool for the view alone, where the study's own rule keeps none like it. */
int median_view_open(struct tuner *, const struct stopper_env *, struct err *);
void median_view_close(struct tuner *);
/* What a report, and an end, changes in that pool. */
void median_view_observe(struct tuner *, int64_t trial, int64_t step);
void median_view_end(struct tuner *, int64_t trial);
/* Write what is old: all of it, or so much that a turn may take.  True: there
 * is more. */
bool median_view_flush(struct tuner *, bool all);

/* new-trial.c */
/*
 * A new trial that waits, from the queue or the strategy; NULL when there is
 * none, or not yet (asking).
 */
struct live_trial *new_trial_next(struct tuner *);

/* converge.c */
/*
 * Look for convergence, where it is asked for and trials have ended since it
 * was looked for last.  False: somebody thinks, and nothing is begun until then.
 */
bool converge_known(struct tuner *);
/* Whether nothing is left to find, by all trials that are over. */
bool converge_over(const struct tuner *);

/* ask-tell.c */
#define ASK_TELL_BACKEND "ask" /* the backend of attempts that others run */
/* Requests of those who run trials themselves. */
void ask_tell_ask(struct tuner *, struct request *);
void ask_tell_tell(struct tuner *, struct request *);
void ask_tell_judge(struct tuner *, struct request *);
/* It ends as if its program had ended: nobody waits for it any more. */
void ask_tell_cancel(struct tuner *, struct live_trial *);

/* schedule.c */
/* A version 4 UUID as text. */
char *schedule_uuid_new(void);
void schedule_place(struct tuner *);
bool schedule_may_place_new(const struct tuner *);
/* Whether trials that a rule paused may be resumed. */
bool schedule_may_resume(const struct tuner *);

/* capacity.c */
enum { CAPACITY_BACKENDS_MAX = 64 };
/* Where the next attempts may go: a free slot of each backend, or -1. */
struct capacity {
	int slot[CAPACITY_BACKENDS_MAX];
	bool any;
};
/* limits.parallel, of all backends together; 0 = not given. */
int64_t capacity_parallel(const struct tuner *);
void capacity_find(struct tuner *, struct capacity *);
/* The backend for a trial that waits, or with NULL for a new one; or -1. */
int capacity_backend(
    const struct tuner *, const struct capacity *, const struct live_trial *);
/*
 * Whether limits.cost alone keeps from beginning all that waits and all that
 * might be new; then why says so.
 */
bool capacity_cost_blocks(struct tuner *, char *why, size_t n);
/* Write what running attempts may come to; what all would if they ended now. */
void capacity_put_costs(struct tuner *, double *least);

/* paused.c */
/* It has ended for now: it leaves live. */
void paused_add(struct tuner *, struct live_trial *);
struct live_trial *paused_find(struct tuner *, int64_t trial);
/* It will not run again. */
void paused_final(
    struct tuner *, struct live_trial *, enum trial_event, const char *why);
/*
 * Whom the rules let go on now, of those that find room (NULL: of all), and
 * why; or NULL.
 */
struct live_trial *
paused_next(struct tuner *, const struct capacity *, struct judgement *);
/* The same, and it waits for a place now. */
struct live_trial *paused_resume(struct tuner *, const struct capacity *);
/* No more results will come that could lift any of them. */
void paused_settle(struct tuner *);
void paused_end_all(struct tuner *);

/* effects.c */
struct attempt_spec;
int effects_attempt_spec(struct attempt_spec *, const struct tuner *,
    const struct live_trial *, struct err *);
void effects_add(struct tuner *, enum effect_kind, const struct live_trial *);
void effects_run(struct tuner *);
void effects_serve_requests(struct tuner *);
void effects_reply_all(struct tuner *, bool good);

/* start-failures.c */
/* The launcher could not start this attempt now. */
void
start_failures_refused(struct tuner *, struct live_trial *, const char *why);
/* It began, and ended because nothing can be run now; paid: it cost money. */
void start_failures_ended(
    struct tuner *, struct live_trial *, const char *why, bool paid);
/* It was started; up: and runs. */
void start_failures_begun(struct tuner *, struct live_trial *, bool up);
/* The user says that it works now: no pause any more. */
void start_failures_reset(struct tuner *);
/* Whether the launcher is to be asked again to start this attempt. */
bool start_failures_due(struct tuner *, const struct live_trial *);
/* Whether anything is to be placed on this backend now. */
bool start_failures_ready(struct tuner *, int backend);
/* Tell the user, within a transaction. */
void start_failures_report(struct tuner *);

/* broken-gpus.c: uuid and why of each, from view gpus; 0, or -1.  Free even then. */
int broken_gpus_read(
    struct launch_gpu **gpus, size_t *n, struct store *, struct err *);
void broken_gpus_free(struct launch_gpu *, size_t n);

#endif /* HPOTUNE_TUNER_INTERNAL_H */
