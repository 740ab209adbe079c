/* The usage of the program and of each command, from the command table. */

#include <stdio.h>
#include <string.h>

#include "src/cli/common/cli.h"
#include "src/cli/common/usage.h"

/* Columns of "-f, --name VALUE". */
static int
usage_head(char *buf, size_t n, const struct cli_option *row)
{
	char letter[8] = "    ";

	if (row->letter != 0)
		(void)snprintf(letter, sizeof letter, "-%c, ", row->letter);
	return snprintf(buf, n, "  %s--%s%s%s", letter, row->name,
	    row->value != NULL ? " " : "",
	    row->value != NULL ? row->value : "");
}

void
usage_put(FILE *out)
{
	const struct cli_command *command;
	int width = 0, n;
	size_t i;

	fputs("usage: hpotune COMMAND [STUDY] ...\n\n", out);
	for (i = 0; (command = cli_commands[i]) != NULL; i++)
		if ((n = (int)strlen(command->name)) > width)
			width = n;
	for (i = 0; (command = cli_commands[i]) != NULL; i++)
		fprintf(
		    out, "  %-*s  %s\n", width, command->name, command->about);
	fputs("\nSTUDY is study.json or NAME.db; it may be omitted when the "
	      "folder has only one.\n"
	      "hpotune COMMAND --help prints the arguments and options of a "
	      "command.\n"
	      "Exit status: 0 done; 1 failed; 2 usage or study.json wrong; 3 "
	      "interrupted.\n",
	    out);
}

void
usage_put_command(FILE *out, const struct cli_command *command)
{
	const struct cli_option *row;
	char head[128];
	int width = 0, n;
	size_t i;

	fprintf(out, "usage: hpotune %s [OPTION]...%s%s\n\n%s\n\n",
	    command->name, command->args != NULL ? " " : "",
	    command->args != NULL ? command->args : "", command->about);
	for (i = 0; (row = cli_option_row(command, i)) != NULL; i++)
		if ((n = usage_head(head, sizeof head, row)) > width)
			width = n;
	for (i = 0; (row = cli_option_row(command, i)) != NULL; i++) {
		if (row->about == NULL)
			continue;
		(void)usage_head(head, sizeof head, row);
		fprintf(out, "%-*s  %s\n", width, head, row->about);
	}
}
