/* Runs one command of the table. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/command-options.h"
#include "src/cli/common/command-run.h"
#include "src/cli/common/usage.h"

/* Determine what stdout can show. */
static void
command_run_terminal(struct cli *cli)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	struct winsize size;

	cli->terminal = isatty(STDOUT_FILENO);
	if (!cli->terminal)
		return;
	cli->colour = (no_color == NULL || *no_color == '\0') && term != NULL &&
		      strcmp(term, "dumb") != 0;
	cli->width = 80;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20)
		cli->width = size.ws_col;
}

/* Failing to write the output is an error. */
static int
command_run_flush(int status)
{
	struct err e = ERR_INIT;

	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	(void)err_set(&e, ERR_FILE, "standard output: %s", strerror(errno));
	return cli_fail(&e);
}

int
command_run(const struct cli_command *command, int argc, char **argv)
{
	struct cli cli = { .command = command };
	struct err e = ERR_INIT;
	int status;

	command_run_terminal(&cli);
	if (command_options_parse(&cli, argc, argv, &e) != 0)
		status = cli_fail(&e);
	else if (cli_has(&cli, "help")) {
		usage_put_command(stdout, command);
		status = CLI_DONE;
	} else
		status = command->run(&cli);
	command_options_free(&cli);
	return command_run_flush(status);
}
