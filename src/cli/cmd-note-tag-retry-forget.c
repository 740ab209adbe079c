/* hpotune note, tag, retry, forget, clean: what the user does to recorded trials. */

#include <stdint.h>
#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/server-request.h"

/* The first operand, a trial; those behind it are text. */
static int
trial_first(struct server_request *a, struct server_asked *asked, struct err *e)
{
	struct cli *cli = a->cli;

	if (cli->n_operands == 0)
		return err_set(
		    e, ERR_USAGE, "%s: expected a trial", asked->name);
	return cli_read_integer(
	    cli->operands[0], "trial", 1, INT64_MAX, &asked->trial, e);
}

/* The words behind the trial, as one text. */
static void
note_put(struct buf *params, const struct cli *cli)
{
	struct json_writer w = { .out = params };
	struct buf text = { 0 };
	int i;

	for (i = 1; i < cli->n_operands; i++)
		buf_printf(&text, "%s%s", i > 1 ? " " : "", cli->operands[i]);
	json_writer_object(&w, NULL);
	json_writer_text(&w, "text", buf_str(&text));
	json_writer_end(&w);
	buf_free(&text);
}

static void
tags_put(struct buf *params, const struct cli *cli)
{
	struct json_writer w = { .out = params };
	const char *tag;
	size_t k;
	int i;

	json_writer_object(&w, NULL);
	json_writer_array(&w, "tags");
	for (i = 1; i < cli->n_operands; i++)
		json_writer_text(&w, NULL, cli->operands[i]);
	json_writer_end(&w);
	json_writer_array(&w, "remove");
	for (k = 0; (tag = cli_value_nth(cli, "remove", k)) != NULL; k++)
		json_writer_text(&w, NULL, tag);
	json_writer_end(&w);
	json_writer_end(&w);
}

/* A request about one trial, whose params put writes. */
static int
send_text(struct cli *cli, struct server_asked *asked,
    void (*put)(struct buf *, const struct cli *), bool enough,
    const char *wanted)
{
	struct server_request a;
	struct buf params = { 0 };
	struct err e = ERR_INIT;
	int status;

	if (server_request_open(&a, cli, &e) != 0)
		return cli_fail(&e);
	if (trial_first(&a, asked, &e) != 0 ||
	    (cli->n_operands < 2 && !enough &&
		err_set(&e, ERR_USAGE, "%s: expected %s after the trial",
		    asked->name, wanted) != 0))
		status = cli_fail(&e);
	else {
		put(&params, cli);
		asked->params = buf_str(&params);
		status = server_request_send(&a, asked);
	}
	buf_free(&params);
	server_request_close(&a);
	return status;
}

static int
note_run(struct cli *cli)
{
	struct server_asked asked = { .name = "note", .kind = TUNER_NOTE };

	return send_text(
	    cli, &asked, note_put, false, "a text, \"\" for none,");
}

static int
tag_run(struct cli *cli)
{
	struct server_asked asked = { .name = "tag", .kind = TUNER_TAG };

	return send_text(
	    cli, &asked, tags_put, cli_has(cli, "remove"), "a tag");
}

/* A request for each trial named; all: one for all of them. */
static int
send_trials(struct cli *cli, struct server_asked *asked, bool all)
{
	struct server_request a;
	struct err e = ERR_INIT;
	int64_t *trials = NULL;
	int status, n;

	if (server_request_open(&a, cli, &e) != 0)
		return cli_fail(&e);
	if (server_request_trials(&a, &trials, &n, &e) != 0)
		status = cli_fail(&e);
	else if (all && n > 0) {
		(void)err_set(&e, ERR_USAGE,
		    "%s: --failed and single trials exclude each other",
		    asked->name);
		status = cli_fail(&e);
	} else if (all)
		status = server_request_send(&a, asked);
	else if (n == 0) {
		(void)err_set(&e, ERR_USAGE, "%s: expected a trial%s",
		    asked->name,
		    asked->kind == TUNER_RETRY ? ", or --failed" : "");
		status = cli_fail(&e);
	} else
		status = server_request_send_each(&a, asked, trials, n);
	free(trials);
	server_request_close(&a);
	return status;
}

static int
retry_run(struct cli *cli)
{
	bool failed = cli_has(cli, "failed");
	struct server_asked asked = {
		.name = "retry",
		.kind = TUNER_RETRY,
		.params = failed ? "{\"failed\": true}" : NULL,
	};

	return send_trials(cli, &asked, failed);
}

static int
forget_run(struct cli *cli)
{
	struct server_asked asked = {
		.name = "forget",
		.kind = TUNER_FORGET,
		.params = cli_has(cli, "undo") ? "{\"undo\": true}" : NULL,
	};

	return send_trials(cli, &asked, false);
}

/* Without a server it waits until the folders are deleted. */
static int
clean_run(struct cli *cli)
{
	struct server_asked asked = {
		.name = "clean",
		.kind = TUNER_CLEAN,
		.params =
		    cli_has(cli, "dry-run") ? "{\"dry_run\": true}" : NULL,
	};
	struct server_request a;
	struct err e = ERR_INIT;
	int status;

	if (server_request_open(&a, cli, &e) != 0)
		return cli_fail(&e);
	status = server_request_send(&a, &asked);
	server_request_close(&a);
	return status;
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

static const struct cli_option forget_options[] = {
	{ "undo", 'u', NULL, "count these trials again" },
	{ .name = NULL },
};

const struct cli_command cmd_forget = {
	.name = "forget",
	.args = "[STUDY] TRIAL...",
	.about = "keep trials in the record, and count them nowhere",
	.options = forget_options,
	.min_operands = 1,
	.max_operands = -1,
	.json = true,
	.run = forget_run,
};

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

const struct cli_command cmd_note = {
	.name = "note",
	.args = "[STUDY] TRIAL TEXT...",
	.about = "a note about a trial, \"\" for none",
	.min_operands = 2,
	.max_operands = -1,
	.json = true,
	.run = note_run,
};

static const struct cli_option tag_options[] = {
	{ "remove", 'r', "TAG", "take this tag away; may be repeated" },
	{ .name = NULL },
};

const struct cli_command cmd_tag = {
	.name = "tag",
	.args = "[STUDY] TRIAL TAG...",
	.about = "tags of a trial: words by which it is found",
	.options = tag_options,
	.min_operands = 1,
	.max_operands = -1,
	.json = true,
	.run = tag_run,
};
