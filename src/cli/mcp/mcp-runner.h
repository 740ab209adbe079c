/*
 * A process beside hpotune mcp that runs its short commands one after another, so
 * that none begins with a program to start and a database to open.
 */

#ifndef HPOTUNE_MCP_RUNNER_H
#define HPOTUNE_MCP_RUNNER_H

#include "src/base/capture.h"

struct mcp_runner;

/*
 * As capture_start, for a command of hpotune: argv[0] is hpotune, and its output
 * has its errors.  *runner: started when it is NULL or has ended; while it runs a
 * command it takes no other.  caller: HPOTUNE_CALLER; study: for those who list
 * processes, or NULL.
 */
int mcp_runner_start(struct mcp_runner **runner, struct loop *,
    const struct capture_spec *, const char *caller, const char *study,
    capture_cb *, void *arg, struct err *);
/* Kill it, reap it and free it; no callback is called.  NULL is none. */
void mcp_runner_kill(struct mcp_runner *);

#endif /* HPOTUNE_MCP_RUNNER_H */
