/*
 * hpotune-ranks: the processes of one trial, which start and end together.
 * Declarations shared by its files.
 */

#ifndef HPOTUNE_RANKS_H
#define HPOTUNE_RANKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "trials/process/port-lease.h"
#include "trials/process/stop-tree.h"

enum {
	RANKS_USAGE = 2, /* exit statuses of hpotune-ranks itself */
	RANKS_NO_START = 71, /* no ports, or fork failed */
	RANKS_NO_EXEC = 72, /* the command cannot be executed */
	RANKS_CAUSE = 160 /* size of the file with the cause */
};

/* The file, in the folder of the attempt, and what precedes a program there. */
#define RANKS_CAUSE_FILE "cause"
#define RANKS_CANNOT "cannot run "

struct launch_exit;
struct strv;

enum ranks_mode {
	RANKS_START, /* one process for each rank */
	RANKS_LAUNCHER, /* one process, which starts the ranks itself */
	RANKS_NODE, /* the same for the ranks of one node of several */
	RANKS_EACH /* wrapper of one rank of a launcher */
};

enum rank_role { RANK_WORKER, RANK_SERVER, RANK_LAUNCHER };

struct rank {
	enum rank_role role;
	int number; /* within its role */
	pid_t pid; /* 0: not started, or reaped */
	int status; /* as of waitpid */
	bool bad; /* it failed */
};

struct ranks_args {
	enum ranks_mode mode;
	const char *dir; /* of the attempt */
	const char *workdir; /* to be entered; NULL: it is there already */
	int64_t processes; /* on all nodes */
	/*
	 * The ranks are started through a launcher that reaches several nodes
	 * (srun, mpirun) and forwards SIGUSR2; 0: here, without one.
	 */
	int64_t nodes;
	int64_t servers; /* parameter servers */
	int64_t grace_ms;
	int64_t ports; /* minimum number to lease */
	int64_t place; /* preferred block */
	int64_t slots; /* number of trials that share this machine */
	int64_t cpus; /* cores of the trial; 0 = not set */
	int64_t log_cap; /* bytes of each file; 0 = no cap */
	char **argv;
};

struct ranks {
	struct ranks_args args;
	int dir_fd;
	struct port_lease lease;
	struct rank *rank;
	size_t n;
	int signal_fd;
	int node; /* mode RANKS_NODE: its number */
	bool told; /* SIGTERM was received and forwarded to all */
	bool ending; /* the remaining processes were signalled */
	const struct rank *cause; /* the first that failed, or NULL */
	int64_t kill_at_ms; /* each -1 when not set */
	int64_t output_at_ms; /* next check of the output files */
	/* next signal: some ranks of a launcher have not registered */
	int64_t signal_at_ms;
	int64_t signal_until_ms;
	int64_t cause_at_ms; /* next look for a failed rank on some node */
	bool far_failed; /* it was found */
	bool ending_told; /* the launcher got SIGTERM, before SIGKILL */
	int64_t servers_at_ms; /* the chief has ended: when to end the others */
	struct stop_tree *stop_tree; /* of the ranks that are children */
};

/* ranks-env.c: environment variables, set in the calling process. */
/* Variables of all processes: address of rank 0, threads per process. */
void ranks_env_all(const struct ranks_args *, int port);
/* Real root: not in a container or user namespace. */
bool ranks_env_is_root(void);
/* Variables of mpirun and torchrun about this machine. */
void ranks_env_launcher(int port);
/* Ranks of one node; 1 without nodes. */
int64_t ranks_env_per_node(const struct ranks_args *);
/* The number of this node of the job, from Slurm; and torchrun's name of it. */
int ranks_env_node(void);
/* Variables of this rank; called in the child. */
void
ranks_env_rank(const struct ranks_args *, int port, enum rank_role, int number);
/*
 * Set torch's names from those of Open MPI, MPICH or Slurm if they are missing;
 * returns the rank, or -1 when unknown.
 */
int ranks_env_translate(const struct ranks_args *);

/* ranks-words.c, for launchers */
/*
 * torchrun, as this python has it, or the first one in PATH (found), for this
 * command; add the words before it.
 */
void ranks_words_torchrun(struct strv *, const char *command, bool found,
    int64_t nodes, int64_t per_node);
/* The reason of an attempt in this folder whose first failed rank has one. */
void ranks_words_cause(const char *dir, struct launch_exit *);

/* ranks-first-failure.c: record and print why the trial failed. */
void ranks_first_failure(const struct ranks *, const struct rank *);
/* The same for a process that could not start. */
void ranks_first_failure_start(const struct ranks *, const char *why);

#endif /* HPOTUNE_RANKS_H */
