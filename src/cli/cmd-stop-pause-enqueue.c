/*
 * hpotune stop, pause, resume, enqueue: send a request to the running server
 * over its socket, or execute it on the database when none runs.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/load-study.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/server/control.h"
#include "src/server/server.h"
#include "src/server/state-dir.h"

struct asking {
	struct cli_study found;
	char *dir;
	struct state_dir state;
	bool list; /* answers are elements of one JSON list */
	bool answered; /* not the first element */
};

static int
asking_open(struct asking *a, struct cli *cli, struct err *e)
{
	memset(a, 0, sizeof *a);
	if (load_study_find(cli, &a->found, NULL, e) != 0)
		return -1;
	a->dir = load_study_dir(&a->found);
	if (cli_study_exists(&a->found, e) == 0 &&
	    state_dir_open(&a->state, a->dir, false, e) == 0)
		return 0;
	free(a->dir);
	cli_study_fini(&a->found);
	return -1;
}

static void
asking_close(struct asking *a)
{
	state_dir_close(&a->state);
	free(a->dir);
	cli_study_fini(&a->found);
}

static int
answer_print(
    struct cli *cli, struct asking *asking, const struct control_answer *a)
{
	struct buf b = { 0 };
	struct json_writer w = { .out = &b, .spacing = JSON_SPACED };
	struct err e = ERR_INIT;

	if (!a->ok) {
		err_set(&e, ERR_FILE, "%s", a->text);
		return cli_fail(&e);
	}
	if (cli->json) {
		w.comma = asking->answered;
		json_writer_line(&w);
		json_writer_object(&w, NULL);
		json_writer_bool(&w, "ok", true);
		json_writer_text(&w, "text", a->text);
		json_writer_end(&w);
		buf_puts(&b, asking->list ? "" : "\n");
		(void)cli_print(&b);
	} else
		cli_print_line("%s\n", a->text);
	asking->answered = true;
	return CLI_DONE;
}

/* Over the socket, or on the database; wait: until the server has shut down. */
static int
ask_once(const struct asking *a, const char *line, enum tuner_request_kind what,
    int64_t trial, const char *params, bool wait, struct control_answer *answer,
    struct err *e)
{
	struct server_env env = {
		.study = a->found.study,
		.db = a->found.db,
		.state_dir = a->dir,
	};
	int rc = control_call(&a->state, line, wait, answer, e);

	log_set_level(LOG_LEVEL_WARN);
	if (rc == 1)
		rc = oneshot_control(&env, what, trial, params, answer, e);
	return rc;
}

static int
ask(struct cli *cli, struct asking *a, const char *line,
    enum tuner_request_kind what, int64_t trial, const char *params, bool wait)
{
	struct control_answer answer = { 0 };
	struct load_study_retry retry = { 0 };
	struct err e = ERR_INIT;
	int rc;

	/* A server that holds its lock may not listen yet. */
	while ((rc = ask_once(
		    a, line, what, trial, params, wait, &answer, &e)) != 0 &&
	       load_study_retry(&retry, &e))
		;
	if (rc != 0)
		return cli_fail(&e);
	return answer_print(cli, a, &answer);
}

/* The trial numbers on the command line: all are parsed before one is used. */
static int
trials_read(struct cli *cli, int64_t **trials, struct err *e)
{
	int i;

	*trials = xcalloc((size_t)cli->n_operands + 1, sizeof **trials);
	for (i = 0; i < cli->n_operands; i++)
		if (cli_read_integer(cli->operands[i], "trial", 1, INT64_MAX,
			&(*trials)[i], e) != 0)
			return -1;
	return 0;
}

static int
stop_server(struct cli *cli, struct asking *a, enum tuner_request_kind what)
{
	return ask(cli, a,
	    what == TUNER_KILL_TRIAL ? "{\"command\": \"stop\", \"now\": true}"
				     : "{\"command\": \"stop\"}",
	    what, 0, NULL, true);
}

static int
stop_trial(struct cli *cli, struct asking *a, enum tuner_request_kind what,
    int64_t trial)
{
	char *line;
	int status;

	line = xasprintf("{\"command\": \"stop\", \"trial\": %" PRId64
			 ", \"now\": %s}",
	    trial, what == TUNER_KILL_TRIAL ? "true" : "false");
	status = ask(cli, a, line, what, trial, NULL, false);
	free(line);
	return status;
}

/* With several trials: one document, a list of those that could be stopped. */
static int
stop_trials(struct cli *cli, struct asking *a, enum tuner_request_kind what,
    const int64_t *trials)
{
	int i, status = CLI_DONE, one;

	a->list = cli->json && cli->n_operands > 1;
	if (a->list)
		putchar('[');
	for (i = 0; i < cli->n_operands; i++) {
		one = stop_trial(cli, a, what, trials[i]);
		if (one != CLI_DONE)
			status = one;
	}
	if (a->list)
		puts("]");
	return status;
}

int
cmd_stop(struct cli *cli)
{
	enum tuner_request_kind what =
	    cli_has(cli, "now") ? TUNER_KILL_TRIAL : TUNER_STOP_TRIAL;
	struct asking a;
	struct err e = ERR_INIT;
	int64_t *trials = NULL;
	int status;

	if (asking_open(&a, cli, &e) != 0)
		return cli_fail(&e);
	if (trials_read(cli, &trials, &e) != 0)
		status = cli_fail(&e);
	else if (cli->n_operands == 0)
		status = stop_server(cli, &a, what);
	else
		status = stop_trials(cli, &a, what, trials);
	free(trials);
	asking_close(&a);
	return status;
}

static int
ask_plain(struct cli *cli, const char *line, enum tuner_request_kind what)
{
	struct asking a;
	struct err e = ERR_INIT;
	int status;

	if (asking_open(&a, cli, &e) != 0)
		return cli_fail(&e);
	status = ask(cli, &a, line, what, 0, NULL, false);
	asking_close(&a);
	return status;
}

int
cmd_pause(struct cli *cli)
{
	return ask_plain(cli, "{\"command\": \"pause\"}", TUNER_PAUSE);
}

int
cmd_resume(struct cli *cli)
{
	return ask_plain(cli, "{\"command\": \"resume\"}", TUNER_RESUME);
}

/* NAME=VALUE … -> the JSON of a partial setting. */
static int
setting_read(
    struct cli *cli, const struct space *space, struct buf *out, struct err *e)
{
	struct value *values = xcalloc(space->n, sizeof *values);
	int rc = cli_setting_operands(cli, space, values, e);

	if (rc == 0)
		space_put_json(out, space, values);
	free(values);
	return rc;
}

int
cmd_enqueue(struct cli *cli)
{
	struct asking a;
	struct err e = ERR_INIT;
	struct buf params = { 0 };
	char *line;
	int status;

	if (asking_open(&a, cli, &e) != 0)
		return cli_fail(&e);
	if (cli->n_operands == 0)
		err_set(&e, ERR_USAGE, "enqueue: expected NAME=VALUE");
	if (cli->n_operands == 0 ||
	    setting_read(cli, a.found.study->space, &params, &e) != 0)
		status = cli_fail(&e);
	else {
		line = xasprintf("{\"command\": \"enqueue\", \"params\": %s}",
		    buf_str(&params));
		status = ask(
		    cli, &a, line, TUNER_ENQUEUE, 0, buf_str(&params), false);
		free(line);
	}
	buf_free(&params);
	asking_close(&a);
	return status;
}
