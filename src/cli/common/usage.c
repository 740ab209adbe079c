/* The usage, printed from the command table. */

#include <stdio.h>
#include <string.h>

#include "src/cli/common/cli.h"

/* Columns of "-f, --name VALUE". */
static int
option_head(char *buf, size_t n, const struct cli_option *row)
{
	char letter[8] = "    ";

	if (row->letter != 0)
		(void)snprintf(letter, sizeof letter, "-%c, ", row->letter);
	return snprintf(buf, n, "  %s--%s%s%s", letter, row->name,
	    row->value != NULL ? " " : "",
	    row->value != NULL ? row->value : "");
}

void
cli_usage(FILE *out)
{
	const struct cli_command *command;
	char head[128];
	int width = 0, n;

	fputs("usage: hpotune COMMAND [STUDY] ...\n\n", out);
	for (command = cli_commands; command->name != NULL; command++) {
		n = snprintf(head, sizeof head, "%s%s%s", command->name,
		    command->args != NULL ? " " : "",
		    command->args != NULL ? command->args : "");
		if (n > width)
			width = n;
	}
	for (command = cli_commands; command->name != NULL; command++) {
		(void)snprintf(head, sizeof head, "%s%s%s", command->name,
		    command->args != NULL ? " " : "",
		    command->args != NULL ? command->args : "");
		fprintf(out, "  %-*s  %s\n", width, head, command->about);
	}
	fputs("\nSTUDY is study.json, NAME.db, or absent when the "
	      "folder has exactly one.\nhpotune COMMAND --help "
	      "describes one command.\nExit status: 0 done; 1 "
	      "failed; 2 usage or study.json wrong; 3 "
	      "interrupted.\n",
	    out);
}

void
cli_usage_command(FILE *out, const struct cli_command *command)
{
	const struct cli_option *row;
	char head[128];
	int width = 0, n;
	size_t i;

	fprintf(out, "usage: hpotune %s [OPTION]...%s%s\n\n%s\n\n",
	    command->name, command->args != NULL ? " " : "",
	    command->args != NULL ? command->args : "", command->about);
	for (i = 0; (row = cli_option_row(command, i)) != NULL; i++)
		if ((n = option_head(head, sizeof head, row)) > width)
			width = n;
	for (i = 0; (row = cli_option_row(command, i)) != NULL; i++) {
		if (row->about == NULL)
			continue;
		(void)option_head(head, sizeof head, row);
		fprintf(out, "%-*s  %s\n", width, head, row->about);
	}
}
