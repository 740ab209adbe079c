/*
 * The door: a server of the Model Context Protocol on standard input and output,
 * for one study.  It opens neither the study nor its database: each call of a tool
 * is a command of hpotune, run one after the other, while other messages are
 * answered at once.
 */

#ifndef HPOTUNE_MCP_DOOR_H
#define HPOTUNE_MCP_DOOR_H

#include <stdbool.h>
#include <stdint.h>

struct err;

struct mcp_door_spec {
	const char *study; /* absolute path; NULL: of the folder */
	bool read_only;
	int64_t trials, parallel; /* caps; 0 = none */
	double hours, dollars;
};

/* Serve until standard input ends and all calls are answered. */
int mcp_door_run(const struct mcp_door_spec *, struct err *);

#endif /* HPOTUNE_MCP_DOOR_H */
