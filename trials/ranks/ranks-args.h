/* Arguments of hpotune-ranks. */

#ifndef HPOTUNE_RANKS_ARGS_H
#define HPOTUNE_RANKS_ARGS_H

#include <stdbool.h>

#include "trials/ranks/ranks.h"

/* Parse a mode, "name=value" words, "--" and the command. */
bool ranks_args_read(struct ranks_args *, char **argv);
/* Whether the child of this program is a launcher, which starts the ranks. */
bool ranks_args_is_launcher(const struct ranks *);
/* … also on other nodes: it is asked to forward a signal. */
bool ranks_args_is_far(const struct ranks *);

#endif /* HPOTUNE_RANKS_ARGS_H */
