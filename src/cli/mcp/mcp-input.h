/*
 * The lines of a client: bytes go in as they come, whole lines come out.  A line
 * that is too long is dropped up to its end, and takes no memory.
 */

#ifndef HPOTUNE_MCP_INPUT_H
#define HPOTUNE_MCP_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/mem.h"

enum { MCP_LINE_MAX = 1 << 20 }; /* bytes */

/* Start with { 0 }. */
struct mcp_input {
	struct buf bytes; /* of lines that were not taken */
	size_t at; /* those before it were taken */
	bool dropping; /* the rest of a line that is too long */
};

/* Called for each line, without its end; line is NULL for one that is too long. */
typedef void mcp_input_line(void *arg, const char *line, size_t len);

void mcp_input_add(
    struct mcp_input *, const char *, size_t, mcp_input_line *, void *arg);
/* The end of the file: a last line without an end counts. */
void mcp_input_end(struct mcp_input *, mcp_input_line *, void *arg);
void mcp_input_free(struct mcp_input *);

#endif /* HPOTUNE_MCP_INPUT_H */
