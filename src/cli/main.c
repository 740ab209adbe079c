/* The command table: finds the command and runs it.  Knows no command. */

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/cli/cli.h"

static const struct cli_option start_options[] = {
	{ "detach", 'd', NULL, "run in the background" },
	{ "trials", 'n', "N", "instead of limits.trials" },
	{ "parallel", 'p', "N", "instead of limits.parallel" },
	{ "state", 0, "DIR",
	    "keep NAME.db and NAME.d there, not beside study.json" },
	{ "quiet", 'q', NULL, "print nothing but warnings and errors" },
	{ "network-fs", 0, NULL,
	    "accept a state folder on a shared file system" },
	{ NULL },
};

static const struct cli_option stop_options[] = {
	{ "now", 0, NULL, "without the grace of the trials" },
	{ NULL },
};

const struct cli_command cli_commands[] = {
	{ .name = "start",
	    .args = "STUDY",
	    .about = "create or resume a study and run it to its limits",
	    .options = start_options,
	    .max_operands = 1,
	    .json = true,
	    .run = cmd_start },
	{ .name = "stop",
	    .args = "[STUDY] [N...]",
	    .about = "stop the server, or single trials",
	    .options = stop_options,
	    .max_operands = 1024,
	    .json = true,
	    .run = cmd_stop },
	{ .name = "pause",
	    .args = "[STUDY]",
	    .about = "place no further trials until resume",
	    .max_operands = 1,
	    .json = true,
	    .run = cmd_pause },
	{ .name = "resume",
	    .args = "[STUDY]",
	    .about = "place trials again, in drained slots too",
	    .max_operands = 1,
	    .json = true,
	    .run = cmd_resume },
	{ .name = "enqueue",
	    .args = "[STUDY] NAME=VALUE...",
	    .about = "try this setting next; what is not named is suggested",
	    .max_operands = 1024,
	    .json = true,
	    .run = cmd_enqueue },
	{ .name = "help",
	    .args = "[COMMAND]",
	    .about = "print this list, or all about one command",
	    .max_operands = 1,
	    .run = cmd_help },
	{ .name = "version", .about = "print the version", .run = cmd_version },
	{ .name = NULL },
};

int
cmd_version(struct cli *cli)
{
	(void)cli;
	puts(PACKAGE_STRING);
	return CLI_DONE;
}

/* Like err_set, with the nearest command when one is near. */
static int
command_unknown(const char *name, struct err *e)
{
	const char *near, *names[64];
	size_t i;

	for (i = 0; cli_commands[i].name != NULL; i++)
		names[i] = cli_commands[i].name;
	names[i] = NULL;
	if ((near = text_nearest(name, names)) != NULL)
		return err_set(e, ERR_USAGE,
		    "%s: no such command: did you mean %s?", name, near);
	return err_set(
	    e, ERR_USAGE, "%s: no such command: hpotune help lists them", name);
}

int
cmd_help(struct cli *cli)
{
	const struct cli_command *command;
	struct err e = ERR_INIT;

	if (cli->n_operands == 0) {
		cli_usage(stdout);
		return CLI_DONE;
	}
	command = cli_command_find(cli->operands[0]);
	if (command == NULL) {
		(void)command_unknown(cli->operands[0], &e);
		return cli_fail(&e);
	}
	cli_usage_command(stdout, command);
	return CLI_DONE;
}

/* What stdout can show. */
static void
terminal_look(struct cli *cli)
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

/* Output that could not be written is a failure, not a silence. */
static int
output_flush(int status)
{
	struct err e = ERR_INIT;

	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	(void)err_set(&e, ERR_FILE, "standard output: %s", strerror(errno));
	return cli_fail(&e);
}

static int
command_run(const struct cli_command *command, int argc, char **argv)
{
	struct cli cli = { .command = command };
	struct err e = ERR_INIT;
	int status;

	terminal_look(&cli);
	if (cli_parse(&cli, argc, argv, &e) == -1)
		status = cli_fail(&e);
	else if (cli_has(&cli, "help")) {
		cli_usage_command(stdout, command);
		status = CLI_DONE;
	} else
		status = command->run(&cli);
	cli_fini(&cli);
	return output_flush(status);
}

int
main(int argc, char **argv)
{
	const struct cli_command *command;
	struct err e = ERR_INIT;
	const char *name;

	(void)setlocale(LC_CTYPE, "");
	if (argc < 2) {
		cli_usage(stderr);
		return CLI_USAGE;
	}
	name = argv[1];
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		name = "help";
	else if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
		name = "version";
	if (name[0] == '-') {
		(void)err_set(&e, ERR_USAGE,
		    "%s: options come after the command: hpotune help lists "
		    "commands",
		    name);
		return cli_fail(&e);
	}
	if ((command = cli_command_find(name)) == NULL) {
		(void)command_unknown(name, &e);
		return cli_fail(&e);
	}
	return command_run(command, argc - 2, argv + 2);
}
