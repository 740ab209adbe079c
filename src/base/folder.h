/*
 * Folders in which other users may write, or in whose place they can put another
 * one.
 */

#ifndef HPOTUNE_FOLDER_H
#define HPOTUNE_FOLDER_H

#include <stdbool.h>
#include <sys/types.h>

struct buf;
struct err;

/*
 * Open a folder below another one (or AT_FDCWD) that belongs to this user and to
 * which others have none of the rights in the mode others, such as 077 or 022.
 * Its last component may be a link only with 022: what is behind is looked at.
 * -1: ERR_FILE, and errno; EPERM for one of another user or mode.
 */
int folder_open(int dir_fd, const char *name, mode_t others, struct err *);
/*
 * Whether users other than this one and root can replace what lies in a folder:
 * because it, or one on the way to it from the root of the file system down, is
 * theirs, or can be written by others and has no sticky bit.  Appends that folder
 * and who it is.  A folder that is not there yet will be as private as possible.
 */
bool folder_exposed(const char *dir, struct buf *why);

#endif /* HPOTUNE_FOLDER_H */
