/*
 * Messages of the Model Context Protocol, each a line of JSON-RPC 2.0.
 *
 * Two kinds of clients are understood.  Those of 2026-07-28 and later say in each
 * request, in params._meta, which version they speak and who they are, and may
 * begin with server/discover.  Older ones begin with initialize, and the server
 * remembers who they are.  Each request shows of which kind it is.
 */

#ifndef HPOTUNE_MCP_MESSAGE_H
#define HPOTUNE_MCP_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct err;
struct json;
struct json_doc;
struct json_writer;

/* The error codes of JSON-RPC, and one of the protocol. */
enum mcp_code {
	MCP_PARSE = -32700,
	MCP_REQUEST = -32600,
	MCP_METHOD = -32601,
	MCP_PARAMS = -32602,
	MCP_BUSY = -32000,
	MCP_VERSION = -32022
};

struct mcp_message {
	struct json_doc *doc; /* owned; the rest is borrowed from it */
	const struct json *id; /* a text or a whole number; NULL: no answer */
	const char *method; /* NULL: an answer, which nobody asked for */
	const struct json *params; /* or NULL */
	const struct json *client; /* name and version, or NULL */
	const char *version; /* of params._meta; NULL: an older client */
};

/* Read a line; -1 with the code and the reason: the id is NULL or the message's. */
int mcp_message_read(struct mcp_message *, const char *line, size_t len,
    enum mcp_code *, struct err *);
/*
 * Whether its version and its capabilities are as the protocol wants them, for
 * those that carry them.  MCP_VERSION: another version, text is NULL.
 */
int
mcp_message_check(const struct mcp_message *, enum mcp_code *, struct err *);
void mcp_message_free(struct mcp_message *);

/* The version that an older client gets for the one that it offers. */
const char *mcp_version_old(const char *offered);
/* All versions that are understood, as elements of an open array. */
void mcp_put_versions(struct json_writer *);

/* Begin the answer to a request: its result is the open object. */
void mcp_put_begin(struct json_writer *, const struct mcp_message *);
/* Close it, and the line. */
void mcp_put_end(struct json_writer *);
/* A whole line with an error. */
void mcp_put_error(
    struct buf *, const struct json *id, enum mcp_code, const char *text);
/* The same for a version that is not understood. */
void mcp_put_version_error(struct buf *, const struct mcp_message *);

#endif /* HPOTUNE_MCP_MESSAGE_H */
