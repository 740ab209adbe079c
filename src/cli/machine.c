/* Facts of the machine, read from the kernel. */

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "src/cli/machine.h"

int
machine_cores(void)
{
	cpu_set_t set;
	int n = 0;

	if (sched_getaffinity(0, sizeof set, &set) == 0)
		n = CPU_COUNT(&set);
	else
		n = (int)sysconf(_SC_NPROCESSORS_ONLN);
	return n > 0 ? n : 1;
}

int
machine_gpus(void)
{
	DIR *d = opendir("/proc/driver/nvidia/gpus");
	struct dirent *entry;
	int n = 0;

	if (d == NULL)
		return 0;
	while ((entry = readdir(d)) != NULL)
		if (entry->d_name[0] != '.')
			n++;
	(void)closedir(d);
	return n;
}

/* Magic numbers of statfs(2). */
static const struct fs {
	unsigned long magic;
	const char *name;
	bool network;
} file_systems[] = {
	{ 0xef53, "ext4", false },
	{ 0x58465342, "xfs", false },
	{ 0x9123683e, "btrfs", false },
	{ 0x2fc12fc1, "zfs", false },
	{ 0x01021994, "tmpfs", false },
	{ 0x794c7630, "overlayfs", false },
	{ 0xf2f52010, "f2fs", false },
	{ 0xca451a4e, "bcachefs", false },
	{ 0x6969, "nfs", true },
	{ 0xff534d42, "cifs", true },
	{ 0xfe534d42, "smb", true },
	{ 0x517b, "smb", true },
	{ 0x00c36400, "ceph", true },
	{ 0x0bd00bd0, "lustre", true },
	{ 0x47504653, "gpfs", true },
	{ 0x19830326, "beegfs", true },
	{ 0x01021997, "9p", true },
	{ 0x5346414f, "afs", true },
	{ 0x61756673, "aufs", false },
	{ 0x65735546, "fuse", true },
	{ 0x20030528, "orangefs", true },
	{ 0x7461636f, "ocfs2", true },
	{ 0x01161970, "gfs2", true },
};

const char *
machine_fs(const char *path, bool *network)
{
	struct statfs fs;
	size_t i;

	*network = false;
	if (statfs(path, &fs) == -1)
		return "unknown";
	for (i = 0; i < sizeof file_systems / sizeof file_systems[0]; i++)
		if (file_systems[i].magic ==
		    ((unsigned long)fs.f_type & 0xffffffffUL)) {
			*network = file_systems[i].network;
			return file_systems[i].name;
		}
	return "unknown";
}

bool
machine_line(const char *path, char *buf, size_t n)
{
	FILE *f = fopen(path, "re");
	bool good;

	if (f == NULL)
		return false;
	good = fgets(buf, (int)n, f) != NULL;
	(void)fclose(f);
	if (good)
		buf[strcspn(buf, "\n")] = '\0';
	return good;
}

int64_t
machine_number(const char *path)
{
	char line[64], *end;
	long long value;

	if (!machine_line(path, line, sizeof line))
		return -1;
	value = strtoll(line, &end, 10);
	return end == line ? -1 : value;
}
