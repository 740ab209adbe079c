/* hpotune clean: delete checkpoints that the study does not keep. */

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/server-request.h"
#include "src/cli/source/source.h"
#include "src/model/study/study.h"

/* What a study with trial.source has left in its repository. */
static int
clean_source(
    const struct server_request *a, struct cli *cli, bool dry, bool alone)
{
	struct source_cleaned c;
	struct buf text = { 0 };
	struct err e = ERR_INIT;
	struct json_writer w = { .out = &text, .spacing = JSON_SPACED };

	if (source_clean(&c, a->found.study, a->found.db, a->dir, dry, &e) != 0)
		return cli_fail(&e);
	if (!cli->json) {
		cli_print_line("%d worktree%s and %d ref%s %s removed%s\n",
		    c.worktrees, c.worktrees == 1 ? "" : "s", c.refs,
		    c.refs == 1 ? "" : "s", dry ? "would be" : "are",
		    c.busy ? "; refs stay until all trials have ended" : "");
		return CLI_DONE;
	}
	/* Else the answer is that about checkpoints. */
	if (!alone)
		return CLI_DONE;
	json_writer_object(&w, NULL);
	json_writer_bool(&w, "ok", true);
	json_writer_integer(&w, "worktrees", c.worktrees);
	json_writer_integer(&w, "refs", c.refs);
	json_writer_end(&w);
	buf_putc(&text, '\n');
	return cli_print(&text);
}

/* Without a server it waits until the folders are deleted. */
static int
clean_run(struct cli *cli)
{
	bool dry = cli_has(cli, "dry-run"), keeps, source;
	const struct server_asked asked = {
		.name = "clean",
		.kind = TUNER_CLEAN,
		.params = dry ? "{\"dry_run\": true}" : NULL,
	};
	struct server_request a;
	struct err e = ERR_INIT;
	int status = CLI_DONE;

	if (server_request_open(&a, cli, &e) != 0)
		return cli_fail(&e);
	keeps = a.found.study->keep.given;
	source = a.found.study->trial.source.git != NULL;
	if (keeps || !source)
		status = server_request_send(&a, &asked);
	if (status == CLI_DONE && source)
		status = clean_source(&a, cli, dry, !keeps);
	server_request_close(&a);
	return status;
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
