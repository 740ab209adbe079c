/* hpotune help: all commands, or one. */

#include <stdio.h>

#include "src/base/err.h"
#include "src/cli/common/command-name.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/usage.h"

static int
help_run(struct cli *cli)
{
	const struct cli_command *command;
	struct err e = ERR_INIT;

	if (cli->n_operands == 0) {
		usage_put(stdout);
		return CLI_DONE;
	}
	command = command_name_find(cli->operands[0]);
	if (command == NULL) {
		(void)command_name_unknown(cli->operands[0], &e);
		return cli_fail(&e);
	}
	usage_put_command(stdout, command);
	return CLI_DONE;
}

const struct cli_command cmd_help = {
	.name = "help",
	.args = "[COMMAND]",
	.about = "this list, or the options of one command",
	.max_operands = 1,
	.run = help_run,
};
