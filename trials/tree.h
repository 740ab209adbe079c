/* A supervisor's descendants. */

#ifndef TRIALS_TREE_H
#define TRIALS_TREE_H

/* SIGKILL to every descendant there is now; for a subreaper. */
void tree_kill(void);

#endif /* TRIALS_TREE_H */
