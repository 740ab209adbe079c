/* Becoming another program, as the supervisor and its like do. */

#ifndef TRIALS_EXEC_PATH_H
#define TRIALS_EXEC_PATH_H

/* As execvp, without its fall back to a shell; returns an errno. */
int exec_path(char **argv);

#endif /* TRIALS_EXEC_PATH_H */
