/*
 * hpotune stop, pause, resume, enqueue: talk to the running server over its
 * socket, or do it to the file when none runs.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json.h"
#include "src/base/mem.h"
#include "src/cli/cli.h"
#include "src/cli/running.h"
#include "src/model/space.h"
#include "src/model/study.h"
#include "src/server/control.h"
#include "src/server/server.h"
#include "src/server/state.h"

struct asking {
	struct cli_study found;
	char *dir;
	struct state state;
};

static int
asking_open(struct asking *a, struct cli *cli, struct err *e)
{
	if (running_find(cli, &a->found, NULL, e) != 0)
		return -1;
	a->dir = running_dir(&a->found);
	if (state_open(&a->state, a->dir, false, e) == 0)
		return 0;
	free(a->dir);
	cli_study_fini(&a->found);
	return -1;
}

static void
asking_close(struct asking *a)
{
	state_close(&a->state);
	free(a->dir);
	cli_study_fini(&a->found);
}

static int
answer_print(struct cli *cli, const struct control_answer *a)
{
	struct buf b = { 0 };
	struct err e = ERR_INIT;

	if (!a->ok) {
		err_set(&e, ERR_FILE, "%s", a->text);
		return cli_fail(&e);
	}
	if (cli->json) {
		buf_puts(&b, "{\"ok\": true, \"text\": ");
		json_put_string(&b, a->text);
		buf_puts(&b, "}");
		puts(buf_str(&b));
		buf_free(&b);
	} else
		puts(a->text);
	return CLI_DONE;
}

/* Over the socket, or to the file; wait: until the server has left. */
static int
ask(struct cli *cli, struct asking *a, const char *line, enum tuner_ask what,
    int64_t trial, const char *params, bool offline, bool wait)
{
	struct control_answer answer = { 0 };
	struct err e = ERR_INIT;
	struct server_env env = {
		.study = a->found.study,
		.db = a->found.db,
		.state_dir = a->dir,
	};
	int rc;

	rc = control_ask(&a->state, line, wait, &answer, &e);
	if (rc == 1 && !offline)
		rc = err_set(&e, ERR_FILE,
		    "no server runs this study: hpotune start does");
	else if (rc == 1)
		rc = server_offline(&env, what, trial, params, &answer, &e);
	if (rc != 0)
		return cli_fail(&e);
	return answer_print(cli, &answer);
}

int
cmd_stop(struct cli *cli)
{
	struct asking a;
	struct err e = ERR_INIT;
	int64_t trial;
	char *line;
	int i, status = CLI_DONE, one;

	if (asking_open(&a, cli, &e) != 0)
		return cli_fail(&e);
	if (cli->n_operands == 0)
		status = ask(cli, &a,
		    cli_has(cli, "now")
			? "{\"command\": \"stop\", \"now\": true}"
			: "{\"command\": \"stop\"}",
		    TUNER_STOP_TRIAL, 0, NULL, true, true);
	for (i = 0; i < cli->n_operands; i++) {
		if (cli_read_integer(cli->operands[i], "trial", 1, INT64_MAX,
			&trial, &e) != 0) {
			status = cli_fail(&e);
			break;
		}
		line = xasprintf("{\"command\": \"stop\", \"trial\": %lld}",
		    (long long)trial);
		one = ask(
		    cli, &a, line, TUNER_STOP_TRIAL, trial, NULL, true, false);
		if (one != CLI_DONE)
			status = one;
		free(line);
	}
	asking_close(&a);
	return status;
}

static int
ask_plain(struct cli *cli, const char *line, enum tuner_ask what)
{
	struct asking a;
	struct err e = ERR_INIT;
	int status;

	if (asking_open(&a, cli, &e) != 0)
		return cli_fail(&e);
	status = ask(cli, &a, line, what, 0, NULL, false, false);
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
	char *name, *eq;
	int i, p, rc = 0;

	for (i = 0; i < cli->n_operands && rc == 0; i++) {
		name = xstrdup(cli->operands[i]);
		eq = strchr(name, '=');
		if (eq != NULL)
			*eq = '\0';
		p = space_find(space, name);
		if (eq == NULL)
			rc = err_set(
			    e, ERR_USAGE, "%s: NAME=VALUE is wanted", name);
		else if (p < 0)
			rc = err_set(e, ERR_USAGE,
			    "%s: the study has no such parameter", name);
		else
			rc = param_parse(
			    &space->params[p], eq + 1, &values[p], e);
		free(name);
	}
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
		err_set(&e, ERR_USAGE, "enqueue: NAME=VALUE is wanted");
	if (cli->n_operands == 0 ||
	    setting_read(cli, a.found.study->space, &params, &e) != 0)
		status = cli_fail(&e);
	else {
		line = xasprintf("{\"command\": \"enqueue\", \"params\": %s}",
		    buf_str(&params));
		status = ask(cli, &a, line, TUNER_ENQUEUE, 0, buf_str(&params),
		    true, false);
		free(line);
	}
	buf_free(&params);
	asking_close(&a);
	return status;
}
