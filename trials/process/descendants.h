/* The descendants of a supervisor. */

#ifndef TRIALS_TREE_H
#define TRIALS_TREE_H

#include <sys/types.h>

/*
 * SIGKILL to every descendant of root, a subreaper, that there is now; how
 * many there were.
 */
int tree_kill(pid_t root);

#endif /* TRIALS_TREE_H */
