/* hpotune sagemaker: jobs that no study owns, and the model of a trial. */

#include <string.h>

#include "src/base/err.h"
#include "src/cli/common/cli.h"
#include "src/cli/job-gc.h"
#include "src/cli/sagemaker-model.h"

static int
sagemaker_run(struct cli *cli)
{
	struct err e = ERR_INIT;

	if (strcmp(cli->operands[0], "model") == 0)
		return sagemaker_model_run(cli);
	if (strcmp(cli->operands[0], "gc") == 0)
		return job_gc_run(cli, "sagemaker");
	(void)err_set(&e, ERR_USAGE, "sagemaker: %s: expected gc or model",
	    cli->operands[0]);
	return cli_fail(&e);
}

static const struct cli_option sagemaker_options[] = {
	{ "stop", 0, NULL, "stop those that no attempt owns" },
	{ "lost", 0, "NAME-ID",
	    "with --stop, also those of the lost study NAME; may be repeated" },
	{ "fetch", 0, "DIR", "download the model into a new folder" },
	{ .name = NULL },
};

const struct cli_command cmd_sagemaker = {
	.name = "sagemaker",
	.args = "gc [STUDY...] | model [STUDY] [TRIAL]",
	.about = "training jobs that no study owns; the model of a trial",
	.options = sagemaker_options,
	.min_operands = 1,
	.max_operands = -1,
	.json = true,
	.run = sagemaker_run,
};
