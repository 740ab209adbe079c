/* hpotune propose: a setting that may take the place of the baseline. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/server-request.h"
#include "src/model/space.h"
#include "src/model/study/study.h"

/* The values of a file, and over them those of the operands, as JSON. */
static int
propose_read(
    struct cli *cli, const struct space *space, struct buf *out, struct err *e)
{
	struct value *values = xcalloc(space->n, sizeof *values);
	const char *path = cli_value(cli, "file");
	struct json_doc *doc = NULL;
	int rc = 0;

	if (path != NULL) {
		rc = json_load(&doc, path, e);
		if (rc == 0)
			rc =
			    space_read_values(space, json_root(doc), values, e);
		if (rc != 0)
			(void)err_add(e, "%s", path);
	}
	if (rc == 0)
		rc = cli_setting_operands(cli, space, values, e);
	if (rc == 0)
		space_put_json(out, space, values);
	json_free(doc);
	free(values);
	return rc;
}

static int
propose_run(struct cli *cli)
{
	struct server_asked asked = { .name = "propose",
		.kind = TUNER_PROPOSE };
	struct server_request a;
	struct buf params = { 0 };
	struct err e = ERR_INIT;
	int status;

	if (server_request_open(&a, cli, &e) != 0)
		return cli_fail(&e);
	if (cli->n_operands == 0 && !cli_has(cli, "file"))
		(void)err_set(
		    &e, ERR_USAGE, "propose: expected NAME=VALUE, or --file");
	else if (propose_read(cli, a.found.study->space, &params, &e) == 0)
		asked.params = buf_str(&params);
	status = asked.params != NULL ? server_request_send(&a, &asked)
				      : cli_fail(&e);
	buf_free(&params);
	server_request_close(&a);
	return status;
}

static const struct cli_option propose_options[] = {
	{ "file", 'f', "PARAMS", "a JSON object of values" },
	{ .name = NULL },
};

const struct cli_command cmd_propose = {
	.name = "propose",
	.args = "[STUDY] NAME=VALUE...",
	.about = "run a setting beside the baseline, and keep it if better",
	.options = propose_options,
	.max_operands = -1,
	.json = true,
	.run = propose_run,
};
