/*
 * A launcher runs attempts of trials somewhere: processes here, training jobs
 * there, or nowhere at all (pretend).  It never sees the store: what it must
 * remember over a restart of the server it is told again by look.
 *
 * Everything it hears is handed over by collect, in the turn of the loop that
 * will record it.  Between turns a launcher only notes that there is something
 * (and calls loop_wake); so a store that is locked for an hour costs nothing
 * but time: output waits in files, exits wait in records.
 */

#ifndef HPOTUNE_LAUNCHER_H
#define HPOTUNE_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/trial.h"

struct buf;
struct err;
struct json;
struct loop;
struct option;
struct option_value;
struct study_trial;

enum { LAUNCH_WHY = 320 }; /* bytes of the reason of an end */

/* How far the output of an attempt has been read and recorded. */
struct launch_cursor {
	int64_t log; /* bytes of the log */
	int64_t metrics; /* bytes of the metrics file */
	bool log_skip; /* inside a line too long to keep */
	bool metrics_skip;
};

/* What the earlier attempts of a trial came to. */
struct launch_past {
	/* Ended for want of a machine: spot, capacity; not quota, which is the
	 * launcher's own to mind. */
	int capacity;
};

/* What an attempt has used of its GPUs so far; NAN = not known. */
struct launch_usage {
	int gpus; /* 0 = it has none */
	double energy; /* joules */
	double memory; /* bytes at most, of all its GPUs together */
	double busy; /* GPU seconds in use */
	double seen; /* GPU seconds that busy was counted over */
};

/* One attempt.  Everything is borrowed until the call returns. */
struct launch_spec {
	int64_t trial;
	int attempt;
	int slot; /* 0 … slots - 1 of this launcher */
	const char *study; /* its name */
	const char *uuid; /* 36 characters, never used twice */
	const char *trial_dir; /* absolute: NAME.d/trials/NUMBER */
	char *const *argv; /* ends with NULL */
	char *const *env; /* HPOTUNE_ and SM_ names: "NAME=VALUE", NULL */
	/* trial.env and trial.workdir of this trial; NULL = as settings say. */
	char *const *own_env;
	const char *workdir;
	const char *params_json;
	const struct study_trial *settings; /* workdir, env, limits, … */
	int64_t from; /* the trial whose checkpoint it begins with; 0 = none */
	const char *from_dir; /* that one's trial_dir; NULL = none */
	struct launch_past past;
	struct launch_cursor cursor; /* look only */
	struct launch_usage usage; /* look only: what is recorded of it */
	bool up; /* look only: LAUNCH_UP of it is recorded */
	bool stopping; /* look only: somebody wants its end */
};

/* A GPU of this machine, for the view gpus.  Numbers: -1 = not known. */
struct launch_gpu {
	int index;
	const char *uuid, *name;
	const char *state, *why; /* one word; one clause or "" */
	const char *owner; /* of somebody else's, or "" */
	int trials; /* of ours on it */
	int64_t memory, used; /* bytes */
	int temperature, utilization;
	double power; /* watts */
};

/*
 * The longest that attempts have been paid for before they trained, and after:
 * seconds, 0 = none has shown it.
 */
struct launch_times {
	double before_s, after_s;
};

/* What an attempt may come to, as far as can be seen now: dollars. */
struct launch_bill {
	double most; /* when nobody ends it */
	double least; /* when it is told to end now */
	bool trains; /* least is less because an end is its to choose */
	int64_t
	    recheck_ms; /* it changes by itself: ask again; 0 = it does not */
};

struct launch_exit {
	bool ran; /* false: the command could not be executed */
	/*
	 * … for want of something that may be there later, whatever the
	 * setting: nothing is begun before it is.
	 */
	bool not_yet;
	/*
	 * … and nothing of it exists or ever will, nowhere: as if it had not
	 * been tried.  Its number may be given again, with another uuid.
	 */
	bool unmade;
	int exit_code; /* -1 when ended by a signal */
	int signal; /* 0 when it exited */
	bool timeout; /* max_run was reached */
	bool oom; /* the kernel said so */
	bool stopped; /* it was told to end, by us or by somebody else */
	int64_t started_us; /* wall time, microseconds since 1970 */
	int64_t ended_us;
	int64_t max_rss; /* bytes */
	int64_t cpu_us;
	/* What only the launcher can know; END_NONE = the fields above say. */
	enum end_class end;
	bool billed; /* billable_s is known */
	bool priced; /* cost is known */
	double billable_s; /* seconds that are paid for, of one machine */
	double trained_s; /* … that would be at the full price; 0 = all of them
			   * from start to end */
	double cost; /* dollars */
	/* Of billable_s' time that before it trained, and after; 0 = not known. */
	double before_s, after_s;
	char why[LAUNCH_WHY]; /* one clause, "" when the code says all */
};

enum launch_level { LAUNCH_INFO, LAUNCH_WARNING, LAUNCH_ERROR };

enum launch_event_kind {
	LAUNCH_PLACE, /* where it is to be, which may be known before it is up */
	LAUNCH_ACCEPTED, /* what starts it has taken it; LAUNCH_UP may be late */
	LAUNCH_UP, /* the trial's process is there */
	LAUNCH_REPORT, /* one value of one metric */
	LAUNCH_READ, /* output was read up to cursor: commit it with the reports */
	LAUNCH_NOTE, /* something for view events */
	LAUNCH_ARTIFACTS, /* where its model and output are, before its end */
	LAUNCH_USAGE, /* of an attempt, since its start: it replaces the last */
	LAUNCH_GPU, /* what is known of one GPU now */
	LAUNCH_SLOTS, /* slots() answers another number now */
	LAUNCH_COST, /* what an attempt that is over has cost after all */
	LAUNCH_EXIT, /* over; all its output was delivered before */
	LAUNCH_LOST /* over, and nobody knows how */
};

struct launch_event {
	enum launch_event_kind kind;
	int64_t trial; /* 0: of the whole study (notes, slots) */
	int attempt;
	union {
		const char *place; /* as in up */
		double cost; /* dollars, in place of those of its exit */
		struct {
			int64_t pid; /* 0 when there is none */
			int64_t started_us;
			const char *place; /* "host", "host gpu 0" */
		} up;
		struct {
			const char *name;
			bool has_step;
			int64_t step;
			double value; /* may be NaN or infinite */
			int64_t time_us; /* when it was said; 0 = now */
			/*
			 * It may have been delivered before: what is recorded
			 * already with this time and value is passed over.
			 */
			bool again;
		} report;
		struct launch_cursor cursor;
		struct {
			enum launch_level level;
			const char *text;
		} note;
		struct {
			const char *model, *output; /* URIs */
		} left;
		struct launch_usage usage;
		struct launch_gpu gpu;
		struct launch_exit exit;
		struct {
			const char *why;
		} lost;
	} u;
};

typedef void launch_cb(void *arg, const struct launch_event *);

/* trial.env and trial.workdir of an attempt. */
char *const *launcher_spec_env(const struct launch_spec *);
const char *launcher_spec_workdir(const struct launch_spec *);

/* What the launcher finds of an attempt that the store says was begun. */
enum launch_adoption {
	ADOPT_NEVER, /* it never started and, without start, never will */
	ADOPT_ALIVE, /* starting, running or ending: events will follow */
	ADOPT_ENDED, /* over: its last reports and its end will follow */
	ADOPT_LOST, /* over, nothing remains of it; LAUNCH_LOST follows after its last reports */
	ADOPT_UNKNOWN /* cannot tell: no action, ask again */
};

struct launch_env {
	struct loop *loop;
	const char *study;
	const char *study_id; /* 6 hex digits: no other study has both */
	const char *metric; /* the objective: pretend reports it */
	const char *const *also; /* other metrics that count: it does, too */
	size_t n_also;
	bool maximize;
	const char *state_dir; /* NAME.d, absolute */
	const struct study_trial *settings;
	const struct option_value *options; /* of the backend block */
	int64_t parallel; /* limits.parallel, 0 = the launcher decides */
	bool hold; /* a command without a server: nothing new is begun */
	int64_t patience_ms; /* of doctor, for each of its questions */
	struct launch_times times; /* of attempts that earlier servers had */
	/* Out of service when the last server ended: uuid and why. */
	const struct launch_gpu *out;
	size_t n_out;
	launch_cb *event; /* called from inside collect only */
	void *arg;
};

/* Folders as the trial sees them. */
struct launch_dirs {
	const char *checkpoint, *output, *model, *params, *metrics;
};

/* Something that runs elsewhere under a name of ours. */
struct launch_stray {
	const char *name; /* of the job */
	const char *study, *study_id, *uuid; /* of its tags; NULL = missing */
	const char *state, *place;
	int64_t started_us; /* 0 = it has not */
};
/* True: it is to be ended.  Asked once for each. */
typedef bool launch_stray_cb(void *arg, const struct launch_stray *);
/* One line of doctor: what, how it stands, how to mend it (or NULL). */
typedef void launch_doctor_cb(void *arg, enum launch_level, const char *what,
    const char *text, const char *mend);

/* A tuning job elsewhere, which is finished or runs. */
struct launch_tuning {
	const char *name; /* or ARN */
	const char *region, *profile; /* or NULL: as the environment says */
	double pace; /* of requests, as in the backend block; 0 = 1 */
	bool jobs; /* all its training jobs, too */
};

struct launcher {
	const char *name; /* as written in study.json */
	const char *about;
	const struct option *options;
	/* Where a trial finds its folders; NULL = below its trial_dir. */
	const struct launch_dirs *dirs;

	/*
	 * Check what the options alone do not show (patterns that do not
	 * compile, say) before anything is created; NULL = nothing to check.
	 * An ERR_USAGE says itself where it stands (json_err).
	 */
	int (*check)(const struct study_trial *, const struct option_value *,
	    struct err *);
	/*
	 * How many attempts the GPUs of this machine hold at once, and what
	 * there is, in words; 0: no GPUs are wanted; -1: not what is wanted.
	 * NULL = it has none here.
	 */
	int64_t (*gpus)(const struct study_trial *, const struct option_value *,
	    struct buf *, struct err *);
	/*
	 * Processes that share trial.batch: 0 = the study does not say how
	 * many.  NULL = one.
	 */
	int (*replicas)(
	    const struct study_trial *, const struct option_value *);
	/*
	 * What starts the processes of a trial, one clause.  NULL = there is
	 * nothing to say.
	 */
	void (*starts)(const struct study_trial *, struct buf *text);
	/*
	 * What trials cannot do under these options, one clause.  NULL = there
	 * is nothing to say.
	 */
	void (*misses)(const struct study_trial *, const struct option_value *,
	    struct buf *text);
	/*
	 * Whether an attempt would find what it is started with; an error
	 * (ERR_FILE) names the key of study.json.  NULL = it cannot be told
	 * from here.
	 */
	int (*finds)(const struct study_trial *, struct err *);
	/*
	 * Dollars that one attempt costs at the very most; NaN = a price is
	 * missing; NULL = it costs nothing.
	 */
	double (*worst_cost)(
	    const struct study_trial *, const struct option_value *);
	/*
	 * The same of an attempt that is open, from what is seen of it; of
	 * trial 0: of the next one.  False: nothing new is known.  NULL = the
	 * above says all.
	 */
	bool (*bill)(
	    void *ctx, int64_t trial, int attempt, struct launch_bill *);
	/*
	 * Milliseconds that one attempt takes at the very most, with the
	 * waiting before it and its end; 0 = no bound; NULL = trial.max_run
	 * and the grace.
	 */
	int64_t (*worst_ms)(
	    const struct study_trial *, const struct option_value *);
	bool continues; /* start can begin with another trial's checkpoint */
	bool packs; /* trial.pack: one program may own several trials */
	/*
	 * A stop that was acknowledged goes on without us, and takes minutes:
	 * who has to leave at once leaves when no stop is pending, and the
	 * next server finds the attempts again.
	 */
	bool slow_end;
	/* Find what runs under names of ours; NULL = it leaves nothing behind. */
	int (*strays)(const struct launch_env *, launch_stray_cb *, void *arg,
	    struct err *);
	/*
	 * What LAUNCH_ARTIFACTS told of as a URI, into the folder dir, which is new
	 * and is there only when all of it is; NULL = it tells no URIs.
	 */
	int (*fetch)(const struct launch_env *, const char *uri,
	    const char *dir, struct err *);
	/*
	 * What AWS tells of a tuning job, as JSON: its description, or with
	 * jobs an object of TuningJob and TrainingJobSummaries, the oldest
	 * first.  Runs the loop, which nobody else uses; an error says the
	 * name.  NULL = there are none.
	 */
	int (*tuning)(struct loop *, const struct launch_tuning *, struct buf *,
	    struct err *);
	/* What must be there for it to work; NULL = nothing. */
	int (*doctor)(const struct launch_env *, launch_doctor_cb *, void *arg,
	    struct err *);
	int (*open)(void **ctx, const struct launch_env *, struct err *);
	/* Let go of everything; what runs goes on running. */
	void (*close)(void *ctx);
	/* How many attempts it can hold at once. */
	int (*slots)(void *ctx);
	/* "cpu", "gpu 0": where slot i is; buf of n bytes. */
	void (*slot_name)(void *ctx, int slot, char *buf, size_t n);
	/*
	 * Whether an attempt could begin in this slot now, beyond that it is
	 * free (a GPU may be out of service): else why, one clause.  Whoever
	 * says no calls loop_wake when it may be yes.  NULL = always.
	 */
	bool (*ready)(void *ctx, int slot, char *why, size_t n);
	/*
	 * Keep what an attempt needs that begins in this slot after the next
	 * commit; false: it is not there.  What no start has asked for at the
	 * next collect is free again.  NULL = there is nothing to keep.
	 */
	bool (*take)(
	    void *ctx, int64_t trial, int attempt, int slot, const char *uuid);
	/*
	 * Begin an attempt whose row is committed.  May be called again for an
	 * attempt that look answered ADOPT_NEVER for: it never runs twice.
	 * -1: it did not start and will not; ERR_BUSY and ERR_FULL: not now,
	 * try again later.
	 */
	int (*start)(void *ctx, const struct launch_spec *, struct err *);
	/*
	 * Ask a running attempt to end: SIGTERM, the grace, SIGKILL; with now,
	 * SIGKILL at once.  Harmless when repeated.
	 */
	void (*stop)(void *ctx, int64_t trial, int attempt, bool now);
	/* Stops asked for that nobody has acknowledged yet; NULL = never any. */
	int (*stops_pending)(void *ctx);
	/* After a restart: find it again, and adopt it when it is there. */
	enum launch_adoption (*adopt)(
	    void *ctx, const struct launch_spec *, struct err *);
	/*
	 * Make sure that an attempt that look answered ADOPT_NEVER for can never
	 * start any more (a late supervisor may still be on its way).
	 */
	int (*abandon)(void *ctx, const struct launch_spec *, struct err *);
	/* Deliver everything heard since the last time. */
	void (*collect)(void *ctx);
};

/* All of them, in the order of the manual.  Ends with NULL. */
extern const struct launcher *const launchers[];
const struct launcher *launcher_find(const char *name);

#endif /* HPOTUNE_LAUNCHER_H */
