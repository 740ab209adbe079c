/*
 * A simulated cluster: the jobs of one user on a virtual clock, what the
 * programs of Slurm answer about them, truly or not, and what nodes write into
 * the folders of attempts.  sim-capture.c has capture.h's functions, so that
 * the backend for Slurm is the real one and runs no process.
 */

#ifndef HPOTUNE_SIM_CLUSTER_H
#define HPOTUNE_SIM_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/rng.h"

struct buf;
struct loop;
struct loop_timer;

enum { CLUSTER_STEPS = 16, CLUSTER_NEVER = -1 };

/* Shares, 0 to 1. */
struct cluster_faults {
	double empty; /* lists that have no row */
	double old; /* lists that are that of an earlier query again */
	double others; /* lists of the jobs of another user */
	double drops; /* of rows, in lists */
	double refuses; /* of squeue and scancel: an error */
	double hangs; /* of all programs: killed for its time */
	double lost; /* of sbatch: its answer, though it was accepted */
	double unsent; /* of sbatch: the same answer, and it was not */
	double down; /* of sbatch: no controller */
	double quota; /* of sbatch: too many jobs of this user */
	double nodes; /* of sbatch: no such node now */
	double hidden; /* of jobs: not in any list, but found by their number */
	double blind; /* … of those, not by their number either */
	double forgets; /* of jobs, when they run: no longer known */
	double drains; /* of jobs that wait: no longer known, never begin */
	double node; /* of runs: their node fails */
	double preempts; /* of runs */
	double launch; /* of jobs: the node cannot start it */
	double again; /* of jobs that run: started once more, elsewhere */
	double fail; /* of runs: exit with 1 */
	int64_t wait_ms; /* in the queue, at most */
	int64_t clock_s; /* by which its clock differs */
	bool odd_times; /* in another format */
	bool no_sacct;
	bool renames; /* all jobs, which keep their comments */
};

/* What a program did that ran on a node: the true history of an attempt. */
struct cluster_run {
	char uuid[40];
	int64_t trial;
	int attempt;
	int64_t started_ms, ended_ms; /* of the loop; CLUSTER_NEVER = runs */
	bool stopped; /* somebody asked it to end */
	bool recorded; /* its supervisor has recorded its end */
	int code, signal;
	int64_t steps; /* that it has written, from 1 */
};

enum cluster_state {
	CLUSTER_PENDING,
	CLUSTER_RUNNING,
	CLUSTER_COMPLETED,
	CLUSTER_FAILED,
	CLUSTER_CANCELLED,
	CLUSTER_NODE_FAIL,
	CLUSTER_PREEMPTED
};

struct cluster_job {
	struct cluster *cluster;
	int64_t id;
	char *name, *uuid, *dir; /* as sbatch was told */
	int64_t trial;
	int attempt;
	enum cluster_state state;
	bool launch_failure; /* why it has failed */
	bool hidden, known; /* known: to the controller */
	int64_t submitted_ms, ended_ms;
	char node[16];
	size_t run; /* index among the runs; SIZE_MAX = none */
	int64_t unwanted_ms; /* for t_sim_slurm.c */
	bool excused; /* … */
	/* What is to come, in sim-node.c. */
	struct loop_timer *timer;
	int64_t steps, wait_ms; /* of the program; between two of them */
	int64_t step_ms, beat_ms; /* when the next one is due */
	int64_t kill_ms; /* CLUSTER_NEVER = not stopped */
	int64_t beats, grace_ms;
	int64_t dies_at; /* after this many steps; CLUSTER_NEVER */
	enum cluster_state dies_as;
	bool fails;
};

struct cluster {
	struct loop *loop;
	struct rng dice;
	struct cluster_faults faults;
	struct cluster_job **jobs;
	size_t n, cap;
	struct cluster_run *runs;
	size_t n_runs, cap_runs;
	int64_t last_id;
	int64_t boot_ms; /* when the controller was started */
	char *list; /* of an earlier query, or NULL */
	bool dead; /* the server was killed: it runs no program */
	int submits, lies, cancels; /* counted for the summary */
};

struct cluster *
cluster_new(struct loop *, uint64_t seed, const struct cluster_faults *);
void cluster_free(struct cluster *);
/* Draw whether something with this share happens now; a number below n. */
bool cluster_chance(struct cluster *, double share);
int64_t cluster_below(struct cluster *, int64_t n);
/* Of a job with this id that the controller knows; or NULL. */
struct cluster_job *cluster_find(const struct cluster *, int64_t id);
/* The job is over; it is shown for five minutes. */
void cluster_over(struct cluster_job *, enum cluster_state);

/*
 * What a program of Slurm does and says, with its arguments from argv[0]; its
 * status as of waitpid, or -1: it hangs.  For squeue and others *effect is false;
 * for sbatch and scancel true: cluster_apply does it, at some time.
 */
int cluster_answer(
    struct cluster *, char *const *argv, struct buf *out, bool *effect);
/* Do what this sbatch or scancel is for; the id of a new job, or 0. */
int64_t cluster_apply(struct cluster *, char *const *argv);

/* sim-node.c: a job begins when its time has come. */
void cluster_node_plan(struct cluster_job *);
/* The job was told to end: at once, or with its grace. */
void cluster_node_stop(struct cluster_job *, bool now);

/* sim-capture.c: what the programs of this cluster are run by from now on. */
void cluster_use(struct cluster *);

#endif /* HPOTUNE_SIM_CLUSTER_H */
