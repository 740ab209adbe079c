/* hpotune retry: another attempt of trials that failed or were stopped. */

#include "src/cli/common/cli.h"
#include "src/cli/common/server-request.h"

static int
retry_run(struct cli *cli)
{
	bool failed = cli_has(cli, "failed");
	struct server_asked asked = {
		.name = "retry",
		.kind = TUNER_RETRY,
		.params = failed ? "{\"failed\": true}" : NULL,
	};

	return server_request_named(
	    cli, &asked, failed, "a trial, or --failed");
}

static const struct cli_option retry_options[] = {
	{ "failed", 0, NULL, "all trials that have failed" },
	{ .name = NULL },
};

const struct cli_command cmd_retry = {
	.name = "retry",
	.args = "[STUDY] TRIAL...",
	.about = "give trials that failed or were stopped another attempt",
	.options = retry_options,
	.max_operands = -1,
	.json = true,
	.run = retry_run,
};
