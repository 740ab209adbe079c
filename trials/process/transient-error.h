/*
 * System errors that may pass by themselves.  A start that fails with one is
 * retried, and does not count as a failed attempt.
 */

#ifndef HPOTUNE_TRANSIENT_ERROR_H
#define HPOTUNE_TRANSIENT_ERROR_H

#include <stdbool.h>

/* Whether a resource is short: memory, processes, disk space. */
bool transient_error_resource(int error);
/*
 * Whether a program or its working folder may become available again: it is
 * being rebuilt, or a resource is short.
 */
bool transient_error_exec(int error);
/*
 * Whether a text ends with the message of such an error, or with that and a
 * note in brackets.
 */
bool transient_error_exec_text(const char *why);

/*
 * As exec_path, but retry for some seconds while the error is temporary.
 * Returns an errno.  For use in a child; signals interrupt it.
 */
int transient_error_retry_exec(char **argv);

/* Total time and intervals of the retries, in milliseconds. */
enum { TRANSIENT_TRY_MS = 3000, TRANSIENT_MIN_MS = 20, TRANSIENT_MAX_MS = 500 };

#endif /* HPOTUNE_TRANSIENT_ERROR_H */
