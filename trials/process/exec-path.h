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
 * The file that exec_path would execute in the working folder dir_fd with path
 * as PATH (NULL: unset).  0, or an errno: with EACCES, file is the first one of
 * this name that may not be executed; with others it is "".
 */
int exec_path_find(
    int dir_fd, const char *name, const char *path, char file[PATH_MAX]);

#endif /* HPOTUNE_EXEC_PATH_H */
