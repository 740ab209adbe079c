/*
 * The memory: one SQLite file.  The only user of sqlite3.h.
 *
 * One connection writes (the server, or a command while no server runs); all
 * others open read-only.  Writes happen between store_begin and store_commit;
 * a failed commit leaves the file as it was before store_begin, and the caller
 * throws away what it remembers and reads it again.
 */

#ifndef HPOTUNE_STORE_H
#define HPOTUNE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/trial.h"

struct err;
struct space;
struct store;

enum store_mode {
	STORE_READ,
	STORE_WRITE,
	/*
	 * STORE_WRITE for a moment: views that a program of this version has
	 * made stay, and so does the log unless store_checkpoint_at_close was called.
	 */
	STORE_WRITE_ONCE
};

enum study_state {
	STUDY_RUNNING, /* a server has it, or had it when it died */
	STUDY_PAUSED,
	STUDY_INTERRUPTED, /* the server was told to leave */
	STUDY_FINISHED,
	STUDY_FAILED
};
const char *study_state_name(enum study_state);

/* What a study is after: a metric with a goal, or one with bounds. */
struct store_aim {
	const char *metric;
	bool constraint;
	bool maximize; /* an objective */
	double min, max; /* a constraint; infinite = no bound */
};

/* Row of t_study.  Texts are owned by the struct's user after store_study_get. */
struct store_study {
	char *name;
	enum study_state state;
	char *metric;
	bool maximize;
	char *strategy; /* name */
	uint64_t seed;
	char *rule; /* names, joined by ", " */
	int64_t max_steps; /* of a trial; 0 = unknown */
	char *json; /* the study.json of the last run, white space out */
	char *fixed; /* study_put_fixed */
	char
	    *dir; /* folder of study.json; that of the database moves with it */
	int64_t created_us;
	int64_t started_us; /* last start of a server */
	/* 0 = not ended; while it runs, when it ended before: it is 0 from
	 * the next trial on */
	int64_t ended_us;
	int64_t
	    elapsed_ms; /* wall time used by earlier runs: limits.wall_time */
	char *why; /* why it ended, or NULL */
	/* limits of the last start instead of those of json; 0 = as there */
	int64_t run_trials, run_parallel;
	/* For store_create alone: objectives, then constraints; none: metric. */
	const struct store_aim *aims;
	size_t n_aims;
};
void store_study_fini(struct store_study *);

/* Row of t_trial. */
struct store_trial {
	int64_t number;
	enum trial_state state;
	enum stop_cause cause; /* of the stop that is on its way */
	char *params; /* JSON of active parameters */
	const char *source; /* "strategy", "enqueue", "default" (static text) */
	double objective; /* NaN = none */
	int64_t last_step; /* -1 = none */
	int64_t reports; /* of the objective */
	int attempts;
	int failures; /* attempts that counted against retries */
	int free_retries; /* in a row, without a new report between */
	bool alone; /* the next attempt runs with nothing beside it */
	int64_t not_before_us; /* wall time of the next attempt; 0 = now */
	int64_t started_us; /* of its first attempt; read only */
	int64_t ended_us; /* 0 = not ended, or as its last attempt */
	bool is_paused; /* by a rule, or about to be */
	int64_t paused_step; /* … that judged it at this step */
	int64_t from; /* the trial whose checkpoint it continues; 0 = none */
	int64_t member; /* of a population; 0 = none */
	int64_t until; /* the step that completes it; 0 = its own end */
	double violation; /* of constraints, summed: known at its end */
	char *backend; /* of its attempts, or NULL */
	char *why; /* or NULL */
};
void store_trial_fini(struct store_trial *); /* backend, params, why */

/* What an attempt has used of its GPUs so far; NaN = not known. */
struct store_usage {
	int gpus; /* 0 = it has none: the others are not read */
	double energy; /* joules */
	double memory; /* bytes at most, of all its GPUs together */
	double busy; /* GPU seconds in use */
	double seen; /* GPU seconds that busy was counted over */
};

/* Row of t_attempt. */
struct store_attempt {
	int64_t trial;
	int attempt;
	char *uuid;
	char *backend;
	char *place; /* or NULL */
	int slot;
	/* starting, running or stopping; anything else means that it has
	 * ended and reads back as TRIAL_COMPLETED: end_class says how. */
	enum trial_state state;
	int64_t started_us; /* 0 = not yet */
	int64_t ended_us; /* 0 = not ended */
	int exit_code; /* -1 = none */
	int signal; /* 0 = none */
	enum end_class end_class;
	int64_t
	    resumed_step; /* first step it reported, when > 1st attempt; -1 */
	int64_t log_offset, metrics_offset;
	bool log_skip, metrics_skip;
	int64_t max_rss, cpu_us;
	bool billed, priced; /* when it has ended: the next two are known */
	double billable_s; /* seconds that are paid for */
	double trained_s; /* … that the full price counts; 0 = not known */
	double cost; /* dollars */
	double worst_cost; /* dollars at most; 0 or NaN = none */
	/* Of the time that is paid for, before it trained and after; 0 or NaN =
	 * not known */
	double before_s, after_s;
	struct store_usage usage;
	char *log; /* path of its log, from the folder of the database */
	char *why; /* or NULL */
};
void store_attempt_fini(struct store_attempt *);

/* Whether a database may have this path; ERR_FILE: it is too long. */
int store_path_check(const char *path, struct err *);
/*
 * Whether path holds a study.  *there is false, without an error, when nothing
 * is there or only what a death during store_create left: then create it.
 */
int store_exists(bool *there, const char *path, struct err *);
/*
 * While nobody has the study open: whether the log that was left is damaged in
 * its middle, so that commits which SQLite does not see any more are in it.
 * Then -1, with a copy beside it; once for each such copy.
 */
int store_wal_check(const char *path, struct err *);
/*
 * Make path with its tables and the results view of space; fails when a study
 * is there.  network_fs: no shared memory, so nobody can read it meanwhile.
 */
int store_create(struct store **, const char *path, const struct store_study *,
    const struct space *, bool network_fs, struct err *);
/*
 * Open and, for writing, bring the schema up to date and re-make the views.
 * ERR_STORE with a clear text for a file that is not ours or is newer.
 */
int
store_open(struct store **, const char *path, enum store_mode, struct err *);
void store_close(struct store *);
/* After STORE_WRITE_ONCE: the log goes into the file at the close, as otherwise. */
void store_checkpoint_at_close(struct store *);

/*
 * Begin, commit or undo one transaction.  ERR_BUSY: somebody holds the write
 * lock (waits at most 20 ms); store_lock_holder names it.  ERR_FULL: the disk is
 * full.  durable: sync before returning (intents and ends); else only the order
 * is kept.  An I/O error that is not for lack of space, a damaged file and a
 * sync that failed, whichever call they meet, cut a connection that writes:
 * every later store_begin fails, and only a new store_open helps.  After any
 * other error the connection goes on.  When only the sync failed, the
 * transaction may be in the file.  A reader gets one unchanging view between
 * the two.
 */
int store_begin(struct store *, struct err *);
int store_commit(struct store *, bool durable, struct err *);
void store_rollback(struct store *);
bool store_in_transaction(const struct store *);
/* "sqlite3 (pid 1234)", or "another process"; buf of n bytes. */
void store_lock_holder(struct store *, char *buf, size_t n);
/* Let the log shrink; called when the loop is idle.  Never waits. */
void store_checkpoint(struct store *);
/* Bytes of the write-ahead log now. */
int64_t store_wal_bytes(struct store *);

/*
 * What others do to the files under a connection that writes.  Whether what is
 * open is a database still; false: it was overwritten.
 */
bool store_is_database(int fd);
/* Whether the log, and the index of it, are those that were opened. */
bool store_wal_kept(struct store *);
/*
 * Everything of a log that was deleted goes into the file: then close and open
 * again.  -1: somebody reads; nothing is lost as long as nothing is closed.
 */
int store_wal_recover(struct store *, struct err *);
/*
 * All that is committed, in a new file at path, which must not be there; the
 * connection is of no more use, and what is left of its log is removed.  -1:
 * no file was made.
 */
int store_rescue(struct store *, const char *path, struct err *);

/* The study. */
int store_study_get(struct store *, struct store_study *, struct err *);
int store_study_put(struct store *, const struct store_study *, struct err *);

/*
 * Trials: add one (its number must be the next, waiting or starting), read
 * one, write one back.  Reading a trial or attempt that is not there is an
 * ERR_STORE.
 */
int store_trial_add(struct store *, const struct store_trial *, struct err *);
int store_trial_get(
    struct store *, int64_t number, struct store_trial *, struct err *);
/*
 * Write everything but number, params, from, member and until.  The schema refuses a state move
 * that trial_move refuses.
 */
int store_trial_put(struct store *, const struct store_trial *, struct err *);
int
store_attempt_add(struct store *, const struct store_attempt *, struct err *);
/*
 * It was never made anywhere: its row goes, with what it had committed of
 * limits.cost.  Nothing may have been recorded of it but that it was placed.
 */
int
store_attempt_drop(struct store *, int64_t trial, int attempt, struct err *);
int store_attempt_get(struct store *, int64_t trial, int attempt,
    struct store_attempt *, struct err *);
int
store_attempt_put(struct store *, const struct store_attempt *, struct err *);

/* What the ended attempts of a trial came to. */
struct store_past {
	int capacity; /* ended for want of a machine: spot, capacity */
	int waits; /* of them the last ones in a row that never had one */
};
int store_attempt_past(
    struct store *, int64_t trial, struct store_past *, struct err *);

/* Row of t_gpu.  Numbers: -1 = not known; texts: NULL or "" = none. */
struct store_gpu {
	const char *uuid;
	int index;
	const char *name, *state, *why, *owner;
	int trials;
	int64_t memory, used; /* bytes */
	int temperature, utilization;
	double power; /* watts */
	int64_t time_us;
};
/* How it is now, instead of how it was. */
int store_gpu_put(struct store *, const struct store_gpu *, struct err *);
/* Forget them all. */
int store_gpu_clear(struct store *, struct err *);

/*
 * Where the model and the output of an attempt are, as URIs; NULL or "" = there
 * is none.  What was there before is replaced.
 */
int store_artifacts_put(struct store *, int64_t trial, int attempt,
    const char *model, const char *output, struct err *);

/* What somebody elsewhere is to be told of the study. */
struct store_notice {
	int64_t id; /* given by the store */
	char *uuid; /* of all copies of one message */
	char *channel; /* "sns", "eventbridge" */
	char *moment; /* "finished", "failed", "waiting", "interrupted" */
	char *mark; /* how far the study was; of store_notice_add alone */
	char *text; /* for people: lines */
	char *detail; /* the same as JSON */
	int64_t time_us;
};
void store_notice_fini(struct store_notice *);
/* It is due from now. */
int store_notice_add(struct store *, const struct store_notice *, struct err *);
/* Whether this channel has a notice of this moment and mark: 1, 0, or -1. */
int store_notice_there(struct store *, const char *channel, const char *moment,
    const char *mark, struct err *);
/* The oldest that is due on a channel: 1, 0 when there is none, or -1. */
int store_notice_next(
    struct store *, const char *channel, struct store_notice *, struct err *);
/* It was sent; or with 0 it could not be, and why: then it stays due. */
int store_notice_told(
    struct store *, int64_t id, int64_t sent_us, const char *why, struct err *);

/* Dollars of all attempts: what they cost, or may come to at most. */
int store_cost_committed(struct store *, double *dollars, struct err *);
/* What an attempt that has ended, and was priced, has cost after all. */
int store_attempt_cost(
    struct store *, int64_t trial, int attempt, double dollars, struct err *);
/* The longest before_s and after_s of any attempt of a backend; 0 = none. */
int store_attempt_times(struct store *, const char *backend, double *before_s,
    double *after_s, struct err *);

/* One report.  Later reports of a (trial, name, step) win in the views. */
int
store_metric_add(struct store *, int64_t trial, int attempt, const char *name,
    int64_t step, double value, int64_t time_us, struct err *);

/* Whether exactly this report is recorded: 1, 0, or -1 for an error. */
int store_metric_exists(struct store *, int64_t trial, int attempt,
    const char *name, int64_t step, double value, int64_t time_us,
    struct err *);

/* The report of the greatest step: 1, 0 when there is none, or -1. */
int store_metric_last(struct store *, int64_t trial, const char *name,
    int64_t *step, double *value, struct err *);

/*
 * Steps per second of a trial that does not report them, as view throughput
 * has them: 1, 0 when its reports do not tell, or -1.
 */
int store_speed(struct store *, int64_t trial, double *value, struct err *);

/*
 * What an ended trial came to in each of n aims, in their order: the value, and
 * how much it breaks a constraint; NaN = none.
 */
int store_outcome_put(struct store *, int64_t trial, size_t n,
    const double *values, const double *violations, struct err *);
/* The values back; NaN where there is none. */
int store_outcome_get(
    struct store *, int64_t trial, size_t n, double *values, struct err *);
/* All of them: i counts the aims from 0. */
int store_walk_outcomes(struct store *,
    int (*)(void *, int64_t trial, size_t i, double value), void *,
    struct err *);
/*
 * The front of a study with several objectives: a trial comes in when it ends,
 * and is dropped when another one dominates it.  better: none of its equals was
 * there before.
 */
int store_front_add(struct store *, int64_t trial, bool better, struct err *);
int store_front_drop(struct store *, int64_t trial, struct err *);
/* All that ever were on it, by number; inside: they still are. */
int store_walk_front(struct store *,
    int (*)(void *, int64_t trial, bool inside, bool better), void *,
    struct err *);
/* Failed trials, with the end of their last attempt (END_NONE: no attempt). */
int store_walk_failed(struct store *,
    int (*)(void *, int64_t trial, enum end_class), void *, struct err *);

struct store_stop {
	int64_t trial;
	int64_t step;
	const char *rule;
	double value, threshold; /* NaN = none */
	int64_t pool;
	const char *verdict; /* "stop", "suspended", "pause", "resume" */
	const char *why;
	int64_t time_us;
};
int store_stop_add(struct store *, const struct store_stop *, struct err *);
/* The trial's newest stop or pause came too late: it ran to its end. */
int store_stop_late(struct store *, int64_t trial, struct err *);
/* level is "error", "warning" or "info"; trial and attempt 0 = none. */
int store_event_add(struct store *, int64_t time_us, const char *level,
    const char *area, int64_t trial, int attempt, const char *text,
    struct err *);

/* Row of t_suggestion: what the strategy had to do with a trial. */
struct store_suggestion {
	int64_t trial;
	const char *strategy;
	const char *made_by; /* kernels that worked */
	double seconds; /* that it took, redraws included */
	int64_t redraws; /* answers before it that were known */
	int64_t same_as; /* trial of the same setting; 0 = none */
	int64_t from_trial; /* whose checkpoint it continues; 0 = none */
};
int store_suggestion_add(
    struct store *, const struct store_suggestion *, struct err *);

int store_median_put(
    struct store *, int64_t step, int64_t trials, double median, struct err *);

/* Settings waiting to be tried, in order: JSON of a partial setting. */
int store_queue_add(
    struct store *, const char *params, const char *source, struct err *);
/* The oldest one not taken, or 1 when there is none.  *params: caller frees. */
int store_queue_next(struct store *, int64_t *id, char **params,
    const char **source, struct err *);
/* How many are not taken. */
int store_queue_length(struct store *, int64_t *n, struct err *);
/* Mark it taken by this trial; 0: dropped. */
int store_queue_take(struct store *, int64_t id, int64_t trial, struct err *);

/* Row of t_warm: a finished trial of another study, for strategies. */
struct store_warm {
	const char *source; /* its database, as in study.json */
	int64_t trial; /* its number there */
	enum trial_state state; /* completed, stopped or failed */
	double objective; /* NaN = none */
	int64_t last_step; /* -1 = none */
	double last_value; /* reported there */
	const char *params; /* JSON, in this study's space */
	/* JSON: last reports of all objectives and constraints; NULL where the
	 * objective alone counts. */
	const char *metrics;
};
int store_warm_add(struct store *, const struct store_warm *, struct err *);
int store_warm_count(struct store *, int64_t *n, struct err *);
/* The oldest first. */
int store_walk_warm(struct store *, int (*)(void *, const struct store_warm *),
    void *, struct err *);

/* Reading back at a start.  Callbacks return 0 to go on, else the walk ends
 * with that value.  Arguments live until the callback returns. */
int store_walk_trials(struct store *,
    int (*)(void *, const struct store_trial *), void *, struct err *);
/* Attempts that have not ended. */
int store_walk_open_attempts(struct store *,
    int (*)(void *, const struct store_attempt *), void *, struct err *);
/* Newest report of every step of the objective, by trial and step. */
int store_walk_curves(struct store *,
    int (*)(void *, int64_t trial, int64_t step, double value), void *,
    struct err *);
/*
 * All reports of the objective and all ends of trials in the order they were
 * recorded: what replay feeds to a rule.  state is TRIAL_RUNNING for a report.
 */
int store_walk_records(struct store *,
    int (*)(
	void *, int64_t trial, int64_t step, double value, enum trial_state),
    void *, struct err *);
/*
 * Which trials a rule has stopped, and at which step, in no order; late: it
 * came too late to stop it.
 */
int store_walk_stopped(struct store *,
    int (*)(void *, int64_t trial, int64_t step, bool late), void *,
    struct err *);
/* Every report of one metric in one attempt, by step. */
int
store_walk_reports(struct store *, int64_t trial, int attempt, const char *name,
    int (*)(void *, int64_t time_us, double value), void *, struct err *);
/* Greatest step each metric of an attempt has reported, and how often it has. */
int store_walk_last_steps(struct store *, int64_t trial, int attempt,
    int (*)(void *, const char *name, int64_t step, int64_t reports), void *,
    struct err *);

/*
 * Rows for people and programs: a SELECT over the views.  params are bound
 * as text, NULL ends the list.  SQL comes from our commands, never from users.
 */
struct store_rows;
int store_rows_open(struct store_rows **, struct store *, const char *sql,
    const char *const *params, struct err *);
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

/* The linked SQLite, "3.40.1"; for doctor. */
const char *store_sqlite_version(void);

#endif /* HPOTUNE_STORE_H */
