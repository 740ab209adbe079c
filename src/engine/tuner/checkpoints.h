/*
 * Checkpoints of ended trials that are no longer needed are deleted ("keep").
 * The decision and its event are recorded in a turn; after the commit the folder
 * is renamed into NAME.d/trials/trash, whose contents a child process deletes.
 */

#ifndef HPOTUNE_CHECKPOINTS_H
#define HPOTUNE_CHECKPOINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct loop_fd;
struct request;
struct tuner;

/* A trial that has ended and has a checkpoint. */
struct checkpoint {
	int64_t trial, bytes;
};

/* All zero: none.  checkpoints.c alone writes it. */
struct checkpoints {
	struct checkpoint *list;
	size_t n, cap;
	bool *seen; /* per trial, from 1: whether its folder was looked at */
	size_t n_seen;
	int64_t ends; /* ended trials at the last decision, + 1 */
	bool final; /* the decision at the end of the study was made */
	int64_t *doomed; /* to be renamed after the commit */
	size_t n_doomed, doomed_cap;
	pid_t child; /* deletes the trash; 0 = none */
	int child_fd;
	struct loop_fd *watch;
	bool stuck; /* the trash cannot be deleted */
};

/* Decide and record, when a trial has ended since the last time. */
void checkpoints_settle(struct tuner *);
/* hpotune clean; params: {"dry_run": true}. */
void checkpoints_clean(struct tuner *, struct request *);
/* After the commit. */
void checkpoints_delete(struct tuner *);
/* A command without a server waits until the trash is empty. */
void checkpoints_close(struct tuner *);

#endif /* HPOTUNE_CHECKPOINTS_H */
