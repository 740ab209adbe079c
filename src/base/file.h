/*
 * Reads files that others may replace at any time, such as those that a trial
 * writes: a symbolic link is not followed, a pipe is not waited for, and only a
 * regular file is read.
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

#endif /* HPOTUNE_FILE_H */
