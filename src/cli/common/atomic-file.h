/*
 * A file that has its name only when it is whole: it is written under another
 * one beside it.  What is there already is somebody's work, and stays.
 */

#ifndef HPOTUNE_ATOMIC_FILE_H
#define HPOTUNE_ATOMIC_FILE_H

#include <stdbool.h>

struct buf;
struct err;

struct newfile {
	char *path; /* what it will be called */
	char *temporary; /* what it is called until then; NULL = no file */
	bool replace;
	int fd; /* open for writing, or -1 */
};

/*
 * Begin.  Fails when path exists, or with replace when it is anything but a
 * regular file.  After an error there is nothing to drop.
 */
int
newfile_open(struct newfile *, const char *path, bool replace, struct err *);
/* Write a text behind what is there. */
int newfile_put(struct newfile *, const struct buf *, struct err *);
/* Close the descriptor; somebody else writes the file by its temporary name. */
void newfile_release(struct newfile *);
/* Give it its name; it lasts then.  An error leaves nothing behind. */
int newfile_finish(struct newfile *, struct err *);
/* Leave nothing behind; harmless when it has its name, or never began. */
void newfile_drop(struct newfile *);

/* All of it at once, for a text that is whole already. */
int
newfile_write(const char *path, bool replace, const struct buf *, struct err *);

#endif /* HPOTUNE_ATOMIC_FILE_H */
