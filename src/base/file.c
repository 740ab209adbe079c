/* Opens, reads and finds again files that others may replace. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/file.h"

/* The descriptor, or -1 when it is not of a regular file. */
static int
file_regular(int fd)
{
	struct stat st;
	int error = EINVAL;

	if (fd == -1) {
		/* A pipe that nobody reads, or a socket. */
		if (errno == ENXIO)
			errno = EINVAL;
		return -1;
	}
	if (fstat(fd, &st) == -1)
		error = errno;
	else if (S_ISREG(st.st_mode))
		return fd;
	else if (S_ISDIR(st.st_mode))
		error = EISDIR;
	(void)close(fd);
	errno = error;
	return -1;
}

int
file_open(int dir_fd, const char *name)
{
	return file_open_for(dir_fd, name, O_RDONLY, 0);
}

int
file_open_for(int dir_fd, const char *name, int flags, mode_t mode)
{
	return file_regular(openat(dir_fd, name,
	    flags | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, mode));
}

int
file_open_user(const char *path)
{
	if (strncmp(path, "/dev/", 5) == 0)
		return open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	return file_regular(
	    open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

const char *
file_why(int error)
{
	return error == EINVAL ? "no regular file" : strerror(error);
}

ssize_t
file_read(int dir_fd, const char *name, char *text, size_t n)
{
	int fd = file_open(dir_fd, name), error;
	ssize_t got;

	text[0] = '\0';
	if (fd == -1)
		return -1;
	got = read(fd, text, n - 1);
	error = errno;
	(void)close(fd);
	errno = error;
	text[got > 0 ? got : 0] = '\0';
	return got;
}

enum inode_state
file_inode_check(int fd, const char *path)
{
	struct stat open, there;

	if (fstat(fd, &open) != 0)
		return INODE_MOVED;
	if (open.st_nlink == 0)
		return INODE_REMOVED;
	if (lstat(path, &there) != 0)
		return INODE_MOVED;
	return there.st_dev == open.st_dev && there.st_ino == open.st_ino
		   ? INODE_SAME
		   : INODE_REPLACED;
}
