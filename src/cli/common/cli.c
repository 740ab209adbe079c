/*
 * Options and operands of a command, as main.c has parsed them; errors and exit
 * statuses.
 */

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/model/space.h"

const struct cli_option cli_option_help = { "help", 'h', NULL,
	"print this and end" };
const struct cli_option cli_option_json = { "json", 0, NULL,
	"print one JSON document" };

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

const struct cli_option *
cli_option_find(const struct cli_command *command, const char *name, size_t len,
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

bool
cli_has(const struct cli *cli, const char *option)
{
	size_t i;

	assert(
	    cli_option_find(cli->command, option, strlen(option), 0) != NULL);
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

	assert(
	    cli_option_find(cli->command, option, strlen(option), 0) != NULL);
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
