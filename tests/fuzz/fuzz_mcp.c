/*
 * Lines of a client of hpotune mcp, in pieces as they may come: parted in any way
 * they are the same lines, and each message that is read has a method or is an
 * answer, and can be refused by a line of JSON.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/cli/mcp/mcp-input.h"
#include "src/cli/mcp/mcp-message.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
need(bool good)
{
	if (!good)
		abort();
}

/* A line that was read, and what is answered to it. */
static void
on_line(void *arg, const char *line, size_t len)
{
	struct buf *lines = arg, out = { 0 };
	struct mcp_message m;
	struct json_doc *doc;
	struct err e = ERR_INIT;
	enum mcp_code code = MCP_METHOD;

	need(line != NULL && memchr(line, '\n', len) == NULL);
	buf_add(lines, line, len);
	buf_putc(lines, '\n');
	if (mcp_message_read(&m, line, len, &code, &e) == 0) {
		need(m.method == NULL || m.id == NULL ||
		     json_string(m.id) != NULL ||
		     json_type(m.id) == JSON_NUMBER);
		if (m.method != NULL && mcp_message_check(&m, &code, &e) != 0 &&
		    code == MCP_VERSION)
			mcp_put_version_error(&out, &m);
	}
	if (out.len == 0)
		mcp_put_error(&out, m.id, code, e.text);
	need(json_parse(&doc, out.data, out.len - 1, NULL, false, NULL) == 0);
	json_free(doc);
	need(memchr(out.data, '\n', out.len) == out.data + out.len - 1);
	buf_free(&out);
	mcp_message_free(&m);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct mcp_input in = { 0 };
	struct buf whole = { 0 }, parts = { 0 };
	size_t at, n;

	if (size > 65536)
		return 0;
	mcp_input_add(&in, text, size, on_line, &whole);
	mcp_input_end(&in, on_line, &whole);
	for (at = 0; at < size; at += n) {
		n = 1 + data[at] % 7;
		n = n < size - at ? n : size - at;
		mcp_input_add(&in, text + at, n, on_line, &parts);
	}
	mcp_input_end(&in, on_line, &parts);
	need(strcmp(buf_str(&whole), buf_str(&parts)) == 0);
	mcp_input_free(&in);
	buf_free(&whole);
	buf_free(&parts);
	return 0;
}
