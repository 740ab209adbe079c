/* hpotune strategies: search strategies and their options. */

#include "src/cli/common/cli.h"
#include "src/cli/common/plug-table.h"
#include "strategies/strategy.h"

static int
strategies_run(struct cli *cli)
{
	struct plug_row rows[PLUG_ROWS];
	size_t i;

	for (i = 0; i < PLUG_ROWS && strategies[i] != NULL; i++)
		rows[i] = (struct plug_row){ strategies[i]->name,
			strategies[i]->about, strategies[i]->source,
			strategies[i]->options };
	return plug_table_print(cli, rows, i);
}

const struct cli_command cmd_strategies = {
	.name = "strategies",
	.args = "[NAME]",
	.about = "search strategies and their options",
	.max_operands = 1,
	.json = true,
	.run = strategies_run,
};
