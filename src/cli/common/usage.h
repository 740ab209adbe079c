/* The usage of the program and of each command, from the command table. */

#ifndef HPOTUNE_USAGE_H
#define HPOTUNE_USAGE_H

#include <stdio.h>

struct cli_command;

/* All commands. */
void usage_put(FILE *);
/* One command, with its arguments and options. */
void usage_put_command(FILE *, const struct cli_command *);

#endif /* HPOTUNE_USAGE_H */
