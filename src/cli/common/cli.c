/*
 * Parses options and operands by the table of commands; errors and exit
 * statuses.
 */

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/cli/common/cli.h"
#include "src/model/param.h"
#include "src/model/space.h"

const struct cli_option cli_option_help = { "help", 'h', NULL,
	"print this and end" };
const struct cli_option cli_option_json = { "json", 0, NULL,
	"print one JSON document" };

const struct cli_command *
cli_command_find(const char *name)
{
	size_t i;

	for (i = 0; cli_commands[i] != NULL; i++)
		if (strcmp(cli_commands[i]->name, name) == 0)
			break;
	return cli_commands[i];
}

const struct cli_option *
cli_option_row(const struct cli_command *command, size_t i)
{
	const struct cli_option *option = command->options;

	for (; option != NULL && option->name != NULL; option++)
		if (i-- == 0)
			return option;
	if (command->json && i-- == 0)
		return &cli_option_json;
	return i == 0 ? &cli_option_help : NULL;
}

/* The row of a long name of len bytes, or of a letter when name is NULL. */
static const struct cli_option *
option_find(const struct cli_command *command, const char *name, size_t len,
    char letter)
{
	const struct cli_option *row;
	size_t i;

	for (i = 0; (row = cli_option_row(command, i)) != NULL; i++) {
		if (name == NULL && row->letter == letter)
			return row;
		if (name != NULL && strncmp(row->name, name, len) == 0 &&
		    row->name[len] == '\0')
			return row;
	}
	return NULL;
}

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

	if ((row = option_find(cli->command, name, len, 0)) == NULL)
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
		if ((row = option_find(cli->command, NULL, 0, *p)) == NULL)
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

int
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

void
cli_fini(struct cli *cli)
{
	free(cli->operands);
	free(cli->given);
	cli->operands = NULL;
	cli->given = NULL;
}

bool
cli_has(const struct cli *cli, const char *option)
{
	size_t i;

	assert(option_find(cli->command, option, strlen(option), 0) != NULL);
	for (i = 0; i < cli->n_given; i++)
		if (strcmp(cli->given[i].option->name, option) == 0)
			return true;
	return false;
}

const char *
cli_value(const struct cli *cli, const char *option)
{
	const char *value = NULL;
	size_t i;

	assert(option_find(cli->command, option, strlen(option), 0) != NULL);
	for (i = 0; i < cli->n_given; i++)
		if (strcmp(cli->given[i].option->name, option) == 0)
			value = cli->given[i].value;
	return value;
}

const char *
cli_value_nth(const struct cli *cli, const char *option, size_t n)
{
	size_t i;

	for (i = 0; i < cli->n_given; i++)
		if (strcmp(cli->given[i].option->name, option) == 0 && n-- == 0)
			return cli->given[i].value;
	return NULL;
}

int
cli_read_integer(const char *text, const char *what, int64_t min, int64_t max,
    int64_t *out, struct err *e)
{
	char *end;

	errno = 0;
	*out = strtoll(text, &end, 10);
	if (end == text || *end != '\0' || errno != 0 || *out < min ||
	    *out > max) {
		if (max == INT64_MAX)
			return err_set(e, ERR_USAGE,
			    "%s: %s: expected a whole number from %" PRId64,
			    what, text, min);
		return err_set(e, ERR_USAGE,
		    "%s: %s: expected a whole number from %" PRId64
		    " to %" PRId64,
		    what, text, min, max);
	}
	return 0;
}

int
cli_integer(const struct cli *cli, const char *option, int64_t min, int64_t max,
    int64_t def, int64_t *out, struct err *e)
{
	const char *text = cli_value(cli, option);
	char what[64];

	*out = def;
	if (text == NULL)
		return 0;
	(void)snprintf(
	    what, sizeof what, "%s: --%s", cli->command->name, option);
	return cli_read_integer(text, what, min, max, out, e);
}

int
cli_trial_operand(const struct cli *cli, int64_t *trial, struct err *e)
{
	char what[64];

	(void)snprintf(what, sizeof what, "%s: trial", cli->command->name);
	if (cli->n_operands == 0)
		return err_set(e, ERR_USAGE,
		    "%s: the study or the trial is missing: hpotune %s %s",
		    what, cli->command->name, cli->command->args);
	if (cli->n_operands > 1)
		return err_set(e, ERR_USAGE, "%s: %s: one argument too many",
		    cli->command->name, cli->operands[1]);
	return cli_read_integer(cli->operands[0], what, 1, INT64_MAX, trial, e);
}

int
cli_fail(const struct err *e)
{
	(void)fflush(stdout);
	(void)fprintf(stderr, "hpotune: %s\n", e->text);
	return e->kind == ERR_USAGE ? CLI_USAGE : CLI_FAILED;
}

/* ---- NAME=VALUE on a command line as a partial setting ------------------ */

static int
operand_read(const struct space *space, char *operand, struct value *values,
    struct err *e)
{
	char *eq = strchr(operand, '=');
	int p;

	if (eq == NULL)
		return err_set(
		    e, ERR_USAGE, "%s: expected NAME=VALUE", operand);
	*eq = '\0';
	p = space_find(space, operand);
	if (p < 0)
		return err_set(e, ERR_USAGE,
		    "%s: the study has no such parameter", operand);
	if (values[p].kind != VALUE_NONE)
		return err_set(e, ERR_USAGE, "%s: is given twice", operand);
	return param_parse(&space->params[p], eq + 1, &values[p], e);
}

int
cli_setting_operands(const struct cli *cli, const struct space *space,
    struct value *values, struct err *e)
{
	char *operand;
	int i, rc = 0;

	for (i = 0; i < cli->n_operands && rc == 0; i++) {
		operand = xstrdup(cli->operands[i]);
		rc = operand_read(space, operand, values, e);
		free(operand);
	}
	return rc;
}
