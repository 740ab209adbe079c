/*
 * Send ask/tell/judge to the running server, or execute it on the database when
 * none runs.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/base/process-mark.h"
#include "src/base/text.h"
#include "src/cli/common/ask-tell-client.h"
#include "src/cli/common/caller-env.h"
#include "src/cli/common/load-study.h"
#include "src/server/control.h"
#include "src/server/server.h"
#include "src/store/store.h"
#include "src/study-files/state-dir.h"
#include "src/study-files/study-files.h"

int
ask_tell_client_open(struct ask_tell_client *v, struct cli *cli,
    const char *db_dir, bool make, struct err *e)
{
	*v = (struct ask_tell_client){ 0 };
	if (load_study_find(cli, &v->found, db_dir, e) != 0)
		return -1;
	if (!make && study_files_exist(&v->found, e) != 0) {
		study_files_fini(&v->found);
		return -1;
	}
	v->dir = load_study_dir(&v->found);
	/*
	 * In a shell that somebody types into, the next line may belong to
	 * another work.
	 */
	if (!process_mark_is_terminal(getppid()))
		v->asker = getppid();
	if (caller_env_pid() > 0)
		v->asker = caller_env_pid();
	v->by = caller_env_by();
	return 0;
}

void
ask_tell_client_put_asker(
    const struct ask_tell_client *v, struct json_writer *w)
{
	if (v->asker == 0)
		return;
	json_writer_object(w, "asker");
	json_writer_integer(w, "pid", v->asker);
	json_writer_integer(w, "ns", (int64_t)process_mark_namespace());
	json_writer_bool(w, "sure", v->is_sure);
	json_writer_end(w);
}

void
ask_tell_client_close(struct ask_tell_client *v)
{
	free(v->dir);
	free(v->by);
	study_files_fini(&v->found);
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
	case TUNER_CONFIRM:
	case TUNER_PROPOSE:
	case TUNER_PROPOSE_COMMIT:
	case TUNER_CLEAN:
	case TUNER_CALLED:
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
	if (v->by != NULL)
		json_writer_raw(&w, "by", v->by);
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
		.by = v->by,
	};
	int rc;

	*answer = (struct control_answer){ 0 };
	rc = ask_server(v, what, trial, params, answer, e);
	if (rc == 1) {
		store_keep_end();
		rc = oneshot_run(&env, what, trial, params, answer, e);
	}
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

/* What is wrong with the reports, although they are recorded. */
static void
answer_warn(const struct json *a)
{
	const char *warning = json_string(json_get(a, "warning"));
	struct buf text = { 0 };

	if (warning != NULL) {
		text_put_harmless(&text, warning, strlen(warning), TEXT_LINE);
		fprintf(stderr, "hpotune: warning: %s\n", buf_str(&text));
	}
	buf_free(&text);
}

static void
answer_put_text(struct buf *out, const struct json *a)
{
	const char *verdict = json_string(json_get(a, "verdict"));
	const char *why = json_string(json_get(a, "why"));
	const char *rule = json_string(json_get(a, "rule"));

	buf_puts(
	    out, verdict != NULL ? verdict : json_string(json_get(a, "state")));
	if (why == NULL || *why == '\0') {
		buf_putc(out, '\n');
		return;
	}
	buf_puts(out, ": ");
	if (verdict != NULL && rule != NULL && strcmp(rule, "none") != 0)
		buf_printf(out, "%s: ", rule);
	text_put_harmless(out, why, strlen(why), TEXT_LINE);
	buf_putc(out, '\n');
}

int
ask_tell_client_print(
    const struct cli *cli, const struct control_answer *a, struct err *e)
{
	struct buf out = { 0 };
	struct json_doc *doc;

	if (a->data == NULL)
		return err_set(e, ERR_FILE, "the server's answer is empty");
	if (cli->json) {
		cli_print_json(a->data);
		putchar('\n');
		return 0;
	}
	if (json_parse(&doc, a->data, strlen(a->data), NULL, false, e) != 0)
		return -1;
	answer_warn(json_root(doc));
	answer_put_text(&out, json_root(doc));
	json_free(doc);
	(void)cli_print(&out);
	return 0;
}
