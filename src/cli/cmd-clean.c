/* hpotune clean: delete checkpoints that the study does not keep. */

#include "src/cli/common/cli.h"
#include "src/cli/common/server-request.h"

/* Without a server it waits until the folders are deleted. */
static int
clean_run(struct cli *cli)
{
	const struct server_asked asked = {
		.name = "clean",
		.kind = TUNER_CLEAN,
		.params =
		    cli_has(cli, "dry-run") ? "{\"dry_run\": true}" : NULL,
	};

	return server_request_once(cli, &asked);
}

static const struct cli_option clean_options[] = {
	{ "dry-run", 'n', NULL, "only say what would be deleted" },
	{ .name = NULL },
};

const struct cli_command cmd_clean = {
	.name = "clean",
	.args = "[STUDY]",
	.about = "delete checkpoints that \"keep\" in study.json does not keep",
	.options = clean_options,
	.max_operands = 1,
	.json = true,
	.run = clean_run,
};
