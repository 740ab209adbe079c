/*
 * hpotune tell: send reports and ends of trials that another program runs, and
 * print the rules' decisions.
 */

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/cli/common/ask-tell-client.h"
#include "src/server/control.h"

enum {
	LINE_MOST = 16000, /* bytes of a line that may be a report */
	BATCH_MOST = 32000 /* bytes of a request, which is limited to 64 KiB */
};

struct tell_state {
	struct ask_tell_client visit;
	int64_t trial;
	const char *end; /* "done", "stopped", "failed", or NULL */
	const char *why; /* or NULL */
	struct buf lines; /* for the next request: "…","…" */
	struct control_answer answer; /* the latest */
	bool stop; /* the answer is to stop */
};

/* Send the collected lines, and the end if given. */
static int
send_lines(struct tell_state *t, bool strict, bool end, struct err *e)
{
	struct buf params = { 0 };
	struct json_writer w = { .out = &params, .spacing = JSON_SPACED };
	struct json_doc *doc;
	const char *verdict;
	int rc;

	json_writer_object(&w, NULL);
	json_writer_array(&w, "lines");
	json_writer_raw(&w, NULL, buf_str(&t->lines));
	json_writer_end(&w);
	json_writer_bool(&w, "strict", strict);
	if (end && t->end != NULL)
		json_writer_text(&w, "end", t->end);
	if (end && t->why != NULL)
		json_writer_text(&w, "why", t->why);
	ask_tell_client_put_asker(&t->visit, &w);
	json_writer_end(&w);
	free(t->answer.data);
	t->answer.data = NULL;
	rc = ask_tell_client_call(
	    &t->visit, TUNER_TELL, t->trial, buf_str(&params), &t->answer, e);
	buf_free(&params);
	buf_clear(&t->lines);
	if (rc == 0 && t->answer.data != NULL &&
	    json_parse(&doc, t->answer.data, strlen(t->answer.data), NULL,
		false, NULL) == 0) {
		verdict = json_string(json_get(json_root(doc), "verdict"));
		t->stop = verdict != NULL && strcmp(verdict, "stop") == 0;
		json_free(doc);
	}
	return rc;
}

static void
line_add(struct tell_state *t, const char *line)
{
	if (t->lines.len > 0)
		buf_putc(&t->lines, ',');
	json_put_string(&t->lines, line);
}

/* Whether a line may be a report; the tuner parses it. */
static bool
line_may_report(const char *line)
{
	return strlen(line) < LINE_MOST &&
	       (strstr(line, "hpotune:") != NULL ||
		   line[strspn(line, " \t\r")] == '{');
}

/* Lines that are not valid text cannot be reports. */
static void
cmd_tell_line_clean(char *line, size_t len)
{
	uint32_t code;
	size_t at;
	int n;

	for (at = 0; at<len; at += n> 0 ? (size_t)n : 1) {
		n = line[at] == '\0' ? 0
				     : text_decode(line + at, len - at, &code);
		if (n <= 0)
			line[at] = '?';
	}
}

/* Take whole lines out of in; send them when there are many. */
static int
lines_take(struct tell_state *t, struct buf *in, struct err *e)
{
	size_t at = 0, len;
	char *line, *end;
	int rc = 0;

	while (rc == 0 && !t->stop && at < in->len) {
		line = in->data + at;
		end = memchr(line, '\n', in->len - at);
		if (end == NULL)
			break;
		len = (size_t)(end - line);
		*end = '\0';
		cmd_tell_line_clean(line, len);
		if (line_may_report(line))
			line_add(t, line);
		if (t->lines.len >= BATCH_MOST)
			rc = send_lines(t, false, false, e);
		at += len + 1;
	}
	if (at > 0) {
		memmove(in->data, in->data + at, in->len - at);
		in->len -= at;
	}
	return rc;
}

/* Send reports from standard input as they arrive, until its end or a stop. */
static int
tell_stream(struct tell_state *t, struct err *e)
{
	struct buf in = { 0 };
	char chunk[65536];
	ssize_t n = 0;
	int rc = 0;

	while (rc == 0 && !t->stop &&
	       (n = read(STDIN_FILENO, chunk, sizeof chunk)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			rc = err_set(
			    e, ERR_FILE, "standard input: %s", strerror(errno));
			break;
		}
		buf_add(&in, chunk, (size_t)n);
		rc = lines_take(t, &in, e);
		if (rc == 0 && t->lines.len > 0 && !t->stop)
			rc = send_lines(t, false, false, e);
	}
	/* A last line without newline counts as whole. */
	if (rc == 0 && !t->stop && in.len > 0) {
		buf_putc(&in, '\n');
		rc = lines_take(t, &in, e);
	}
	buf_free(&in);
	if (rc == 0 && (t->end != NULL || t->lines.len > 0))
		rc = send_lines(t, false, true, e);
	if (rc == 0 && t->answer.data == NULL)
		rc = err_set(
		    e, ERR_FILE, "standard input: no line of it is a report");
	return rc;
}

/* NAME=VALUE …: one report. */
static int
tell_words(struct tell_state *t, const struct cli *cli, struct err *e)
{
	struct buf line = { 0 };
	int i;

	if (cli->n_operands == 1 && t->end == NULL)
		return err_set(e, ERR_USAGE,
		    "tell: nothing to report: expected NAME=VALUE, -, "
		    "--done, --stopped or --failed");
	buf_puts(&line, "hpotune:");
	for (i = 1; i < cli->n_operands; i++) {
		if (strchr(cli->operands[i], '=') == NULL) {
			buf_free(&line);
			return err_set(e, ERR_USAGE,
			    "tell: %s: expected NAME=VALUE", cli->operands[i]);
		}
		buf_printf(&line, " %s", cli->operands[i]);
	}
	if (cli->n_operands > 1)
		line_add(t, buf_str(&line));
	buf_free(&line);
	return send_lines(t, true, true, e);
}

/* Which of the switches was given. */
static int
cmd_tell_end_read(struct tell_state *t, const struct cli *cli, struct err *e)
{
	static const char *const ends[] = { "done", "stopped", "failed",
		"crashed", "interrupted" };
	size_t i;

	for (i = 0; i < sizeof ends / sizeof *ends; i++) {
		if (!cli_has(cli, ends[i]))
			continue;
		if (t->end != NULL)
			return err_set(e, ERR_USAGE,
			    "tell: --%s and --%s exclude each other", t->end,
			    ends[i]);
		t->end = ends[i];
	}
	t->why = cli_value(cli, "why");
	if (t->why != NULL && (t->end == NULL || strcmp(t->end, "done") == 0 ||
				  strcmp(t->end, "interrupted") == 0))
		return err_set(e, ERR_USAGE,
		    "tell: --why requires --stopped, --failed or --crashed");
	return 0;
}

static int
tell_operands(struct tell_state *t, const struct cli *cli, struct err *e)
{
	if (cli->n_operands == 0)
		return err_set(e, ERR_USAGE,
		    "tell: the trial is missing: hpotune tell %s",
		    cli->command->args);
	if (cli_read_integer(cli->operands[0], "tell: trial", 1, INT64_MAX,
		&t->trial, e) != 0 ||
	    cmd_tell_end_read(t, cli, e) != 0)
		return -1;
	if (cli->n_operands == 2 && strcmp(cli->operands[1], "-") == 0)
		return tell_stream(t, e);
	return tell_words(t, cli, e);
}

static int
tell_run(struct cli *cli)
{
	struct tell_state t = { 0 };
	struct err e = ERR_INIT;
	int rc;

	if (ask_tell_client_open(&t.visit, cli, NULL, false, &e) != 0)
		return cli_fail(&e);
	rc = tell_operands(&t, cli, &e);
	if (rc == 0)
		rc = ask_tell_client_print(cli, &t.answer, &e);
	free(t.answer.data);
	buf_free(&t.lines);
	ask_tell_client_close(&t.visit);
	return rc == 0 ? CLI_DONE : cli_fail(&e);
}

static const struct cli_option tell_options[] = {
	{ "done", 0, NULL, "it has completed: its reports are its result" },
	{ "stopped", 0, NULL, "it was stopped before its end" },
	{ "failed", 0, NULL, "it has failed" },
	{ "crashed", 0, NULL, "it has failed, and may be retried" },
	{ "interrupted", 0, NULL, "it is given back, to be asked for again" },
	{ "why", 0, "TEXT", "reason for --stopped, --failed or --crashed" },
	{ .name = NULL },
};

const struct cli_command cmd_tell = {
	.name = "tell",
	.args = "[STUDY] TRIAL [NAME=VALUE...|-]",
	.about = "report metrics, or the end, of a trial of ask",
	.options = tell_options,
	.min_operands = 1,
	.max_operands = -1,
	.json = true,
	.run = tell_run,
};
