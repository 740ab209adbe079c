/* hpotune resume: start trials again after a pause. */

#include "src/cli/common/cli.h"
#include "src/cli/common/server-request.h"

static int
resume_run(struct cli *cli)
{
	const struct server_asked asked = { .name = "resume",
		.kind = TUNER_RESUME };

	return server_request_once(cli, &asked);
}

const struct cli_command cmd_resume = {
	.name = "resume",
	.args = "[STUDY]",
	.about = "start trials again, in drained slots too",
	.max_operands = 1,
	.json = true,
	.run = resume_run,
};
