/* The supervisor of one attempt: declarations shared by its files. */

#ifndef HPOTUNE_SHIM_H
#define HPOTUNE_SHIM_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "trials/process/attempt-record.h"
#include "trials/process/stop-tree.h"

/*
 * Exit statuses before the claim: one of these three, or the errno of the
 * failure.  After the claim the status is 0 and the records have the result, or
 * it is the errno that prevented recording the end.
 */
enum {
	SHIM_BUSY = 100, /* another supervisor holds the lock */
	SHIM_CLAIMED = 101, /* the attempt was started or abandoned before */
	SHIM_FOREIGN = 102 /* the records are of another attempt */
};

/*
 * Files of an attempt whose folder is shared.  The claim has a line of
 * "NAME=VALUE" words: uuid, job, restart, cpus, host; or uuid and abandoned=1.
 */
#define SHIM_CLAIM_FILE "claim"
#define SHIM_STOP_FILE "stop" /* "stop", "kill" or SHIM_WISH_PREEMPTED */
#define SHIM_WISH_PREEMPTED "preempt" /* Slurm takes the place of the job */
#define SHIM_BEAT_FILE "beat" /* a number that grows while it lives */
enum { SHIM_LOOK_MS = 1000, SHIM_BEAT_MS = 5000 };
/*
 * In the working directory of a job: another text each time when a server has seen
 * which jobs Slurm preempts, and has told them.
 */
#define SHIM_LOOKS_FILE "preempt-looks"

/*
 * A supervisor that is started before its attempt is known: "hpotune-shim",
 * SHIM_WAIT and spaces.  Its descriptor 3 is a socket (SOCK_SEQPACKET) with one
 * message: struct shim_job, the words of both lists, each with its NUL, and the
 * locks as SCM_RIGHTS.  What other programs read of a process, its first
 * argument and the two variables, is written over spaces that it was started
 * with.
 */
#define SHIM_WAIT "wait="
#define SHIM_MARK_UUID "HPOTUNE_ATTEMPT_UUID="
#define SHIM_MARK_PARAMS "HPOTUNE_PARAMS="
enum {
	SHIM_WAIT_ROOM = 1024, /* spaces after the name */
	SHIM_JOB_MAX = 65536, /* bytes of the message */
	SHIM_JOB_FDS = 64
};
struct shim_job {
	uint32_t argc, envc;
};

/*
 * The warm process of a study (python/hpotune_warm.py) makes such a supervisor
 * with a child that waits for the program: its last argument is SHIM_WARM and the
 * child's process id, its descriptor SHIM_WARM_FD a socket to the child.  The
 * child gets a struct shim_job with the working folder, the number of words before
 * the program's arguments and the command, and the log and the lock as SCM_RIGHTS.
 * It answers SHIM_WARM_GO, from which on it is the program, or why not: then
 * SHIM_WARM_OLD if none that is made of that warm process will be.
 */
#define SHIM_WARM "warm="
enum {
	SHIM_WARM_FD = 80,
	SHIM_WARM_GO = 'g',
	SHIM_WARM_NO = 'n',
	SHIM_WARM_OLD = 'o',
	SHIM_WARM_ANSWER = 256 /* bytes, at most */
};

/*
 * In a job of several trials (trials/node) the script of an attempt becomes a
 * supervisor with the socket SHIM_NODE_FD (SOCK_SEQPACKET).  What it is told as
 * node-fd, it sends a struct shim_job there, with its folder and its output as
 * SCM_RIGHTS.  The answer SHIM_WARM_GO: another one has the attempt.
 */
enum { SHIM_NODE_FD = 90 };

enum shim_phase {
	SHIM_STARTING, /* forked, exec not yet confirmed */
	SHIM_RUNNING,
	SHIM_STOPPING, /* SIGTERM sent; until all have ended, or the grace has */
	SHIM_KILLING /* SIGKILL sent to all that is left */
};

/*
 * shim-preempt.c: whether Slurm takes the place of this job for another one.  It
 * runs squeue, which shim_preempt_end kills; it is a child like any other.
 */
struct shim_preempt {
	int64_t every_ms; /* 0 = nobody can take it, or another one asks */
	int64_t last; /* ask all the same when srun has ended */
	int64_t at_ms; /* the next call of shim_preempt_run; -1 = none */
	pid_t pid; /* of squeue; 0 = none */
	int fd; /* its answer; -1 = none is waited for */
	char text[64];
	size_t len;
	char looks[32]; /* what was last in SHIM_LOOKS_FILE */
	int64_t ask_at_ms;
	bool steps; /* srun was seen */
	int64_t steps_at_ms, steps_wait_ms; /* until it is: the next look */
};
void shim_preempt_begin(struct shim_preempt *, int64_t now_ms);
void shim_preempt_run(struct shim_preempt *, int64_t now_ms);
/* Read the answer, when fd can be read: true: Slurm takes it. */
bool shim_preempt_heard(struct shim_preempt *, int64_t now_ms);
void shim_preempt_reaped(struct shim_preempt *, pid_t);
/* Do not ask any more. */
void shim_preempt_end(struct shim_preempt *);
/*
 * The program has ended by itself: whether it was told by Slurm, because srun had
 * started it.  Waits for the answer, for a few seconds at most.
 */
bool shim_preempt_last(struct shim_preempt *);

/* An output file whose head may be punched out. */
struct shim_log {
	int fd;
	off_t size; /* at the last check */
	off_t punched; /* bytes punched out */
};

struct shim {
	/* Arguments from the server. */
	const char *dir;
	const char *uuid;
	const char *workdir;
	const char *cgroup; /* "" when there is none */
	const char *from; /* folder of the trial to continue, or NULL */
	const char *cpus; /* cores to run on, "0-3,8"; "" = any */
	/*
	 * A folder of the repository of which the attempt gets a worktree, or
	 * NULL; the hash of the commit; the refs below which one keeps it; the
	 * folder of study.json.
	 */
	const char *source, *commit, *source_refs, *source_base;
	int64_t source_drop; /* whether it is removed at the end */
	char source_dir[PATH_MAX]; /* the working folder in it */
	char **argv;
	int64_t from_trial; /* number of that trial */
	int64_t grace_ms;
	int64_t max_run_ms; /* 0 = no limit */
	int64_t memory; /* bytes, 0 = no limit */
	int64_t log_cap; /* bytes, 0 = no cap */
	/*
	 * Number of inherited descriptors from 3 on: locks that last as long as
	 * the supervisor.  Closed in the trial.
	 */
	int64_t hold_fds;
	/*
	 * The folder is on a file system that machines share, whose locks may
	 * not reach from one to the other: shim-shared.c.
	 */
	int64_t shared;
	/*
	 * Number of the trial, if its folder was made ahead and everything in it
	 * is on the disk; 0 = it was not.
	 */
	int64_t made;

	/*
	 * Gets a byte when the end is announced, and before it the answer of the
	 * warm process, if there is one; -1 = nobody listens.
	 */
	int server_fd;
	pid_t warm; /* the child that may be the program; 0 = none */
	int64_t
	    node_fd; /* of hpotune-node, which may have another one; 0 = no */
	int64_t warm_skip; /* words before the arguments of a warm program */
	int dir_fd, state_fd, lock_fd;
	int signal_fd, timer_fd;
	int exec_fd; /* receives the error of exec; -1 when done */
	struct shim_log log, metrics;

	enum shim_phase phase;
	bool reaped; /* the main process was reaped or never existed */
	pid_t pid;
	int64_t now_ms; /* CLOCK_BOOTTIME */
	int64_t started_ms; /* the same clock */
	int64_t run_until_ms; /* each -1 when not set */
	int64_t kill_at_ms;
	int64_t output_at_ms, output_wait_ms;
	int64_t sweep_at_ms, sweep_wait_ms;
	int64_t kill_began_ms;
	/* Retry of a program that could not be executed. */
	int64_t start_at_ms; /* -1 when not set */
	int64_t start_wait_ms;
	int64_t start_until_ms;
	int64_t shared_at_ms, beat_at_ms; /* each -1 when not set */
	int64_t beats;
	struct shim_preempt preempt;
	bool steps; /* srun ran as the killing began */
	struct stop_tree *stop_tree; /* whom the stop has reached */
	struct claim claim;
	struct attempt_exit exit;
};

/*
 * shim-ahead.c: make these folders, which must not exist, below dir, each as
 * that of a trial before its first claim, and sync them.  A first name "gpus":
 * with the empty file of that name, for trials that have GPUs.  0, or an errno.
 */
int shim_ahead(const char *dir, char *const *names);

/*
 * shim-wait.c: wait for the arguments of an attempt, and for its environment,
 * which becomes ours.  NULL: exit with *status; 0 = the server has ended.
 */
char **shim_wait(char **argv, int *server, int *status);

/*
 * shim-warm.c: let the child that waits for the program be it: true: it is, as
 * s->pid.  False: there is none, or it has ended without an instruction of the
 * program.
 */
bool shim_warm_begin(struct shim *);
/* The child that the last argument (or NULL) names, 0 = none. */
pid_t shim_warm_child(const char *word);

/*
 * shim-hand-over.c: ask hpotune-node by this socket for another supervisor with our
 * arguments and environment.  True: it has the attempt, and we are to end.  The
 * socket is closed.
 */
bool shim_hand_over(int64_t fd, char **argv);

/* shim-record.c: 0, or the exit status of the shim. */
int shim_record_claim(struct shim *);
void shim_record_update(struct shim *, enum claim_kind);
/*
 * Retries until the record is on the disk: 0, or EROFS if that is impossible.
 */
int shim_record_exit(struct shim *);

/*
 * shim-shared.c: the claim by link(2), which is atomic on every shared file
 * system: 0, or the exit status of the shim.
 */
int shim_shared_claim(struct shim *);
/* What the server asks for by the file SHIM_STOP_FILE. */
enum shim_wish {
	SHIM_WISH_NONE,
	SHIM_WISH_PREEMPT,
	SHIM_WISH_STOP,
	SHIM_WISH_KILL
};
/* Look for it, and show in SHIM_BEAT_FILE that the supervisor lives. */
enum shim_wish shim_shared_look(struct shim *);

/* shim-checkpoint-copy.c: copy it: 0, or -1 with the exit record filled. */
int shim_checkpoint_copy(struct shim *);

/* The worktree, in the folder of an attempt. */
#define SHIM_SOURCE "source"
/*
 * shim-source.c: make it, and set workdir to its place in it: 0, or -1 with the exit
 * record filled.  Without source 0.
 */
int shim_source_make(struct shim *);
/* Remove it, when the attempt has ended. */
void shim_source_drop(struct shim *);

/* shim-spawn.c: the start of the trial. */
/* Message of a child that could not execute the trial, through exec_fd. */
struct shim_exec_error {
	int error; /* errno */
	bool in_chdir;
};
/*
 * Fork the trial.  If that or its exec fails, schedule a retry (start_at_ms),
 * or fill the exit record.
 */
void shim_spawn(struct shim *);
/*
 * Bind a process (0 = this one) to those of these cores that it may use, "0-3,8",
 * unless none is.
 */
void shim_spawn_bind(pid_t, const char *list);
/* The child is the program of the trial. */
void shim_spawn_done(struct shim *);
/* The child could not execute the trial: the same. */
void shim_spawn_failed(struct shim *, const struct shim_exec_error *);
/*
 * The end time: start time plus elapsed time, so that a clock adjustment does
 * not change the duration.
 */
int64_t shim_ended_us(const struct shim *);

/* shim-log-cap.c: punch out what exceeds the cap; sets output_at_ms. */
void shim_log_cap_check(struct shim *);

#endif /* HPOTUNE_SHIM_H */
