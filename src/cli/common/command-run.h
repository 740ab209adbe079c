/* Runs one command of the table: reads its options, and flushes what it prints. */

#ifndef HPOTUNE_COMMAND_RUN_H
#define HPOTUNE_COMMAND_RUN_H

struct cli_command;

/* argv: what stands after its name.  Its enum cli_status. */
int command_run(const struct cli_command *, int argc, char **argv);

#endif /* HPOTUNE_COMMAND_RUN_H */
