/* Reads and writes messages of the Model Context Protocol. */

#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/cli/mcp/mcp-message.h"

#define META "io.modelcontextprotocol/"

/* Versions that begin with initialize, oldest first. */
static const char *const versions_old[] = { "2024-11-05", "2025-03-26",
	"2025-06-18", "2025-11-25" };
/* The one that has params._meta in each request. */
static const char version_new[] = "2026-07-28";

enum { VERSIONS_OLD = sizeof versions_old / sizeof *versions_old };

static int
message_refuse(enum mcp_code *code, struct err *e, const char *text)
{
	*code = MCP_REQUEST;
	return err_set(e, ERR_USAGE, "%s", text);
}

/* The parts of params that tell who asks. */
static void
message_read_meta(struct mcp_message *m)
{
	const struct json *meta = json_get(m->params, "_meta");

	m->version = json_string(json_get(meta, META "protocolVersion"));
	m->client = json_get(meta, META "clientInfo");
	if (strcmp(m->method, "initialize") == 0) {
		m->version = NULL;
		m->client = json_get(m->params, "clientInfo");
	}
}

static int
message_read_id(struct mcp_message *m, const struct json *id,
    enum mcp_code *code, struct err *e)
{
	int64_t number;

	if (id == NULL)
		return 0;
	if (json_string(id) == NULL &&
	    (json_is_decimal(id) || !json_integer(id, &number)))
		return message_refuse(
		    code, e, "id: expected a text or a whole number");
	m->id = id;
	return 0;
}

int
mcp_message_read(struct mcp_message *m, const char *line, size_t len,
    enum mcp_code *code, struct err *e)
{
	const struct json *root, *j;
	const char *version;

	*m = (struct mcp_message){ 0 };
	*code = MCP_PARSE;
	if (json_parse(&m->doc, line, len, NULL, false, e) != 0) {
		m->doc = NULL;
		return err_add(e, "this line is not JSON");
	}
	root = json_root(m->doc);
	if (json_type(root) == JSON_ARRAY)
		return message_refuse(code, e,
		    "a list of messages: send each in a line of its own");
	if (json_type(root) != JSON_OBJECT)
		return message_refuse(code, e, "expected an object");
	if (message_read_id(m, json_get(root, "id"), code, e) != 0)
		return -1;
	version = json_string(json_get(root, "jsonrpc"));
	if (version == NULL || strcmp(version, "2.0") != 0)
		return message_refuse(code, e, "jsonrpc: expected \"2.0\"");
	j = json_get(root, "method");
	if (j == NULL && (json_get(root, "result") != NULL ||
			     json_get(root, "error") != NULL))
		return 0;
	m->method = json_string(j);
	if (m->method == NULL)
		return message_refuse(code, e, "method: expected a text");
	m->params = json_get(root, "params");
	if (m->params != NULL && json_type(m->params) != JSON_OBJECT)
		return message_refuse(code, e, "params: expected an object");
	message_read_meta(m);
	return 0;
}

int
mcp_message_check(
    const struct mcp_message *m, enum mcp_code *code, struct err *e)
{
	const struct json *meta = json_get(m->params, "_meta");

	*code = MCP_PARAMS;
	if (m->version == NULL)
		return 0;
	if (strcmp(m->version, version_new) != 0) {
		*code = MCP_VERSION;
		return -1;
	}
	if (json_get(meta, META "clientCapabilities") == NULL)
		return err_set(e, ERR_USAGE,
		    "params._meta lacks " META "clientCapabilities");
	return 0;
}

void
mcp_message_free(struct mcp_message *m)
{
	json_free(m->doc);
	*m = (struct mcp_message){ 0 };
}

const char *
mcp_version_old(const char *offered)
{
	size_t i;

	for (i = 0; i < VERSIONS_OLD; i++)
		if (offered != NULL && strcmp(offered, versions_old[i]) == 0)
			return versions_old[i];
	return versions_old[VERSIONS_OLD - 1];
}

void
mcp_put_versions(struct json_writer *w)
{
	size_t i;

	json_writer_text(w, NULL, version_new);
	for (i = VERSIONS_OLD; i-- > 0;)
		json_writer_text(w, NULL, versions_old[i]);
}

/* The head of any answer. */
static void
answer_begin(struct json_writer *w, const struct json *id)
{
	json_writer_object(w, NULL);
	json_writer_text(w, "jsonrpc", "2.0");
	if (id != NULL)
		json_write(json_writer_value(w, "id"), id);
	else
		json_writer_null(w, "id");
}

void
mcp_put_begin(struct json_writer *w, const struct mcp_message *m)
{
	answer_begin(w, m->id);
	json_writer_object(w, "result");
	if (m->version == NULL)
		return;
	json_writer_text(w, "resultType", "complete");
	json_writer_object(w, "_meta");
	json_writer_object(w, META "serverInfo");
	json_writer_text(w, "name", "hpotune");
	json_writer_text(w, "version", PACKAGE_VERSION);
	json_writer_end(w);
	json_writer_end(w);
}

void
mcp_put_end(struct json_writer *w)
{
	json_writer_end(w);
	json_writer_end(w);
	buf_putc(w->out, '\n');
}

void
mcp_put_error(struct buf *out, const struct json *id, enum mcp_code code,
    const char *text)
{
	struct json_writer w = { .out = out };

	answer_begin(&w, id);
	json_writer_object(&w, "error");
	json_writer_integer(&w, "code", code);
	json_writer_text(&w, "message", text);
	mcp_put_end(&w);
}

void
mcp_put_version_error(struct buf *out, const struct mcp_message *m)
{
	struct json_writer w = { .out = out };

	answer_begin(&w, m->id);
	json_writer_object(&w, "error");
	json_writer_integer(&w, "code", MCP_VERSION);
	json_writer_text(&w, "message", "Unsupported protocol version");
	json_writer_object(&w, "data");
	json_writer_array(&w, "supported");
	mcp_put_versions(&w);
	json_writer_end(&w);
	json_writer_text(&w, "requested", m->version);
	json_writer_end(&w);
	mcp_put_end(&w);
}
