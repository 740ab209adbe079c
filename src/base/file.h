/*
 * Files that others may replace at any time, such as those that a trial writes.
 * When one is opened, a symbolic link is not followed, a pipe is not waited for,
 * and only a regular file is read.
 */

#ifndef HPOTUNE_FILE_H
#define HPOTUNE_FILE_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Open a file below a folder (or AT_FDCWD) for reading; -1 with errno, EINVAL
 * for what is not a regular file.
 */
int file_open(int dir_fd, const char *name);
/*
 * Read the first n - 1 bytes at most, and end them with a NUL.  How many they
 * are; -1 with errno, and text is "".
 */
ssize_t file_read(int dir_fd, const char *name, char *text, size_t n);

enum inode_state {
	INODE_SAME,
	INODE_MOVED, /* the path does not exist, or its state cannot be determined */
	INODE_REPLACED, /* it leads to another file */
	INODE_REMOVED /* no path leads to it (link count 0) */
};
/*
 * Whether path (absolute) still leads to the open file or folder fd: it may
 * have been renamed, replaced or removed since it was opened.
 */
enum inode_state file_inode_check(int fd, const char *path);

#endif /* HPOTUNE_FILE_H */
