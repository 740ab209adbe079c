/*
 * Ends a process that was asked to end and cannot: one that is held in a system
 * call by a disk of another machine, or in a loop.  A thread takes SIGINT and
 * SIGTERM, since a thread that is held runs no handler; the handlers of the
 * process run in it.  From the first signal on the process has to call
 * exit_guard_alive.
 */

#ifndef HPOTUNE_EXIT_GUARD_H
#define HPOTUNE_EXIT_GUARD_H

#include <stdbool.h>

/*
 * Begin before any handler of these signals is needed: the calling thread does
 * not get them any more.  After a signal and held_ms (less when it is sent again)
 * without exit_guard_alive the text is written to standard error, and the process
 * ends with a status.  Without a thread, signals are as before.  Returns whether
 * the guard had begun already: then the first signal may have come before.
 */
bool exit_guard_begin(int held_ms, const char *text, int status);
/* The process does its work. */
void exit_guard_alive(void);

#endif /* HPOTUNE_EXIT_GUARD_H */
