/*
 * The study's database: one SQLite file.  The only module that includes
 * sqlite3.h.
 *
 * One connection writes (the server, or a command while no server runs); all
 * others are read-only.  Writes happen between store_begin and store_commit; a
 * failed commit leaves the file as it was before store_begin, and the caller
 * discards its state and reads it again.
 */

#ifndef HPOTUNE_STORE_H
#define HPOTUNE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/log.h"
#include "src/model/gpu.h"
#include "src/model/trial.h"

struct err;
struct place;
struct space;
struct store;

enum store_mode {
	STORE_READ,
	STORE_WRITE,
	/*
	 * STORE_WRITE for a short time: views created by a program of this
	 * version are kept, and so is the log unless it is long or
	 * store_checkpoint_at_close was called.
	 */
	STORE_WRITE_ONCE
};

enum study_state {
	STUDY_RUNNING, /* a server runs it, or crashed while running it */
	STUDY_PAUSED,
	STUDY_INTERRUPTED, /* the server was asked to shut down */
	STUDY_FINISHED,
	STUDY_FAILED
};
const char *study_state_name(enum study_state);

/*
 * An aim of the study: an objective with a goal, or a constraint with bounds.
 */
struct store_aim {
	const char *metric;
	bool constraint;
	bool maximize; /* an objective */
	double min, max; /* a constraint; infinite = no bound */
};

/* Row of t_study.  After store_study_get the caller owns the texts. */
struct store_study {
	char *name;
	enum study_state state;
	char *metric;
	bool maximize;
	char *strategy; /* name */
	uint64_t seed;
	char *rule; /* names, joined by ", " */
	int64_t max_steps; /* of a trial; 0 = unknown */
	char *json; /* the study.json of the last run, without white space */
	char *fixed; /* study_put_fixed */
	char *
	    dir; /* folder of study.json; relative to the database when it is the same */
	int64_t created_us;
	int64_t started_us; /* last start of a server */
	/*
	 * 0 = not ended; set also while it runs again after an end, until its
	 * next trial
	 */
	int64_t ended_us;
	int64_t elapsed_ms; /* of earlier runs, for limits.wall_time */
	char *why; /* why it ended, or NULL */
	/* limits of the last start instead of those of json; 0 = as there */
	int64_t run_trials, run_parallel;
	/* For store_create only: objectives, then constraints; none: metric. */
	const struct store_aim *aims;
	size_t n_aims;
};
void store_study_fini(struct store_study *);
/*
 * Hex digits derived from its name, its seed and its time of creation: the same
 * for a copy of its database.
 */
#define STUDY_ID 7 /* bytes, with the NUL */
void store_study_id(char out[STUDY_ID], const struct store_study *);

/* Row of t_trial. */
struct store_trial {
	int64_t number;
	enum trial_state state;
	enum stop_cause cause; /* of a requested stop */
	char *params; /* JSON of active parameters */
	enum trial_source source;
	double objective; /* NaN = none */
	int64_t last_step; /* -1 = none */
	int64_t reports; /* of the objective */
	int attempts;
	int failures; /* attempts that count towards retries */
	int free_retries; /* consecutive, without a new report between them */
	bool alone; /* the next attempt runs alone on the machine */
	int64_t not_before_us; /* wall time of the next attempt; 0 = now */
	int64_t started_us; /* of its first attempt; read only */
	int64_t ended_us; /* 0 = not ended, or as its last attempt */
	bool is_paused; /* by a rule, or its pause is in progress */
	int64_t paused_step; /* … the rule decided at this step */
	int64_t from; /* trial whose checkpoint it loads; 0 = none */
	int64_t member; /* of a population; 0 = none */
	int64_t until; /* completes it at this step; 0 = it ends by itself */
	int64_t setting; /* it is a replicate of; 0 = no replicates */
	int replicate; /* from 1 */
	double violation; /* sum over constraints; set at its end */
	char *backend; /* of its attempts, or NULL */
	char *why; /* or NULL */
	bool forgotten; /* by the user: nothing counts it; read only */
	/* Why the space has no such setting, or NULL; read only */
	char *outside;
	int64_t own_steps; /* 0: those of the study, or not known yet */
	char *commit; /* hash of the commit whose files run; NULL = none */
};
/* Row of t_setting; numbers with the user's sign, NaN = none. */
struct store_setting {
	int64_t number;
	const char *state;
	int64_t completed; /* replicates */
	double value, mean, error;
	int64_t trial; /* its first completed one; 0 = none */
	const char *params; /* JSON, without the parameter of replicates */
	double violation; /* sum over constraints */
};
/* Row of t_contest: two settings on the same values of a parameter. */
struct store_contest {
	int64_t number; /* from 1 */
	const char *kind, *verdict; /* as the schema has them */
	int64_t challenger, baseline; /* settings; 0 = not begun */
	const char *metric;
	bool maximize;
	double alpha;
	int64_t searched; /* replicates of the search, before those of it */
	int64_t pairs; /* at most */
	int64_t looks;
	double better, worse; /* e-values */
	double difference, least; /* above 0: better; NaN = none */
	int64_t opened_us, ended_us; /* 0 = not */
	const char
	    *params; /* JSON of a challenger that is not begun, or NULL */
	const char *caller, *why; /* or NULL */
	const char *commit; /* hash of the challenger's, or NULL */
	/*
	 * That of the baseline, and what differs between both, or NULL: they
	 * are not read, and written with the first put of a contest alone.
	 */
	const char *base, *diff;
};
/* Row of t_setting_outcome; numbers with the user's sign, NaN = none. */
struct store_setting_outcome {
	int64_t setting;
	int position; /* of the aim, from 1 */
	double value, mean, error, violation;
};

/* Frees backend, params, why, outside and commit. */
void store_trial_fini(struct store_trial *);

/* Row of t_attempt. */
struct store_attempt {
	int64_t trial;
	int attempt;
	char *uuid;
	char *backend;
	char *place; /* or NULL */
	int slot;
	/*
	 * starting, running or stopping; any other value means that it has
	 * ended and reads back as TRIAL_COMPLETED: end_class holds the reason.
	 */
	enum trial_state state;
	int64_t started_us; /* 0 = not yet */
	int64_t ended_us; /* 0 = not ended */
	int exit_code; /* -1 = none */
	int signal; /* 0 = none */
	enum end_class end_class;
	int64_t resumed_step; /* a later attempt's first step; -1 */
	int64_t log_offset, metrics_offset;
	bool log_skip, metrics_skip;
	int64_t max_rss, cpu_us;
	bool billed, priced; /* after the end: whether the next two are known */
	double billable_s; /* seconds that are billed */
	double trained_s; /* … at the full price; 0 = unknown */
	double cost; /* dollars */
	double worst_cost; /* upper bound in dollars; 0 or NaN = none */
	/* Billed seconds before it trained and after; 0 or NaN = unknown */
	double before_s, after_s;
	struct gpu_usage usage;
	int cpus; /* cores that a cluster gave it; 0 = unknown */
	char *log; /* path of its log, relative to the folder of the database */
	char *why; /* or NULL */
};
void store_attempt_fini(struct store_attempt *);

/*
 * Once, before all others and in a program in which one thread uses databases:
 * set SQLite up without locks and without counting its allocations, a seventh of
 * what it takes to open a study.
 */
void store_settle(void);

/*
 * Whether a database is at a path or may be made there, before anything is made
 * beside it: not where the path is too long, a link to nothing, a directory, or a
 * file of another kind.
 */
int store_path_check(const char *path, struct err *);
/*
 * Whether path is a study. *there is false, without an error, when there is no
 * file or only what a crash during store_create left: then call store_create.
 */
int store_exists(bool *there, const char *path, struct err *);
/*
 * While no process has the study open: check whether the log that was left is
 * corrupt in its middle, so that later commits in it are lost to SQLite.  Then
 * -1, with a copy beside it; reported once per copy.
 */
int store_wal_check(const char *path, struct err *);
/*
 * Create path with its tables and the results view of space; fails when it is a
 * study already. network_fs: without shared memory, so no other process can
 * read while it is open.
 */
int store_create(struct store **, const char *path, const struct store_study *,
    const struct space *, bool network_fs, struct err *);
/*
 * Open; for writing, also migrate the schema and recreate the views.  ERR_STORE
 * for a file that is not a study or has a newer schema.
 */
int
store_open(struct store **, const char *path, enum store_mode, struct err *);
void store_close(struct store *);
/*
 * For a process that reads the same study again and again: from now on a connection
 * of STORE_READ and what it has compiled outlive store_close, for the next
 * store_open of the file, if that is as it was.  One is kept, without a
 * transaction.  While it is, only the store may open and close its file in this
 * process: a close drops SQLite's locks.
 */
void store_keep(void);
/* Whether the next one will be kept. */
bool store_keeps(void);
/* The path of the one that is kept, or NULL. */
const char *store_kept_path(void);
/* Close it. */
void store_keep_drop(void);
/* Close it, and keep none any more. */
void store_keep_end(void);
/*
 * After STORE_WRITE_ONCE: checkpoint the log at the close, as STORE_WRITE does.
 */
void store_checkpoint_at_close(struct store *);

/*
 * Begin, commit or roll back one transaction.  ERR_BUSY: another process holds
 * the write lock (waits at most 20 ms); store_lock_holder names it.  ERR_FULL:
 * the disk is full. durable: sync before returning (intents and ends);
 * otherwise only the order is guaranteed.  An I/O error other than lack of
 * space, a corrupt file and a failed sync, in whichever call, disable a writing
 * connection: each later store_begin fails until a new store_open.  After any
 * other error the connection remains usable.  When only the sync failed, the
 * transaction may be in the file.  A reader gets one consistent view between
 * both calls.
 *
 * A call that fails between the two fails the transaction: no later write has
 * an effect, and each, and store_commit, gives the error of the first.  So a
 * caller may check the commit alone.  (A row that does not exist is no failure
 * of the calls that read.)
 */
int store_begin(struct store *, struct err *);
int store_commit(struct store *, bool durable, struct err *);
void store_rollback(struct store *);
/*
 * Of a writing connection, outside of a transaction: between the two all reads
 * see one state of the file, and the file is locked once and not for each.
 * Nothing may be written.
 */
int store_read_begin(struct store *, struct err *);
void store_read_end(struct store *);
bool store_in_transaction(const struct store *);
/* Whether the open transaction has failed. */
bool store_failed(const struct store *);
/* Fail the open transaction for this reason, unless it has failed already. */
void store_fail_with(struct store *, const struct err *);
/*
 * "sqlite3 (pid 1234)", or "another process" and false when none is known, to buf
 * of n bytes.
 */
bool store_lock_holder(struct store *, char *buf, size_t n);
/*
 * Checkpoint the log so that it can shrink; called when the loop is idle.
 * Never waits.
 */
void store_checkpoint(struct store *);
/* Current bytes of the write-ahead log. */
int64_t store_wal_bytes(struct store *);

/*
 * For when other programs change the files under a writing connection.  Whether
 * the open file still is a database; false: it was overwritten.
 */
bool store_is_database(int fd);
/* Whether the log and its index are still the files that were opened. */
bool store_wal_kept(struct store *);
/*
 * Checkpoint everything from a log that was deleted: then close and open again.
 * -1: a reader blocks it; nothing is lost while the connection stays open.
 */
int store_wal_recover(struct store *, struct err *);
/*
 * Copy all committed data to a new file at path, which must not exist.  The
 * connection is unusable afterwards, and the rest of its log is removed. -1: no
 * file was created.
 */
int store_rescue(struct store *, const char *path, struct err *);

/*
 * A copy of a database in use, at path when it is whole; a reader needs neither
 * a log nor shared memory.  Free it before the store is closed.
 */
struct store_snapshot;
int store_snapshot_begin(
    struct store_snapshot **, struct store *, const char *path, struct err *);
/*
 * Copy so many pages, -1 = all: 1: there are more; 0: it is whole, and has
 * this host and moment; -1 with the error set.
 */
int store_snapshot_step(struct store_snapshot *, int pages, int64_t now_us,
    const char *host, struct err *);
void store_snapshot_free(struct store_snapshot *);
/* Whether this database is such a copy, of when, made by which host. */
bool
store_snapshot_read(struct store *, int64_t *taken_us, char *host, size_t n);
/* This database is no copy but the study itself from now on. */
void store_snapshot_forget(struct store *);

/* Read or write the study's row. */
int store_study_get(struct store *, struct store_study *, struct err *);
int store_study_put(struct store *, const struct store_study *, struct err *);

/*
 * Trials: add one (its number must be the next; waiting or starting), read one,
 * write one back.  Reading a trial or attempt that does not exist is an
 * ERR_STORE.
 */
int store_trial_add(struct store *, const struct store_trial *, struct err *);
/* Write a row, in place of an earlier one of the contest. */
int
store_contest_put(struct store *, const struct store_contest *, struct err *);
/* In the order of their numbers; texts are borrowed until the next one. */
int store_walk_contests(struct store *,
    int (*)(void *, const struct store_contest *), void *, struct err *);
/* Write a row, in place of an earlier one of the setting. */
int
store_setting_put(struct store *, const struct store_setting *, struct err *);
int store_setting_outcome_put(
    struct store *, const struct store_setting_outcome *, struct err *);
int store_trial_get(
    struct store *, int64_t number, struct store_trial *, struct err *);
/*
 * Write everything except number, params, from, member and until.  The schema
 * refuses a state transition that trial_move refuses.
 */
int store_trial_put(struct store *, const struct store_trial *, struct err *);
int
store_attempt_add(struct store *, const struct store_attempt *, struct err *);
/*
 * Delete the row of an attempt that was never started, and what it had
 * committed of limits.cost.  Nothing but its placement may have been recorded.
 */
int
store_attempt_drop(struct store *, int64_t trial, int attempt, struct err *);
int store_attempt_get(struct store *, int64_t trial, int attempt,
    struct store_attempt *, struct err *);
int
store_attempt_put(struct store *, const struct store_attempt *, struct err *);

/* Counts over the ended attempts of a trial. */
struct store_past {
	int capacity; /* ended for lack of capacity: spot, capacity */
	int waits; /* of these, the latest consecutive ones that never had a machine */
};
int store_attempt_past(
    struct store *, int64_t trial, struct store_past *, struct err *);
/* The stops of a trial after which it went on: a second look, or a retry. */
int store_attempt_looks(
    struct store *, int64_t trial, int64_t *looks, struct err *);

/* Record the status of a GPU at time_us in place of the older one. */
int store_gpu_put(
    struct store *, const struct gpu_status *, int64_t time_us, struct err *);
/* Delete all rows. */
int store_gpu_clear(struct store *, struct err *);

/*
 * URIs of the model and the output of an attempt; NULL or "" = none.  Replaces
 * earlier ones.
 */
int store_artifacts_put(struct store *, int64_t trial, int attempt,
    const char *model, const char *output, struct err *);

/* Row of t_notice: a notice about the study. */
struct store_notice {
	int64_t id; /* assigned by the store */
	char *uuid; /* the same for all copies of one message */
	char *channel; /* "sns", "eventbridge" */
	char *moment; /* "finished", "failed", "waiting", "interrupted" */
	char *
	    mark; /* the progress of the study at that moment; used by store_notice_add only */
	char *text; /* lines of text */
	char *detail; /* the same content as JSON */
	int64_t time_us;
};
void store_notice_fini(struct store_notice *);
/* Add a notice, due at once. */
int store_notice_add(struct store *, const struct store_notice *, struct err *);
/* Whether the channel has a notice of this moment and mark: 1, 0, or -1. */
int store_notice_there(struct store *, const char *channel, const char *moment,
    const char *mark, struct err *);
/*
 * The oldest notice due on a channel: 1, 0 when there is none, or -1.  The
 * caller frees its texts.
 */
int store_notice_next(
    struct store *, const char *channel, struct store_notice *, struct err *);
/*
 * The notice was sent; or, with 0 and the reason, it could not be sent and
 * stays due.
 */
int store_notice_told(
    struct store *, int64_t id, int64_t sent_us, const char *why, struct err *);

/* Dollars of all attempts: actual cost, or the upper bound. */
int store_cost_committed(struct store *, double *dollars, struct err *);
/* GPU seconds of all attempts that have ended; 0 = none. */
int store_gpu_seconds(struct store *, double *seconds, struct err *);
/* The actual cost of an attempt that has ended and was priced. */
int store_attempt_cost(
    struct store *, int64_t trial, int attempt, double dollars, struct err *);
/*
 * The greatest before_s and after_s of all attempts of a backend, seconds; 0 =
 * none.
 */
int store_attempt_times(struct store *, const char *backend, double *before_s,
    double *after_s, struct err *);

/*
 * Add a report.  Later reports of a (trial, name, step) take precedence in the
 * views.
 */
int
store_metric_add(struct store *, int64_t trial, int attempt, const char *name,
    int64_t step, double value, int64_t time_us, struct err *);

/*
 * Whether exactly this report is recorded, at any time if time_us is 0: 1, 0, or
 * -1 on an error.
 */
int store_metric_exists(struct store *, int64_t trial, int attempt,
    const char *name, int64_t step, double value, int64_t time_us,
    struct err *);

/* The report of the greatest step: 1, 0 when there is none, or -1. */
int store_metric_last(struct store *, int64_t trial, const char *name,
    int64_t *step, double *value, struct err *);

/*
 * Computed steps per second of a trial that does not report them, as in view
 * throughput: 1, 0 when its reports do not suffice, or -1.
 */
int store_speed(struct store *, int64_t trial, double *value, struct err *);

/*
 * Results of an ended trial for each of n aims, in order: the value, and the
 * violation of a constraint; NaN = none.
 */
int store_outcome_put(struct store *, int64_t trial, size_t n,
    const double *values, const double *violations, struct err *);
/* Read the values; NaN where there is none. */
int store_outcome_get(
    struct store *, int64_t trial, size_t n, double *values, struct err *);
/* All values: i counts the aims from 0. */
int store_walk_outcomes(struct store *,
    int (*)(void *, int64_t trial, size_t i, double value), void *,
    struct err *);
/*
 * The front of a study with several objectives: add a trial when it ends, drop
 * it when another one dominates it. better: no member equalled it.
 */
int store_front_add(struct store *, int64_t trial, bool better, struct err *);
int store_front_drop(struct store *, int64_t trial, struct err *);
/* Delete all rows of the front. */
int store_front_clear(struct store *, struct err *);
/* All trials that were ever on it, by number; inside: still a member. */
int store_walk_front(struct store *,
    int (*)(void *, int64_t trial, bool inside, bool better), void *,
    struct err *);
/*
 * Failed trials, with the class of their last attempt's end (END_NONE: no
 * attempt).
 */
int store_walk_failed(struct store *,
    int (*)(void *, int64_t trial, enum end_class), void *, struct err *);

/* The verdict of a rule on a trial at a step. */
enum store_verdict {
	STORE_KEEP,
	STORE_STOP,
	STORE_SUSPENDED,
	STORE_PAUSE, /* a stop from which it may be resumed */
	STORE_RESUME
};

/* A second look; budgets and prices in steps. */
struct store_look {
	int64_t rank; /* trials that were better at the step */
	double hindsight; /* H, 0 to 1 */
	int64_t budget; /* of the study */
	int64_t price; /* of this look */
	int64_t spent; /* before it */
};

struct store_stop {
	int64_t trial;
	int64_t step;
	const char *rule;
	double value, threshold; /* NaN = none */
	int64_t pool;
	enum store_verdict verdict;
	const char *why;
	int64_t time_us;
	const struct store_look *look; /* STORE_RESUME: of a second look */
	/* What was compared, and where; NULL and 0: the objective at step. */
	const char *metric, *unit;
	int64_t at;
};
int store_stop_add(struct store *, const struct store_stop *, struct err *);
/*
 * The trials that a rule has stopped or paused for good, and those that had a
 * second look, by number.
 */
struct store_stopped {
	int64_t trial;
	int64_t step; /* its last one when it was stopped */
	bool looked; /* it has or had its second look */
	int64_t price; /* of that, in steps; 0 = none */
	const char *backend; /* of its attempts, or NULL */
};
int store_walk_looks(struct store *,
    int (*)(void *, const struct store_stopped *), void *, struct err *);
/* The steps of a trial, which it has reported. */
int
store_own_steps_put(struct store *, int64_t trial, int64_t steps, struct err *);
/*
 * After the row of its second look: clear the trial's end and its result; it
 * waits again.
 */
int store_trial_revive(struct store *, int64_t trial, struct err *);
/*
 * Record the end of a trial that the user retries, before store_trial_revive:
 * replays find it in its place.
 */
int
store_retry_add(struct store *, int64_t trial, int64_t time_us, struct err *);
/*
 * Another name of the study, in its row and in the paths of its logs, which are
 * in the folder NAME.d.
 */
int
store_rename(struct store *, const char *was, const char *now, struct err *);
/*
 * After the space has changed: the trial's setting in it, NULL = as it is, and
 * why the space has no such setting, NULL = it has.
 */
int store_trial_refit(struct store *, int64_t trial, const char *params,
    const char *outside, struct err *);
/* Trials of a study without replicates become each the first of a setting. */
int store_trials_number(struct store *, struct err *);
/* The parameters of the views results and front, which are made again. */
int store_space_put(struct store *, const struct space *, struct err *);
/* Row of t_change: a key of study.json that differs from the last start's. */
struct store_change {
	const char *key; /* its path */
	const char *old, *now; /* JSON; NULL = not given */
	int64_t trials; /* there are */
	int64_t outside; /* of them; -1: the key is none of the space */
	int64_t time_us;
};
int store_change_add(struct store *, const struct store_change *, struct err *);
/*
 * Row of t_provenance: where attempts are started from since_us on.  A missing
 * text is NULL.
 */
struct store_provenance {
	int64_t id; /* 0 = a new row; store_provenance_put sets it */
	int64_t since_us;
	const char *host, *user, *system, *version;
	const char *command; /* JSON list */
	const char *folder, *workdir;
	const char *commit, *branch;
	int dirty; /* 0, 1; -1 = unknown */
	const char *git_why;
	const char *packages; /* the list itself, many lines */
	const char *packages_why;
};
int
store_provenance_put(struct store *, struct store_provenance *, struct err *);
/* Remove the row if the one before it differs in its time alone. */
int store_provenance_settle(struct store *, int64_t id, struct err *);
/*
 * Have a trial that has ended counted by nothing, or again.  Empties the view
 * medians: a tuner that is opened next fills it.
 */
int
store_trial_forget(struct store *, int64_t trial, bool forgotten, struct err *);
/* The process that asked for an attempt of ask and tell. */
struct store_asker {
	const char *host;
	int64_t pid;
	const char *mark; /* what tells it from others with its pid */
	bool watched; /* the attempt is lost when the process has ended */
};
/* Record an asker, in place of an earlier one. */
int store_asker_put(struct store *, int64_t trial, int attempt,
    const struct store_asker *, struct err *);
/* Whether such a process is watched for any trial; false on an error. */
bool store_asker_watched(struct store *, const struct store_asker *);
/* The askers of attempts that have not ended, borrowed until the next one. */
int store_walk_askers(struct store *,
    void (*)(void *, int64_t trial, const struct store_asker *), void *,
    struct err *);
/* The user's note about a trial, in place of an older one; "" = none. */
int store_note_put(struct store *, int64_t trial, const char *text,
    int64_t time_us, struct err *);
/* Give a trial a tag, or take it away; no error when it was so already. */
int store_tag_put(
    struct store *, int64_t trial, const char *tag, bool on, struct err *);
/*
 * Record that the trial's latest stop or pause had no effect: it ran to its
 * end.
 */
int store_stop_late(struct store *, int64_t trial, struct err *);
/* What trials did at a place, instead of what was recorded of it. */
int store_place_put(struct store *, const struct place *, struct err *);
/* All that places_forgive does, to what is recorded. */
int store_places_forgive(struct store *, struct err *);
/* Not LOG_LEVEL_DEBUG; trial and attempt 0 = none. */
int store_event_add(struct store *, int64_t time_us, enum log_level,
    const char *area, int64_t trial, int attempt, const char *text,
    struct err *);

/* Row of t_request: what a caller asked for. */
struct store_request {
	int64_t time_us;
	const char *caller;
	const char *request; /* "ask", "tell", "sql" */
	int64_t trial; /* 0 = none */
	const char *asked; /* its arguments, or NULL */
	int good; /* 0, 1; -1: it was only read */
	const char *answer; /* or NULL */
};
int
store_request_add(struct store *, const struct store_request *, struct err *);

/* Row of t_suggestion: how the strategy chose a trial. */
struct store_suggestion {
	int64_t trial;
	const char *strategy;
	const char *made_by; /* kernels used */
	double seconds; /* computing time, redraws included */
	int64_t redraws; /* earlier answers that had been tried before */
	int64_t same_as; /* trial with the same setting; 0 = none */
	int64_t from_trial; /* trial whose checkpoint it loads; 0 = none */
	const char *why; /* why this strategy; NULL = study.json names it */
	double memory, fits; /* as in struct suggestion; 0 = not asked */
};
int store_suggestion_add(
    struct store *, const struct store_suggestion *, struct err *);

int store_median_put(
    struct store *, int64_t step, int64_t trials, double median, struct err *);
/* The rows of the medians by their steps. */
int store_walk_medians(struct store *,
    int (*)(void *, int64_t step, int64_t trials), void *, struct err *);

/* The queue of settings to try, in order: JSON of a partial setting. */
int store_queue_add(
    struct store *, const char *params, enum trial_source, struct err *);
/*
 * The oldest entry not taken: 0, or 1 when there is none.  The caller frees
 * *params.
 */
int store_queue_next(struct store *, int64_t *id, char **params,
    enum trial_source *, struct err *);
/* The number of entries not taken. */
int store_queue_length(struct store *, int64_t *n, struct err *);
/* Mark a queued setting as taken by this trial; 0: dropped. */
int store_queue_take(struct store *, int64_t id, int64_t trial, struct err *);

/* Drop a waiting entry; id 0: all.  *n: how many were dropped. */
int store_queue_drop(struct store *, int64_t id, int64_t *n, struct err *);

/* Row of t_warm: a finished trial of another study, for the strategy. */
struct store_warm {
	const char *source; /* its database, as written in study.json */
	int64_t trial; /* its number there */
	enum trial_state state; /* completed, stopped or failed */
	double objective; /* NaN = none */
	int64_t last_step; /* -1 = none */
	double last_value; /* reported at last_step */
	const char *params; /* JSON, converted to this study's space */
	/*
	 * JSON: last reports of all objectives and constraints; NULL when only
	 * the objective is used.
	 */
	const char *metrics;
};
int store_warm_add(struct store *, const struct store_warm *, struct err *);
int store_warm_count(struct store *, int64_t *n, struct err *);
/* In the order they were added. */
int store_walk_warm(struct store *, int (*)(void *, const struct store_warm *),
    void *, struct err *);

/*
 * Walks at a start.  Callbacks return 0 to continue; any other value ends the
 * walk and is returned.  Arguments are borrowed until the callback returns.
 */
/*
 * Of trials that have ended: number, state, setting (params, outside, source,
 * setting, replicate), from, member and forgotten; the rest is 0.
 */
int store_walk_trials(struct store *,
    int (*)(void *, const struct store_trial *), void *, struct err *);
/* Attempts that have not ended. */
int store_walk_open_attempts(struct store *,
    int (*)(void *, const struct store_attempt *), void *, struct err *);
/* Whether any attempt has ever reported anything; false on an error. */
bool store_any_reports(struct store *, struct err *);
/* Whether an event of the area "doubt" has this text; false on an error. */
bool store_any_doubt(struct store *, const char *text, struct err *);
/* For places_restore. */
int store_walk_places(struct store *,
    int (*)(void *, const struct place *, const char *trials), void *,
    struct err *);
/* The newest report of each step of the objective, by trial and step. */
int store_walk_curves(struct store *,
    int (*)(void *, int64_t trial, int64_t step, double value), void *,
    struct err *);
/*
 * All reports of the objective and all ends of trials in the order they were
 * recorded, for replay.  state is TRIAL_RUNNING for a report, TRIAL_WAITING where
 * a trial that had ended got its second look, or another attempt by its user; it
 * ends again later.  Forgotten trials have none.
 */
struct store_record {
	int64_t trial;
	int64_t step; /* -1: not a report */
	double value; /* of the report, or the objective of the trial */
	enum trial_state state;
	const char
	    *metric; /* of the report, one of metrics; NULL: the objective */
	/* Used up by the trial at the report; NaN: unknown, or no metrics. */
	double seconds, dollars;
};
/*
 * metrics (ends with NULL; NULL = none): reports of these are included, and
 * what the trials had used up.  Then all reports are sorted.
 */
int store_walk_records(struct store *, const char *const *metrics,
    int (*)(void *, const struct store_record *), void *, struct err *);
/* What trials use up is recorded with the report that was added last. */
int
store_spent_add(struct store *, double seconds, double dollars, struct err *);
/* The same sums over the ended attempts of a trial; unknown costs are 0. */
int store_spent_past(struct store *, int64_t trial, double *seconds,
    double *dollars, struct err *);
/*
 * The trials that a rule has stopped and that had no second look and no retry by
 * the user, and at which step, in no order; late: the stop had no effect.
 */
int store_walk_stopped(struct store *,
    int (*)(void *, int64_t trial, int64_t step, bool late), void *,
    struct err *);
/* All reports of one metric in one attempt, by step. */
int
store_walk_reports(struct store *, int64_t trial, int attempt, const char *name,
    int (*)(void *, int64_t time_us, double value), void *, struct err *);
/* A report of a metric; seq orders everything recorded. */
struct store_report {
	int64_t seq, attempt, step;
	double value;
};
/* All reports of one metric of a trial, as they were recorded. */
int store_walk_series(struct store *, int64_t trial, const char *name,
    int (*)(void *, const struct store_report *), void *, struct err *);
/* The greatest step of each metric of an attempt, and its number of reports. */
int store_walk_last_steps(struct store *, int64_t trial, int attempt,
    int (*)(void *, const char *name, int64_t step, int64_t reports), void *,
    struct err *);

/*
 * Rows of a SELECT over the views. params are bound as text, NULL ends the
 * list.  The SQL comes from commands, never from users.
 */
struct store_rows;
int store_rows_open(struct store_rows **, struct store *, const char *sql,
    const char *const *params, struct err *);
/*
 * The same for foreign SQL, which may name the views of hpotune-db(5) alone: one
 * SELECT, ERR_USAGE for anything else.  From now on values of the connection are
 * at most 1 MiB long.  A single step may take long, for example in LIKE: the
 * caller ends the process when its time is over.
 */
int store_rows_open_views(
    struct store_rows **, struct store *, const char *sql, struct err *);
/*
 * From now on a query may take so many steps of SQLite's machine, whatever the
 * size of the file: for a reader that others wait for.
 */
void store_limit_steps(struct store *, int64_t steps);
/* 1 a row, 0 the end, -1 an error. */
int store_rows_next(struct store_rows *, struct err *);
int store_rows_columns(const struct store_rows *);
const char *store_rows_name(const struct store_rows *, int col);
bool store_rows_null(const struct store_rows *, int col);
bool store_rows_is_number(const struct store_rows *, int col);
const char *store_rows_text(const struct store_rows *, int col);
double store_rows_real(const struct store_rows *, int col);
int64_t store_rows_int(const struct store_rows *, int col);
void store_rows_close(struct store_rows *);

/* Version of the linked SQLite, "3.40.1"; for doctor. */
const char *store_sqlite_version(void);

#endif /* HPOTUNE_STORE_H */
