/* Sends what a command asks to the server, or does it on the database. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/cli/common/caller-env.h"
#include "src/cli/common/load-study.h"
#include "src/cli/common/server-request.h"
#include "src/server/control.h"
#include "src/store/store.h"
#include "src/study-files/study-files.h"

int
server_request_open(struct server_request *a, struct cli *cli, struct err *e)
{
	memset(a, 0, sizeof *a);
	a->cli = cli;
	if (load_study_find(cli, &a->found, NULL, e) != 0)
		return -1;
	a->dir = load_study_dir(&a->found);
	a->by = caller_env_by();
	if (study_files_exist(&a->found, e) == 0 &&
	    state_dir_open(&a->state, a->dir, false, e) == 0)
		return 0;
	free(a->dir);
	free(a->by);
	study_files_fini(&a->found);
	return -1;
}

void
server_request_close(struct server_request *a)
{
	state_dir_close(&a->state);
	free(a->dir);
	free(a->by);
	study_files_fini(&a->found);
}

static int
server_request_answer_print(
    struct server_request *request, const struct control_answer *a)
{
	struct buf b = { 0 };
	struct json_writer w = { .out = &b, .spacing = JSON_SPACED };
	struct err e = ERR_INIT;

	if (!a->ok) {
		err_set(&e, ERR_FILE, "%s", a->text);
		return cli_fail(&e);
	}
	if (request->cli->json) {
		w.comma = request->answered;
		json_writer_line(&w);
		json_writer_object(&w, NULL);
		json_writer_bool(&w, "ok", true);
		json_writer_text(&w, "text", a->text);
		if (a->data != NULL)
			json_writer_raw(&w, "data", a->data);
		json_writer_end(&w);
		buf_puts(&b, request->list ? "" : "\n");
		(void)cli_print(&b);
	} else
		cli_print_line("%s\n", a->text);
	request->answered = true;
	return CLI_DONE;
}

/* The line of the protocol; the caller frees it. */
static char *
request_line(const struct server_request *a, const struct server_asked *asked)
{
	struct buf b = { 0 };
	struct json_writer w = { .out = &b, .spacing = JSON_SPACED };

	json_writer_object(&w, NULL);
	json_writer_text(&w, "command", asked->name);
	if (asked->trial > 0)
		json_writer_integer(&w, "trial", asked->trial);
	if (asked->kind == TUNER_KILL_TRIAL)
		json_writer_bool(&w, "now", true);
	if (asked->params != NULL)
		json_writer_raw(&w, "params", asked->params);
	if (a->by != NULL)
		json_writer_raw(&w, "by", a->by);
	json_writer_end(&w);
	return buf_take(&b);
}

/* Over the socket, or on the database. */
static int
send_once(const struct server_request *a, const char *line,
    const struct server_asked *asked, struct control_answer *answer,
    struct err *e)
{
	struct server_env env = {
		.study = a->found.study,
		.db = a->found.db,
		.state_dir = a->dir,
		.by = a->by,
	};
	bool wait = asked->wait && asked->trial == 0;
	int rc = control_call(&a->state, line, wait, answer, e);

	log_set_level(LOG_LEVEL_WARN);
	if (rc == 1) {
		store_keep_end();
		rc = oneshot_control(
		    &env, asked->kind, asked->trial, asked->params, answer, e);
	}
	return rc;
}

/* What comes to the same when it is done twice. */
static bool
request_repeats(const struct server_asked *asked)
{
	return asked->kind == TUNER_STOP_TRIAL ||
	       asked->kind == TUNER_KILL_TRIAL || asked->kind == TUNER_PAUSE ||
	       asked->kind == TUNER_RESUME;
}

/*
 * Whether to send it again: a server that holds its lock may not listen yet, and one
 * that has died leaves its socket to a child for a moment, until that executes its
 * program.
 */
static bool
send_again(struct load_study_retry *retry, const struct server_asked *asked,
    const struct control_answer *answer, struct err *e)
{
	if (answer->lost && request_repeats(asked))
		e->kind = ERR_BUSY;
	return load_study_retry(retry, e);
}

int
server_request_send(struct server_request *a, const struct server_asked *asked)
{
	struct control_answer answer = { 0 };
	struct load_study_retry retry = { 0 };
	struct err e = ERR_INIT;
	char *line = request_line(a, asked);
	int rc, status;

	/* A stop of the server is no request of its tuner. */
	if (a->by != NULL && asked->wait && asked->trial == 0)
		caller_env_note(&a->found);

	while ((rc = send_once(a, line, asked, &answer, &e)) != 0 &&
	       send_again(&retry, asked, &answer, &e))
		answer.lost = false;
	free(line);
	status =
	    rc != 0 ? cli_fail(&e) : server_request_answer_print(a, &answer);
	free(answer.data);
	return status;
}

int
server_request_send_each(struct server_request *a,
    const struct server_asked *asked, const int64_t *trials, int n)
{
	struct server_asked one = *asked;
	int i, sent, status = CLI_DONE;

	a->list = a->cli->json && n > 1;
	if (a->list)
		putchar('[');
	for (i = 0; i < n; i++) {
		one.trial = trials[i];
		sent = server_request_send(a, &one);
		if (sent != CLI_DONE)
			status = sent;
	}
	if (a->list)
		puts("]");
	return status;
}

int
server_request_once(struct cli *cli, const struct server_asked *asked)
{
	struct server_request a;
	struct err e = ERR_INIT;
	int status;

	if (server_request_open(&a, cli, &e) != 0)
		return cli_fail(&e);
	status = server_request_send(&a, asked);
	server_request_close(&a);
	return status;
}

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

int
server_request_about(struct cli *cli, struct server_asked *asked,
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

/*
 * The remaining operands as n trial numbers, which the caller frees; all are
 * read before one is used.
 */
static int
server_request_trials_read(
    int64_t **trials, int *n, const struct cli *cli, struct err *e)
{
	int i;

	*n = cli->n_operands;
	*trials = xcalloc((size_t)cli->n_operands + 1, sizeof **trials);
	for (i = 0; i < cli->n_operands; i++)
		if (cli_read_integer(cli->operands[i], "trial", 1, INT64_MAX,
			&(*trials)[i], e) != 0)
			return -1;
	return 0;
}

int
server_request_named(struct cli *cli, const struct server_asked *asked,
    bool all, const char *wanted)
{
	struct server_request a;
	struct err e = ERR_INIT;
	int64_t *trials = NULL;
	int status, n;

	if (server_request_open(&a, cli, &e) != 0)
		return cli_fail(&e);
	if (server_request_trials_read(&trials, &n, cli, &e) != 0)
		status = cli_fail(&e);
	else if (all && n > 0) {
		(void)err_set(&e, ERR_USAGE,
		    "%s: --failed and single trials exclude each other",
		    asked->name);
		status = cli_fail(&e);
	} else if (all || (n == 0 && wanted == NULL))
		status = server_request_send(&a, asked);
	else if (n == 0) {
		(void)err_set(
		    &e, ERR_USAGE, "%s: expected %s", asked->name, wanted);
		status = cli_fail(&e);
	} else
		status = server_request_send_each(&a, asked, trials, n);
	free(trials);
	server_request_close(&a);
	return status;
}
