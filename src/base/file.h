/*
 * Files that others may replace at any time, such as those that a trial writes,
 * and files that a user names.  No open waits: not for the other end of a pipe
 * that somebody made in place of a file.  Only a regular file is opened, and a
 * symbolic link is followed to a file that the user names alone.
 *
 * Every open of a path outside /proc and /sys is one of these, or has one of the
 * flags with which it cannot wait: O_DIRECTORY, O_PATH, O_EXCL, O_TMPFILE.
 */

#ifndef HPOTUNE_FILE_H
#define HPOTUNE_FILE_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Open a file below a folder (or AT_FDCWD) for reading; -1 with errno: EINVAL for
 * what is not a regular file, EISDIR for a folder.
 */
int file_open(int dir_fd, const char *name);
/* The same with these flags; mode: of a file that O_CREAT makes. */
int file_open_for(int dir_fd, const char *name, int flags, mode_t mode);
/*
 * The same for reading a file that the user names: through links.  What lies in
 * /dev, such as /dev/stdin and the names that a shell gives to pipes, is waited
 * for.
 */
int file_open_user(const char *path);
/* Why a file could not be opened, after "PATH: ". */
const char *file_why(int error);
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
