/*
 * Whether a path still leads to a file or folder that is open: others may
 * have renamed, replaced or removed it since.
 */

#ifndef HPOTUNE_INODE_H
#define HPOTUNE_INODE_H

enum inode_state {
	INODE_SAME,
	INODE_MOVED, /* the path leads nowhere, or nobody can tell where */
	INODE_REPLACED, /* it leads to something else */
	INODE_REMOVED /* nothing leads to it any more */
};

/* fd is the open one, path (absolute) is where it was. */
enum inode_state inode_check(int fd, const char *path);

#endif /* HPOTUNE_INODE_H */
