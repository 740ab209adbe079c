/* Kills the descendants of a supervisor. */

#ifndef HPOTUNE_DESCENDANTS_H
#define HPOTUNE_DESCENDANTS_H

#include <sys/types.h>

/*
 * SIGKILL to every current descendant of root, which must be a subreaper.
 * Returns their number.
 */
int descendants_kill(pid_t root);

#endif /* HPOTUNE_DESCENDANTS_H */
