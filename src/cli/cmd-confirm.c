/* hpotune confirm: run a setting again beside the baseline. */

#include "src/base/err.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/server-request.h"

static int
confirm_run(struct cli *cli)
{
	struct server_asked asked = { .name = "confirm",
		.kind = TUNER_CONFIRM };

	return server_request_named(cli, &asked, false, NULL);
}

const struct cli_command cmd_confirm = {
	.name = "confirm",
	.args = "[STUDY] [TRIAL]",
	.about =
	    "run the best setting, or a trial's, again beside the baseline",
	.max_operands = 2,
	.json = true,
	.run = confirm_run,
};
