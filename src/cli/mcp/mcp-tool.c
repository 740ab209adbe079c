/* The table of tools: arguments, the command of each, and what comes next. */

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/cli/mcp/mcp-answer.h"
#include "src/cli/mcp/mcp-tool.h"

enum {
	TOOL_MS = 45000, /* a command waits up to 35 s for a lock */
	TOOL_SQL_MS = 10000,
	TOOL_TEXT_MAX = 32000, /* bytes of a text, which becomes an argument */
	TOOL_LOG_LINES = 20
};

#define TRIAL "\"trial\":{\"type\":\"integer\",\"minimum\":1}"

/* A whole number of the arguments, def when it is not given. */
static int
tool_integer(const struct json *args, const char *key, int64_t max, int64_t def,
    int64_t *out, struct err *e)
{
	const struct json *j = json_get(args, key);

	*out = def;
	return j != NULL ? json_read_integer(j, 1, max, out, e) : 0;
}

/* A text of the arguments, NULL when it is not given. */
static int
tool_text(
    const struct json *args, const char *key, const char **out, struct err *e)
{
	const struct json *j = json_get(args, key);

	*out = NULL;
	if (j != NULL && json_read_string(j, out, e) != 0)
		return -1;
	if (*out != NULL && strlen(*out) > TOOL_TEXT_MAX)
		return json_err(j, e, "longer than %d bytes", TOOL_TEXT_MAX);
	return 0;
}

static void
tool_words(struct strv *argv, const char *const *words)
{
	for (; *words != NULL; words++)
		strv_add(argv, xstrdup(*words));
}

/* --NAME=VALUE for a whole number that is given. */
static int
tool_option(
    struct strv *argv, const struct json *args, const char *key, struct err *e)
{
	int64_t n;

	if (tool_integer(args, key, INT32_MAX, 0, &n, e) != 0)
		return -1;
	if (n > 0)
		strv_add(argv, xasprintf("--%s=%" PRId64, key, n));
	return 0;
}

/* The operand of a trial; with wanted it must be given. */
static int
tool_trial(
    struct strv *argv, const struct json *args, bool wanted, struct err *e)
{
	int64_t n;

	if (tool_integer(args, "trial", INT64_MAX, 0, &n, e) != 0)
		return -1;
	if (n > 0)
		strv_add(argv, xasprintf("%" PRId64, n));
	else if (wanted)
		return err_set(e, ERR_USAGE, "trial: missing: its number");
	return 0;
}

static int
trial_operand(struct strv *argv, const struct json *args, struct err *e)
{
	return tool_trial(argv, args, true, e);
}

static int
trial_operand_any(struct strv *argv, const struct json *args, struct err *e)
{
	return tool_trial(argv, args, false, e);
}

/* NAME=VALUE of each member: texts as they are, other values as JSON. */
static int
tool_pairs(struct strv *argv, const struct json *object, struct err *e)
{
	struct buf pair = { 0 };
	const struct json *j;
	const char *key, *text;

	for (j = json_first(object); j != NULL; j = json_next(j)) {
		key = json_key(j);
		text = json_string(j);
		if (*key == '\0' || strchr(key, '=') != NULL) {
			buf_free(&pair);
			return json_err(j, e, "not a name");
		}
		buf_printf(&pair, "%s=", key);
		if (text != NULL)
			buf_puts(&pair, text);
		else
			json_write(&pair, j);
		if (pair.len > TOOL_TEXT_MAX) {
			buf_free(&pair);
			return json_err(
			    j, e, "longer than %d bytes", TOOL_TEXT_MAX);
		}
		strv_add(argv, buf_take(&pair));
	}
	return 0;
}

static int
check_command(struct strv *argv, const struct json *args, struct err *e)
{
	static const char *const words[] = { "check", "--json", NULL };

	tool_words(argv, words);
	return json_only(args, words + 2, e);
}

static int
start_command(struct strv *argv, const struct json *args, struct err *e)
{
	static const char *const words[] = { "start", "--json", "--detach",
		NULL };
	static const char *const known[] = { "trials", "parallel", NULL };

	tool_words(argv, words);
	if (json_only(args, known, e) != 0 ||
	    tool_option(argv, args, "trials", e) != 0)
		return -1;
	return tool_option(argv, args, "parallel", e);
}

static int
status_command(struct strv *argv, const struct json *args, struct err *e)
{
	static const char *const words[] = { "status", "--json", "--brief",
		NULL };

	tool_words(argv, words);
	return json_only(args, words + 3, e);
}

static int
ask_command(struct strv *argv, const struct json *args, struct err *e)
{
	static const char *const words[] = { "ask", "--json", NULL };

	tool_words(argv, words);
	return json_only(args, words + 2, e);
}

static int
tell_command(struct strv *argv, const struct json *args, struct err *e)
{
	static const char *const words[] = { "tell", "--json", NULL };
	static const char *const known[] = { "trial", "step", "values", "end",
		"why", NULL };
	static const char *const ends[] = { "done", "stopped", "failed", NULL };
	const struct json *end = json_get(args, "end");
	const char *why;
	size_t i;

	tool_words(argv, words);
	if (json_only(args, known, e) != 0 ||
	    tool_text(args, "why", &why, e) != 0)
		return -1;
	if (end != NULL && json_read_word(end, ends, &i, e) != 0)
		return -1;
	if (end != NULL)
		strv_add(argv, xasprintf("--%s", ends[i]));
	if (why != NULL)
		strv_add(argv, xasprintf("--why=%s", why));
	return 0;
}

/* A word of a report, which must not become two. */
static bool
tell_word_good(const char *word)
{
	for (; *word != '\0'; word++)
		if (isspace((unsigned char)*word) ||
		    iscntrl((unsigned char)*word))
			return false;
	return true;
}

static int
tool_tell_operands(struct strv *argv, const struct json *args, struct err *e)
{
	const struct json *values = json_get(args, "values"), *j;
	int64_t step = -1;
	size_t i, from;

	if (tool_trial(argv, args, true, e) != 0)
		return -1;
	j = json_get(args, "step");
	if (j != NULL && json_read_integer(j, 0, INT64_MAX, &step, e) != 0)
		return -1;
	if (values != NULL && json_want(values, JSON_OBJECT, e) != 0)
		return -1;
	if (json_count(values) == 0)
		return step < 0 ? 0
				: err_set(e, ERR_USAGE,
				      "values: missing: the metrics of step "
				      "%" PRId64,
				      step);
	if (step >= 0)
		strv_add(argv, xasprintf("step=%" PRId64, step));
	from = argv->n;
	if (tool_pairs(argv, values, e) != 0)
		return -1;
	for (i = from; i < argv->n; i++)
		if (!tell_word_good(argv->v[i]))
			return err_set(e, ERR_USAGE,
			    "values: %s: the name of a metric, or its number, "
			    "with a space",
			    argv->v[i]);
	return 0;
}

static int
enqueue_command(struct strv *argv, const struct json *args, struct err *e)
{
	static const char *const words[] = { "enqueue", "--json", NULL };
	static const char *const known[] = { "params", NULL };

	tool_words(argv, words);
	return json_only(args, known, e);
}

static int
enqueue_operands(struct strv *argv, const struct json *args, struct err *e)
{
	const struct json *params = json_get(args, "params");

	if (json_count(params) == 0 || json_type(params) != JSON_OBJECT)
		return err_set(e, ERR_USAGE,
		    "params: missing: an object of parameters and values");
	return tool_pairs(argv, params, e);
}

static int
propose_command(struct strv *argv, const struct json *args, struct err *e)
{
	static const char *const words[] = { "propose", "--json", NULL };
	static const char *const known[] = { "params", "commit", "patch",
		NULL };
	static const char *const files[] = { "commit", "patch" };
	const char *text;
	size_t i;

	tool_words(argv, words);
	if (json_only(args, known, e) != 0)
		return -1;
	for (i = 0; i < sizeof files / sizeof *files; i++) {
		if (tool_text(args, files[i], &text, e) != 0)
			return -1;
		if (text != NULL)
			strv_add(argv, xasprintf("--%s=%s", files[i], text));
	}
	return 0;
}

/* With a commit or a patch the parameters may be those of the baseline. */
static int
propose_operands(struct strv *argv, const struct json *args, struct err *e)
{
	if (json_get(args, "params") == NULL &&
	    (json_get(args, "commit") != NULL ||
		json_get(args, "patch") != NULL))
		return 0;
	return enqueue_operands(argv, args, e);
}

static int
verdict_command(struct strv *argv, const struct json *args, struct err *e)
{
	static const char *const words[] = { "verdict", "--json", NULL };
	static const char *const known[] = { "proposal", NULL };

	tool_words(argv, words);
	return json_only(args, known, e);
}

static int
verdict_operands(struct strv *argv, const struct json *args, struct err *e)
{
	int64_t n;

	if (tool_integer(args, "proposal", INT64_MAX, 0, &n, e) != 0)
		return -1;
	if (n > 0)
		strv_add(argv, xasprintf("%" PRId64, n));
	return 0;
}

static int
stop_command(struct strv *argv, const struct json *args, struct err *e)
{
	static const char *const words[] = { "stop", "--json", NULL };
	static const char *const known[] = { "trial", "now", NULL };
	const struct json *j = json_get(args, "now");
	bool now = false;

	tool_words(argv, words);
	if (json_only(args, known, e) != 0 ||
	    (j != NULL && json_read_bool(j, &now, e) != 0))
		return -1;
	if (now)
		strv_add(argv, xstrdup("--now"));
	return 0;
}

static int
why_command(struct strv *argv, const struct json *args, struct err *e)
{
	static const char *const words[] = { "show", "--json", NULL };
	static const char *const known[] = { "trial", NULL };

	tool_words(argv, words);
	return json_only(args, known, e);
}

static int
log_command(struct strv *argv, const struct json *args, struct err *e)
{
	static const char *const known[] = { "trial", "lines", NULL };
	int64_t lines;

	if (json_only(args, known, e) != 0 ||
	    tool_integer(args, "lines", 1000, TOOL_LOG_LINES, &lines, e) != 0)
		return -1;
	strv_add(argv, xstrdup("logs"));
	strv_add(argv, xasprintf("--tail=%" PRId64, lines));
	return 0;
}

static int
sql_command(struct strv *argv, const struct json *args, struct err *e)
{
	static const char *const words[] = { "sql", "--json", NULL };
	static const char *const known[] = { "query", "rows", NULL };
	int64_t rows;

	tool_words(argv, words);
	if (json_only(args, known, e) != 0 ||
	    tool_integer(args, "rows", 1000, 50, &rows, e) != 0)
		return -1;
	strv_add(argv, xasprintf("--rows=%" PRId64, rows));
	return 0;
}

static int
sql_operands(struct strv *argv, const struct json *args, struct err *e)
{
	const char *query;

	if (tool_text(args, "query", &query, e) != 0)
		return -1;
	if (query == NULL)
		return err_set(e, ERR_USAGE, "query: missing: a SELECT");
	strv_add(argv, xstrdup(query));
	return 0;
}

static const struct mcp_tool tools[] = {
	{ .name = "check",
	    .about = "Read study.json as start would, and show the plan: "
		     "parameters, number of trials, slots, worst duration and "
		     "cost. Runs and changes nothing.",
	    .timeout_ms = TOOL_MS,
	    .put_command = check_command,
	    .put_answer = mcp_answer_check,
	    .next = mcp_next_check },
	{ .name = "start",
	    .about = "Run the study of study.json in the background, within "
		     "its limits and the caps of this server. Also resumes "
		     "one that was stopped.",
	    .properties = "\"trials\":{\"type\":\"integer\",\"minimum\":1,"
			  "\"description\":\"instead of limits.trials\"},"
			  "\"parallel\":{\"type\":\"integer\",\"minimum\":1,"
			  "\"description\":\"instead of limits.parallel\"}",
	    .writes = true,
	    .timeout_ms = TOOL_MS,
	    .put_command = start_command,
	    .next = mcp_next_start },
	{ .name = "status",
	    .about = "State of the study: counts, best trial, whether a "
		     "server runs it, what blocks it, doubts about what it "
		     "measures.",
	    .timeout_ms = TOOL_MS,
	    .runner = true,
	    .put_command = status_command,
	    .put_answer = mcp_answer_status,
	    .next = mcp_next_status },
	{ .name = "ask",
	    .about = "A new trial that you run yourself: its number and its "
		     "parameters. For studies whose trials you run; those with "
		     "a trial.command are run by start.",
	    .writes = true,
	    .timeout_ms = TOOL_MS,
	    .runner = true,
	    .put_command = ask_command,
	    .next = mcp_next_ask },
	{ .name = "tell",
	    .about = "Report metrics of a trial of ask at a step, or its end. "
		     "The verdict is keep or stop; stop: end the trial.",
	    .properties =
		TRIAL ",\"step\":{\"type\":\"integer\",\"minimum\":0},"
		      "\"values\":{\"type\":\"object\",\"description\":"
		      "\"metrics by name, also nan and inf as texts\","
		      "\"additionalProperties\":{\"type\":[\"number\","
		      "\"string\"]}},\"end\":{\"enum\":[\"done\",\"stopped\","
		      "\"failed\"]},\"why\":{\"type\":\"string\","
		      "\"description\":\"for stopped and failed\"}",
	    .required = "[\"trial\"]",
	    .writes = true,
	    .timeout_ms = TOOL_MS,
	    .runner = true,
	    .put_command = tell_command,
	    .put_operands = tool_tell_operands,
	    .next = mcp_next_tell },
	{ .name = "enqueue",
	    .about = "A setting of yours that is tried next, instead of one "
		     "of the strategy; parameters that you omit are chosen by "
		     "the strategy.",
	    .properties = "\"params\":{\"type\":\"object\"}",
	    .required = "[\"params\"]",
	    .writes = true,
	    .timeout_ms = TOOL_MS,
	    .runner = true,
	    .put_command = enqueue_command,
	    .put_operands = enqueue_operands,
	    .next = mcp_next_enqueue },
	{ .name = "propose",
	    .about = "A change of the baseline: parameters that you omit are "
		     "as in it. It runs on the seeds of the baseline and is "
		     "kept when it is better beyond chance, however many are "
		     "proposed; study.json needs confirm. With trial.source "
		     "also the files of a commit, or a patch over those of "
		     "the baseline.",
	    .properties = "\"params\":{\"type\":\"object\"},"
			  "\"commit\":{\"type\":\"string\",\"description\":"
			  "\"a commit or branch of the repository\"},"
			  "\"patch\":{\"type\":\"string\",\"description\":"
			  "\"path of a file, as git diff writes it\"}",
	    .writes = true,
	    .timeout_ms = TOOL_MS,
	    .runner = true,
	    .put_command = propose_command,
	    .put_operands = propose_operands,
	    .next = mcp_next_propose },
	{ .name = "verdict",
	    .about = "What became of a proposal: open, kept (it is the "
		     "baseline now), discarded or undecided, with its e-value "
		     "and why; without proposal: of all.",
	    .properties = "\"proposal\":{\"type\":\"integer\",\"minimum\":1}",
	    .timeout_ms = TOOL_MS,
	    .runner = true,
	    .put_command = verdict_command,
	    .put_operands = verdict_operands,
	    .next = mcp_next_verdict },
	{ .name = "stop",
	    .about = "Stop one trial; without trial: the server of the study, "
		     "whose trials checkpoint and are resumed by start.",
	    .properties = TRIAL ",\"now\":{\"type\":\"boolean\","
				"\"description\":\"without grace time\"}",
	    .writes = true,
	    .timeout_ms = TOOL_MS,
	    .put_command = stop_command,
	    .put_operands = trial_operand_any,
	    .next = mcp_next_stop },
	{ .name = "why",
	    .about = "Why a trial has its state: its end, the decisions of "
		     "stopping rules about it, its attempts and events.",
	    .properties = TRIAL,
	    .required = "[\"trial\"]",
	    .timeout_ms = TOOL_MS,
	    .runner = true,
	    .put_command = why_command,
	    .put_operands = trial_operand,
	    .put_answer = mcp_answer_why,
	    .next = mcp_next_why },
	{ .name = "log",
	    .about = "The last lines that a trial has printed.",
	    .properties = TRIAL ",\"lines\":{\"type\":\"integer\","
				"\"minimum\":1,\"maximum\":1000}",
	    .required = "[\"trial\"]",
	    .plain = true,
	    .timeout_ms = TOOL_MS,
	    .runner = true,
	    .put_command = log_command,
	    .put_operands = trial_operand,
	    .next = mcp_next_log },
	{ .name = "sql",
	    .about =
		"A SELECT on the views of the study's SQLite database, at "
		"most 5 seconds. Views: study, results (a column for each "
		"parameter), trials, best, curves(trial, step, value, …), "
		"metrics, stops(trial, step, rule, verdict, why, …), attempts, "
		"suggestions, queue, contests, proposals, events, importance, "
		"costs, requests; "
		"LIMIT 0 shows the columns of one.",
	    .properties = "\"query\":{\"type\":\"string\"},\"rows\":{\"type\":"
			  "\"integer\",\"minimum\":1,\"maximum\":1000}",
	    .required = "[\"query\"]",
	    .timeout_ms = TOOL_SQL_MS,
	    .runner = true,
	    .put_command = sql_command,
	    .put_operands = sql_operands,
	    .next = mcp_next_sql },
};

#define N_TOOLS (sizeof tools / sizeof *tools)

const struct mcp_tool *
mcp_tool_find(const char *name, bool read_only)
{
	size_t i;

	for (i = 0; i < N_TOOLS; i++)
		if (strcmp(name, tools[i].name) == 0)
			return read_only && tools[i].writes ? NULL : &tools[i];
	return NULL;
}

static void
tool_put(struct json_writer *w, const struct mcp_tool *tool)
{
	json_writer_object(w, NULL);
	json_writer_text(w, "name", tool->name);
	json_writer_text(w, "description", tool->about);
	json_writer_object(w, "inputSchema");
	json_writer_text(w, "type", "object");
	buf_printf(json_writer_value(w, "properties"), "{%s}",
	    tool->properties != NULL ? tool->properties : "");
	if (tool->required != NULL)
		json_writer_raw(w, "required", tool->required);
	json_writer_bool(w, "additionalProperties", false);
	json_writer_end(w);
	json_writer_object(w, "annotations");
	json_writer_bool(w, "readOnlyHint", !tool->writes);
	json_writer_bool(w, "destructiveHint", false);
	json_writer_bool(w, "openWorldHint", false);
	json_writer_end(w);
	json_writer_end(w);
}

void
mcp_tool_put_list(struct json_writer *w, bool read_only)
{
	size_t i;

	json_writer_array(w, "tools");
	for (i = 0; i < N_TOOLS; i++)
		if (!read_only || !tools[i].writes)
			tool_put(w, &tools[i]);
	json_writer_end(w);
}
