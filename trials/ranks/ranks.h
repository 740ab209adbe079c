/*
 * hpotune-ranks: the processes of one trial, which begin together and end
 * together.  What its files share.
 */

#ifndef HPOTUNE_RANKS_H
#define HPOTUNE_RANKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "trials/process/port-lease.h"

enum {
	RANKS_USAGE = 2, /* exit statuses of its own */
	RANKS_NO_START = 71, /* no ports, or no process could be made */
	RANKS_NO_EXEC = 72, /* the command cannot be executed */
	RANKS_CAUSE = 160 /* bytes of the file that says the cause */
};

/* Before the program, in the file of the cause. */
#define RANKS_CANNOT "cannot run "

enum ranks_mode {
	RANKS_START, /* one process for each rank */
	RANKS_LAUNCHER, /* one process, which starts the ranks itself */
	RANKS_EACH /* one rank of a launcher */
};

enum rank_role { RANK_WORKER, RANK_SERVER, RANK_LAUNCHER };

struct rank {
	enum rank_role role;
	int number; /* among those of its role */
	pid_t pid; /* 0: none, or it is reaped */
	int status; /* as of waitpid */
	bool bad; /* its end is a failure */
};

struct ranks_args {
	enum ranks_mode mode;
	const char *dir; /* of the attempt */
	int64_t processes;
	int64_t servers; /* parameter servers */
	int64_t grace_ms;
	int64_t ports; /* to lease, at least */
	int64_t place; /* which block of them is preferred */
	int64_t slots; /* trials that share this machine */
	int64_t cpus; /* of the trial; 0 = not given */
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
	bool told; /* SIGTERM came: everybody has it */
	bool ending; /* so has everybody but who failed, or is done */
	const struct rank *cause; /* who failed first, or NULL */
	int64_t kill_at_ms; /* each -1 when not set */
	int64_t output_at_ms; /* look at the files */
	int64_t signal_at_ms; /* some ranks of a launcher are not there yet */
	int64_t signal_until_ms;
	int64_t servers_at_ms; /* the chief is done: end the others then */
};

/* ranks-args.c: a mode, "name=value"s, "--" and the command. */
bool ranks_args_read(struct ranks_args *, char **argv);

/* ranks-env.c: the environment, of this process or of one to be. */
/* What all have: where rank 0 is, and how many threads each may take. */
void ranks_env_all(const struct ranks_args *, int port);
/* Real root: not that of a container or of a user's own name space. */
bool ranks_env_is_root(void);
/* What mpirun and torchrun are told about this machine. */
void ranks_env_launcher(int port);
/* Who this rank is; it is a child that becomes it. */
void
ranks_env_rank(const struct ranks_args *, int port, enum rank_role, int number);
/*
 * torch's names from those of Open MPI or MPICH, where they are missing; the
 * rank, or -1 when nothing says it.
 */
int ranks_env_translate(void);
/* TF_CONFIG of one task; the caller frees it. */
char *ranks_env_tf_config(
    const struct ranks_args *, int port, enum rank_role, int number);

/* ranks-output.c */
/* "rank-2.log"; rank 0 and a launcher have the log of the trial. */
void ranks_output_name(char *, size_t, enum rank_role, int number);
/* What this process prints goes where that of the rank does. */
int ranks_output_redirect(const struct ranks *, const struct rank *);
/* Give back what is beyond the cap. */
void ranks_output_check(const struct ranks *);

/* ranks-spawn.c */
/* Start one: 0, or an errno. */
int ranks_spawn(struct ranks *, struct rank *);

/* ranks-wrapper.c: ranks that somebody else has started. */
/* Be found by the number of the rank; with pid 0, it is over. */
void ranks_wrapper_register(int dir_fd, int rank, pid_t);
/* SIGTERM to each of a launcher's: false when some are still to come. */
bool ranks_wrapper_signal(const struct ranks *);
void ranks_wrapper_forget(const struct ranks *);

/* ranks-first-failure.c: write down, and say, why the trial failed. */
void ranks_first_failure(const struct ranks *, const struct rank *);
/* It could not begin. */
void ranks_first_failure_start(const struct ranks *, const char *why);

#endif /* HPOTUNE_RANKS_H */
