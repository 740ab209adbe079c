/* The launcher for Slurm: declarations shared by its files. */

#ifndef HPOTUNE_SLURM_INTERNAL_H
#define HPOTUNE_SLURM_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/mem.h"
#include "src/model/plugin-options.h"
#include "trials/launcher.h"
#include "trials/metric-line/metric-line.h"
#include "trials/process/attempt-record.h"
#include "trials/slurm/slurm-row.h"

struct capture;
struct err;
struct loop_timer;
struct metric_files;

enum {
	SLURM_SLOTS_DEFAULT = 16,
	SLURM_SETTLE_MS = 10000, /* for a file to be seen on another machine */
	SLURM_TOOL_MS = 60000, /* limit of one sbatch, squeue or scancel */
	SLURM_NODE = 128,
	SLURM_CLOCKS_US = 10000000, /* by which clocks of machines differ */
	SLURM_SIGNAL_EARLY_S = 60, /* Slurm's signal may come so early */
	SLURM_WHO = 96 /* bytes of the name of a user */
};

/* The options of the backend block, read. */
struct slurm_settings {
	char *partition, *account, *qos, *constraint, *gres; /* or NULL */
	char *setup; /* lines of the job before the supervisor, or NULL */
	char *dir; /* where the folders of studies are, or NULL = NAME.d */
	struct strv extra; /* options of sbatch, as written */
	int64_t time_s; /* of one job; 0 = that of the partition */
	int64_t signal_s; /* before its end: SIGTERM to the supervisor */
	int64_t nodes; /* of one trial */
	int64_t n_gpus; /* of one trial on each node */
	int64_t cpus; /* of one task; 0 = that of the cluster */
	int64_t memory; /* bytes, of a node; 0 = that of the cluster */
	int64_t tasks; /* of a node, for its ranks; 0 = unknown */
	int64_t per_job; /* trials side by side in one job; 1 = a job each */
	int64_t pack; /* of one program, the job's; 0 = a program each */
	bool exclude; /* nodes that failed under a trial */
};

enum slurm_phase {
	SLURM_DUE, /* to be submitted */
	SLURM_SENDING, /* its sbatch runs */
	SLURM_LOOK, /* may have been submitted: its name is looked for */
	SLURM_SENT, /* accepted, or seen in the queue */
	SLURM_OVER /* free it after this collect */
};

enum slurm_stop { SLURM_STOP_NONE, SLURM_STOP_GRACE, SLURM_STOP_NOW };

/*
 * An attempt of a trial; or, where jobs run several trials, such a job, which is
 * submitted and looked for in the same way.  An attempt in one has no job of
 * its own: its row is that of the job.
 */
struct slurm_attempt {
	struct slurm *slurm;
	bool is_job; /* of several trials: source.trial 0, attempt its number */
	bool is_guest; /* an attempt that runs in such a job */
	struct slurm_attempt *host; /* of a guest; NULL = none yet */
	int guests; /* of a job: those that have not ended */
	bool accepted; /* of a guest: it was reported to the tuner */
	int64_t unplaced_ms; /* of a guest that has left its place; 0 = not */
	int64_t empty_ms; /* of a job: since when it has no guests */
	char closing[16]; /* of a job: what hpotune-node says; "" = nothing */
	struct launch_source source;
	char uuid[RECORD_UUID + 1];
	char name[SLURM_NAME];
	char *dir, *trial_dir;
	struct launch_cursor cursor;
	struct metric_files *files; /* NULL: none are read */
	int64_t epoch; /* state of metric_line between the lines of its log */
	int64_t grace_ms;

	enum slurm_phase phase;
	int64_t since_ms; /* of the phase */
	int64_t id; /* of its job; 0 = unknown */
	struct slurm_row row; /* the newest; id 0 = none */
	int missing; /* queries in a row that did not find it */
	int64_t final_ms; /* since when its row is final; -1 = it is not */
	int64_t word_ms; /* when the last query with an answer began */

	bool claimed;
	struct claim claim;
	bool has_exit;
	struct attempt_exit exit;
	int64_t exit_ms; /* when it was seen */
	char node[SLURM_NODE]; /* of the claim */
	int cpus; /* of its node, for this attempt; 0 = unknown */
	char beat[24];
	int64_t beat_ms; /* when it changed */

	bool up;
	bool stopping; /* asked for by the tuner */
	enum slurm_stop stop, stop_filed, stop_sent;
	int64_t stop_ms;
	char place[200]; /* as it was told */
	bool noted_forgotten, noted_unknown, noted_long, noted_short;
	const char *noted_why[4];
	bool who_known;
	char who[SLURM_WHO]; /* has cancelled its job */
};

/* A job whose attempt is over: cancel it when it is seen. */
struct slurm_stray {
	char name[SLURM_NAME];
	int64_t until_ms;
};

struct slurm {
	struct loop *loop;
	struct launch_source source; /* of events of the whole study */
	char *study, *study_id, *state_dir;
	char *root; /* with its trials and its bin, shared by the nodes */
	char *prefix; /* of the names of its jobs */
	char *shim; /* the copy in the shared folder */
	char *ranks; /* the same of hpotune-ranks; NULL = not needed */
	char *node; /* the same of hpotune-node; NULL = not needed */
	char *pack; /* the same of hpotune-pack; NULL = not needed */
	int last_job; /* number of the last job of several trials */
	struct slurm_settings set;
	const struct study_trial *trial;
	struct metric_patterns *rules;
	bool hold;

	struct slurm_attempt **attempts;
	size_t n, cap;
	struct slurm_stray *strays;
	size_t n_strays, cap_strays;

	int parallel, slots;
	struct loop_timer *slots_timer;
	bool slots_due; /* one more is tried */

	struct loop_timer *look_timer; /* of the files of all attempts */
	bool look_due;

	struct { /* sbatch, one at a time */
		struct capture *child;
		int64_t trial;
		int attempt;
		struct loop_timer *timer; /* after a failure */
		int failures;
		bool noted;
		int status;
		char *out, *why; /* the answer, not yet read; or NULL */
	} submit;
	struct { /* squeue */
		struct capture *child;
		struct loop_timer *timer;
		int64_t begun_ms; /* of the one that runs */
		int64_t ended_ms; /* of the last one */
		int64_t wait_ms; /* until the next one */
		int64_t due_ms; /* when the next one begins */
		bool asked; /* something waits for its answer */
		int failures;
		bool noted;
		char *text; /* the newest answer, not yet read; or NULL */
	} queue;
	struct { /* scontrol show config: when the controller was started */
		struct capture *child;
		int64_t begun_ms; /* of the last query */
		int64_t known_ms; /* when the query with the answer began */
		int64_t at_s; /* of slurm_row_time; 0 = unknown */
	} boot;
	struct { /* sacct, one at a time */
		struct capture *child;
		int64_t trial;
		int attempt;
		int64_t asked_ms; /* the last time */
		int64_t
		    none_ms; /* when it last gave no answer; 0 = it gives one */
	} who;
	struct { /* scancel, one at a time */
		struct capture *child;
		struct strv soft, hard; /* command lines that are due */
	} cancel;
	struct buf notes; /* of callbacks, one a line, for the next collect */

	struct metric_line report;
	char chunk[METRIC_LINE_MAX + 1];
};

extern const struct launcher launcher_slurm;

/* slurm-options.c: the block of study.json. */
extern const struct option slurm_options[];
int slurm_options_read(struct slurm_settings *, const struct study_trial *,
    const struct option_value *, struct err *);
void slurm_options_free(struct slurm_settings *);
int slurm_options_check(
    const struct study_trial *, const struct option_value *, struct err *);
/*
 * Ask Slurm for the limit of jobs without a time, and fit signal_s to it; at
 * most 8 s.  Where Slurm does not answer, signal_s stays as it is.
 */
void slurm_options_fit(struct slurm_settings *);
/* The words of sbatch that depend on the study alone. */
void slurm_options_words(const struct slurm_settings *, struct strv *);

/* slurm.c */
struct slurm_attempt *slurm_find(struct slurm *, int64_t trial, int attempt);
void slurm_phase(struct slurm_attempt *, enum slurm_phase);
/* Look at the files of all attempts at the next collect. */
void slurm_look_soon(struct slurm *);
/* One that has ended, or was given up: its job is cancelled when it is seen. */
void slurm_stray_add(struct slurm *, const char *name);
/*
 * Not sent: the attempt ends as if it had not been placed.  refused: no other
 * one would be accepted.
 */
void slurm_unsent(struct slurm_attempt *, bool refused, const char *why);
/* Append it to those that are followed. */
void slurm_follow(struct slurm *, struct slurm_attempt *);

/* slurm-folder.c: what is on the shared file system. */
/*
 * Make the root of the study: NAME.d, or, with backend.dir, a folder there, to
 * which NAME.d/trials is then a link; copy hpotune-shim to it, and the other
 * programs of a job that are needed.
 */
int slurm_folder_open(struct slurm *, const struct launch_env *, struct err *);
/* The folders, the parameters, the environment and the script of the job. */
int slurm_folder_make(struct slurm *, const struct launch_spec *, struct err *);
/*
 * Whether slurm_folder_make was completed for this attempt; *guest: whether the
 * attempt of this folder was then to run in a job of several trials.
 */
bool slurm_folder_made(const char *dir, const char *uuid, bool *guest);
int slurm_folder_mkdir(const char *path, struct err *);
int slurm_folder_sync(const char *dir, struct err *);
/*
 * Make sure that no supervisor starts the attempt any more: 0; 1: one has
 * started it; -1 with the error set.
 */
int slurm_folder_abandon(const char *dir, const char *uuid, struct err *);
/* Replace a small file: 0 or -1 with the error set. */
int slurm_folder_write(
    const char *dir, const char *name, const char *text, struct err *);
/*
 * Make an empty file that another machine fills, or for which it looks: one that
 * was once not there may seem so for a minute, while the content of one that is
 * there is asked for at each open.
 */
int slurm_folder_reserve(const char *dir, const char *name, struct err *);
/* Ask the supervisor there to end: "stop\n" or "kill\n", written in place. */
int slurm_folder_wish(const char *dir, const char *text, struct err *);
/* The first n - 1 bytes of a small file; false: it cannot be read. */
bool slurm_folder_read(const char *dir, const char *name, char *text, size_t n);
/* The value of a word NAME=VALUE in a line; "" when there is none. */
void
slurm_folder_word(const char *line, const char *name, char *value, size_t n);
/* The nodes that its trial shall not use, separated by commas; "" = none. */
void slurm_folder_excluded(const struct slurm_attempt *, char *, size_t);
void slurm_folder_exclude(struct slurm_attempt *, const char *node);
#define SLURM_EXCLUDE_FILE "slurm-exclude"

/* slurm-script.c: what a node executes. */
/* The environment and the scripts of an attempt, in its folder. */
int slurm_script_write(const struct slurm *, const struct launch_spec *,
    const char *dir, struct err *);
/* HPOTUNE_DEADLINE, for the script of a job. */
void slurm_script_put_deadline(struct buf *, const struct slurm_settings *);
/* The text as one word of a shell. */
void slurm_script_put_quoted(struct buf *, const char *);

/*
 * slurm-allocation.c: jobs of several trials (trials_per_job).  Their files are
 * described in trials/node/node.h.
 */
/* Follow those that an earlier server has left. */
int slurm_allocation_load(struct slurm *, struct err *);
/* Inside collect: assign attempts to jobs, and make the jobs that lack. */
void slurm_allocation_place(struct slurm *);
/* Compare such a job with its files and its row. */
void slurm_allocation_look(struct slurm_attempt *job);
/* Not sent, and given up: what would have run in it ends unsent, too. */
void
slurm_allocation_unsent(struct slurm_attempt *job, bool refused, const char *);
/* A guest that an earlier server has assigned: find its job again. */
void slurm_allocation_adopt(struct slurm_attempt *guest);
/*
 * A guest that was not started: true: it cannot start any more, because its job
 * has ended or does not start it.
 */
bool slurm_allocation_lost(struct slurm_attempt *guest);
/* It is over, or given up: out of the folder of its job. */
void slurm_allocation_leave(struct slurm_attempt *guest);
/* When the server ends: jobs without guests are to end, too. */
void slurm_allocation_close(struct slurm *);

/* slurm-program.c: Slurm's programs, run to their end. */
enum slurm_refusal {
	SLURM_REFUSAL_UNCLEAR, /* the job may be there */
	SLURM_REFUSAL_DOWN, /* no answer: not sent */
	SLURM_REFUSAL_QUOTA, /* too many jobs of this user */
	SLURM_REFUSAL_NODES, /* no node is like this */
	SLURM_REFUSAL_WRONG /* never accepted as it is */
};
/* What a refusal of sbatch means, by its words. */
enum slurm_refusal slurm_program_refusal(const char *text);
/*
 * Run a program and wait for it: its exit status; -1: it did not end in time,
 * or cannot be started.  The output has stdout and stderr.
 */
int slurm_program_call(char *const *argv, int64_t ms, struct buf *out);

/* slurm-queue.c: squeue and scancel. */
void slurm_queue_ask(struct slurm *, bool soon);
/* Inside collect: read the newest answer. */
void slurm_queue_read(struct slurm *);
/*
 * When the controller was started, asked after this moment of the loop's clock:
 * false while that is not known, and then it is asked.
 */
bool slurm_queue_boot(struct slurm *, int64_t after_ms, int64_t *at_s);
/* … and cancel what is to be cancelled, in one call. */
void slurm_queue_cancel(struct slurm *);

/* slurm-look.c: compare one attempt with its files and its row. */
void slurm_look(struct slurm_attempt *);
/*
 * Read an answer of sacct, rows of NAME|STATE: true and the name of the user
 * who has cancelled the job, or "": it is not said to be cancelled.
 */
bool slurm_look_who(const char *out, const char *name, char *who, size_t n);

/* slurm-tail.c: read new output; true: more is available at once. */
bool slurm_tail(struct slurm_attempt *, bool final);
/*
 * Whether log and metrics.jsonl have the bytes here that they had when the
 * supervisor recorded the end.
 */
bool slurm_tail_is_whole(const struct slurm_attempt *);
/* The highest step that the whole output of an attempt reports; -1 = none. */
int64_t slurm_tail_last_step(struct slurm_attempt *);

/* slurm-gc.c: pass the jobs of this user with names of ours. */
int slurm_gc_strays(
    const struct launch_env *, launch_stray_cb *, void *arg, struct err *);

/* slurm-doctor.c */
int slurm_doctor(
    const struct launch_env *, launch_doctor_cb *, void *arg, struct err *);

#endif /* HPOTUNE_SLURM_INTERNAL_H */
