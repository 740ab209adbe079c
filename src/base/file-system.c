/* Knows file systems by the type number that statfs(2) gives. */

#include <stddef.h>
#include <stdio.h>
#include <sys/statfs.h>

#include "src/base/file-system.h"

static const struct fs_type {
	unsigned long type;
	const char *name;
	bool network;
} fs_types[] = {
	{ 0x6969, "nfs", true },
	{ 0x517b, "smb", true },
	{ 0xff534d42, "cifs", true },
	{ 0xfe534d42, "smb2", true },
	{ 0x65735546, "fuse", true },
	{ 0x0bd00bd0, "lustre", true },
	{ 0x47504653, "gpfs", true },
	{ 0x00c36400, "ceph", true },
	{ 0x5346414f, "afs", true },
	{ 0x6b414653, "afs", true },
	{ 0x01021997, "9p", true },
	{ 0x19830326, "beegfs", true },
	{ 0x7461636f, "ocfs2", true },
	{ 0x01161970, "gfs2", true },
	{ 0xef53, "ext4", false },
	{ 0x58465342, "xfs", false },
	{ 0x9123683e, "btrfs", false },
	{ 0x01021994, "tmpfs", false },
	{ 0x2fc12fc1, "zfs", false },
	{ 0xf2f52010, "f2fs", false },
	{ 0x794c7630, "overlayfs", false },
};

static const char *
file_system_type(unsigned long type, bool *network)
{
	size_t i;

	*network = false;
	for (i = 0; i < sizeof fs_types / sizeof *fs_types; i++)
		if (fs_types[i].type == type) {
			*network = fs_types[i].network;
			return fs_types[i].name;
		}
	return "local";
}

void
file_system_look(const char *path, char *name, size_t n, bool *network)
{
	struct statfs fs;

	*network = false;
	(void)snprintf(name, n, "unknown");
	if (statfs(path, &fs) == 0)
		(void)snprintf(name, n, "%s",
		    file_system_type(
			(unsigned long)fs.f_type & 0xffffffffUL, network));
}
