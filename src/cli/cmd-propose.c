/* hpotune propose: a setting that may take the place of the baseline. */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/server-request.h"
#include "src/cli/source/source.h"
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

/* The commit that --commit or --patch names: the request has the setting, too. */
static int
propose_commit(struct server_request *a, struct cli *cli,
    struct source_challenger *c, struct server_asked *asked, struct buf *out,
    struct err *e)
{
	const char *revision = cli_value(cli, "commit");
	const char *patch = cli_value(cli, "patch");
	struct json_writer w = { .out = out };

	if (revision != NULL && patch != NULL)
		return err_set(e, ERR_USAGE,
		    "propose: --commit and --patch exclude each other");
	if (source_challenger_make(
		c, a->found.study, a->found.db, revision, patch, e) != 0)
		return -1;
	asked->name = "propose-commit";
	asked->kind = TUNER_PROPOSE_COMMIT;
	json_writer_object(&w, NULL);
	json_writer_raw(&w, "values", asked->params);
	json_writer_text(&w, "commit", c->hash);
	json_writer_text(&w, "diff", buf_str(&c->diff));
	json_writer_end(&w);
	asked->params = buf_str(out);
	return 0;
}

static int
propose_run(struct cli *cli)
{
	struct server_asked asked = { .name = "propose",
		.kind = TUNER_PROPOSE };
	struct source_challenger challenger = { .kept = false };
	struct server_request a;
	struct buf params = { 0 }, whole = { 0 };
	struct err e = ERR_INIT;
	bool commit = cli_has(cli, "commit") || cli_has(cli, "patch");
	int status, rc = 0;

	if (server_request_open(&a, cli, &e) != 0)
		return cli_fail(&e);
	if (cli->n_operands == 0 && !cli_has(cli, "file") && !commit)
		rc = err_set(&e, ERR_USAGE,
		    "propose: expected NAME=VALUE, --file, --commit or "
		    "--patch");
	if (rc == 0)
		rc = propose_read(cli, a.found.study->space, &params, &e);
	asked.params = buf_str(&params);
	if (rc == 0 && commit)
		rc = propose_commit(&a, cli, &challenger, &asked, &whole, &e);
	status = rc == 0 ? server_request_send(&a, &asked) : cli_fail(&e);
	if (status != CLI_DONE)
		source_challenger_undo(&challenger, a.found.study, a.found.db);
	source_challenger_free(&challenger);
	buf_free(&whole);
	buf_free(&params);
	server_request_close(&a);
	return status;
}

static const struct cli_option propose_options[] = {
	{ "file", 'f', "PARAMS", "a JSON object of values" },
	{ "commit", 'c', "REV", "run the files of this commit" },
	{ "patch", 'p', "FILE", "those of the baseline with this patch" },
	{ .name = NULL },
};

const struct cli_command cmd_propose = {
	.name = "propose",
	.args = "[STUDY] [NAME=VALUE...]",
	.about = "run a setting beside the baseline, and keep it if better",
	.options = propose_options,
	.max_operands = -1,
	.json = true,
	.run = propose_run,
};
