/*
 * Whom the stop of a trial reaches.  What a supervisor starts may be the program
 * or something before it: a shell, a script, a launcher.  SIGTERM goes to the
 * main process.  What that does not pass on, this does:
 *
 *	a process that loses its parent in the stop and was not told is told;
 *	the foreground child of a shell that traps SIGTERM is told, because the
 *	shell waits for it before it runs the trap;
 *	the children of a process that ignores SIGTERM are told.
 *
 * Nobody is told twice, and nobody who began after the stop is told, unless no
 * process has a handler that can have started it.  One that
 * reads on its standard input what another process of the trial writes is told
 * when no writer is left: it ends by itself.  So is one that holds the terminal
 * of another one, or passes on what that prints, or has a handler and waits for a
 * child with one.
 *
 * Instead of srun, which would end its tasks by SIGKILL, the tasks are told: on
 * this machine like main processes, on several by scancel.
 *
 * The supervisor is a subreaper: it gets the orphans.  Its memory is all in the
 * struct; it calls nothing that waits.
 */

#ifndef HPOTUNE_STOP_TREE_H
#define HPOTUNE_STOP_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { STOP_TREE_MAX = 4096 /* further processes are not told */ };

/* What a process does at SIGTERM. */
enum stop_tree_way {
	STOP_TREE_DIES,
	STOP_TREE_CATCHES, /* by a handler, or it is blocked and waited for */
	STOP_TREE_IGNORES
};

struct stop_tree_one {
	pid_t pid, parent; /* as the stop began */
	int64_t start; /* as in proc_stat */
	enum stop_tree_way way; /* as the stop began */
	/* A script ignores both for a job that it puts behind. */
	bool no_int, no_quit;
	bool is_main;
	bool handler; /* of SIGTERM, as the stop began */
	bool shell;
	bool screen; /* others show something on it */
	bool relays; /* it reads what another one prints */
	bool terminal; /* its end is that of those below it */
	bool notebook; /* it ends when its parent does */
	bool node; /* its handler may be that which ends it */
	bool follows; /* it shows files while others write them */
	bool srun; /* it ends what it has started by SIGKILL */
	bool step; /* srun has started it, or what is below */
	bool to_group; /* it sends SIGTERM to the whole group of its child */
	bool told; /* it got SIGTERM, or is not to get it from here */
	bool waited; /* it has to be told after others, or had to */
	bool free; /* and need not wait any more */
	bool passed; /* its children were looked at */
	int looks; /* that found it at work */
	int64_t tell_at_ms; /* -1 = not planned */
};

struct stop_tree {
	struct stop_tree_one one[STOP_TREE_MAX];
	size_t n;
	pid_t root; /* the supervisor */
	bool
	    own_job; /* all that srun runs in this job of Slurm is of this tree */
	bool steps_told; /* what srun has started */
	pid_t scancel; /* tells it, and is not to be told; 0 = none */
	int64_t began_ticks; /* as in proc_stat */
	int64_t grace_ms;
	int64_t deaf_at_ms; /* when to look who took no notice; -1 = done */
	int64_t look_at_ms; /* when to look again; -1 = no stop has begun */
	int64_t look_wait_ms;
};

/* No stop has begun. */
void stop_tree_init(struct stop_tree *);
/*
 * Begin: the calling process is the supervisor, pid are its n main processes,
 * which are not reaped; 0 = none.  now_ms: milliseconds since boot.
 */
void stop_tree_begin(struct stop_tree *, const pid_t *pid, size_t n,
    int64_t grace_ms, int64_t now_ms);
/*
 * Tell whom it is time to tell.  To be called at look_at_ms, and after each end
 * of a child.  Does nothing when no stop has begun.
 */
void stop_tree_look(struct stop_tree *, int64_t now_ms);

#endif /* HPOTUNE_STOP_TREE_H */
