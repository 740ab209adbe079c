/* hpotune stop: single trials, or the server. */

#include "src/cli/common/cli.h"
#include "src/cli/common/server-request.h"

static int
stop_run(struct cli *cli)
{
	const struct server_asked asked = {
		.name = "stop",
		.kind =
		    cli_has(cli, "now") ? TUNER_KILL_TRIAL : TUNER_STOP_TRIAL,
		.wait = true,
	};

	return server_request_named(cli, &asked, false, NULL);
}

static const struct cli_option stop_options[] = {
	{ "now", 0, NULL, "without grace time for the trials" },
	{ .name = NULL },
};

const struct cli_command cmd_stop = {
	.name = "stop",
	.args = "[STUDY] [TRIAL...]",
	.about = "stop single trials, or the server",
	.options = stop_options,
	.max_operands = -1,
	.json = true,
	.run = stop_run,
};
