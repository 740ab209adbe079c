/*
 * The environment that a process was started with, as /proc shows it.
 */

#ifndef HPOTUNE_PROC_ENVIRON_H
#define HPOTUNE_PROC_ENVIRON_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "src/base/mem.h"

/*
 * Append all its words to b, at most 4 MiB, each with a NUL before and after;
 * false: it is gone, or not ours to read.
 */
bool proc_environ_read(pid_t, struct buf *b);
/*
 * The value of a variable in what was read, cut at n bytes with the NUL; false:
 * there is none, and value is as it was.
 */
bool
proc_environ_get(const struct buf *, const char *name, char *value, size_t n);

/*
 * SIGKILL to every process (but ourselves) that was started with this variable
 * of this value, of at most 4 KiB; how many there were.
 */
int proc_environ_kill(const char *name, const char *value);

#endif /* HPOTUNE_PROC_ENVIRON_H */
