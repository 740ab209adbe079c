/*
 * Which file of a trial is being read.  A crash within it (a signal such as
 * SIGSEGV, or an abort) is noted in the state folder as the process dies, and
 * servers that are started after it leave the file alone: nothing that a trial
 * writes ends a study twice.
 *
 * While nothing crashes this costs a few stores a look.  A process that is killed
 * notes nothing: the file is not known to be the reason.  A note of another
 * version of the program does not count, since its readers were others.
 */

#ifndef HPOTUNE_READING_H
#define HPOTUNE_READING_H

#include <stdbool.h>

/*
 * Use the notes in this folder, which stays open and is borrowed; path is its
 * absolute name.  Without it, as in commands, the functions below do nothing.
 */
void reading_open(int dir_fd, const char *path);
void reading_close(void);

/*
 * A file is read until reading_end: a path, or a folder and the name of a file
 * in it (NULL: folder is all).  Both are borrowed until then.
 */
void reading_begin(const char *folder, const char *name);
void reading_end(void);
/* Whether an earlier server has crashed in it. */
bool reading_is_left(const char *folder, const char *name);

/* The clause about such a file, for its note. */
extern const char reading_left_text[];

#endif /* HPOTUNE_READING_H */
