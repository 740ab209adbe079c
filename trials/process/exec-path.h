/* Becoming another program, as the supervisor and its like do. */

#ifndef HPOTUNE_EXEC_PATH_H
#define HPOTUNE_EXEC_PATH_H

#include <limits.h>

/* As execvp, without its fall back to a shell; returns an errno. */
int exec_path(char **argv);

/*
 * Whether exec_path would find a program and may execute it, in the working
 * folder dir_fd and with path for PATH (NULL: it is not set): 0, or an errno.
 * When it is a script whose interpreter is what is missing, its path goes into
 * interpreter, else "".
 */
int exec_path_check(
    int dir_fd, const char *name, const char *path, char interpreter[PATH_MAX]);

#endif /* HPOTUNE_EXEC_PATH_H */
