/*
 * The end of a packed trial, as far as its exit status cannot express it: a
 * file beside the supervisor's records.  Without it the exit status is the
 * result.
 */

#ifndef HPOTUNE_PACK_EXIT_NOTE_H
#define HPOTUNE_PACK_EXIT_NOTE_H

#include <stdbool.h>
#include <stddef.h>

#define PACK_EXIT_NOTE_FILE "end"

enum pack_exit_note {
	PACK_EXIT_ERROR, /* as the exit status; why adds the reason */
	PACK_EXIT_LOST, /* not the trial's fault */
	PACK_EXIT_OOM,
	PACK_EXIT_NOT_RUN /* the command could not be executed */
};

/* Write the note into the folder of the attempt; errors are ignored. */
void
pack_exit_note_write(const char *dir, enum pack_exit_note, const char *why);
/* Read the note; false if it is missing or invalid. */
bool pack_exit_note_read(
    const char *dir, enum pack_exit_note *, char *why, size_t n);

#endif /* HPOTUNE_PACK_EXIT_NOTE_H */
