/* Compares the inode of a path with that of an open descriptor. */

#include <sys/stat.h>

#include "src/base/inode.h"

enum inode_state
inode_check(int fd, const char *path)
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
