/* Output files of the processes. */

#ifndef HPOTUNE_RANKS_OUTPUT_H
#define HPOTUNE_RANKS_OUTPUT_H

#include <stddef.h>

#include "trials/ranks/ranks.h"

/*
 * File name of the output: "rank-2.log", "ps-0.log"; rank 0 and launchers use
 * the trial's log.
 */
void ranks_output_name(char *text, size_t n, enum rank_role role, int number);
/* Redirect stdout and stderr of this process to the rank's file. */
int ranks_output_redirect(const struct ranks *, const struct rank *);
/* Punch out what exceeds the cap. */
void ranks_output_check(const struct ranks *);

#endif /* HPOTUNE_RANKS_OUTPUT_H */
