/*
 * Warm starts in a job of several trials: hpotune-node has the warm process of the
 * study (trials/warm/warm-process.h), and supervisors of it for the attempts whose
 * scripts ask for one (trials/shim/shim-hand-over.c).
 */

#ifndef HPOTUNE_NODE_WARM_H
#define HPOTUNE_NODE_WARM_H

#include "trials/warm/warm-process.h"

struct node_warm {
	bool known; /* process is that of a command */
	struct warm_process process;
	size_t noted; /* of the notes of the process were written */
	const char *dir; /* of the job */
};

/*
 * Read a request and answer it: the supervisor that has the attempt, a child of
 * ours, and a socket with its word about its start; or 0: who asks starts cold.
 */
pid_t node_warm_answer(struct node_warm *, int fd, int *word_fd);
/* Write what is to be noted into NODE_WARM_NOTES. */
void node_warm_notes_write(struct node_warm *);
void node_warm_close(struct node_warm *);

#endif /* HPOTUNE_NODE_WARM_H */
