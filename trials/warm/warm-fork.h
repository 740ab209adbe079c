/*
 * A supervisor and the trial below it, made by a warm process (python/hpotune_warm.py,
 * which has this structure, too).
 */

#ifndef HPOTUNE_WARM_FORK_H
#define HPOTUNE_WARM_FORK_H

#include <sched.h>
#include <stddef.h>
#include <sys/types.h>

/* Everything is borrowed until the call returns. */
struct warm_fork {
	const char *path; /* of the supervisor's program */
	char *const *argv, *const *env;
	char *number; /* in a word of argv: gets the process id of the trial */
	const cpu_set_t *cores; /* of the supervisor; cores_size bytes */
	size_t cores_size;
	int server; /* its socket to the server, as descriptor 3 */
	int trial; /* its socket to the trial, as descriptor trial_as */
	int trial_as; /* more than 4 */
	int folder,
	    output; /* its working folder and output; -1 = as ours, none */
};

/*
 * Make both.  Returns twice: the process id of the supervisor, a child of the caller's
 * parent, or -1 with errno; and 0 in the trial, its child.
 */
pid_t warm_fork(const struct warm_fork *);

#endif /* HPOTUNE_WARM_FORK_H */
