/* The local launcher: what its files share. */

#ifndef HPOTUNE_LOCAL_INTERNAL_H
#define HPOTUNE_LOCAL_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/mem.h"
#include "trials/process/attempt-record.h"
#include "trials/gpu/gpu-idle.h"
#include "trials/launcher.h"
#include "trials/process/proc.h"
#include "trials/metric-line/metric-line.h"

struct err;
struct attempt_evidence;
struct local_gpu;
struct local_gpu_lock_fds;
struct loop;
struct loop_fd;
struct loop_timer;

enum {
	LOCAL_TAIL_REASONS = 8, /* reasons told of per file */
	LOCAL_TAIL_KEPT = 64 /* bytes by which a file is known again */
};

enum local_stop { LOCAL_STOP_NONE, LOCAL_STOP_GRACE, LOCAL_STOP_NOW };

/* One file of output that is followed. */
struct local_tail {
	const char *name; /* in the attempt's directory */
	int fd; /* -1 until it is there */
	int64_t *at; /* in the cursor */
	bool *skip;
	int64_t dropped; /* bytes given back to the disk before we came */
	char kept[LOCAL_TAIL_KEPT]; /* the last ones before at */
	size_t n_kept; /* 0: none were read yet */
	bool noted_drop, noted_long, noted_cut;
	const char *noted_why[LOCAL_TAIL_REASONS];
};

struct local_attempt {
	struct local *local;
	int64_t trial;
	int attempt;
	int slot;
	char uuid[RECORD_UUID + 1];
	char *dir;
	struct launch_cursor cursor;
	struct local_tail log, metrics;
	int wd; /* inotify, -1 when it could not */

	pid_t child; /* a supervisor to reap, or 0 */
	int child_status; /* once reaped; -1 before */
	struct proc_ref supervisor; /* nobody when none is known */
	struct loop_fd *watch; /* its end; NULL where there are no pidfds */

	bool fresh; /* no supervisor before ours was possible */
	bool dirty; /* has something to look at */
	bool check; /* … in its records too */
	bool up; /* LAUNCH_UP was delivered */
	bool noted_stuck, noted_unknown, noted_full, noted_foreign;
	bool aside; /* what another run left is of other parameters */
	bool over; /* free it after this turn */
	bool reported; /* since we follow it */
	struct launch_usage used; /* of its GPUs, before our start */
	int64_t used_ms; /* when that was told last */
	struct gpu_idle idle;
	int64_t end_wait_seq,
	    end_wait_ms; /* a look that its end waits for; 0 = none */
	struct launch_usage share; /* of its place's GPUs, since our start */
	int64_t unclear_since_ms; /* unclear or waiting since; -1 = not */
	enum local_stop stop, stop_sent;
	int64_t stop_sent_ms;
	int64_t up_ms; /* when the trial began, on the loop's clock */
	int64_t grace_ms, max_run_ms; /* of its settings */
	bool program_varies; /* what is executed depends on the setting */
	bool noted_still; /* somebody stopped its supervisor */
	bool overdue; /* … which was killed for it */
	bool timed_out; /* … because max_run was over */
};

struct local_pack {
	int64_t size; /* trials of one program; 0 = each has its own */
	int places; /* programs at most; at least 1 */
	char *program; /* path of hpotune-pack */
	char *dir; /* of all places */
	char *cgroup; /* what the name of their groups begins with */
	char key[17]; /* what is run, with what */
	pid_t *serves; /* to reap */
	size_t n;
};

/* The state directory; see local-state-dir.c. */
struct local_state_dir {
	char *path;
	int fd; /* -1: it is not known */
	bool away; /* at the last look */
	int64_t seen_us; /* wall time when it was there last */
	int64_t away_us, back_us; /* the last time it was not; 0 = never */
};

struct local {
	struct loop *loop;
	struct local_state_dir home;
	struct metric_patterns *rules;
	launch_cb *event;
	void *arg;
	char *study;
	char *shim; /* path of the program */
	char *ranks; /* of that for several processes, or NULL */
	char *host;
	char boot_id[RECORD_UUID + 1];
	char cgroup[RECORD_PATH]; /* "" when there is none */
	int64_t log_cap;
	int64_t gpu_idle_ms; /* 0 = nobody wants to know */
	bool punch_unsupported, noted_no_punch;
	struct local_gpu *gpus;
	int64_t parallel, cores; /* limits.parallel, trials without GPUs */
	struct local_pack pack;
	int slots;

	struct local_attempt **attempts;
	size_t n, cap;

	int inotify;
	struct loop_fd *ear;
	const char
	    *inotify_error; /* why nobody can listen, until that is told */
	bool noted_watches; /* that some files are looked at by polls alone */
	bool deaf; /* it heard something, and listens again later */
	struct loop_timer *inotify_timer; /* listen again */
	struct loop_timer *poll_timer; /* look at everything */
	bool soon; /* … in a moment, not in a second */

	struct metric_line report;
	char chunk[METRIC_LINE_MAX + 1];
};

/* local.c */
extern const struct launcher launcher_local;
/* The attempt, followed from now on; NULL when it is not. */
struct local_attempt *local_find(struct local *, int64_t trial, int attempt);
struct local_attempt *local_follow(struct local *, const struct launch_spec *);
/* Follow this supervisor instead of the one before; takes it over. */
void local_watch(struct local_attempt *, const struct proc_ref *);
/* The same for the one that made this claim; false: it is not there. */
bool local_watch_claim(struct local_attempt *, const struct claim *);
void local_emit(struct local_attempt *, struct launch_event *);
void local_note(struct local_attempt *, bool warn, const char *, ...)
    __attribute__((format(printf, 3, 4)));

/* local-state-dir.c */
void local_state_dir_open(struct local *, const char *state_dir);
void local_state_dir_close(struct local *);
/* Look whether it is somewhere else now. */
bool local_state_dir_moved(struct local *);
/* ERR_BUSY: it is. */
int local_state_dir_err(const struct local *, struct err *);
/* Whether it was at this wall time, the last time that it was. */
bool local_state_dir_was_moved(const struct local *, int64_t us);

/* local-slots.c: how many trials fit on this machine. */
/* Whether it has the GPUs that a trial wants. */
int local_slots_check(
    const struct study_trial *, const struct option_value *, struct err *);
void local_slots_open(struct local *, const struct launch_env *);
/* Count again: there are more or fewer GPUs now. */
void local_slots_count(struct local *);

/* local-env.c: the environment of one attempt; free with local_env_free. */
char **
local_env(const struct local *, const struct launch_spec *, const char *dir);
void local_env_free(char **);

struct local_argv {
	char **word; /* ends with NULL once there is one */
	size_t n;
};

/* local-command.c: its argv, with what its launcher wraps around it. */
/* Takes over the word. */
void local_command_add(struct local_argv *, char *word);
char **local_command(
    const struct local *, const struct launch_spec *, const char *dir);

/* local-ranks.c: trials of several processes. */
int local_ranks_find(struct local *, const struct study_trial *, struct err *);
/* What stands before the command. */
void local_ranks_command(struct local_argv *, const struct local *,
    const struct launch_spec *, const char *dir);
/* Why it failed, if it was the end of one rank that ended it. */
void local_ranks_cause(const struct local_attempt *, struct launch_exit *);
int
local_ranks_replicas(const struct study_trial *, const struct option_value *);
void local_ranks_describe(const struct study_trial *, struct buf *text);
/* The program that starts the ranks; NULL = it is ours.  Free it. */
char *local_ranks_launcher(const struct study_trial *);

/* local-preflight.c: what an attempt is started with, looked for before. */
int local_preflight(const struct study_trial *, struct err *);
/* A variable of the trial, or NULL. */
const char *local_preflight_env(const struct study_trial *, const char *name);
/* Whether a program is found in the trial's PATH. */
bool local_preflight_program(const struct study_trial *, const char *program);

/* local-pack.c: programs that own several trials. */
int local_pack_open(struct local *, const struct launch_env *, struct err *);
/* Programs that nobody needs may go at once; who is used goes on. */
void local_pack_close(struct local *);
/*
 * The place of a slot: of consecutive slots each has another one, so that few
 * trials, too, keep all of them busy.  Without packing the place is 0.
 */
int local_pack_place(const struct local *, int slot);
/* What stands before the command. */
void local_pack_command(struct local_argv *, const struct local *,
    const struct launch_spec *, const char *dir);
/* Somebody to serve the place of an attempt that is about to begin. */
int local_pack_serve(
    struct local *, const struct launch_spec *, const char *dir, struct err *);
/* Reap those that have left. */
void local_pack_reap(struct local *);
/* Whether somebody serves this place. */
bool local_pack_alive(const struct local *, int place);
/* What the program said of its end, or its own end. */
void local_pack_end(const struct local_attempt *, struct launch_exit *);

/* local-start.c */
/*
 * Start a program in a session of its own, with nothing of ours but the
 * environment: 0 or an errno.
 */
int local_start_spawn(const char *path, char **argv, char **env,
    const struct local_gpu_lock_fds *, pid_t *);
char *local_start_dir(const struct launch_spec *);
int local_start_find_shim(struct local *, struct err *);
int local_start(void *, const struct launch_spec *, struct err *);

/* local-adopt.c */
enum launch_adoption
local_adopt(void *, const struct launch_spec *, struct err *);
int local_abandon(void *, const struct launch_spec *, struct err *);
/* Write the claim that lets nobody start it any more. */
int local_abandon_record(const char *dir, const char *uuid, struct err *);
/*
 * Remove the control group of an attempt that is over, or never began: its
 * supervisor may have been killed before it could, or the kernel be late.
 */
void local_adopt_remove_cgroup(const struct local *, const char *uuid);

/*
 * local-marked.c: processes by the attempt that their environment names.  The
 * folder of a study may have been copied while it runs, its database too: the
 * attempt of the same name that runs there is not ours to end.
 */
struct local_marked {
	int killed;
	int spared; /* they belong to the attempt of another folder */
};
/*
 * SIGKILL to every process of the attempt in folder dir, and to those whose
 * folder is gone or which nobody holds.
 */
struct local_marked local_marked_kill(const char *uuid, const char *dir);
/* SIGKILL to what a dead supervisor left behind: whether there was any. */
bool local_marked_sweep(struct local_attempt *, const struct claim *);

/*
 * local-foreign-run.c: the folder of an attempt holds another run of its trial,
 * because the database was brought back from an older copy.
 */
/* Whether it does; *aside: and that run had other parameters. */
bool
local_foreign_run(const struct launch_spec *, const char *dir, bool *aside);
/* Wait for its end, and then give the attempt up: the next one follows. */
void
local_foreign_run_wait(struct local_attempt *, const struct attempt_evidence *);

/* local-reconcile.c: one look at one attempt, events for all that is new. */
void local_reconcile(struct local_attempt *);
/* All is told that there was: this is its end. */
void local_reconcile_end(struct local_attempt *, struct launch_event *);
/* Signal a supervisor that has made its claim, if a stop is wanted. */
void local_reconcile_stop(struct local_attempt *);

/* local-tail.c: read what is new; true when there is more at once. */
bool local_tail(struct local_attempt *, bool final);
void local_tail_close(struct local_attempt *);

#endif /* HPOTUNE_LOCAL_INTERNAL_H */
