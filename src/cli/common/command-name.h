/* Commands by their names, and what a word that is none may mean. */

#ifndef HPOTUNE_COMMAND_NAME_H
#define HPOTUNE_COMMAND_NAME_H

struct cli_command;
struct err;

/* The command of this name, or NULL. */
const struct cli_command *command_name_find(const char *);
/* Set the error for a name that is none, with the one probably meant; -1. */
int command_name_unknown(const char *, struct err *);

#endif /* HPOTUNE_COMMAND_NAME_H */
