/* Parts the input of a client into lines. */

#include <string.h>

#include "src/cli/mcp/mcp-input.h"

static bool
mcp_input_blank(const char *line, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (strchr(" \t\r", line[i]) == NULL || line[i] == '\0')
			return false;
	return true;
}

static void
mcp_input_give(struct mcp_input *in, const char *line, size_t len,
    mcp_input_line *take, void *arg)
{
	if (in->dropping)
		in->dropping = false;
	else if (len > MCP_LINE_MAX)
		take(arg, NULL, 0);
	else if (!mcp_input_blank(line, len))
		take(arg, line, len);
}

void
mcp_input_add(struct mcp_input *in, const char *bytes, size_t n,
    mcp_input_line *take, void *arg)
{
	char *line, *end;

	buf_add(&in->bytes, bytes, n);
	for (;;) {
		line = in->bytes.data + in->at;
		end = memchr(line, '\n', in->bytes.len - in->at);
		if (end == NULL)
			break;
		in->at = (size_t)(end + 1 - in->bytes.data);
		mcp_input_give(in, line, (size_t)(end - line), take, arg);
	}
	n = in->bytes.len - in->at;
	if (n > MCP_LINE_MAX && !in->dropping) {
		take(arg, NULL, 0);
		in->dropping = true;
	}
	if (in->dropping)
		n = 0;
	else if (in->at > 0)
		memmove(in->bytes.data, in->bytes.data + in->at, n);
	in->bytes.len = n;
	in->at = 0;
}

void
mcp_input_end(struct mcp_input *in, mcp_input_line *take, void *arg)
{
	if (in->bytes.len > 0 || in->dropping)
		mcp_input_give(
		    in, buf_str(&in->bytes), in->bytes.len, take, arg);
	in->bytes.len = 0;
}

void
mcp_input_free(struct mcp_input *in)
{
	buf_free(&in->bytes);
}
