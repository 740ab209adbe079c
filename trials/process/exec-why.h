/*
 * Why a program cannot be executed, in words that say what to do.  Allocates no
 * memory.
 */

#ifndef HPOTUNE_EXEC_WHY_H
#define HPOTUNE_EXEC_WHY_H

#include <stddef.h>

enum { EXEC_WHY_NOTE = 384 }; /* room for a note with a long name */

/*
 * Whether a program would be found and executed in the working folder dir
 * (NULL: ours) with path as PATH (NULL: unset), as far as a look at its file
 * tells.  0, or an errno with the cause as a clause in note: "" when the errno
 * says all.  note may be NULL.
 */
int exec_why_look(const char *dir, const char *name, const char *path,
    char *note, size_t size);

/*
 * After exec has failed with an errno: "cannot run NAME: MESSAGE (CAUSE)", with
 * our own PATH.  The cause is left out where it is unknown or does not fit.
 */
void exec_why_text(
    char *text, size_t size, const char *dir, const char *name, int error);

#endif /* HPOTUNE_EXEC_WHY_H */
