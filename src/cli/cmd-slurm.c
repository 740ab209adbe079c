/* hpotune slurm: jobs that no study owns. */

#include <string.h>

#include "src/base/err.h"
#include "src/cli/common/cli.h"
#include "src/cli/job-gc.h"

static int
slurm_run(struct cli *cli)
{
	struct err e = ERR_INIT;

	if (strcmp(cli->operands[0], "gc") == 0)
		return job_gc_run(cli, "slurm");
	(void)err_set(
	    &e, ERR_USAGE, "slurm: %s: expected gc", cli->operands[0]);
	return cli_fail(&e);
}

static const struct cli_option slurm_options[] = {
	{ "stop", 0, NULL, "cancel those that no attempt owns" },
	{ "lost", 0, "NAME-ID",
	    "with --stop, also those of the lost study NAME; may be repeated" },
	{ .name = NULL },
};

const struct cli_command cmd_slurm = {
	.name = "slurm",
	.args = "gc [STUDY...]",
	.about = "jobs of Slurm that no study owns",
	.options = slurm_options,
	.min_operands = 1,
	.max_operands = -1,
	.json = true,
	.run = slurm_run,
};
