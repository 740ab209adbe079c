/* Starts one process of a trial. */

#ifndef HPOTUNE_RANKS_SPAWN_H
#define HPOTUNE_RANKS_SPAWN_H

#include "trials/ranks/ranks.h"

/* Start a process: 0, or an errno. */
int ranks_spawn(struct ranks *, struct rank *);

#endif /* HPOTUNE_RANKS_SPAWN_H */
