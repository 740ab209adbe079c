/* Reads HPOTUNE_CALLER, and has the engine record what a caller reads. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/cli/common/caller-env.h"
#include "src/cli/common/cli.h"
#include "src/cli/common/load-study.h"
#include "src/server/control.h"
#include "src/server/server.h"
#include "src/store/store.h"
#include "src/study-files/state-dir.h"
#include "src/study-files/study-files.h"

/* The variable, or NULL when there is none, or it is no object. */
static struct json_doc *
caller_env_parse(void)
{
	const char *text = getenv(CALLER_ENV);
	struct json_doc *doc;

	if (text == NULL ||
	    json_parse(&doc, text, strlen(text), NULL, false, NULL) != 0)
		return NULL;
	if (json_type(json_root(doc)) == JSON_OBJECT)
		return doc;
	json_free(doc);
	return NULL;
}

char *
caller_env_by(void)
{
	static const char *const keys[] = { "caller", "trials", "parallel",
		"hours", "dollars" };
	struct json_doc *doc = caller_env_parse();
	struct buf out = { 0 };
	struct json_writer w = { .out = &out };
	const struct json *j;
	size_t i;

	if (doc == NULL)
		return NULL;
	json_writer_object(&w, NULL);
	for (i = 0; i < sizeof keys / sizeof *keys; i++) {
		j = json_get(json_root(doc), keys[i]);
		if (j != NULL)
			json_write(json_writer_value(&w, keys[i]), j);
	}
	json_writer_end(&w);
	json_free(doc);
	return buf_take(&out);
}

int64_t
caller_env_pid(void)
{
	struct json_doc *doc = caller_env_parse();
	int64_t pid = 0;

	if (doc == NULL)
		return 0;
	(void)json_integer(json_get(json_root(doc), "pid"), &pid);
	json_free(doc);
	return pid > 0 ? pid : 0;
}

/* The params of TUNER_CALLED, or NULL when no tool is named. */
static char *
caller_env_asked(void)
{
	struct json_doc *doc = caller_env_parse();
	struct buf out = { 0 };
	struct json_writer w = { .out = &out };
	const struct json *tool, *j;

	if (doc == NULL)
		return NULL;
	tool = json_get(json_root(doc), "tool");
	j = json_get(json_root(doc), "arguments");
	if (json_string(tool) != NULL) {
		json_writer_object(&w, NULL);
		json_writer_text(&w, "request", json_string(tool));
		if (j != NULL)
			json_write(json_writer_value(&w, "asked"), j);
		json_writer_end(&w);
	}
	json_free(doc);
	return out.len > 0 ? buf_take(&out) : NULL;
}

/* Over the socket, or on the database. */
static int
caller_env_send(struct study_files *found, const char *dir, const char *by,
    const char *asked, struct err *e)
{
	struct server_env env = { .db = found->db, .state_dir = dir, .by = by };
	struct control_answer answer = { 0 };
	struct state_dir state;
	struct buf line = { 0 };
	struct json_writer w = { .out = &line, .spacing = JSON_SPACED };
	int rc;

	if (state_dir_open(&state, dir, false, e) != 0)
		return -1;
	json_writer_object(&w, NULL);
	json_writer_text(&w, "command", "called");
	json_writer_raw(&w, "params", asked);
	json_writer_raw(&w, "by", by);
	json_writer_end(&w);
	rc = control_call(&state, buf_str(&line), false, &answer, e);
	state_dir_close(&state);
	buf_free(&line);
	if (rc == 1 && found->study == NULL && load_study_read(found, e) != 0)
		return -1;
	env.study = found->study;
	if (rc == 1) {
		store_keep_end();
		rc = oneshot_control(&env, TUNER_CALLED, 0, asked, &answer, e);
	}
	free(answer.data);
	if (rc == 0 && !answer.ok)
		rc = err_set(e, ERR_FILE, "%s", answer.text);
	return rc;
}

void
caller_env_note(struct study_files *found)
{
	struct load_study_retry retry = { 0 };
	struct err e = ERR_INIT;
	char *by = caller_env_by(), *asked = caller_env_asked(), *dir;
	int rc, more = 1;

	if (by == NULL || asked == NULL || access(found->db, F_OK) != 0) {
		free(by);
		free(asked);
		return;
	}
	log_set_level(LOG_LEVEL_ERROR);
	dir = load_study_dir(found);
	/* Once more, where a server ends that moment: then there is none. */
	while ((rc = caller_env_send(found, dir, by, asked, &e)) != 0 &&
	       (load_study_retry(&retry, &e) || more-- > 0))
		;
	if (rc != 0)
		fprintf(stderr, "hpotune: warning: not recorded: %s\n", e.text);
	free(dir);
	free(by);
	free(asked);
}
