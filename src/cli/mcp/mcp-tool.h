/*
 * The tools that the door offers: each is a command of hpotune, run beside it with
 * --json, whose limits and errors are then those of the door.
 */

#ifndef HPOTUNE_MCP_TOOL_H
#define HPOTUNE_MCP_TOOL_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct json;
struct json_writer;
struct strv;

struct mcp_tool {
	const char *name;
	const char *about; /* for the client's model */
	const char *properties; /* of its arguments: JSON Schema */
	const char *required; /* a JSON list of them */
	bool plain; /* it prints text and not JSON */
	bool
	    runner; /* it is short: run by the runner, not as a process of its own */
	bool writes; /* it changes the study: it is never interrupted */
	int64_t timeout_ms;
	/* The command, with --json where it has that, up to the study. */
	int (*put_command)(
	    struct strv *argv, const struct json *arguments, struct err *);
	/* The operands behind the study; or NULL. */
	int (*put_operands)(
	    struct strv *argv, const struct json *arguments, struct err *);
	/* Of what it printed, as members of the open object; NULL: all of it. */
	void (*put_answer)(struct json_writer *, const struct json *printed);
	/* What to do after it. */
	const char *(*next)(const struct json *printed);
};

/* By name, NULL: there is none, or it writes and readers alone are offered. */
const struct mcp_tool *mcp_tool_find(const char *name, bool read_only);
/* The member "tools" of the answer to tools/list. */
void mcp_tool_put_list(struct json_writer *, bool read_only);

#endif /* HPOTUNE_MCP_TOOL_H */
