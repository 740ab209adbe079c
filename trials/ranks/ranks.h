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

enum {
	RANKS_USAGE = 2, /* exit statuses of hpotune-ranks itself */
	RANKS_NO_START = 71, /* no ports, or fork failed */
	RANKS_NO_EXEC = 72, /* the command cannot be executed */
	RANKS_CAUSE = 160 /* size of the file with the cause */
};

/* Precedes the program in that file. */
#define RANKS_CANNOT "cannot run "

enum ranks_mode {
	RANKS_START, /* one process for each rank */
	RANKS_LAUNCHER, /* one process, which starts the ranks itself */
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
	int64_t processes;
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
	bool told; /* SIGTERM was received and forwarded to all */
	bool ending; /* the remaining processes were signalled */
	const struct rank *cause; /* the first that failed, or NULL */
	int64_t kill_at_ms; /* each -1 when not set */
	int64_t output_at_ms; /* next check of the output files */
	/* next signal: some ranks of a launcher have not registered */
	int64_t signal_at_ms;
	int64_t signal_until_ms;
	int64_t servers_at_ms; /* the chief has ended: when to end the others */
};

/* ranks-env.c: environment variables, set in the calling process. */
/* Variables of all processes: address of rank 0, threads per process. */
void ranks_env_all(const struct ranks_args *, int port);
/* Real root: not in a container or user namespace. */
bool ranks_env_is_root(void);
/* Variables of mpirun and torchrun about this machine. */
void ranks_env_launcher(int port);
/* Variables of this rank; called in the child. */
void
ranks_env_rank(const struct ranks_args *, int port, enum rank_role, int number);
/*
 * Set torch's names from those of Open MPI or MPICH if they are missing;
 * returns the rank, or -1 when unknown.
 */
int ranks_env_translate(void);
/* TF_CONFIG of one task; the caller frees it. */
char *ranks_env_tf_config(
    const struct ranks_args *, int port, enum rank_role, int number);

/* ranks-main.c */
/*
 * File name of the output: "rank-2.log", "ps-0.log"; rank 0 and launchers use
 * the trial's log.
 */
void ranks_output_name(char *, size_t, enum rank_role, int number);

/* ranks-main.c */

/* ranks-main.c: ranks started by an external launcher. */

/* ranks-first-failure.c: record and print why the trial failed. */
void ranks_first_failure(const struct ranks *, const struct rank *);
/* The same for a process that could not start. */
void ranks_first_failure_start(const struct ranks *, const char *why);

#endif /* HPOTUNE_RANKS_H */
