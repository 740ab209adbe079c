/* The backend for Slurm: declarations shared by its files. */

#ifndef HPOTUNE_SLURM_INTERNAL_H
#define HPOTUNE_SLURM_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/capture.h"
#include "src/base/mem.h"
#include "src/model/plugin-options.h"
#include "trials/backend.h"
#include "trials/metric-line/metric-line.h"
#include "trials/process/attempt-record.h"
#include "trials/slurm/slurm-row.h"

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
	int64_t preempt_ms; /* between looks for a preemption; 0 = none */
	int64_t listing_ms; /* the same of a server, for all its jobs */
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
	SLURM_MISSING, /* not listed before it began: slurm-missing.c */
	SLURM_OVER /* free it after this collect */
};

/* What the accounting knows of a job that squeue does not list. */
enum slurm_account {
	SLURM_ACCOUNT_UNASKED, /* … or it is listed */
	SLURM_ACCOUNT_DUE,
	SLURM_ACCOUNT_ASKED,
	SLURM_ACCOUNT_ROW, /* its end: the row is from there */
	SLURM_ACCOUNT_SILENT /* nothing of its end, or there is none */
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
	struct metric_log *lines; /* state between the lines of its log */
	bool lines_known; /* … at the recorded offset */
	int64_t grace_ms;

	enum slurm_phase phase;
	int64_t since_ms; /* of the phase */
	int64_t id; /* of its job; 0 = unknown */
	struct slurm_row row; /* the newest; id 0 = none */
	int missing; /* queries in a row that did not find it */
	enum slurm_account account;
	bool submitted_again; /* by slurm-missing.c, and not listed since */
	int again; /* how often it did so */
	int64_t due_ms; /* the next submission, not sooner */
	bool
	    asked_number; /* in SLURM_MISSING: Slurm does not know its number */
	int64_t final_ms; /* since when its row is final; -1 = it is not */
	int64_t word_ms; /* when the last query with an answer began */
	int64_t
	    doubted_ms; /* … that said why it waits, which may not be so; 0 = none */

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
	char told_word[32]; /* the state of its job while it runs, as told */
	bool grace_filed; /* that Slurm takes its place away */
	int unlisted; /* listings of slurm-grace.c in a row without it */
	bool noted_forgotten, noted_unknown, noted_long, noted_short;
	const char *noted_why[4];
	bool who_known;
	char who[SLURM_WHO]; /* has cancelled its job */
};

/* A job whose attempt is over: cancel it when it is seen. */
struct slurm_stray {
	char name[SLURM_NAME];
	int64_t until_ms;
	bool waits; /* its job may be in the queue */
	bool listed; /* by the answer that is read */
	int unlisted; /* answers in a row */
	int64_t due_ms; /* the next withdrawal, not sooner */
};

/* The copy of a program. */
struct slurm_copy {
	char *path;
	char *sum; /* its line for sha256sum -c in the root; no newline */
};

struct slurm {
	struct loop *loop;
	struct launch_source source; /* of events of the whole study */
	char *study, *study_id, *state_dir;
	char *root; /* with its trials and its bin, shared by the nodes */
	struct buf sums; /* of the programs there, for sha256sum -c */
	bool root_noted; /* that it is another one */
	char *prefix; /* of the names of its jobs */
	/* Copies in the shared folder; those that are not needed are empty. */
	struct slurm_copy shim, ranks, node, pack;
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
	struct { /* slurm-quota.c: a limit on jobs that was reached */
		struct loop_timer *timer;
		bool due; /* more are tried */
		int held; /* trials that had jobs then, or have had since */
		int step; /* slots that are tried next */
		int64_t wait_ms; /* until then */
		bool noted;
	} quota;
	struct strv noted_reasons; /* of jobs that wait, of the whole study */
	struct strv noted_warm; /* what was noted of warm starts */

	struct loop_timer *look_timer; /* of the files of all attempts */
	bool look_due;

	struct { /* sbatch, one at a time */
		struct capture *child;
		int64_t trial;
		int attempt;
		struct loop_timer *timer; /* after a failure */
		int failures;
		bool noted, full_noted;
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
	struct { /* slurm-grace.c: one squeue at a time */
		struct capture *child;
		struct loop_timer *timer;
		char *out; /* the answer, not yet read; or NULL */
		char run[24]; /* of this server */
		int looks; /* with an answer */
	} grace;
	struct { /* slurm-accounting.c, one question at a time */
		struct capture *child;
		int64_t asked_ms; /* the last time; 0 = never */
		int64_t
		    none_ms; /* when it last gave no answer; 0 = it gives one */
		int status;
		char *out; /* the answer, not yet read; or NULL */
	} accounting;
	struct { /* slurm-missing.c, one question at a time */
		struct capture *child;
		int64_t trial;
		int attempt;
		bool by_number; /* squeue; otherwise scancel */
		char stray[SLURM_NAME]; /* that is withdrawn; "" = none */
		int status; /* of exit; -1 = it did not end by itself */
		char *out; /* the answer, not yet read; or NULL */
		struct loop_timer *timer; /* the pause, also of sbatch */
		int submitted; /* again, since a job began */
		bool noted, hidden_noted;
	} missing;
	struct { /* slurm-unbegun.c: in a row */
		int n;
		char node[SLURM_NODE]; /* of the first; "" = none */
		bool several; /* nodes */
		char why[LAUNCH_WHY]; /* of the last */
	} unbegun;
	struct { /* scancel, one at a time */
		struct capture *child;
		struct strv soft, hard; /* command lines that are due */
	} cancel;
	struct strv avoided; /* nodes that no job is to use */
	struct buf notes; /* of callbacks, one a line, for the next collect */

	struct metric_line report;
	char chunk[METRIC_LINE_MAX + 1];
};

extern const struct backend_type backend_slurm;

/* slurm-options.c: the block of study.json. */
extern const struct option slurm_options[];
int slurm_options_read(struct slurm_settings *, const struct study_trial *,
    const struct option_value *, struct err *);
void slurm_options_free(struct slurm_settings *);
/* What each job asks for, in the notation of sbatch; what a number came to. */
void slurm_options_describe(
    const struct study_trial *, const struct option_value *, struct buf *);
int slurm_options_check(
    const struct study_trial *, const struct option_value *, struct err *);
/*
 * Ask Slurm what the settings depend on, each for at most 8 s.  The limit of jobs
 * without a time, to which signal_s is fitted; the grace of a preemption, from
 * which preempt_ms follows for so many trials at a time.  What Slurm does not
 * answer stays as it is.
 */
void slurm_options_fit(struct slurm_settings *, int64_t parallel);
/* Whether "short" or "main*" is a partition that the jobs may use. */
bool slurm_options_uses(
    const struct slurm_settings *, const char *partition, size_t n);
/* Parts of a job that each have GPUs, cores and memory as the study says. */
int64_t slurm_options_parts(const struct slurm_settings *);
/* The words of sbatch that depend on the study alone. */
void slurm_options_words(const struct slurm_settings *, struct strv *);
/*
 * --output with the pattern of slurm.out in a folder.  A path with a backslash is
 * taken as it is, without its backslashes; in any other one % begins a field.
 */
char *slurm_options_output(const char *dir);

/*
 * slurm-cluster.c: whether Slurm would accept such jobs.  An error has the
 * partitions that there are, or what no node has.
 */
int slurm_cluster_check(const struct slurm_settings *, struct err *);
/* Whether all nodes that such jobs may use are this machine. */
bool slurm_cluster_is_here(const struct slurm_settings *);
/*
 * Add a line where all partitions of the study are for groups without this user: since
 * 23.02 Slurm accepts jobs in them, unless its EnforcePartLimits says otherwise.
 */
void slurm_cluster_warn(const struct slurm_settings *, struct buf *);
/* GPUs of this type (NULL: any) in the generic resources of a node. */
int64_t slurm_cluster_gpus(const char *gres, const char *type, size_t type_len);

/* slurm-warm.c: the start of trials from a process of their job.  struct backend_type. */
const char *
slurm_warm_cold(const struct study_trial *, const struct option_value *);
/* Whether trials of this study start warm. */
bool slurm_warm_used(const struct slurm *);
/* The folder of a warm process in that of a job: make it; remove it. */
int slurm_warm_folder_make(const struct slurm_attempt *job, struct err *);
void slurm_warm_folder_remove(const struct slurm_attempt *job);
/* Note what a job says of its warm process. */
void slurm_warm_look(struct slurm_attempt *job);

/* slurm-sight.c: what a login node sees before anything runs: struct backend_type. */
void slurm_sight_warn(const struct study_trial *, const struct option_value *,
    const char *dir, struct buf *text);

/*
 * slurm-preemption.c: the shortest grace, in seconds, with which Slurm may take
 * the place of such jobs away; 0 = it gives none, or takes none; -1 = unknown.
 */
int64_t slurm_preemption_grace(const struct slurm_settings *);

/* slurm-attempts.c: the attempts and jobs that are followed. */
struct slurm_attempt *slurm_find(struct slurm *, int64_t trial, int attempt);
void slurm_phase(struct slurm_attempt *, enum slurm_phase);
/* Look at the files of all attempts at the next collect. */
void slurm_look_soon(struct slurm *);
/* Append an attempt to those that are followed. */
void slurm_follow(struct slurm *, struct slurm_attempt *);

/*
 * slurm-submit.c: sbatch, one at a time.  All but the callbacks of the timers:
 * inside collect.
 */
/*
 * End an attempt that was not sent, as if it had not been placed.  refused: no
 * other one would be accepted.
 */
void slurm_unsent(struct slurm_attempt *, bool refused, const char *why);
/* Read the answer of sbatch. */
void slurm_submit_read(struct slurm *);
/* Submit the next one that is due, unless sbatch runs or pauses. */
void slurm_submit_next(struct slurm *);
/* After a failure. */
void slurm_submit_on_timer(void *slurm);

/* slurm-folder.c: what is on the shared file system. */
/*
 * Make the root of the study: NAME.d, or, with backend.dir, a folder there, to
 * which NAME.d/trials is then a link; copy hpotune-shim to it, and the other
 * programs of a job that are needed.
 */
int slurm_folder_open(struct slurm *, const struct launch_env *, struct err *);
void slurm_folder_copy_free(struct slurm_copy *);
/* The folders, the parameters, the environment and the script of the job. */
int slurm_folder_make(struct slurm *, const struct launch_spec *, struct err *);
/*
 * Whether slurm_folder_make was completed for this attempt; *guest: whether the
 * attempt of this folder was then to run in a job of several trials.
 */
bool slurm_folder_made(const char *dir, const char *uuid, bool *guest);
/*
 * Whether the root is the folder of this user alone, or cannot be seen now; false
 * with the error set: another one is in its place.
 */
bool slurm_folder_is_ours(const struct slurm *, struct err *);
/*
 * Open a regular file in a folder of an attempt or a job for reading; -1 with
 * errno, EPERM where others can write in the folder above.
 */
int slurm_folder_open_file(const char *dir, const char *name);
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
/* Write the beginning of a file that stays, in place; it is on the disk then. */
int slurm_folder_overwrite(
    const char *dir, const char *name, const char *text, struct err *);
/* Ask the supervisor there to end, by a word of SHIM_STOP_FILE. */
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
/* In the root: the programs, and the folders of jobs of several trials. */
#define SLURM_BIN_DIR "bin"
#define SLURM_JOBS_DIR "jobs"
#define SLURM_CREATE_FILE "create"

/* slurm-shims.c: modules of Python in the place of trackers (trial.shims). */
int slurm_shims_open(const struct slurm *, struct err *);
/* The line of a job that puts them first on its path, after all that sets one. */
void slurm_shims_put(struct buf *, const struct slurm *);

/* slurm-ranks.c: trials of several processes. */
/* A word of the shell for the argument with the cores of the trial. */
#define SLURM_RANKS_CPUS "cpus=${SLURM_CPUS_ON_NODE:-0}"
/* The words between the supervisor and the command of an attempt. */
void slurm_ranks_command(struct strv *, const struct slurm *,
    const struct launch_spec *, const char *dir);

/* slurm-script.c: what a node executes. */
/* The environment and the scripts of an attempt, in its folder. */
int slurm_script_write(const struct slurm *, const struct launch_spec *,
    const char *dir, struct err *);
/*
 * The lines of a script that enter the root, where others can write it leave,
 * and compare its programs.  folder: of an attempt or a job, which has uuid.
 */
void slurm_script_put_enter(
    struct buf *, const struct slurm *, const char *folder, const char *uuid);
/* The path of this folder or program below the root, as one word of a shell. */
void
slurm_script_put_below(struct buf *, const struct slurm *, const char *path);
/*
 * The words before the arguments of a program in the root: it is executed as it was
 * looked at, in whatever place the path of the root leads to by then.
 */
void slurm_script_entered_words(
    struct strv *, const struct slurm *, const struct slurm_copy *);
/* exec and the program, in the root that was entered. */
void slurm_script_put_exec(
    struct buf *, const struct slurm *, const struct slurm_copy *);
/* HPOTUNE_DEADLINE, for the script of a job. */
void slurm_script_put_deadline(struct buf *, const struct slurm_settings *);
/* The text as one word of a shell. */
void slurm_script_put_quoted(struct buf *, const char *);

/* slurm-prelude.c: what a job does and says before its supervisor. */
#define SLURM_OUT_FILE "slurm.out"
#define SLURM_BEGUN_FILE "begun" /* the script has written into it */
#define SLURM_BEGUN_LEFT "left" /* … and ended before a supervisor, by itself */
/* setup, in a script of bash: it ends the job where a command of it fails. */
void slurm_prelude_put_setup(struct buf *, const struct slurm_settings *);
/* Whether the script of this folder has begun. */
bool slurm_prelude_begun(const char *dir);
/* … and has ended by itself, without a supervisor. */
bool slurm_prelude_left(const char *dir);
/*
 * Of slurm.out in this folder the first line that looks like an error, or the
 * last one; and that of setup which ended it.  "": it is empty.  True: a program
 * of hpotune has written the last one.
 */
bool slurm_prelude_words(const char *dir, char *words, size_t n);

/*
 * slurm-allocation.c: jobs of several trials (trials_per_job).  Their files are
 * described in trials/node/node.h.
 */
/* Follow the jobs that an earlier server has left. */
int slurm_allocation_load(struct slurm *, struct err *);
/* Inside collect: assign attempts to jobs, and make the jobs that lack. */
void slurm_allocation_place(struct slurm *);
/* Compare such a job with its files and its row. */
void slurm_allocation_look(struct slurm_attempt *job);
/*
 * Give up a job that was not sent: what would have run in it ends unsent, too.
 */
void
slurm_allocation_unsent(struct slurm_attempt *job, bool refused, const char *);
/* A guest that an earlier server has assigned: find its job again. */
void slurm_allocation_adopt(struct slurm_attempt *guest);
/*
 * A guest that was not started: true: it cannot start any more, because its job
 * has ended or does not start it.
 */
bool slurm_allocation_lost(struct slurm_attempt *guest);
/*
 * Whether hpotune-node has freed the place of a guest, a while ago: the supervisor
 * has ended, if there was one.
 */
bool slurm_allocation_left(struct slurm_attempt *guest);
/* Take a guest that is over, or given up, out of the folder of its job. */
void slurm_allocation_leave(struct slurm_attempt *guest);
/* When the server ends: jobs without guests are to end, too. */
void slurm_allocation_close(struct slurm *);

/* slurm-nodes.c: nodes that fail trials of all settings: struct backend_type. */
void slurm_nodes_avoid(void *, const char *node, bool avoid);
/* Use all of them again. */
void slurm_nodes_forgive(struct slurm *);
/* Append the nodes that are avoided to a list with commas of n bytes. */
void slurm_nodes_put(const struct slurm *, char *list, size_t n);

/* slurm-program.c: Slurm's programs, run to their end. */
enum slurm_refusal {
	SLURM_REFUSAL_UNCLEAR, /* the job may be there */
	SLURM_REFUSAL_DOWN, /* no answer: not sent */
	SLURM_REFUSAL_QUOTA, /* too many jobs of this user */
	SLURM_REFUSAL_NODES, /* no node is like this */
	SLURM_REFUSAL_WRONG /* never accepted as it is */
};
/* What an answer of sbatch with a failure means; without words it is unclear. */
enum slurm_refusal slurm_program_refusal(const char *text);
/*
 * All lines of an answer as one text, in order, without what sbatch puts before
 * them: a plugin of the site says the reason in a line before the last one.
 */
void slurm_program_words(const char *out, char *text, size_t n);
/* What sbatch --test-only says of a reservation that begins later. */
#define SLURM_RESERVED_LATER "Invalid time specified"
/*
 * The beginning of a command line: env, without the variables of Slurm that
 * filter its answers or belong to an outer job, and with n > 0 without all
 * others but those that begin like one of only.
 */
void slurm_program_env(struct strv *argv, const char *const *only, size_t n);
/*
 * capture_start, for a program of Slurm in the environment of
 * slurm_program_env.
 */
int slurm_program_start(struct capture **, struct loop *,
    const struct capture_spec *, capture_cb *, void *arg, struct err *);
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

/* Withdraw the jobs of attempts that are over, which wait for nothing. */
void slurm_queue_close(struct slurm *);
/* A row of this attempt outside of a list of all jobs. */
void slurm_queue_row(struct slurm_attempt *, const struct slurm_row *);

/* slurm-stray.c: jobs whose attempts are over. */
/*
 * Note an attempt that has ended, or was given up: its job is cancelled when
 * seen.  waits: one may be in the queue, and is withdrawn where it is not seen.
 */
void slurm_stray_add(struct slurm *, const char *name, bool waits);
/* A row of an answer: whether it is of such a job. */
bool slurm_stray_row(struct slurm *, const struct slurm_row *);
/* All rows of an answer were read. */
void slurm_stray_answer(struct slurm *);
/* The name of one that is to be withdrawn now, or NULL. */
const char *slurm_stray_due(const struct slurm *);
/* scancel was called for this one: done, or it has failed. */
void slurm_stray_withdrawn(struct slurm *, const char *name, bool done);
/* When the server ends, after a last list: withdraw what was not in it. */
void slurm_stray_close(struct slurm *);

/* slurm-grace.c: preemptions with a grace, found for all jobs at once. */
int slurm_grace_open(struct slurm *, struct err *);
/* Inside collect: tell the jobs that the newest answer names. */
void slurm_grace_collect(struct slurm *);
void slurm_grace_close(struct slurm *);
/*
 * Ask the supervisor of this attempt, or job of several trials, to end; false: that
 * could not be written.
 */
bool slurm_grace_tell(struct slurm_attempt *);
/*
 * Read one row of its squeue; false: it is none.  The name gets n bytes; is_taken:
 * the grace has begun.
 */
bool slurm_grace_row(const char *line, size_t len, int64_t *id, bool *is_taken,
    char *name, size_t n);

/* slurm-accounting.c: jobs that squeue no longer lists. */
/*
 * Whether the accounting has nothing of the end of this attempt's job; false: it
 * has, and the row of the attempt is that, or it is asked.
 */
bool slurm_accounting_silent(struct slurm_attempt *);
/* Inside collect: give rows of the newest answer to take, ask the next question. */
void slurm_accounting_collect(struct slurm *,
    void (*take)(struct slurm_attempt *, const struct slurm_row *));
/* Read who has done it of "CANCELLED by 1000"; false: nobody, and who is "". */
bool slurm_accounting_user(const char *state, char *who, size_t n);
void slurm_accounting_close(struct slurm *);
/*
 * Read a row of sacct, with the fields of SLURM_ROW_FORMAT; false: it does not
 * say how the job has ended.  who gets n bytes, the name of the user who has
 * cancelled it, or "".
 */
bool slurm_accounting_row(
    struct slurm_row *, const char *line, size_t len, char *who, size_t n);

/* slurm-missing.c: jobs that are not listed before they began. */
void slurm_missing_open(struct slurm *);
void slurm_missing_close(struct slurm *);
/* Slurm does not list the job of this attempt, which nothing has claimed. */
void slurm_missing_begin(struct slurm_attempt *);
/* A job has begun, or one that was submitted again is listed. */
void slurm_missing_over(struct slurm *);
/* Inside collect: read the newest answer, ask the next question. */
void slurm_missing_collect(struct slurm *);

/* slurm-quota.c: a limit on the jobs of a user. */
void slurm_quota_open(struct slurm *);
void slurm_quota_close(struct slurm *);
/* The limit is reached: sbatch has refused a job with these words. */
void slurm_quota_reached(struct slurm *, const char *text);
/* A job was accepted: whether the limit is no longer what it was. */
void slurm_quota_look(struct slurm *);
/* Inside collect: offer more slots when it is time for that. */
void slurm_quota_collect(struct slurm *);

/* slurm-unbegun.c: jobs that end before their supervisor begins. */
/*
 * Count one, for a reason.  True: there were so many that no further job is to be
 * submitted; the exit of its attempt says so, and others are counted anew.
 */
bool slurm_unbegun_add(
    struct slurm *, const char *node, const char *why, struct launch_exit *);
/* A supervisor has begun. */
void slurm_unbegun_over(struct slurm *);
/*
 * With all nodes excluded that have failed: whether none has ever begun one; why
 * gets n bytes.
 */
bool slurm_unbegun_everywhere(const struct slurm *, char *why, size_t n);

/* slurm-look.c: compare one attempt with its files and its row. */
void slurm_look(struct slurm_attempt *);

/* slurm-cancelled.c: by whom the job of an attempt was cancelled. */
/*
 * Read an answer of sacct, rows of NAME|STATE: true and the name of the user
 * who has cancelled the job, or "": it is not said to be cancelled.
 */
bool
slurm_cancelled_who(const char *out, const char *name, char *who, size_t n);
/* False: it is asked for, and the attempt is examined again. */
bool slurm_cancelled_find(struct slurm_attempt *, char *who, size_t n);
/*
 * When the controller was started, asked after this moment; 0 = unknown.  False: it
 * is being asked, but not for ever.
 */
bool slurm_cancelled_boot(
    const struct slurm_attempt *, int64_t after_ms, int64_t *boot_s);
/*
 * Whether a controller that was started then, and still sorts out what it has lost,
 * may have cancelled a job that had not begun: nobody else is known to have.
 */
bool slurm_cancelled_unbegun(
    const struct slurm_attempt *, int64_t boot_s, const char *who);
/*
 * Whether the controller itself has cancelled its job.  One that was killed as it
 * had started a job starts it again; the node, where the job runs, refuses that,
 * and the job is cancelled, by root.
 */
bool slurm_cancelled_own(
    const struct slurm_attempt *, int64_t boot_s, const char *who);

/* slurm-tail.c: read new output; true: more is available at once. */
bool slurm_tail(struct slurm_attempt *, bool final);
/*
 * Whether log and metrics.jsonl have the bytes here that they had when the
 * supervisor recorded the end.
 */
bool slurm_tail_is_whole(const struct slurm_attempt *);
/* The highest step that the whole output of an attempt reports; -1 = none. */
int64_t slurm_tail_last_step(struct slurm_attempt *);
/* Whether an attempt has gone on where earlier ones of its trial were cut off. */
bool slurm_tail_has_progress(struct slurm_attempt *);

/* slurm-gc.c: pass the jobs of this user with names of ours. */
int slurm_gc_strays(
    const struct launch_env *, launch_stray_cb *, void *arg, struct err *);

/* slurm-doctor.c */
int slurm_doctor(
    const struct launch_env *, launch_doctor_cb *, void *arg, struct err *);

#endif /* HPOTUNE_SLURM_INTERNAL_H */
