/* hpotune rules: stopping rules and their options. */

#include "src/cli/common/cli.h"
#include "src/cli/common/plug-table.h"
#include "strategies/stopper.h"

static int
rules_run(struct cli *cli)
{
	struct plug_row rows[PLUG_ROWS];
	size_t i;

	for (i = 0; i < PLUG_ROWS && stoppers[i] != NULL; i++)
		rows[i] =
		    (struct plug_row){ stoppers[i]->name, stoppers[i]->about,
			    stoppers[i]->source, stoppers[i]->options };
	return plug_table_print(cli, rows, i);
}

const struct cli_command cmd_rules = {
	.name = "rules",
	.args = "[NAME]",
	.about = "stopping rules and their options",
	.max_operands = 1,
	.json = true,
	.run = rules_run,
};
