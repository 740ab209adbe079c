/* NAME=VALUE on a command line as a partial setting. */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/model/param.h"
#include "src/model/space.h"

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
