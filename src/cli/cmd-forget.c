/* hpotune forget: trials that stay in the record, and count nowhere. */

#include "src/cli/common/cli.h"
#include "src/cli/common/server-request.h"

static int
forget_run(struct cli *cli)
{
	struct server_asked asked = {
		.name = "forget",
		.kind = TUNER_FORGET,
		.params = cli_has(cli, "undo") ? "{\"undo\": true}" : NULL,
	};

	return server_request_named(cli, &asked, false, "a trial");
}

static const struct cli_option forget_options[] = {
	{ "undo", 'u', NULL, "count these trials again" },
	{ .name = NULL },
};

const struct cli_command cmd_forget = {
	.name = "forget",
	.args = "[STUDY] TRIAL...",
	.about = "keep trials in the record, and count them nowhere",
	.options = forget_options,
	.min_operands = 1,
	.max_operands = -1,
	.json = true,
	.run = forget_run,
};
