/*
 * The words with which a supervisor is started that waits for its attempt
 * (SHIM_WAIT), and the message that it then gets (struct shim_job).
 */

#ifndef HPOTUNE_WAITING_WORDS_H
#define HPOTUNE_WAITING_WORDS_H

#include <stddef.h>

/* Arguments, with this name as the first one.  The caller frees both lists. */
char **waiting_words_argv(const char *name);
/* This environment, with room for what marks the processes of an attempt. */
char **waiting_words_env(char *const *env);
/*
 * Write the message into text, of SHIM_JOB_MAX bytes: its length, or 0 when it is too
 * long, or a mark has no room where the supervisor has left it.
 */
size_t waiting_words_job(char *text, char *const *argv, char *const *env);

#endif /* HPOTUNE_WAITING_WORDS_H */
