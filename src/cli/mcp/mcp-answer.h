/*
 * What of the JSON of a command goes to a caller, so that answers are short; and
 * what the caller can do next.
 */

#ifndef HPOTUNE_MCP_ANSWER_H
#define HPOTUNE_MCP_ANSWER_H

struct json;
struct json_writer;

/* Members of the open object, from what the command has printed. */
void mcp_answer_check(struct json_writer *, const struct json *printed);
void mcp_answer_status(struct json_writer *, const struct json *printed);
void mcp_answer_why(struct json_writer *, const struct json *printed);

/* The next step, a constant; printed is NULL where the command prints none. */
const char *mcp_next_check(const struct json *printed);
const char *mcp_next_start(const struct json *printed);
const char *mcp_next_status(const struct json *printed);
const char *mcp_next_ask(const struct json *printed);
const char *mcp_next_tell(const struct json *printed);
const char *mcp_next_enqueue(const struct json *printed);
const char *mcp_next_propose(const struct json *printed);
const char *mcp_next_verdict(const struct json *printed);
const char *mcp_next_stop(const struct json *printed);
const char *mcp_next_why(const struct json *printed);
const char *mcp_next_log(const struct json *printed);
const char *mcp_next_sql(const struct json *printed);

#endif /* HPOTUNE_MCP_ANSWER_H */
