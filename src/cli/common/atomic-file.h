/*
 * A file that has its name only when it is whole: it is written under another
 * one beside it.  What is there already is somebody's work, and stays.
 */

#ifndef HPOTUNE_ATOMIC_FILE_H
#define HPOTUNE_ATOMIC_FILE_H

#include <stdbool.h>

struct buf;
struct err;

struct atomic_file {
	char *path; /* what it will be called */
	char *temporary; /* what it is called until then; NULL = no file */
	bool replace;
	int fd; /* open for writing, or -1 */
};

/*
 * Begin.  Fails when path exists, or with replace when it is anything but a
 * regular file.  After an error there is nothing to drop.
 */
int atomic_file_open(
    struct atomic_file *, const char *path, bool replace, struct err *);
/* Write a text behind what is there. */
int atomic_file_put(struct atomic_file *, const struct buf *, struct err *);
/* Close the descriptor; somebody else writes the file by its temporary name. */
void atomic_file_release(struct atomic_file *);
/* Give it its name; it lasts then.  An error leaves nothing behind. */
int atomic_file_finish(struct atomic_file *, struct err *);
/* Leave nothing behind; harmless when it has its name, or never began. */
void atomic_file_drop(struct atomic_file *);

/* All of it at once, for a text that is whole already. */
int atomic_file_write(
    const char *path, bool replace, const struct buf *, struct err *);

#endif /* HPOTUNE_ATOMIC_FILE_H */
