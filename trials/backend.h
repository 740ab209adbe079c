/*
 * The interface of a backend, which runs attempts of trials: as processes of
 * this machine, as jobs of Slurm, as SageMaker training jobs, or simulated
 * (pretend).  A backend
 * has no access to the store; after a restart of the server, adopt() passes in
 * what was recorded of each open attempt.
 *
 * Events are delivered only inside collect(), in the iteration of the event
 * loop that records them.  Between two calls a backend only marks that
 * something is pending and calls loop_wake(): while the store is locked, output
 * stays in files and exits in records, and nothing is lost.
 *
 * Functions return 0, or -1 with the error set, unless stated otherwise.  A
 * NULL member means that the backend lacks the feature; the comment gives the
 * default.
 */

#ifndef HPOTUNE_BACKEND_H
#define HPOTUNE_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/gpu.h"
#include "src/model/trial.h"

struct buf;
struct err;
struct loop;
struct metric_line;
struct option;
struct option_value;
struct study_trial;

enum {
	LAUNCH_WHY = 320, /* size of the reason of an end, in bytes */
	LAUNCH_SAID = 200 /* … of the last line of its log */
};

/* How far the output of an attempt has been read and recorded. */
struct launch_cursor {
	int64_t log; /* offset in the log, bytes */
	int64_t metrics; /* offset in the metrics file, bytes */
	bool log_skip; /* inside a line that is too long to keep */
	bool metrics_skip;
};

/* Counts over the earlier attempts of a trial. */
struct launch_past {
	/*
	 * Attempts that ended because no machine was available: spot reclaim,
	 * capacity.  Quota errors are not counted; the backend handles them.
	 */
	int capacity;
};

/* One attempt.  Everything is borrowed until the call returns. */
struct launch_spec {
	int64_t trial;
	int attempt;
	int slot; /* 0 to slots() - 1 */
	const char *study; /* its name */
	const char *uuid; /* 36 characters, never reused */
	const char *trial_dir; /* absolute: NAME.d/trials/NUMBER */
	char *const *argv; /* ends with NULL */
	char *const *env; /* HPOTUNE_ and SM_ names: "NAME=VALUE", NULL */
	/*
	 * trial.env and trial.workdir, expanded for this trial; NULL: use those
	 * of settings.
	 */
	char *const *own_env;
	const char *workdir;
	/*
	 * Files to be written into the folder of the attempt: names and texts
	 * in turn, then NULL; NULL: none.
	 */
	char *const *params_files;
	/* A path for each of settings->files, absolute; NULL: none. */
	char *const *files;
	const char *params_json;
	const struct study_trial *settings; /* workdir, env, limits, … */
	/*
	 * Hash of the commit of which the attempt gets a worktree, of the
	 * repository of settings->source; NULL: none.  A ref below refs
	 * ("refs/hpotune/ID") keeps it, unless that is NULL.
	 */
	const char *commit, *refs;
	/* trial whose checkpoint is the starting point; 0 = none */
	int64_t from;
	const char *from_dir; /* trial_dir of that trial; NULL = none */
	struct launch_past past;
	struct launch_cursor cursor; /* adopt only */
	struct gpu_usage usage; /* adopt only: the recorded use */
	bool up; /* adopt only: LAUNCH_UP is recorded */
	bool stopping; /* adopt only: a stop was requested */
	/* bytes that it is likely to need on its GPU; 0 = not known */
	int64_t gpu_memory;
};

/*
 * Longest time that an attempt was billed before and after its training, in
 * seconds; 0 = not measured yet.
 */
struct launch_times {
	double before_s, after_s;
};

/* Forecast of the cost of an attempt, in dollars. */
struct launch_bill {
	double most; /* if it is not stopped */
	double least; /* if it is stopped now */
	bool trains; /* a stop lowers the cost; false: least equals most */
	int64_t
	    /*
	     * milliseconds until the forecast changes by itself; 0 = constant
	     */
	    recheck_ms;
};

struct launch_exit {
	bool ran; /* false: the command could not be executed */
	/*
	 * With ran false: a resource is missing for now, whatever the
	 * parameters are; start no attempt until it is back.
	 */
	bool not_yet;
	/*
	 * With not_yet: the backend accepts no attempt of this study, whatever
	 * the trial, until the study or the backend is changed.
	 */
	bool refused;
	/*
	 * With ran false: nothing was created, here or remotely.  The attempt
	 * does not count; its number may be reused with another uuid.
	 */
	bool unmade;
	int exit_code; /* -1 when ended by a signal */
	int signal; /* 0 when it exited by itself */
	bool timeout; /* max_run was reached */
	bool oom; /* the kernel reported it */
	bool stopped; /* a stop was requested, by us or by another party */
	int64_t started_us; /* wall time, microseconds since 1970 */
	int64_t ended_us;
	int64_t max_rss; /* bytes */
	int64_t cpu_us;
	/*
	 * Set when only the backend can classify the end; END_NONE: derive it
	 * from the fields above.  With ran false, END_ERROR uses up a retry:
	 * another attempt may run elsewhere.
	 */
	enum end_class end;
	bool billed; /* billable_s is valid */
	bool priced; /* cost is valid */
	double billable_s; /* billed seconds of one machine */
	/* billed seconds at the full price; 0 = from start to end */
	double trained_s;
	double cost; /* dollars */
	/* Billed seconds before and after the training; 0 = unknown. */
	double before_s, after_s;
	char why[LAUNCH_WHY]; /* one clause; "" when the exit code is enough */
	/* The last line of its log, harmless for a terminal; "" = unknown. */
	char said[LAUNCH_SAID];
};

enum launch_kept {
	LAUNCH_KEPT_NO,
	LAUNCH_KEPT_YES,
	LAUNCH_KEPT_UNSEEN /* perhaps: the backend cannot look */
};

enum launch_level { LAUNCH_INFO, LAUNCH_WARNING, LAUNCH_ERROR };

enum launch_event_kind {
	LAUNCH_PLACE, /* where it will run; may precede LAUNCH_UP */
	LAUNCH_WAITS, /* why it does not run yet, or stands still */
	LAUNCH_ACCEPTED, /* the backend accepted it; LAUNCH_UP may come later */
	LAUNCH_UP, /* the process of the trial runs */
	LAUNCH_REPORT, /* one value of one metric */
	LAUNCH_READ, /* output was read up to cursor: commit it with the reports */
	LAUNCH_NOTE, /* a line for the view events */
	LAUNCH_ARTIFACTS, /* URIs of its model and output, before its end */
	LAUNCH_USAGE, /* total use since its start; replaces the previous one */
	LAUNCH_GPU, /* current state of one GPU */
	LAUNCH_SLOTS, /* slots() has changed */
	LAUNCH_COST, /* final cost of an attempt that has ended */
	LAUNCH_EXIT, /* ended; all its output was delivered before */
	LAUNCH_LOST /* ended, with unknown result */
};

struct launch_event {
	enum launch_event_kind kind;
	int64_t trial; /* 0: the whole study (notes, slots) */
	int attempt;
	union {
		const char *place; /* as in up */
		const char *waits; /* one clause; NULL = it runs again */
		double cost; /* dollars; replaces the cost of its exit */
		struct {
			int64_t pid; /* 0 when unknown */
			int64_t started_us;
			const char *place; /* "host", "host gpu 0" */
			int cpus; /* cores it was given; 0 = unknown */
		} up;
		struct {
			const char *name;
			bool has_step;
			int64_t step;
			double value; /* may be NaN or infinite */
			int64_t time_us; /* time of the report; 0 = now */
			/*
			 * May be a duplicate: the tuner drops it if a report
			 * with this time and value is recorded; one with a step
			 * and no time, if one with this step and value is.
			 */
			bool again;
			/* As in struct metric_line. */
			bool restarts, replaces;
			int64_t first;
			const char *place_name;
			double place;
		} report;
		struct launch_cursor cursor;
		struct {
			enum launch_level level;
			const char *text;
			/* Of the study, and shown by its status: said once. */
			bool doubt;
		} note;
		struct {
			const char *model, *output; /* URIs */
		} left;
		struct gpu_usage usage;
		struct gpu_status gpu;
		struct launch_exit exit;
		struct {
			const char *why;
		} lost;
	} u;
};

typedef void launch_cb(void *arg, const struct launch_event *);

/* An attempt as a source of events, and who receives them. */
struct launch_source {
	launch_cb *event;
	void *arg;
	int64_t trial; /* 0: the whole study */
	int attempt;
};

/* Deliver an event of this source; sets its trial and attempt. */
static inline void
backend_emit(const struct launch_source *from, struct launch_event *ev)
{
	ev->trial = from->trial;
	ev->attempt = from->attempt;
	from->event(from->arg, ev);
}

/* Fill in report i of a line, without a time. */
void
backend_report_set(struct launch_event *, const struct metric_line *, size_t i);
/* Deliver LAUNCH_NOTE. */
void backend_note(const struct launch_source *, enum launch_level,
    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/*
 * trial.env and trial.workdir of an attempt: its own, or those of its
 * settings.  Borrowed.
 */
char *const *backend_spec_env(const struct launch_spec *);
const char *backend_spec_workdir(const struct launch_spec *);
/* The folder of an attempt; the caller frees it. */
char *backend_spec_attempt_dir(const struct launch_spec *);
/* kept() for checkpoints that lie below state_dir (NAME.d). */
enum launch_kept backend_kept_below(const char *state_dir, int64_t trial);

/* Result of adopt(): the state of an attempt that the store has as begun. */
enum launch_adoption {
	ADOPT_NEVER, /* never started, and will not unless start() is called */
	ADOPT_ALIVE, /* starting, running or ending: events will follow */
	ADOPT_ENDED, /* ended: its last reports and LAUNCH_EXIT follow */
	/* ended without a record; its last reports and LAUNCH_LOST follow */
	ADOPT_LOST,
	ADOPT_UNKNOWN /* unknown: take no action, call again */
};

struct launch_env {
	struct loop *loop;
	const char *study;
	const char *study_id; /* 6 hex digits; unique together with study */
	const char *metric; /* the objective; pretend reports it */
	/* other metrics in use; pretend reports them too */
	const char *const *also;
	size_t n_also;
	bool maximize;
	const char *state_dir; /* NAME.d, absolute */
	const struct study_trial *settings;
	const struct option_value *options; /* options of the backend block */
	int64_t parallel; /* limits.parallel; 0 = chosen by the backend */
	bool hold; /* command without a server: start nothing new */
	int64_t patience_ms; /* doctor: limit of each query, milliseconds */
	struct launch_times times; /* measured by earlier servers */
	/* GPUs out of service when the last server ended: uuid and why. */
	const struct gpu_status *out;
	size_t n_out;
	launch_cb *event; /* called only inside collect */
	void *arg;
};

/* Folders as the trial sees them. */
struct launch_dirs {
	const char *checkpoint, *output, *model, *params, *metrics;
};

/* A remote job whose name and tags are in our format. */
struct launch_stray {
	const char *name; /* name of the job */
	const char *study, *study_id, *uuid; /* from its tags; NULL = missing */
	const char *state, *place;
	int64_t started_us; /* 0 = not started */
};
/* Called once per job; returns true to stop the job. */
typedef bool launch_stray_cb(void *arg, const struct launch_stray *);
/* Receives one line of doctor: subject, finding, remedy (or NULL). */
typedef void launch_doctor_cb(void *arg, enum launch_level, const char *what,
    const char *text, const char *mend);

/* Selects a SageMaker tuning job, running or finished. */
struct launch_tuning {
	const char *name; /* or ARN */
	const char *region, *profile; /* NULL = from the environment */
	double pace; /* request rate as in the backend block; 0 = 1 */
	bool jobs; /* also list all its training jobs */
};

struct backend_type {
	const char *name; /* as written in study.json */
	const char *about;
	const struct option *options;
	/*
	 * Folders inside the environment of the trial; NULL = below trial_dir.
	 */
	const struct launch_dirs *dirs;

	/*
	 * File in the folder of an attempt with what its job wrote before its
	 * log; NULL = there is none.
	 */
	const char *before;
	/*
	 * Check settings and options beyond their types (e.g. patterns that do
	 * not compile) before anything is created; NULL = no checks.  An
	 * ERR_USAGE carries the position in study.json (json_err).
	 */
	int (*check)(const struct study_trial *, const struct option_value *,
	    struct err *);
	/*
	 * Number of attempts that the GPUs of this machine hold at once, with a
	 * description appended to the buffer; 0: the study uses no GPUs; -1:
	 * the requested GPUs are missing (error set).  NULL = no local GPUs.
	 */
	int64_t (*gpus)(const struct study_trial *, const struct option_value *,
	    struct buf *, struct err *);
	/*
	 * Number of processes that share trial.batch; 0 = not fixed by the
	 * study.  NULL = one.
	 */
	int (*replicas)(
	    const struct study_trial *, const struct option_value *);
	/*
	 * Number of attempts that run at once where limits.parallel says none.
	 * NULL = the backend knows it when it is opened.
	 */
	int64_t (*parallel)(const struct study_trial *);
	/*
	 * Append what starts the processes of a trial, as one clause.  NULL =
	 * nothing to report.
	 */
	void (*starts)(const struct study_trial *, struct buf *text);
	/*
	 * Append what each of its jobs asks for, in the words of the backend.
	 * NULL = nothing to report.
	 */
	void (*asks)(const struct study_trial *, const struct option_value *,
	    struct buf *text);
	/*
	 * Append what may go wrong and can be seen from here, one a line; dir
	 * is the folder of study.json.  NULL = nothing is looked at.
	 */
	void (*warns)(const struct study_trial *, const struct option_value *,
	    const char *dir, struct buf *text);
	/*
	 * Append which features trials lack under these options, as one
	 * clause.  NULL = nothing to report.
	 */
	void (*misses)(const struct study_trial *, const struct option_value *,
	    struct buf *text);
	/*
	 * Why trials start cold under these options although the study has
	 * trial.warm, one clause; NULL: they start from a process that has
	 * imported before.  NULL = they always start cold.
	 */
	const char *(*cold)(
	    const struct study_trial *, const struct option_value *);
	/*
	 * The folder, by the options, in which it makes the folders of studies,
	 * with the programs that other machines run; NULL, or one that is NULL:
	 * the folder of the study.
	 */
	const char *(*folder)(const struct option_value *);
	/*
	 * Check that the files an attempt is started with exist; the error
	 * (ERR_FILE) names the key of study.json.  NULL = cannot be checked
	 * from here.
	 */
	int (*finds)(const struct study_trial *, struct err *);
	/*
	 * Whether this machine may use the backend at all, for example has
	 * credentials for it; may ask services, for some seconds.  Asked before
	 * anything is created.  NULL = not asked.
	 */
	int (*admits)(const struct study_trial *, const struct option_value *,
	    struct err *);
	/*
	 * Upper bound of the cost of one attempt, in dollars; NaN = a price is
	 * missing; NULL = free of charge.
	 */
	double (*worst_cost)(
	    const struct study_trial *, const struct option_value *);
	/*
	 * Cost of an attempt that trains for all the time it may, without what
	 * is seldom needed or billed; NaN = a price is missing.  Adds that time
	 * in milliseconds, and on what it trains at which price, one clause.
	 * NULL = nothing is known of it.
	 */
	double (*usual_cost)(const struct study_trial *,
	    const struct option_value *, int64_t *ms, struct buf *on);
	/*
	 * GPUs of one attempt, which LAUNCH_USAGE counts; 0 = none.  NULL = not
	 * known, and not counted.
	 */
	int64_t (*attempt_gpus)(
	    const struct study_trial *, const struct option_value *);
	/*
	 * Forecast for an open attempt from its observed state; for trial 0:
	 * for the next attempt.  False: no forecast beyond worst_cost.  NULL =
	 * use worst_cost.
	 */
	bool (*bill)(
	    void *ctx, int64_t trial, int attempt, struct launch_bill *);
	/*
	 * Upper bound of the duration of one attempt, in milliseconds, with
	 * waiting and shutdown; 0 = none; NULL = trial.max_run plus the grace.
	 */
	int64_t (*worst_ms)(
	    const struct study_trial *, const struct option_value *);
	/* start can begin from the checkpoint of another trial */
	bool continues;
	bool packs; /* supports trial.pack: one program runs several trials */
	bool shims; /* supports trial.shims */
	bool sources; /* supports trial.source: a worktree for each attempt */
	/*
	 * A stop that the backend has accepted completes without the server, in
	 * minutes: a server that must exit at once exits when stops_pending()
	 * is 0, and the next server adopts the attempts.
	 */
	bool slow_end;
	/*
	 * Find remote jobs with names in our format and pass each to the
	 * callback.  NULL = no remote jobs.
	 */
	int (*strays)(const struct launch_env *, launch_stray_cb *, void *arg,
	    struct err *);
	/*
	 * Download the artifacts of a URI from LAUNCH_ARTIFACTS into the new
	 * folder dir, which appears only when it is complete.  NULL = no URIs.
	 */
	int (*fetch)(const struct launch_env *, const char *uri,
	    const char *dir, struct err *);
	/*
	 * Write the description of a tuning job as JSON; with jobs: an object
	 * of TuningJob and TrainingJobSummaries, oldest first.  Runs the loop,
	 * which must be otherwise idle; an error contains the name.  NULL = no
	 * tuning jobs.
	 */
	int (*tuning)(struct loop *, const struct launch_tuning *, struct buf *,
	    struct err *);
	/* Check the requirements of the backend; NULL = none. */
	int (*doctor)(const struct launch_env *, launch_doctor_cb *, void *arg,
	    struct err *);
	int (*open)(void **ctx, const struct launch_env *, struct err *);
	/* Free everything; running attempts continue. */
	void (*close)(void *ctx);
	/* Number of attempts that can run at once. */
	int (*slots)(void *ctx);
	/*
	 * The bytes that the next attempt is likely to need on its GPU, 0 = not
	 * known: ready and take are for that one, until the next call.  False:
	 * it makes no difference, now or later.  NULL = it makes none.
	 */
	bool (*expect)(void *ctx, int64_t bytes);
	/*
	 * When the study is likely to end, in microseconds since 1970, 0 = not
	 * known: what is reserved for it may say so to others.  NULL = nothing
	 * is reserved.
	 */
	void (*ends)(void *ctx, int64_t us);
	/*
	 * Whether an attempt could start in this free slot now (its GPU may be
	 * out of service).  If not, why gets the reason, one clause of at most
	 * n bytes, and the backend calls loop_wake() when that may have
	 * changed.  NULL = always.
	 */
	bool (*ready)(void *ctx, int slot, char *why, size_t n);
	/*
	 * Append the names, separated by blanks, of the places whose faults an
	 * open attempt may meet and others in turn: UUIDs of GPUs, nodes;
	 * nothing: none is used again.  Also from inside its LAUNCH_EXIT.
	 * False: they are the slots; with NULL for names: only ask that.
	 * NULL = always the slots.
	 */
	bool (*places)(
	    void *ctx, int64_t trial, int attempt, struct buf *names);
	/*
	 * Start no attempt at this place, or use it again.  NULL = it cannot be
	 * chosen.
	 */
	void (*avoid)(void *ctx, const char *place, bool avoid);
	/* A place to be avoided is tested, and used when it is in order. */
	bool tests_places;
	/*
	 * Reserve the resources (GPUs) for an attempt that starts in this slot
	 * after the next commit; false: not available.  A reservation that
	 * start() has not used by the next collect() is released.  NULL =
	 * nothing to reserve.
	 */
	bool (*take)(
	    void *ctx, int64_t trial, int attempt, int slot, const char *uuid);
	/*
	 * Start an attempt whose row is committed.  May be called again for an
	 * attempt for which adopt() returned ADOPT_NEVER; it never runs twice.
	 * -1: it did not start and will not; with ERR_BUSY or ERR_FULL: retry
	 * later.
	 */
	int (*start)(void *ctx, const struct launch_spec *, struct err *);
	/*
	 * Request the end of a running attempt: SIGTERM, the grace, SIGKILL;
	 * with now, SIGKILL at once.  Idempotent.
	 */
	void (*stop)(void *ctx, int64_t trial, int attempt, bool now);
	/*
	 * For how long a running attempt has written no output and used next to
	 * no processor time, in milliseconds; -1: not known.  The first call
	 * says 0.  NULL = its processes cannot be seen.
	 */
	int64_t (*still_ms)(void *ctx, int64_t trial, int attempt);
	/*
	 * Number of requested stops that the backend has not accepted yet; NULL
	 * = always 0.
	 */
	int (*stops_pending)(void *ctx);
	/* After a restart: find an attempt and, if it exists, follow it. */
	enum launch_adoption (*adopt)(
	    void *ctx, const struct launch_spec *, struct err *);
	/*
	 * Make sure that an attempt for which adopt() returned ADOPT_NEVER can
	 * never start (its supervisor may be delayed).
	 */
	int (*abandon)(void *ctx, const struct launch_spec *, struct err *);
	/*
	 * Whether the checkpoint of a trial, none of whose attempts runs, is
	 * there for its next attempt.  NULL = it cannot be seen from here.
	 */
	enum launch_kept (*kept)(void *ctx, int64_t trial);
	/*
	 * Whether kept() can answer yes, by the options of the study; NULL = it
	 * looks at each trial.
	 */
	bool (*keeps)(const struct option_value *);
	/*
	 * Append what the output in the folder of an ended attempt shows of a
	 * metric that it did not report, one clause; false: nothing is known.
	 * *file becomes true when a file beside the output was read.  NULL = the
	 * output is not there.
	 */
	bool (*unread)(void *ctx, const char *folder, const char *metric,
	    bool *file, struct buf *why);
	/* Deliver all events since the previous call. */
	void (*collect)(void *ctx);
};

/* All backends in the order of the manual, ending with NULL. */
extern const struct backend_type *const backend_types[];
const struct backend_type *backend_type_find(const char *name);

#endif /* HPOTUNE_BACKEND_H */
