/* Operands and options of a command, checked against its row of the table. */

#ifndef HPOTUNE_COMMAND_OPTIONS_H
#define HPOTUNE_COMMAND_OPTIONS_H

struct cli;
struct err;

/*
 * Split argv, without the command's name, into operands and options, which
 * command_options_free frees, also after an error.  ERR_USAGE.
 */
int command_options_parse(struct cli *, int argc, char **argv, struct err *);
void command_options_free(struct cli *);

#endif /* HPOTUNE_COMMAND_OPTIONS_H */
