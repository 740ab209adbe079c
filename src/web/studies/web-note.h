/*
 * What the pages write about a study, in its folder NAME.d: a note, and whether
 * the list hides it.  The databases belong to the tuner, so that these are none
 * of their columns.
 */

#ifndef HPOTUNE_WEB_NOTE_H
#define HPOTUNE_WEB_NOTE_H

#include <stdbool.h>

struct err;

/* The note of the study of NAME.db as it is now, or NULL; the caller frees it. */
char *web_note_read(const char *db);
/*
 * Set the note, which is a file "note": one line of 500 bytes at most; ""
 * removes it.
 */
int web_note_write(const char *db, const char *text, struct err *);
/* Whether the list hides the study: there is a file "archived". */
bool web_note_archived(const char *db);
/* Create or remove this file. */
int web_note_archive(const char *db, bool archived, struct err *);

#endif /* HPOTUNE_WEB_NOTE_H */
