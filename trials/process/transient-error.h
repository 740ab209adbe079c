/*
 * Errors of the system that pass by themselves: nothing that they keep from
 * beginning has failed.
 */

#ifndef HPOTUNE_TRANSIENT_ERROR_H
#define HPOTUNE_TRANSIENT_ERROR_H

#include <stdbool.h>

/* Whether the machine lacks something just now: memory, processes, space. */
bool passing_lack(int error);
/*
 * Whether a program, or the folder it is to run in, may be there a moment
 * later: it is being rebuilt, or the machine lacks something.
 */
bool passing_exec(int error);
/* Whether a clause ends with the text of such an error. */
bool passing_exec_text(const char *why);

/*
 * Become another program as exec_path does, but try for some seconds while the
 * error may pass.  Returns an errno.  For a child: a signal ends it meanwhile.
 */
int passing_exec_path(char **argv);

/* Milliseconds for which a program that cannot be executed is tried again. */
enum { PASSING_TRY_MS = 3000, PASSING_MIN_MS = 20, PASSING_MAX_MS = 500 };

#endif /* HPOTUNE_TRANSIENT_ERROR_H */
