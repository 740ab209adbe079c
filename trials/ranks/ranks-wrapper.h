/* Ranks started by an external launcher. */

#ifndef HPOTUNE_RANKS_WRAPPER_H
#define HPOTUNE_RANKS_WRAPPER_H

#include <stdbool.h>

#include "trials/ranks/ranks.h"

/* Register the pid of a rank; pid 0: it has ended. */
void ranks_wrapper_register(int dir_fd, int rank, pid_t pid);
/*
 * Send SIGTERM to each rank of a launcher: false when some have not registered
 * yet.
 */
bool ranks_wrapper_signal(const struct ranks *);
/* Whether the ranks of all nodes have registered, and handle the signal. */
bool ranks_wrapper_all(const struct ranks *);
void ranks_wrapper_forget(const struct ranks *);

#endif /* HPOTUNE_RANKS_WRAPPER_H */
