/* Opens, reads and finds again files that others may replace. */

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/file.h"

int
file_open(int dir_fd, const char *name)
{
	struct stat st;
	int fd, error;

	fd = openat(
	    dir_fd, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
		return fd;
	error = EINVAL;
	(void)close(fd);
	errno = error;
	return -1;
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
