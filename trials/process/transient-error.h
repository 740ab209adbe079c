/*
 * Errors of the system that pass by themselves: nothing that they keep from
 * beginning has failed.
 */

#ifndef HPOTUNE_TRANSIENT_ERROR_H
#define HPOTUNE_TRANSIENT_ERROR_H

#include <stdbool.h>

/* Whether the machine lacks something just now: memory, processes, space. */
bool transient_error_resource(int error);
/*
 * Whether a program, or the folder it is to run in, may be there a moment
 * later: it is being rebuilt, or the machine lacks something.
 */
bool transient_error_exec(int error);
/* Whether a clause ends with the text of such an error. */
bool transient_error_exec_text(const char *why);

/*
 * Become another program as exec_path does, but try for some seconds while the
 * error may pass.  Returns an errno.  For a child: a signal ends it meanwhile.
 */
int transient_error_retry_exec(char **argv);

/* Milliseconds for which a program that cannot be executed is tried again. */
enum { TRANSIENT_TRY_MS = 3000, TRANSIENT_MIN_MS = 20, TRANSIENT_MAX_MS = 500 };

#endif /* HPOTUNE_TRANSIENT_ERROR_H */
