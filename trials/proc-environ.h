/*
 * The environment that a process was started with, as /proc shows it.
 */

#ifndef TRIALS_PROC_ENVIRON_H
#define TRIALS_PROC_ENVIRON_H

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

#endif /* TRIALS_PROC_ENVIRON_H */
