/* hpotune pause: start no further trials. */

#include "src/cli/common/cli.h"
#include "src/cli/common/server-request.h"

static int
pause_run(struct cli *cli)
{
	const struct server_asked asked = { .name = "pause",
		.kind = TUNER_PAUSE };

	return server_request_once(cli, &asked);
}

const struct cli_command cmd_pause = {
	.name = "pause",
	.args = "[STUDY]",
	.about = "start no further trials until resume",
	.max_operands = 1,
	.json = true,
	.run = pause_run,
};
