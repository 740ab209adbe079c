/*
 * Whether a path still leads to an open file or folder: it may have been
 * renamed, replaced or removed since.
 */

#ifndef HPOTUNE_INODE_H
#define HPOTUNE_INODE_H

enum inode_state {
	INODE_SAME,
	INODE_MOVED, /* the path does not exist, or its state cannot be determined */
	INODE_REPLACED, /* it leads to another file */
	INODE_REMOVED /* no path leads to it (link count 0) */
};

/* fd is the open descriptor, path (absolute) the path it was opened by. */
enum inode_state inode_check(int fd, const char *path);

#endif /* HPOTUNE_INODE_H */
