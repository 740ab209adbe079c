/*
 * The environment variable HPOTUNE_CALLER: on whose behalf hpotune mcp runs a
 * command.  JSON as in src/engine/callers/caller.h, and
 *	"tool", "arguments": what the caller asked for
 *	"pid": the process of the client, which asks for trials
 */

#ifndef HPOTUNE_CALLER_ENV_H
#define HPOTUNE_CALLER_ENV_H

#include <stdint.h>

struct study_files;

#define CALLER_ENV "HPOTUNE_CALLER"

/*
 * The caller as a request of the control socket has it, without what it asked
 * for; the caller frees it.  NULL: there is none.
 */
char *caller_env_by(void);
/* The pid of the client, 0 = none. */
int64_t caller_env_pid(void);
/*
 * Record what the caller asked for, when there is one and the study exists: in
 * the server, or in the database where none runs.  Not while this process has the
 * database open.  What goes wrong is a warning: to read needs no server.
 */
void caller_env_note(struct study_files *);

#endif /* HPOTUNE_CALLER_ENV_H */
