/* The local backend: declarations shared by its files. */

#ifndef HPOTUNE_LOCAL_INTERNAL_H
#define HPOTUNE_LOCAL_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/mem.h"
#include "src/model/plugin-options.h"
#include "trials/process/attempt-record.h"
#include "trials/process/machine-units.h"
#include "trials/gpu/gpu-idle.h"
#include "trials/backend.h"
#include "trials/process/proc.h"
#include "trials/metric-line/metric-line.h"
#include "trials/pack/pack-trial.h"
#include "trials/warm/warm-process.h"

struct err;
struct attempt_evidence;
struct local_gpu;
struct local_gpu_lock_fds;
struct loop;
struct loop_fd;
struct loop_timer;
struct metric_files;

enum {
	LOCAL_TAIL_REASONS = 8, /* reasons noted per file */
	LOCAL_TAIL_KEPT = 64 /* bytes by which a file is recognised */
};

/* What an attempt has done; see local-still.c. */
struct local_still {
	int64_t since_ms; /* nothing since then; 0 = not looked yet */
	int64_t output; /* bytes read of it */
	int64_t cpu; /* clock ticks */
};

enum local_stop { LOCAL_STOP_NONE, LOCAL_STOP_GRACE, LOCAL_STOP_NOW };

/* An output file that is being read. */
struct local_tail {
	const char *name; /* relative to the attempt's directory */
	int fd; /* -1 until the file exists */
	int64_t *at; /* offset in the cursor */
	bool *skip;
	int64_t dropped; /* bytes punched out before they were read */
	char kept[LOCAL_TAIL_KEPT]; /* the last bytes before *at */
	size_t n_kept; /* 0: nothing read yet */
	bool noted_drop, noted_long, noted_cut;
	const char *noted_why[LOCAL_TAIL_REASONS];
};

struct local_attempt {
	struct local *local;
	struct launch_source source;
	int slot;
	char uuid[RECORD_UUID + 1];
	char *dir;
	struct launch_cursor cursor;
	struct local_tail log, metrics;
	struct metric_files *files; /* NULL: none are read */
	struct metric_log *lines; /* state between the lines of its log */
	int64_t started_us; /* by its claim; 0 = not yet known */
	int wd; /* inotify watch; -1 when it failed */

	pid_t child; /* supervisor to reap, or 0 */
	int child_status; /* -1 before it was reaped */
	struct proc_ref supervisor; /* pid 0 when unknown */
	struct loop_fd *watch; /* watches its end; NULL without pidfds */
	/*
	 * The socket of a supervisor that had waited: it tells the end of the
	 * trial here.
	 */
	int socket; /* -1 = none */
	struct loop_fd *socket_watch;

	bool fresh; /* no earlier supervisor can exist */
	bool dirty; /* needs reconciliation */
	bool check; /* … including its records */
	bool up; /* LAUNCH_UP was delivered */
	bool noted_stuck, noted_unknown, noted_full, noted_foreign;
	bool aside; /* the checkpoint of a foreign run was moved aside */
	bool over; /* free it after this collect */
	bool reported; /* it sent a report since it is followed */
	char *had_gpus; /* UUIDs, once it has ended; or NULL */
	struct gpu_usage used; /* GPU use before our start */
	int64_t used_ms; /* time of the last usage event */
	struct gpu_idle idle;
	int64_t end_wait_seq,
	    /*
	     * number of the query that its end waits for, and since when; 0 =
	     * none
	     */
	    end_wait_ms;
	/* its share of the GPUs of its place, since our start */
	struct gpu_usage share;
	/* since when its state is unclear; -1 = clear */
	int64_t unclear_since_ms;
	enum local_stop stop, stop_sent;
	int64_t stop_sent_ms;
	int64_t up_ms; /* start of the trial on the loop's clock */
	int64_t grace_ms, max_run_ms; /* from its settings */
	/* the executed program depends on the parameters */
	bool program_varies;
	struct local_still still;
	bool noted_still; /* noted: its supervisor was stopped by a signal */
	bool overdue; /* … and was killed because of it */
	bool timed_out; /* … because max_run had expired */
};

struct local_pack {
	int64_t size; /* trials per program; 0 = not packed */
	int places; /* maximum number of programs, at least 1 */
	char *program; /* path of hpotune-pack */
	char *dir; /* parent folder of all places */
	char *cgroup; /* prefix of the names of their control groups */
	char key[PACK_TRIAL_KEY];
	pid_t *serves; /* processes of hpotune-pack to reap */
	size_t n;
};

enum { LOCAL_AHEAD_MAX = 32, LOCAL_AHEAD_NAME = 24 };

/* Folders made ahead; see local-ahead.c. */
struct local_ahead {
	char *dir;
	struct loop_timer *timer; /* starts the maker */
	uint32_t mark; /* in the names of this server's folders */
	unsigned first; /* number of the next one that an attempt takes */
	int n; /* folders from this number on that are there */
	int making; /* and those that follow, which the maker makes */
	pid_t maker; /* 0: none runs */
	int maker_end;
	bool gpus; /* trials have GPUs */
	bool off; /* something failed: none are made any more */
};

enum { LOCAL_WAITING_MAX = 4 };

/* A supervisor that waits for an attempt, and the socket for it. */
struct local_waiting {
	pid_t pid;
	int fd;
};

/* Supervisors without an attempt; see local-supervisor.c. */
struct local_supervisors {
	struct local_waiting waiting[LOCAL_WAITING_MAX];
	int n;
	struct loop_timer *timer, *reaper; /* starts those that wait; reaps */
	bool off; /* one could not be started */
	pid_t *late; /* to reap: their attempts have ended */
	size_t n_late, cap;
};

/* The warm process of the study; see local-warm.c. */
struct local_warm {
	struct warm_process process;
	struct loop_fd *watch;
	size_t
	    skip; /* words of a command before those of the program; 0 = cold */
	size_t noted; /* of its notes were delivered */
	/* of all trials, to start it before the first one; NULL: they differ */
	const struct study_trial *settings;
	int64_t loading_ms; /* it was first seen to import; -1 = it does not */
	struct loop_timer *timer; /* when a start waits no longer */
};

enum { LOCAL_SHARE_KINDS = 2 /* cores, memory */ };

/* What an attempt that starts next has taken. */
struct local_share_part {
	char *uuid;
	int fd[LOCAL_SHARE_KINDS]; /* -1 = nothing */
};

/* Cores and memory that trials of all studies share; see local-share.c. */
struct local_share {
	struct machine_units units[LOCAL_SHARE_KINDS];
	int64_t need[LOCAL_SHARE_KINDS]; /* of a trial; 0 = any */
	struct local_share_part *part;
	size_t n, cap;
	struct loop_timer *timer; /* to look again; NULL = nothing is shared */
	int64_t looked_ms, said_ms; /* 0 = never */
	char why[160]; /* the last answer; "" = there is enough */
	bool noted; /* locks do not work */
};

/* The state directory; see local-state-dir.c. */
struct local_state_dir {
	char *path;
	int fd; /* -1: unknown */
	bool away; /* at the last check */
	int64_t seen_us; /* wall time of the last check that found it */
	/* the last time that it was away; 0 = never */
	int64_t away_us, back_us;
};

struct local {
	struct loop *loop;
	struct local_state_dir home;
	struct local_ahead ahead;
	struct local_supervisors supervisors;
	struct local_warm warm;
	struct local_share share;
	struct metric_patterns *rules;
	struct launch_source source; /* of events of the whole study */
	char *study;
	char *shim; /* path of hpotune-shim */
	char *ranks; /* path of hpotune-ranks, or NULL */
	char *shims; /* the folder of trial.shims, or NULL */
	char *host;
	char boot_id[RECORD_UUID + 1];
	char cgroup[RECORD_PATH]; /* "" when there is none */
	int64_t log_cap;
	/* idle time after which GPUs are reported; 0 = off */
	int64_t gpu_idle_ms;
	bool punch_unsupported, noted_no_punch;
	char *hidden; /* to be noted: GPUs that trials do not get; or NULL */
	bool noted_ids; /* noted: a program that wants indices of GPUs */
	struct local_gpu *gpus;
	int64_t parallel, cores; /* limits.parallel; trials without GPUs */
	struct local_pack pack;
	int slots;

	struct local_attempt **attempts;
	size_t n, cap;

	int inotify;
	struct loop_fd *ear;
	const char
	    *inotify_error; /* why inotify failed, until it was reported */
	bool noted_watches; /* noted: some files are only polled */
	/* an event arrived; inotify is paused until the next collect */
	bool deaf;
	struct loop_timer *inotify_timer; /* resumes inotify */
	struct loop_timer *poll_timer; /* reconciles all attempts */
	bool soon; /* … in a moment instead of in a second */

	struct metric_line report;
	char chunk[METRIC_LINE_MAX + 1];
};

/* local.c */
extern const struct backend_type backend_local;

/* local-gpu-request.c: the options of the backend. */
extern const struct option local_options[];

/* local-attempt.c */
/* Find an attempt that is followed; NULL: it is not. */
struct local_attempt *
local_attempt_find(struct local *, int64_t trial, int attempt);
struct local_attempt *
local_attempt_follow(struct local *, const struct launch_spec *);
/* Free an attempt whose output files are closed (local_tail_close). */
void local_attempt_free(struct local_attempt *);
/* Listen to a supervisor that had waited; takes ownership of the socket. */
void local_attempt_listen(struct local_attempt *, int socket);
/* Follow this supervisor in place of the previous one; takes ownership. */
void local_attempt_watch(struct local_attempt *, const struct proc_ref *);
/* The same for the supervisor of this claim; false: it does not run. */
bool local_attempt_watch_claim(struct local_attempt *, const struct claim *);

/* Signal a supervisor that has made its claim, if a stop is pending. */
void local_attempt_signal(struct local_attempt *);

/* local-state-dir.c */
void local_state_dir_open(struct local *, const char *state_dir);
void local_state_dir_close(struct local *);
/* Check whether the state folder was moved; true: it is not at its path. */
bool local_state_dir_moved(struct local *);
/* Set ERR_BUSY with the reason. */
int local_state_dir_err(const struct local *, struct err *);
/* Whether this wall time lies in the last period in which it was away. */
bool local_state_dir_was_moved(const struct local *, int64_t us);

/* local-pack.c: programs that run several trials. */
int local_pack_open(struct local *, const struct launch_env *, struct err *);
/* Idle programs are ended; programs in use continue. */
void local_pack_close(struct local *);
/*
 * The place of a slot.  Consecutive slots have different places, so that also
 * few trials keep all places busy. 0 without packing.
 */
int local_pack_place(const struct local *, int slot);
/* Add the words before the command. */
void local_pack_command(struct strv *, const struct local *,
    const struct launch_spec *, const char *dir);
/*
 * Start hpotune-pack to serve the place of an attempt that is about to start
 * with this environment and these locks.
 */
int local_pack_serve(struct local *, const struct launch_spec *,
    char *const *env, const struct local_gpu_lock_fds *, struct err *);
/* Reap those that have exited. */
void local_pack_reap(struct local *);
/* Whether a process serves this place. */
bool local_pack_alive(const struct local *, int place);

/* local-share.c: cores and memory, shared with other studies. */
void local_share_open(struct local *, const struct study_trial *);
void local_share_close(struct local *);
/* Whether there is enough for one more trial; why: else the reason. */
bool local_share_ready(struct local *, char *why, size_t n);
/* Take a share for an attempt; false: others were faster. */
bool local_share_take(struct local *, const char *uuid);
/*
 * Drop the share of an attempt: its supervisor holds it, or it does not start.
 */
void local_share_drop(struct local *, const char *uuid);
/* Append the descriptors that its supervisor inherits. */
void
local_share_fds(struct local *, const char *uuid, struct local_gpu_lock_fds *);
/* What was taken and not used is free again. */
void local_share_collect(struct local *);

/* local-ahead.c: folders of trials, made before they are needed. */
void local_ahead_open(struct local *);
/* Removes the folders that no attempt has taken. */
void local_ahead_close(struct local *);
/* After a start: make some soon, unless there are any. */
void local_ahead_wait(struct local *);
/*
 * Rename one to the folder of a trial, which must not exist.  Its first attempt
 * has all that its supervisor makes, synced except for the new name.  False:
 * there is none.
 */
bool local_ahead_take(struct local *, const char *trial_dir);

/* local-shims.c: write the modules of trial.shims into the state directory. */
int local_shims_open(struct local *, const struct study_trial *, struct err *);

/* local-warm.c: a process that has imported what trials import. */
/* Why trials cannot start from it; NULL: they can. */
const char *
local_warm_why_not(const struct study_trial *, const struct option_value *);
void local_warm_open(struct local *, const struct study_trial *);
void local_warm_close(struct local *);
/*
 * Before a start: start it, if the study has one and none runs, for trials with
 * this working folder, this environment and these cores ("0-3,8", "" = all).
 */
void local_warm_begin(
    struct local *, const char *workdir, char *const *env, const char *cpus);
/*
 * Before an attempt is begun: whether it waits until the modules are imported.  The
 * backend wakes the loop when it need not wait any more.
 */
bool local_warm_imports(struct local *);
/* Whether it makes supervisors now. */
bool local_warm_usable(const struct local *);
/*
 * A supervisor that waits, with the arguments, the environment and the socket;
 * our child.  0: there is none.
 */
pid_t
local_warm_fork(struct local *, char *const *argv, char *const *env, int fd);
/* Deliver what is to be noted. */
void local_warm_collect(struct local *);

/* local-supervisor.c: supervisors that have no attempt. */
void local_supervisor_close(struct local *);
/* After a start: start some soon, unless there are enough. */
void local_supervisor_wait(struct local *);
/*
 * Give an attempt to one that waits, which gets the arguments, the environment
 * and the locks.  True: its pid, and the socket on which it tells the end.
 * False: none took it, and none will.
 */
bool local_supervisor_give(struct local *, char *const *argv, char *const *env,
    const struct local_gpu_lock_fds *locks, pid_t *pid, int *fd);
/* The attempt of this child has ended: only reap it. */
void local_supervisor_leave(struct local *, pid_t);
/* Reap those that have exited. */
void local_supervisor_reap(struct local *);

/* local-still.c: see still_ms of a backend. */
int64_t local_still_ms(void *, int64_t trial, int attempt);

/* local-slots.c: the number of slots. */
/*
 * Number of trials that fit on this machine.  places: as
 * local_gpu_capacity.
 */
void
local_slots_open(struct local *, const struct launch_env *, int64_t places);
/* Count again after the number of usable GPUs changed. */
void local_slots_count(struct local *, int64_t places);

/* local-env.c: the environment of attempts. */
/* The environment of one attempt; free with strv_free. */
char **local_env_make(
    const struct local *, const struct launch_spec *, const char *dir);
/* The value of a variable of the trial, or NULL.  Borrowed. */
const char *local_env_get(const struct study_trial *, const char *name);
/* Whether a program is found in the PATH of the trial. */
bool local_env_finds(const struct study_trial *, const char *program);

/* local-ranks.c: trials of several processes. */
/* Find hpotune-ranks, if the trials have several processes. */
int local_ranks_find(struct local *, const struct study_trial *, struct err *);
/*
 * Path of the external launcher of the ranks; NULL = hpotune-ranks.  Free it.
 */
char *local_ranks_launcher(const struct study_trial *);
/* Add the words before the command. */
void local_ranks_command(struct strv *, const struct local *,
    const struct launch_spec *, const char *dir);
/* What starts the processes of a trial, for the plan of a study. */
void local_ranks_describe(const struct study_trial *, struct buf *text);

/* local-start.c */
/* Check that the files an attempt starts with exist. */
int local_start_preflight(const struct study_trial *, struct err *);
/*
 * Whether an attempt that has taken what it needs in its slot waits for the imports
 * of the warm process; begins that if the study has one and none runs.
 */
bool local_start_waits(struct local *, int slot, const char *uuid);
int local_start(void *, const struct launch_spec *, struct err *);

/*
 * local-leftovers.c: processes with the uuid of an attempt in their environment,
 * and its control group.
 */
struct local_leftovers {
	int killed;
	int spared; /* processes of the attempt in another folder */
};
/*
 * SIGKILL to every process of the attempt in folder dir, and to those whose
 * folder was removed or has no live supervisor.
 */
struct local_leftovers local_leftovers_kill(const char *uuid, const char *dir);
/*
 * SIGKILL to the processes that a dead supervisor left: whether there were any.
 */
bool local_leftovers_sweep(struct local_attempt *, const struct claim *);
/*
 * Remove the control group of an attempt that has ended or never began: its
 * supervisor may have been killed before it could, or the kernel was late.
 */
void local_leftovers_remove_cgroup(const struct local *, const char *uuid);

/* local-foreign.c: a folder that another run uses. */
/*
 * Whether the folder of an attempt holds another run of its trial, because the
 * database was restored from an older copy; *aside: that run had other
 * parameters.
 */
bool
local_foreign_run(const struct launch_spec *, const char *dir, bool *aside);
/* Whether that run is over: then the attempt ends, and the next one follows. */
bool
local_foreign_run_over(struct local_attempt *, const struct attempt_evidence *);

/* local-adopt.c: attempts of an earlier server. */
/* Follow an attempt, or claim it if it never began. */
enum launch_adoption
local_adopt(void *, const struct launch_spec *, struct err *);
int local_abandon(void *, const struct launch_spec *, struct err *);
/* Write the claim that prevents any later start. */
int local_adopt_abandon_record(const char *dir, const char *uuid, struct err *);

/*
 * local-reconcile.c: compare one attempt with its locks and records, and send
 * events for all changes.
 */
void local_reconcile(struct local_attempt *);

/* local-tail.c: read new output; true: more is available at once. */
bool local_tail(struct local_attempt *, bool final);
void local_tail_close(struct local_attempt *);

#endif /* HPOTUNE_LOCAL_INTERNAL_H */
