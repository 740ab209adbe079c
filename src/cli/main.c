/* The program: finds the command in the table, reads its options and runs it. */

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/cli/common/cli.h"
#include "src/store/store.h"

/* ---- the usage, from the command table ----------------------------------- */

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

static void
cli_usage(FILE *out)
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

/* Print the usage of a command. */
static void
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

/* ---- operands and options -------------------------------------------------- */

static int
option_unknown(const struct cli_command *command, const char *name, size_t len,
    struct err *e)
{
	const struct cli_option *row;
	const char *near, *names[64];
	char *word = xstrndup(name, len);
	size_t i;

	for (i = 0; (row = cli_option_row(command, i)) != NULL; i++)
		names[i] = row->name;
	names[i] = NULL;
	if ((near = text_nearest(word, names)) != NULL)
		(void)err_set(e, ERR_USAGE,
		    "%s: no option --%s: did you mean --%s?", command->name,
		    word, near);
	else
		(void)err_set(e, ERR_USAGE,
		    "%s: no option --%s: hpotune %s --help lists them",
		    command->name, word, command->name);
	free(word);
	return -1;
}

static void
option_give(struct cli *cli, const struct cli_option *row, const char *value)
{
	cli->given =
	    xreallocarray(cli->given, cli->n_given + 1, sizeof *cli->given);
	cli->given[cli->n_given].option = row;
	cli->given[cli->n_given++].value = value;
	if (row == &cli_option_json)
		cli->json = true;
}

/* --name, --name=value or --name value; next may be NULL. */
static int
parse_long(struct cli *cli, const char *arg, const char *next, bool *took,
    struct err *e)
{
	const char *name = arg + 2, *value = strchr(name, '=');
	size_t len = value != NULL ? (size_t)(value - name) : strlen(name);
	const struct cli_option *row;

	if ((row = cli_option_find(cli->command, name, len, 0)) == NULL)
		return option_unknown(cli->command, name, len, e);
	if (row->value == NULL && value != NULL)
		return err_set(e, ERR_USAGE, "%s: --%s takes no value",
		    cli->command->name, row->name);
	if (value != NULL)
		value++;
	else if (row->value != NULL) {
		if (next == NULL)
			return err_set(e, ERR_USAGE,
			    "%s: --%s requires a value: --%s %s",
			    cli->command->name, row->name, row->name,
			    row->value);
		value = next;
		*took = true;
	}
	option_give(cli, row, value);
	return 0;
}

/* -f, -fg, -nVALUE or -n VALUE. */
static int
parse_short(struct cli *cli, const char *arg, const char *next, bool *took,
    struct err *e)
{
	const struct cli_option *row;
	const char *p;

	for (p = arg + 1; *p != '\0'; p++) {
		if ((row = cli_option_find(cli->command, NULL, 0, *p)) == NULL)
			return err_set(e, ERR_USAGE,
			    "%s: no option -%c: hpotune %s --help lists them",
			    cli->command->name, *p, cli->command->name);
		if (row->value == NULL) {
			option_give(cli, row, NULL);
			continue;
		}
		if (p[1] != '\0') {
			option_give(cli, row, p + 1);
			return 0;
		}
		if (next == NULL)
			return err_set(e, ERR_USAGE,
			    "%s: -%c requires a value: -%c %s",
			    cli->command->name, *p, *p, row->value);
		*took = true;
		option_give(cli, row, next);
	}
	return 0;
}

static int
operands_check(const struct cli *cli, struct err *e)
{
	const struct cli_command *command = cli->command;

	if (cli_has(cli, "help"))
		return 0;
	if (cli->n_operands < command->min_operands)
		return err_set(e, ERR_USAGE,
		    "%s: not enough arguments: "
		    "hpotune %s %s",
		    command->name, command->name, command->args);
	if (command->max_operands != -1 &&
	    cli->n_operands > command->max_operands)
		return err_set(e, ERR_USAGE, "%s: %s: one argument too many",
		    command->name, cli->operands[command->max_operands]);
	return 0;
}

/*
 * Split argv (without the command's name) into operands and options.
 * ERR_USAGE.
 */
static int
cli_parse(struct cli *cli, int argc, char **argv, struct err *e)
{
	bool only_operands = false, took;
	const char *next;
	int i, rc;

	cli->operands = xcalloc((size_t)argc + 1, sizeof *cli->operands);
	for (i = 0; i < argc; i++) {
		next = i + 1 < argc ? argv[i + 1] : NULL;
		took = false;
		if (only_operands || argv[i][0] != '-' || argv[i][1] == '\0') {
			cli->operands[cli->n_operands++] = argv[i];
			continue;
		}
		if (strcmp(argv[i], "--") == 0) {
			only_operands = true;
			continue;
		}
		if (argv[i][1] == '-')
			rc = parse_long(cli, argv[i], next, &took, e);
		else
			rc = parse_short(cli, argv[i], next, &took, e);
		if (rc == -1)
			return -1;
		i += took;
	}
	return operands_check(cli, e);
}

static void
cli_fini(struct cli *cli)
{
	free(cli->operands);
	free(cli->given);
	cli->operands = NULL;
	cli->given = NULL;
}

static const struct cli_command *
command_find(const char *name)
{
	size_t i;

	for (i = 0; cli_commands[i] != NULL; i++)
		if (strcmp(cli_commands[i]->name, name) == 0)
			break;
	return cli_commands[i];
}

/* ---- version and help ------------------------------------------------------ */

static int
version_run(struct cli *cli)
{
	(void)cli;
	puts(PACKAGE_STRING);
	return CLI_DONE;
}

static const struct cli_command cmd_version = {
	.name = "version",
	.about = "print the version",
	.run = version_run,
};

/* Names of commands in other programs, and the equivalent here. */
static const struct {
	const char *theirs, *ours;
} synonyms[] = {
	{ "abort", "stop" },
	{ "add", "enqueue" },
	{ "cancel", "stop" },
	{ "comment", "note" },
	{ "continue", "start" },
	{ "create", "start" },
	{ "csv", "export" },
	{ "dashboard", "web" },
	{ "exclude", "forget" },
	{ "history", "trials" },
	{ "html", "report" },
	{ "info", "show" },
	{ "jobs", "trials" },
	{ "label", "tag" },
	{ "kill", "stop" },
	{ "lint", "check" },
	{ "list", "trials" },
	{ "ls", "trials" },
	{ "monitor", "watch" },
	{ "optimize", "start" },
	{ "output", "logs" },
	{ "plot", "report" },
	{ "ps", "trials" },
	{ "queue", "trials" },
	{ "quit", "stop" },
	{ "rerun", "retry" },
	{ "restart", "start" },
	{ "run", "start" },
	{ "samplers", "strategies" },
	{ "simulate", "replay" },
	{ "suggest", "ask" },
	{ "tail", "logs" },
	{ "terminate", "stop" },
	{ "top", "watch" },
	{ "test", "try" },
	{ "tune", "start" },
	{ "validate", "check" },
};

static const char *
command_near(const char *name)
{
	const char *names[64];
	size_t i;

	for (i = 0; i < sizeof synonyms / sizeof synonyms[0]; i++)
		if (strcmp(name, synonyms[i].theirs) == 0)
			return synonyms[i].ours;
	for (i = 0; cli_commands[i] != NULL; i++)
		names[i] = cli_commands[i]->name;
	names[i] = NULL;
	return text_nearest(name, names);
}

/* Report an unknown command, with the probable one. */
static int
command_unknown(const char *name, struct err *e)
{
	const char *near = command_near(name);

	if (near != NULL)
		return err_set(e, ERR_USAGE,
		    "%s: no such command: did you mean %s?", name, near);
	return err_set(
	    e, ERR_USAGE, "%s: no such command: hpotune help lists them", name);
}

static int
help_run(struct cli *cli)
{
	const struct cli_command *command;
	struct err e = ERR_INIT;

	if (cli->n_operands == 0) {
		cli_usage(stdout);
		return CLI_DONE;
	}
	command = command_find(cli->operands[0]);
	if (command == NULL) {
		(void)command_unknown(cli->operands[0], &e);
		return cli_fail(&e);
	}
	cli_usage_command(stdout, command);
	return CLI_DONE;
}

static const struct cli_command cmd_help = {
	.name = "help",
	.args = "[COMMAND]",
	.about = "this list, or the options of one command",
	.max_operands = 1,
	.run = help_run,
};

/* ---- the commands -------------------------------------------------------- */

const struct cli_command *const cli_commands[] = {
	&cmd_start,
	&cmd_queue,
	&cmd_check,
	&cmd_try,
	&cmd_status,
	&cmd_watch,
	&cmd_trials,
	&cmd_best,
	&cmd_show,
	&cmd_logs,
	&cmd_stop,
	&cmd_pause,
	&cmd_resume,
	&cmd_retry,
	&cmd_forget,
	&cmd_clean,
	&cmd_note,
	&cmd_tag,
	&cmd_rename,
	&cmd_enqueue,
	&cmd_ask,
	&cmd_tell,
	&cmd_judge,
	&cmd_replay,
	&cmd_strategies,
	&cmd_rules,
	&cmd_importance,
	&cmd_export,
	&cmd_report,
	&cmd_web,
	&cmd_import,
	&cmd_sagemaker,
	&cmd_slurm,
	&cmd_doctor,
	&cmd_completion,
	&cmd_help,
	&cmd_version,
	NULL,
};

/* Determine what stdout can show. */
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

/*
 * Open /dev/null for standard streams that the caller has closed: otherwise a
 * file opened later could take the number, and messages would be written into
 * it.  Writing to them still fails.
 */
static void
streams_reserve(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		(void)close(fd);
}

/* Failing to write the output is an error. */
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
	if (cli_parse(&cli, argc, argv, &e) != 0)
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

	streams_reserve();
	mem_settle();
	store_settle();
	/*
	 * With SIGCHLD ignored, as some parents leave it, exit statuses are
	 * lost.
	 */
	(void)signal(SIGCHLD, SIG_DFL);
	/*
	 * Exceeding a file size limit (ulimit -f) must be a write error, not a
	 * signal.
	 */
	(void)signal(SIGXFSZ, SIG_IGN);
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
	if ((command = command_find(name)) == NULL) {
		(void)command_unknown(name, &e);
		return cli_fail(&e);
	}
	return command_run(command, argc - 2, argv + 2);
}
