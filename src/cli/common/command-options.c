/* Operands and options of a command, checked against its row of the table. */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/command-options.h"

static int
command_options_unknown(const struct cli_command *command, const char *name,
    size_t len, struct err *e)
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
command_options_give(
    struct cli *cli, const struct cli_option *row, const char *value)
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
command_options_parse_long(struct cli *cli, const char *arg, const char *next,
    bool *took, struct err *e)
{
	const char *name = arg + 2, *value = strchr(name, '=');
	size_t len = value != NULL ? (size_t)(value - name) : strlen(name);
	const struct cli_option *row;

	if ((row = cli_option_find(cli->command, name, len, 0)) == NULL)
		return command_options_unknown(cli->command, name, len, e);
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
	command_options_give(cli, row, value);
	return 0;
}

/* -f, -fg, -nVALUE or -n VALUE. */
static int
command_options_parse_short(struct cli *cli, const char *arg, const char *next,
    bool *took, struct err *e)
{
	const struct cli_option *row;
	const char *p;

	for (p = arg + 1; *p != '\0'; p++) {
		if ((row = cli_option_find(cli->command, NULL, 0, *p)) == NULL)
			return err_set(e, ERR_USAGE,
			    "%s: no option -%c: hpotune %s --help lists them",
			    cli->command->name, *p, cli->command->name);
		if (row->value == NULL) {
			command_options_give(cli, row, NULL);
			continue;
		}
		if (p[1] != '\0') {
			command_options_give(cli, row, p + 1);
			return 0;
		}
		if (next == NULL)
			return err_set(e, ERR_USAGE,
			    "%s: -%c requires a value: -%c %s",
			    cli->command->name, *p, *p, row->value);
		*took = true;
		command_options_give(cli, row, next);
	}
	return 0;
}

static int
command_options_check_operands(const struct cli *cli, struct err *e)
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

int
command_options_parse(struct cli *cli, int argc, char **argv, struct err *e)
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
			rc = command_options_parse_long(
			    cli, argv[i], next, &took, e);
		else
			rc = command_options_parse_short(
			    cli, argv[i], next, &took, e);
		if (rc == -1)
			return -1;
		i += took;
	}
	return command_options_check_operands(cli, e);
}

void
command_options_free(struct cli *cli)
{
	free(cli->operands);
	free(cli->given);
	cli->operands = NULL;
	cli->given = NULL;
}
