/*
 * What only the process that stands for a packed trial knows of its end: a
 * file beside the supervisor's records.  Without one the exit status says all.
 */

#ifndef HPOTUNE_PACK_EXIT_NOTE_H
#define HPOTUNE_PACK_EXIT_NOTE_H

#include <stdbool.h>
#include <stddef.h>

#define PACK_EXIT_NOTE_FILE "end"

enum pack_exit_note {
	PACK_EXIT_ERROR, /* as the exit status says; why is more */
	PACK_EXIT_LOST, /* not the trial's fault */
	PACK_EXIT_OOM,
	PACK_EXIT_NOT_RUN /* the command could not be executed */
};

/* Into the folder of the attempt, as well as it goes. */
void
pack_exit_note_write(const char *dir, enum pack_exit_note, const char *why);
/* Read it back; false when there is none, or nonsense. */
bool pack_exit_note_read(
    const char *dir, enum pack_exit_note *, char *why, size_t n);

#endif /* HPOTUNE_PACK_EXIT_NOTE_H */
