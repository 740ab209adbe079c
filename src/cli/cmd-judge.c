/* hpotune judge: what the rules decide about a trial now. */

#include <stdlib.h>

#include "src/base/err.h"
#include "src/cli/common/ask-tell-client.h"
#include "src/server/control.h"

static int
judge_run(struct cli *cli)
{
	struct control_answer answer = { 0 };
	struct err e = ERR_INIT;
	struct ask_tell_client v;
	int64_t trial;
	int rc;

	if (ask_tell_client_open(&v, cli, NULL, false, &e) != 0)
		return cli_fail(&e);
	rc = cli_trial_operand(cli, &trial, &e);
	if (rc == 0)
		rc = ask_tell_client_call(
		    &v, TUNER_JUDGE, trial, "{}", &answer, &e);
	if (rc == 0)
		rc = ask_tell_client_print(cli, &answer, &e);
	free(answer.data);
	ask_tell_client_close(&v);
	return rc == 0 ? CLI_DONE : cli_fail(&e);
}

const struct cli_command cmd_judge = {
	.name = "judge",
	.args = "[STUDY] TRIAL",
	.about = "what the rules decide about a trial now",
	.min_operands = 1,
	.max_operands = 2,
	.json = true,
	.run = judge_run,
};
