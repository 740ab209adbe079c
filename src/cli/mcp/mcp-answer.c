/* Shortens answers of commands, and names the next step. */

#include <string.h>

#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/cli/mcp/mcp-answer.h"

enum { ANSWER_LAST = 5 /* elements of a list that is shortened */ };

/* These members of an object, but those that are null; keys ends with NULL. */
static void
answer_members(
    struct json_writer *w, const struct json *object, const char *const *keys)
{
	const struct json *j;

	for (; *keys != NULL; keys++) {
		j = json_get(object, *keys);
		if (j != NULL && json_type(j) != JSON_NULL)
			json_write(json_writer_value(w, *keys), j);
	}
}

/* The last elements of a list of objects, each with these members. */
static void
answer_list(struct json_writer *w, const char *key, const struct json *list,
    const char *const *keys)
{
	size_t n = json_count(list), i = 0;
	const struct json *j;

	if (n == 0)
		return;
	json_writer_array(w, key);
	for (j = json_first(list); j != NULL; j = json_next(j)) {
		if (n - i++ > ANSWER_LAST)
			continue;
		json_writer_object(w, NULL);
		answer_members(w, j, keys);
		json_writer_end(w);
	}
	json_writer_end(w);
}

/* An object under a key, with these members, when it is one. */
static void
answer_object(struct json_writer *w, const char *key, const struct json *object,
    const char *const *keys)
{
	if (json_count(object) == 0)
		return;
	json_writer_object(w, key);
	answer_members(w, object, keys);
	json_writer_end(w);
}

void
mcp_answer_check(struct json_writer *w, const struct json *printed)
{
	static const char *const keys[] = { "study", "parameters", "objectives",
		"constraints", "strategy", "stopping", "backend", "command",
		"trials", "completed", "changes", "slots", "worst_seconds",
		"attempt_cost", "worst_cost", "likely_cost", "missing", NULL };

	answer_members(w, printed, keys);
}

void
mcp_answer_status(struct json_writer *w, const struct json *printed)
{
	static const char *const study[] = { "name", "state", "metric", "goal",
		"strategy", "rule", "trials", "running", "completed", "stopped",
		"failed", "cost", "elapsed", NULL };
	static const char *const best[] = { "trial", "state", "objective",
		"step", "params", "setting", NULL };
	static const char *const doubts[] = { "trial", "text", NULL };
	static const char *const front[] = { "trial", "params", "outcomes",
		NULL };
	static const char *const rest[] = { "blocked", "server", NULL };

	answer_object(w, "study", json_get(printed, "study"), study);
	answer_object(w, "best", json_get(printed, "best"), best);
	answer_list(w, "front", json_get(printed, "front"), front);
	answer_list(w, "doubts", json_get(printed, "doubts"), doubts);
	answer_members(w, printed, rest);
}

void
mcp_answer_why(struct json_writer *w, const struct json *printed)
{
	static const char *const trial[] = { "trial", "state", "objective",
		"step", "reports", "params", "backend", "seconds", "cost",
		"why", "note", NULL };
	static const char *const stops[] = { "step", "rule", "value",
		"threshold", "pool", "verdict", "why", NULL };
	static const char *const attempts[] = { "attempt", "state", "end_class",
		"exit_code", "signal", "resumed_step", "seconds", NULL };
	static const char *const events[] = { "time", "level", "attempt",
		"text", NULL };

	answer_object(w, "trial", json_get(printed, "trial"), trial);
	answer_list(w, "stops", json_get(printed, "stops"), stops);
	answer_list(w, "attempts", json_get(printed, "attempts"), attempts);
	answer_list(w, "events", json_get(printed, "events"), events);
}

/* Whether the text of a member is this one. */
static bool
answer_is(const struct json *object, const char *key, const char *text)
{
	const char *found = json_string(json_get(object, key));

	return found != NULL && strcmp(found, text) == 0;
}

const char *
mcp_next_check(const struct json *printed)
{
	if (json_string(json_get(printed, "missing")) != NULL)
		return "make what is missing, then check again";
	if (json_count(json_get(printed, "command")) == 0)
		return "ask gives you a trial, which you run and tell about";
	return "start runs it";
}

const char *
mcp_next_start(const struct json *printed)
{
	(void)printed;
	return "status shows how it gets on";
}

const char *
mcp_next_status(const struct json *printed)
{
	const struct json *study = json_get(printed, "study");
	bool server = false;

	(void)json_bool(json_get(printed, "server"), &server);
	if (server)
		return "wait, then status again; why explains a trial, enqueue "
		       "tries a setting of yours";
	if (answer_is(study, "state", "finished") ||
	    answer_is(study, "state", "failed"))
		return "it is over: sql reads all results; a greater limit in "
		       "study.json and start go on";
	return "no server runs: start resumes it; ask works without one";
}

const char *
mcp_next_ask(const struct json *printed)
{
	(void)printed;
	return "run it with these params; tell its metrics at each step, and "
	       "end=done after the last";
}

const char *
mcp_next_tell(const struct json *printed)
{
	if (answer_is(printed, "verdict", "stop"))
		return "end the trial now, then tell end=stopped";
	if (answer_is(printed, "verdict", "keep"))
		return "go on; tell the next step, or end=done";
	return "ask gives you another trial; why explains this one";
}

const char *
mcp_next_enqueue(const struct json *printed)
{
	(void)printed;
	return "ask or start tries it; sql: SELECT * FROM queue";
}

const char *
mcp_next_propose(const struct json *printed)
{
	(void)printed;
	return "start runs it, unless a server does; then verdict";
}

const char *
mcp_next_verdict(const struct json *printed)
{
	if (answer_is(printed, "verdict", "open"))
		return "wait, then verdict again; start if no server runs";
	if (answer_is(printed, "verdict", "kept"))
		return "it is the baseline now: propose changes of it";
	return "propose another setting";
}

const char *
mcp_next_stop(const struct json *printed)
{
	(void)printed;
	return "status shows what runs; start resumes a stopped study";
}

const char *
mcp_next_why(const struct json *printed)
{
	(void)printed;
	return "log shows its output; sql: SELECT * FROM curves WHERE trial = "
	       "N shows its curve";
}

const char *
mcp_next_log(const struct json *printed)
{
	(void)printed;
	return "why explains the state of the trial";
}

const char *
mcp_next_sql(const struct json *printed)
{
	bool more = false;

	(void)json_bool(json_get(printed, "more"), &more);
	return more ? "there are more rows: narrow the query, or give rows"
		    : "status, or another query";
}
