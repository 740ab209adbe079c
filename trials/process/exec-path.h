/* Execute a program by its name, for the supervisor and the other helpers. */

#ifndef HPOTUNE_EXEC_PATH_H
#define HPOTUNE_EXEC_PATH_H

#include <limits.h>

/*
 * As execvp, without its fallback to a shell.  Returns an errno, only on
 * failure.
 */
int exec_path(char **argv);

/*
 * Whether exec_path would find a program and may execute it, in the working
 * folder dir_fd and with path as PATH (NULL: unset): 0, or an errno.  If it is
 * a script whose interpreter is missing, interpreter gets its path, else "".
 */
int exec_path_check(
    int dir_fd, const char *name, const char *path, char interpreter[PATH_MAX]);

#endif /* HPOTUNE_EXEC_PATH_H */
