/* hpotune ask: new trials for a program that runs them itself. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/cli/common/ask-tell-client.h"
#include "src/server/control.h"
#include "src/view/shell-word.h"

/* "trial=7" and one NAME=VALUE per line, each quoted for a shell. */
static void
trial_put_text(
    struct buf *out, const struct json *trial, enum shell_word_form form)
{
	const struct json *j;
	struct buf value = { 0 };
	int64_t number = 0;

	(void)json_integer(json_get(trial, "trial"), &number);
	buf_printf(out, "trial=%" PRId64 "\n", number);
	j = json_first(json_get(trial, "params"));
	for (; j != NULL; j = json_next(j)) {
		buf_clear(&value);
		if (json_string(j) != NULL)
			buf_puts(&value, json_string(j));
		else
			json_write(&value, j);
		buf_printf(out, "%s=", json_key(j));
		shell_word_put(out, buf_str(&value), form);
		buf_putc(out, '\n');
	}
	buf_free(&value);
}

/* Print the trials of one answer; returns their number. */
static int64_t
answer_put(struct buf *out, const struct json *trials, const struct cli *cli,
    bool first)
{
	enum shell_word_form form =
	    cli->terminal ? SHELL_WORD_SHOWN : SHELL_WORD_BYTES;
	const struct json *j;
	int64_t n = 0;

	for (j = json_first(trials); j != NULL; j = json_next(j), n++) {
		if (!first || n > 0)
			buf_puts(out, cli->json ? ",\n" : "\n");
		if (cli->json)
			json_write(out, j);
		else
			trial_put_text(out, j, form);
	}
	return n;
}

static int64_t
ask_some(struct ask_tell_client *v, struct cli *cli, struct buf *out,
    int64_t count, bool first, struct err *e)
{
	struct control_answer answer;
	struct json_doc *doc;
	struct buf params = { 0 };
	struct json_writer w = { .out = &params };
	int64_t n = -1;
	int rc;

	json_writer_object(&w, NULL);
	json_writer_integer(&w, "count", count);
	ask_tell_client_put_asker(v, &w);
	json_writer_end(&w);
	rc =
	    ask_tell_client_call(v, TUNER_ASK, 0, buf_str(&params), &answer, e);
	buf_free(&params);
	if (rc != 0)
		return -1;
	if (json_parse(&doc, answer.data != NULL ? answer.data : "",
		answer.data != NULL ? strlen(answer.data) : 0, NULL, false,
		e) == 0) {
		n = answer_put(out, json_root(doc), cli, first);
		json_free(doc);
	}
	free(answer.data);
	return n;
}

/*
 * Ask until count trials are received or none is left; none at all is a
 * failure.
 */
static int
ask_trials(
    struct ask_tell_client *v, struct cli *cli, int64_t count, struct err *e)
{
	bool list = cli->json && cli_has(cli, "count");
	struct buf out = { 0 };
	int64_t n = 0, some = 1;

	while (n < count && some > 0) {
		some = ask_some(v, cli, &out, count - n, n == 0, e);
		n += some > 0 ? some : 0;
	}
	if (n == 0) {
		buf_free(&out);
		return cli_fail(e);
	}
	if (list)
		putchar('[');
	if (cli->json)
		cli_print_json(buf_str(&out));
	else
		fputs(buf_str(&out), stdout);
	fputs(list ? "]\n" : cli->json ? "\n" : "", stdout);
	buf_free(&out);
	return CLI_DONE;
}

static int
ask_run(struct cli *cli)
{
	struct err e = ERR_INIT;
	struct ask_tell_client v;
	int64_t count, pid;
	int status;

	if (cli_integer(cli, "count", 1, 1000000, 1, &count, &e) != 0 ||
	    cli_integer(cli, "pid", 0, INT32_MAX, 0, &pid, &e) != 0 ||
	    ask_tell_client_open(&v, cli, cli_value(cli, "state"), true, &e) !=
		0)
		return cli_fail(&e);
	v.network_fs = cli_has(cli, "network-fs");
	v.is_sure = cli_has(cli, "pid");
	if (v.is_sure)
		v.asker = pid;
	status = ask_trials(&v, cli, count, &e);
	ask_tell_client_close(&v);
	return status;
}

static const struct cli_option ask_options[] = {
	{ "count", 'n', "K", "number of trials (1)" },
	{ "pid", 0, "PID",
	    "the process that runs it: when it has ended, the trial is lost; "
	    "0: none" },
	{ "state", 0, "DIR",
	    "keep NAME.db and NAME.d in DIR, not beside study.json" },
	{ "network-fs", 0, NULL,
	    "allow a state folder on a shared file system" },
	{ .name = NULL },
};

const struct cli_command cmd_ask = {
	.name = "ask",
	.args = "[STUDY]",
	.about = "a new trial, for a program that runs it itself",
	.options = ask_options,
	.max_operands = 1,
	.json = true,
	.run = ask_run,
};
