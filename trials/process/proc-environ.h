/* The initial environment of a process, from /proc/PID/environ. */

#ifndef HPOTUNE_PROC_ENVIRON_H
#define HPOTUNE_PROC_ENVIRON_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "src/base/mem.h"

/*
 * Append all its words to b, at most 4 MiB, each between NULs; false: the
 * process has ended, or permission is denied.
 */
bool proc_environ_read(pid_t, struct buf *b);
/*
 * Copy the value of a variable from that text, truncated to n bytes with the
 * NUL; false: not set, value is unchanged.
 */
bool
proc_environ_get(const struct buf *, const char *name, char *value, size_t n);

/*
 * SIGKILL to every process but the caller whose initial environment has this
 * variable with this value (at most 4 KiB).  Returns their number.
 */
int proc_environ_kill(const char *name, const char *value);

#endif /* HPOTUNE_PROC_ENVIRON_H */
