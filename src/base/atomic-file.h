/*
 * Creates a file atomically: it is written under a temporary name in the same
 * folder.  An existing file is not overwritten, unless forced.
 */

#ifndef HPOTUNE_ATOMIC_FILE_H
#define HPOTUNE_ATOMIC_FILE_H

#include <stdbool.h>

struct buf;
struct err;

struct atomic_file {
	char *path; /* final path */
	char *temporary; /* temporary path; NULL = no file */
	bool replace;
	int fd; /* open for writing, or -1 */
};

/*
 * Start.  Fails when path exists, or with replace when it is not a regular
 * file.  After an error there is nothing to drop.
 */
int atomic_file_open(
    struct atomic_file *, const char *path, bool replace, struct err *);
/* Append a text. */
int atomic_file_put(struct atomic_file *, const struct buf *, struct err *);
/*
 * Close the descriptor; another program writes the file by its temporary name.
 */
void atomic_file_release(struct atomic_file *);
/* Sync it and give it its final name.  An error leaves no file. */
int atomic_file_finish(struct atomic_file *, struct err *);
/*
 * Remove the temporary file; no effect after atomic_file_finish, or before
 * open.
 */
void atomic_file_drop(struct atomic_file *);

/* Open, write and finish, for a text in memory. */
int atomic_file_write(
    const char *path, bool replace, const struct buf *, struct err *);

#endif /* HPOTUNE_ATOMIC_FILE_H */
