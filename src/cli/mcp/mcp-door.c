/* Serves one client of the Model Context Protocol. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/capture.h"
#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/cli/common/caller-env.h"
#include "src/cli/mcp/mcp-door.h"
#include "src/cli/mcp/mcp-input.h"
#include "src/cli/mcp/mcp-instructions.h"
#include "src/cli/mcp/mcp-message.h"
#include "src/cli/mcp/mcp-runner.h"
#include "src/cli/mcp/mcp-tool.h"

enum {
	CALLS_MAX = 32, /* that wait */
	ASKED_MAX = 4000, /* bytes of arguments in the record */
	CLIENT_MAX = 60, /* bytes of the name of a client, and of its version */
	PRINTED_MAX = 4 << 20 /* bytes of a command */
};

/* A call of a tool that waits, or runs. */
struct mcp_call {
	struct mcp_call *next;
	struct mcp_message message;
	const struct mcp_tool *tool;
	char *caller; /* name, version, pid */
};

struct mcp_door {
	const struct mcp_door_spec *spec;
	struct loop *loop;
	struct loop_fd *watch; /* NULL: the input has ended */
	struct mcp_input input;
	char *client; /* of initialize, or NULL */
	struct json_doc *nothing; /* {}: the arguments of a call without any */
	struct mcp_call *calls; /* the first runs while runs is set */
	size_t n_calls;
	bool runs;
	struct capture *run; /* NULL: none, or the runner has it */
	struct mcp_runner *runner; /* or NULL */
};

/* Where the client does not read, wait; when it is gone, so are we. */
static void
door_send(struct mcp_door *d, struct buf *out)
{
	const char *at = buf_str(out);
	size_t left = out->len;
	struct pollfd ready = { .fd = STDOUT_FILENO, .events = POLLOUT };
	ssize_t n;

	while (left > 0) {
		n = write(STDOUT_FILENO, at, left);
		if (n >= 0) {
			at += n;
			left -= (size_t)n;
		} else if (errno == EAGAIN)
			(void)poll(&ready, 1, -1);
		else if (errno != EINTR) {
			loop_stop(d->loop);
			break;
		}
	}
	buf_free(out);
}

static void
door_refuse(struct mcp_door *d, const struct json *id, enum mcp_code code,
    const char *text)
{
	struct buf out = { 0 };

	mcp_put_error(&out, id, code, text);
	door_send(d, &out);
}

/* "NAME VERSION (pid N)": what a client says of itself, and its process. */
static char *
client_name(const struct json *client)
{
	const char *name = json_string(json_get(client, "name"));
	const char *version = json_string(json_get(client, "version"));
	char a[CLIENT_MAX], b[CLIENT_MAX];

	text_cut(a, sizeof a, name != NULL ? name : "unknown client");
	text_cut(b, sizeof b, version != NULL ? version : "");
	return xasprintf(
	    "%s%s%s (pid %ld)", a, *b != '\0' ? " " : "", b, (long)getppid());
}

/* HPOTUNE_CALLER for the command of a call; the caller frees it. */
static char *
call_env(const struct mcp_door *d, const struct mcp_call *call)
{
	const struct mcp_door_spec *spec = d->spec;
	const struct json *args = json_get(call->message.params, "arguments");
	struct buf out = { 0 }, asked = { 0 };
	struct json_writer w = { .out = &out };

	json_writer_object(&w, NULL);
	json_writer_text(&w, "caller", call->caller);
	json_writer_text(&w, "tool", call->tool->name);
	if (args != NULL)
		json_write(&asked, args);
	if (asked.len > 0 && asked.len <= ASKED_MAX)
		json_writer_raw(&w, "arguments", buf_str(&asked));
	json_writer_integer(&w, "pid", getppid());
	if (spec->trials > 0)
		json_writer_integer(&w, "trials", spec->trials);
	if (spec->parallel > 0)
		json_writer_integer(&w, "parallel", spec->parallel);
	if (spec->hours > 0)
		json_writer_number(&w, "hours", spec->hours);
	if (spec->dollars > 0)
		json_writer_number(&w, "dollars", spec->dollars);
	json_writer_end(&w);
	buf_free(&asked);
	return buf_take(&out);
}

static int
call_command(struct strv *argv, const struct mcp_door *d,
    const struct mcp_call *call, struct err *e)
{
	const struct json *args = json_get(call->message.params, "arguments");

	if (args == NULL)
		args = json_root(d->nothing);
	if (json_want(args, JSON_OBJECT, e) != 0)
		return -1;
	strv_add(argv, xstrdup("/proc/self/exe"));
	if (call->tool->put_command(argv, args, e) != 0)
		return -1;
	strv_add(argv, xstrdup("--"));
	if (d->spec->study != NULL)
		strv_add(argv, xstrdup(d->spec->study));
	else if (access("study.json", F_OK) == 0)
		strv_add(argv, xstrdup("study.json"));
	if (call->tool->put_operands != NULL)
		return call->tool->put_operands(argv, args, e);
	return 0;
}

/* One text as the result of a call. */
static void
call_answer(struct mcp_door *d, const struct mcp_call *call, const char *text,
    bool failed)
{
	struct buf out = { 0 };
	struct json_writer w = { .out = &out };

	mcp_put_begin(&w, &call->message);
	json_writer_array(&w, "content");
	json_writer_object(&w, NULL);
	json_writer_text(&w, "type", "text");
	json_writer_text(&w, "text", text);
	json_writer_end(&w);
	json_writer_end(&w);
	json_writer_bool(&w, "isError", failed);
	mcp_put_end(&w);
	door_send(d, &out);
}

static void
call_free(struct mcp_call *call)
{
	mcp_message_free(&call->message);
	free(call->caller);
	free(call);
}

/*
 * Part what a command has printed: lines of errors and warnings, which begin with
 * the name of the program, and the rest.
 */
static void
printed_part(const char *text, struct buf *rest, struct buf *notes)
{
	static const char mark[] = "hpotune: ";
	const char *end;

	for (; *text != '\0'; text = end) {
		end = strchrnul(text, '\n');
		end += *end != '\0';
		if (strncmp(text, mark, sizeof mark - 1) == 0) {
			text += sizeof mark - 1;
			buf_add(notes, text, (size_t)(end - text));
		} else
			buf_add(rest, text, (size_t)(end - text));
	}
	while (notes->len > 0 && notes->data[notes->len - 1] == '\n')
		notes->data[--notes->len] = '\0';
}

/* The members of what a command has printed, or all of it as "result". */
static void
call_put_printed(struct json_writer *w, const struct mcp_tool *tool,
    const struct json *printed)
{
	const struct json *j;

	if (tool->put_answer != NULL)
		tool->put_answer(w, printed);
	else if (json_type(printed) != JSON_OBJECT)
		json_write(json_writer_value(w, "result"), printed);
	else
		for (j = json_first(printed); j != NULL; j = json_next(j))
			json_write(json_writer_value(w, json_key(j)), j);
}

/* The text of an answer: an object, or what no JSON is, and the next step. */
static void
call_put_text(struct buf *out, const struct mcp_tool *tool, const char *text,
    const char *notes)
{
	struct json_writer w = { .out = out };
	struct json_doc *doc = NULL;

	if (tool->plain ||
	    json_parse(&doc, text, strlen(text), NULL, false, NULL) != 0) {
		text_put_harmless(out, text, strlen(text), TEXT_LINES);
		if (out->len > 0 && out->data[out->len - 1] != '\n')
			buf_putc(out, '\n');
		buf_printf(out, "next: %s", tool->next(NULL));
		return;
	}
	json_writer_object(&w, NULL);
	call_put_printed(&w, tool, json_root(doc));
	if (strncmp(notes, "warning: ", 9) == 0)
		notes += 9;
	if (*notes != '\0')
		json_writer_text(&w, "warning", notes);
	json_writer_text(&w, "next", tool->next(json_root(doc)));
	json_writer_end(&w);
	json_free(doc);
}

static void door_next(struct mcp_door *);

/* The command of the first call has ended. */
static void
door_on_printed(
    void *arg, int status, const char *text, size_t len, const char *why)
{
	struct mcp_door *d = arg;
	struct mcp_call *call = d->calls;
	struct buf rest = { 0 }, notes = { 0 }, out = { 0 };
	bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;

	(void)len;
	d->runs = false;
	d->run = NULL;
	d->calls = call->next;
	d->n_calls--;
	if (good && call->tool->plain)
		buf_puts(&rest, text);
	else
		printed_part(text, &rest, &notes);
	if (good && status != -1)
		call_put_text(
		    &out, call->tool, buf_str(&rest), buf_str(&notes));
	else if (status == -1)
		buf_printf(&out,
		    "%s: %s: it may be done all the same, which status shows",
		    call->tool->name, why);
	else if (notes.len > 0)
		buf_puts(&out, buf_str(&notes));
	else if (WIFSIGNALED(status))
		buf_printf(&out, "%s: the command was killed by signal %d",
		    call->tool->name, WTERMSIG(status));
	else
		buf_printf(
		    &out, "%s: the command has failed", call->tool->name);
	call_answer(d, call, buf_str(&out), !good || status == -1);
	call_free(call);
	buf_free(&rest);
	buf_free(&notes);
	buf_free(&out);
	loop_wake(d->loop);
}

/* Run the next call, unless one runs; at the end of all and of the input, leave. */
static void
door_next(struct mcp_door *d)
{
	struct strv argv = { 0 };
	struct capture_spec spec = { .both = true, .most = PRINTED_MAX };
	struct mcp_call *call = d->calls;
	struct err e = ERR_INIT;
	char *caller;
	int rc = -1;

	if (d->runs)
		return;
	if (call == NULL) {
		if (d->watch == NULL)
			loop_stop(d->loop);
		return;
	}
	spec.timeout_ms = call->tool->timeout_ms;
	if (call_command(&argv, d, call, &e) == 0) {
		caller = call_env(d, call);
		(void)setenv(CALLER_ENV, caller, 1);
		spec.argv = argv.v;
		rc = call->tool->runner
			 ? mcp_runner_start(&d->runner, d->loop, &spec, caller,
			       d->spec->study, door_on_printed, d, &e)
			 : capture_start(
			       &d->run, d->loop, &spec, door_on_printed, d, &e);
		free(caller);
	}
	strv_free(argv.v);
	d->runs = rc == 0;
	if (d->runs)
		return;
	call_answer(d, call, e.text, true);
	d->calls = call->next;
	d->n_calls--;
	call_free(call);
	loop_wake(d->loop);
}

/* Takes the message over. */
static void
door_call(struct mcp_door *d, struct mcp_message *m)
{
	const char *name = json_string(json_get(m->params, "name"));
	const struct mcp_tool *tool;
	struct mcp_call *call, **at = &d->calls;
	char *text;

	tool = name != NULL ? mcp_tool_find(name, d->spec->read_only) : NULL;
	if (tool == NULL) {
		text = xasprintf(
		    "no such tool: %s", name != NULL ? name : "(no name)");
		door_refuse(d, m->id, MCP_PARAMS, text);
		free(text);
		return;
	}
	if (d->n_calls >= CALLS_MAX) {
		door_refuse(d, m->id, MCP_BUSY,
		    "too many calls wait: send the next after an answer");
		return;
	}
	call = xcalloc(1, sizeof *call);
	call->message = *m;
	call->tool = tool;
	call->caller = m->client != NULL || d->client == NULL
			   ? client_name(m->client)
			   : xstrdup(d->client);
	*m = (struct mcp_message){ 0 };
	while (*at != NULL)
		at = &(*at)->next;
	*at = call;
	d->n_calls++;
	loop_wake(d->loop);
}

static void
put_capabilities(struct json_writer *w)
{
	json_writer_object(w, "capabilities");
	json_writer_object(w, "tools");
	json_writer_end(w);
	json_writer_end(w);
	json_writer_text(w, "instructions", mcp_instructions);
}

/* For how long a client may keep an answer: the tools never change. */
static void
put_caching(struct json_writer *w)
{
	json_writer_integer(w, "ttlMs", 3600000);
	json_writer_text(w, "cacheScope", "private");
}

static void
door_initialize(struct mcp_door *d, const struct mcp_message *m)
{
	struct buf out = { 0 };
	struct json_writer w = { .out = &out };

	free(d->client);
	d->client = client_name(m->client);
	mcp_put_begin(&w, m);
	json_writer_text(&w, "protocolVersion",
	    mcp_version_old(
		json_string(json_get(m->params, "protocolVersion"))));
	json_writer_object(&w, "serverInfo");
	json_writer_text(&w, "name", "hpotune");
	json_writer_text(&w, "version", PACKAGE_VERSION);
	json_writer_end(&w);
	put_capabilities(&w);
	mcp_put_end(&w);
	door_send(d, &out);
}

static void
door_discover(struct mcp_door *d, const struct mcp_message *m)
{
	struct buf out = { 0 };
	struct json_writer w = { .out = &out };

	mcp_put_begin(&w, m);
	json_writer_array(&w, "supportedVersions");
	mcp_put_versions(&w);
	json_writer_end(&w);
	put_capabilities(&w);
	put_caching(&w);
	mcp_put_end(&w);
	door_send(d, &out);
}

static void
door_list(struct mcp_door *d, const struct mcp_message *m)
{
	struct buf out = { 0 };
	struct json_writer w = { .out = &out };

	mcp_put_begin(&w, m);
	mcp_tool_put_list(&w, d->spec->read_only);
	if (m->version != NULL)
		put_caching(&w);
	mcp_put_end(&w);
	door_send(d, &out);
}

static void
door_ping(struct mcp_door *d, const struct mcp_message *m)
{
	struct buf out = { 0 };
	struct json_writer w = { .out = &out };

	mcp_put_begin(&w, m);
	mcp_put_end(&w);
	door_send(d, &out);
}

/* End the command that runs, if there is one, and the runner. */
static void
door_kill(struct mcp_door *d)
{
	capture_kill(d->run);
	mcp_runner_kill(d->runner);
	d->run = NULL;
	d->runs = false;
}

/* Give up a call that waits, or one that only reads; no answer is sent. */
static void
door_cancel(struct mcp_door *d, const struct json *params)
{
	const struct json *id = json_get(params, "requestId");
	struct mcp_call **at, *call;

	for (at = &d->calls; id != NULL && *at != NULL; at = &(*at)->next) {
		call = *at;
		if (!json_same(call->message.id, id))
			continue;
		if (call == d->calls && d->runs) {
			if (call->tool->writes)
				return;
			door_kill(d);
		}
		*at = call->next;
		d->n_calls--;
		call_free(call);
		loop_wake(d->loop);
		return;
	}
}

/* A request that was read and is right. */
static void
door_request(struct mcp_door *d, struct mcp_message *m)
{
	char *text;

	if (strcmp(m->method, "tools/call") == 0)
		door_call(d, m);
	else if (strcmp(m->method, "tools/list") == 0)
		door_list(d, m);
	else if (strcmp(m->method, "initialize") == 0)
		door_initialize(d, m);
	else if (strcmp(m->method, "server/discover") == 0)
		door_discover(d, m);
	else if (strcmp(m->method, "ping") == 0)
		door_ping(d, m);
	else {
		text = xasprintf("no such method: %.100s", m->method);
		door_refuse(d, m->id, MCP_METHOD, text);
		free(text);
	}
}

static void
door_on_line(void *arg, const char *line, size_t len)
{
	struct mcp_door *d = arg;
	struct mcp_message m;
	struct err e = ERR_INIT;
	enum mcp_code code;
	struct buf out = { 0 };

	if (line == NULL) {
		door_refuse(d, NULL, MCP_REQUEST,
		    "this line is longer than 1 MiB: it was dropped");
		return;
	}
	if (mcp_message_read(&m, line, len, &code, &e) != 0)
		door_refuse(d, m.id, code, e.text);
	else if (m.method == NULL)
		;
	else if (m.id == NULL) {
		if (strcmp(m.method, "notifications/cancelled") == 0)
			door_cancel(d, m.params);
	} else if (mcp_message_check(&m, &code, &e) == 0)
		door_request(d, &m);
	else if (code == MCP_VERSION) {
		mcp_put_version_error(&out, &m);
		door_send(d, &out);
	} else
		door_refuse(d, m.id, code, e.text);
	mcp_message_free(&m);
}

static void
door_on_input(void *arg, int fd, bool readable, bool writable)
{
	struct mcp_door *d = arg;
	char chunk[65536];
	ssize_t n;

	(void)readable;
	(void)writable;
	n = read(fd, chunk, sizeof chunk);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		mcp_input_add(&d->input, chunk, (size_t)n, door_on_line, d);
		return;
	}
	mcp_input_end(&d->input, door_on_line, d);
	loop_fd_free(d->watch);
	d->watch = NULL;
	loop_wake(d->loop);
}

static void
door_on_turn(void *arg)
{
	door_next(arg);
}

static void
door_free(struct mcp_door *d)
{
	struct mcp_call *call;

	door_kill(d);
	while ((call = d->calls) != NULL) {
		d->calls = call->next;
		call_free(call);
	}
	loop_fd_free(d->watch);
	mcp_input_free(&d->input);
	free(d->client);
	json_free(d->nothing);
	loop_close(d->loop);
}

/* A file is never waited for. */
static void
door_read_file(struct mcp_door *d)
{
	char chunk[65536];
	ssize_t n;

	while ((n = read(STDIN_FILENO, chunk, sizeof chunk)) > 0 ||
	       (n < 0 && errno == EINTR))
		if (n > 0)
			mcp_input_add(
			    &d->input, chunk, (size_t)n, door_on_line, d);
	mcp_input_end(&d->input, door_on_line, d);
}

int
mcp_door_run(const struct mcp_door_spec *spec, struct err *e)
{
	struct mcp_door d = { .spec = spec };
	struct stat st;

	if (loop_open(&d.loop, LOOP_REAL, e) != 0)
		return -1;
	if (json_parse(&d.nothing, "{}", 2, NULL, false, e) != 0) {
		loop_close(d.loop);
		return -1;
	}
	(void)signal(SIGPIPE, SIG_IGN);
	if (fstat(STDIN_FILENO, &st) == 0 &&
	    (S_ISREG(st.st_mode) || S_ISCHR(st.st_mode)) &&
	    !isatty(STDIN_FILENO))
		door_read_file(&d);
	else {
		d.watch = loop_fd_new(d.loop, STDIN_FILENO, door_on_input, &d);
		loop_fd_want(d.watch, true, false);
	}
	loop_run(d.loop, door_on_turn, &d);
	door_free(&d);
	return 0;
}
