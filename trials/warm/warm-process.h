/*
 * A process that has imported what trials of Python import
 * (python/hpotune_warm.py), and makes supervisors with a child that becomes the
 * program.  Such a supervisor is a child of this process and is hpotune-shim, so
 * all that follows a start is as for other ones.  Whatever keeps a trial from a warm
 * start, it starts cold.
 */

#ifndef HPOTUNE_WARM_PROCESS_H
#define HPOTUNE_WARM_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "src/base/mem.h"

enum warm_process_state {
	WARM_PROCESS_OFF, /* trials start cold; as { 0 } */
	WARM_PROCESS_NONE, /* there is no process yet, or not any more */
	WARM_PROCESS_LOADING, /* it starts, or imports */
	WARM_PROCESS_READY
};

/* The files in its folder. */
#define WARM_PROCESS_SCRIPT "hpotune_warm.py"
#define WARM_PROCESS_FORK "warm-fork.so" /* what it makes processes with */
#define WARM_PROCESS_LISTED "listed" /* the modules, a line each, if given */
#define WARM_PROCESS_LEARNT "modules" /* those that a trial has shown */
#define WARM_PROCESS_LOG "log" /* its output */

struct warm_process {
	enum warm_process_state state;
	char **words; /* the interpreter and its options, ends with NULL */
	char *name; /* of the script or module */
	bool module;
	bool listed; /* WARM_PROCESS_LISTED has what to import, not LEARNT */
	char **modules; /* to write there; NULL: nothing is written */
	char *dir; /* the folder, which others cannot write */
	char **env; /* it was started with */
	pid_t pid; /* 0 = none runs */
	bool reaped; /* by the owner, whose child it is */
	int fd; /* has its answers; -1 = none runs */
	bool learning; /* a trial will show what else to import */
	bool renewed; /* supervisors made before are of no use any more */
	int failures; /* since the last warm start */
	struct strv notes; /* for the user, each once */
	/* Called before fd is closed, if set. */
	void (*closing)(void *arg);
	void *arg;
};

/*
 * Prepare it for a command whose word number at is the script or, behind -m, the
 * module.  Takes ownership of dir.
 */
void warm_process_open(struct warm_process *, char *dir, char *const *command,
    size_t at, bool module);
/* End it, and free all. */
void warm_process_close(struct warm_process *);
/*
 * Start it if none runs, for trials with this working folder, this environment and
 * these cores ("0-3,8", "" = all): true: it was started, and fd is new.
 */
bool warm_process_begin(struct warm_process *, const char *workdir,
    char *const *env, const char *cpus);
/* Read what it has answered: when fd can be read. */
void warm_process_hear(struct warm_process *);
/* Whether a trial with this environment can come from it; notes why not. */
bool warm_process_fits(struct warm_process *, char *const *env);
/*
 * Make a supervisor that waits (trials/shim/shim.h): the program, its arguments and
 * its environment.  fds: its socket, then, if n is 3, its working folder and its
 * output.  Waits for seconds at most.  Its process id, a child of ours, or 0.
 */
pid_t warm_process_fork(struct warm_process *, const char *program,
    char *const *argv, char *const *env, const int *fds, size_t n);
/* The word of such a supervisor about its start (SHIM_WARM_…). */
void warm_process_heard(struct warm_process *, const char *text);
/* Trials wait for its imports no longer: note that they start cold. */
void warm_process_slow(struct warm_process *, int seconds);
/* A trial has ended: let it import what that has imported, if it learns. */
void warm_process_learn(struct warm_process *);

#endif /* HPOTUNE_WARM_PROCESS_H */
