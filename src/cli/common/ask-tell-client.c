/*
 * Send ask/tell/judge to the running server, or execute it on the database when
 * none runs.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/cli/common/load-study.h"
#include "src/cli/common/ask-tell-client.h"
#include "src/server/control.h"
#include "src/server/server.h"
#include "src/server/state-dir.h"

int
ask_tell_client_open(struct ask_tell_client *v, struct cli *cli,
    const char *state_dir, bool make, struct err *e)
{
	*v = (struct ask_tell_client){ 0 };
	if (load_study_find(cli, &v->found, state_dir, e) != 0)
		return -1;
	if (!make && cli_study_exists(&v->found, e) != 0) {
		cli_study_fini(&v->found);
		return -1;
	}
	v->dir = load_study_dir(&v->found);
	return 0;
}

void
ask_tell_client_close(struct ask_tell_client *v)
{
	free(v->dir);
	cli_study_fini(&v->found);
}

static const char *
command_name(enum tuner_request_kind what)
{
	switch (what) {
	case TUNER_ASK:
		return "ask";
	case TUNER_TELL:
		return "tell";
	case TUNER_JUDGE:
		return "judge";
	case TUNER_STOP_TRIAL:
	case TUNER_KILL_TRIAL:
	case TUNER_PAUSE:
	case TUNER_RESUME:
	case TUNER_ENQUEUE:
	case TUNER_UNQUEUE:
	case TUNER_NOTE:
	case TUNER_TAG:
	case TUNER_RETRY:
	case TUNER_FORGET:
	case TUNER_CLEAN:
		break;
	}
	return "";
}

/* 1: no server listens. */
static int
ask_server(const struct ask_tell_client *v, enum tuner_request_kind what,
    int64_t trial, const char *params, struct control_answer *answer,
    struct err *e)
{
	struct state_dir state;
	struct buf line = { 0 };
	struct json_writer w = { .out = &line, .spacing = JSON_SPACED };
	int rc;

	if (state_dir_open(&state, v->dir, false, e) != 0)
		return 1; /* not created yet, or oneshot_run reports the error */
	json_writer_object(&w, NULL);
	json_writer_text(&w, "command", command_name(what));
	if (trial > 0)
		json_writer_integer(&w, "trial", trial);
	json_writer_raw(&w, "params", params);
	json_writer_end(&w);
	rc = control_call(&state, buf_str(&line), false, answer, e);
	buf_free(&line);
	state_dir_close(&state);
	return rc;
}

static int
ask_once(const struct ask_tell_client *v, enum tuner_request_kind what,
    int64_t trial, const char *params, struct control_answer *answer,
    struct err *e)
{
	struct server_env env = {
		.study = v->found.study,
		.db = v->found.db,
		.state_dir = v->dir,
		.network_fs = v->network_fs,
		.visits = true,
	};
	int rc;

	*answer = (struct control_answer){ 0 };
	rc = ask_server(v, what, trial, params, answer, e);
	if (rc == 1)
		rc = oneshot_run(&env, what, trial, params, answer, e);
	return rc;
}

int
ask_tell_client_call(struct ask_tell_client *v, enum tuner_request_kind what,
    int64_t trial, const char *params, struct control_answer *answer,
    struct err *e)
{
	struct load_study_retry retry = { 0 };
	int rc;

	log_set_level(LOG_LEVEL_WARN);
	while ((rc = ask_once(v, what, trial, params, answer, e)) != 0 &&
	       load_study_retry(&retry, e))
		;
	if (rc == 0 && !answer->ok) {
		free(answer->data);
		answer->data = NULL;
		rc = err_set(e, ERR_FILE, "%s", answer->text);
	}
	return rc;
}
