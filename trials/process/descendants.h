/* The descendants of a supervisor. */

#ifndef HPOTUNE_DESCENDANTS_H
#define HPOTUNE_DESCENDANTS_H

#include <sys/types.h>

/*
 * SIGKILL to every descendant of root, a subreaper, that there is now; how
 * many there were.
 */
int descendants_kill(pid_t root);

#endif /* HPOTUNE_DESCENDANTS_H */
