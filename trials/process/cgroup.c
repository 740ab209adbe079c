/*
 * Control groups (version 2) through the files of their directories.  Errors
 * carry no reason, because callers continue without a group.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "trials/process/cgroup.h"

enum { PATH_SIZE = 512, PIDS_MAX = 32768 };

static int
cgroup_file_write(const char *dir, const char *name, const char *text)
{
	char path[PATH_SIZE];
	ssize_t n;
	int fd;

	if (snprintf(path, sizeof path, "%s/%s", dir, name) >= PATH_SIZE)
		return -1;
	fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd == -1)
		return -1;
	n = write(fd, text, strlen(text));
	(void)close(fd);
	return n == (ssize_t)strlen(text) ? 0 : -1;
}

static bool
cgroup_file_read(const char *path, char *text, size_t n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd == -1)
		return false;
	got = read(fd, text, n - 1);
	(void)close(fd);
	if (got < 0)
		return false;
	text[got] = '\0';
	return true;
}

/* Where version 2 is mounted: its own mount or the whole of /sys/fs/cgroup. */
static const char *
mount_point(void)
{
	static const char *const points[] = { "/sys/fs/cgroup",
		"/sys/fs/cgroup/unified" };
	char path[PATH_SIZE];
	size_t i;

	for (i = 0; i < sizeof points / sizeof points[0]; i++) {
		(void)snprintf(
		    path, sizeof path, "%s/cgroup.controllers", points[i]);
		if (access(path, R_OK) == 0)
			return points[i];
	}
	return NULL;
}

/* Our own group, when its owner gave it away to us. */
static bool
group_own(char *base, size_t n)
{
	const char *point = mount_point();
	char text[4096], mark[8] = "", *line;
	int len;

	if (point == NULL ||
	    !cgroup_file_read("/proc/self/cgroup", text, sizeof text) ||
	    (line = strstr(text, "0::/")) == NULL)
		return false;
	line += 3;
	line[strcspn(line, "\n")] = '\0';
	len = snprintf(base, n, "%s%s", point, line);
	if (len < 0 || (size_t)len >= n)
		return false;
	/* After a restart inside the leaf, its parent is the base. */
	line = strrchr(base, '/');
	if (strcmp(line, "/hpotune-server") == 0)
		*line = '\0';
	return getxattr(base, "user.delegate", mark, sizeof mark - 1) == 1 &&
	       mark[0] == '1' && access(base, W_OK) == 0;
}

bool
cgroup_find(char *base, size_t n)
{
	const char *given = getenv("HPOTUNE_CGROUP");
	char leaf[PATH_SIZE];

	if (given != NULL) {
		if (*given != '/' || strlen(given) >= n ||
		    access(given, W_OK) == -1)
			return false;
		(void)snprintf(base, n, "%s", given);
	} else {
		if (!group_own(base, n))
			return false;
		/*
		 * A group that contains processes cannot delegate controllers.
		 */
		if (snprintf(leaf, sizeof leaf, "%s/hpotune-server", base) >=
		    PATH_SIZE)
			return false;
		if (mkdir(leaf, 0755) == -1 && errno != EEXIST)
			return false;
		if (cgroup_enter(leaf, 0) == -1)
			return false;
	}
	(void)cgroup_file_write(base, "cgroup.subtree_control", "+memory");
	(void)cgroup_file_write(base, "cgroup.subtree_control", "+pids");
	return true;
}

int
cgroup_make(const char *dir, int64_t memory)
{
	char text[32];

	if (mkdir(dir, 0755) == -1 && errno != EEXIST)
		return -1;
	(void)snprintf(text, sizeof text, "%d", PIDS_MAX);
	(void)cgroup_file_write(dir, "pids.max", text);
	/*
	 * If one process is killed for memory, the trial is broken: kill all.
	 */
	(void)cgroup_file_write(dir, "memory.oom.group", "1");
	(void)snprintf(text, sizeof text, "%lld", (long long)memory);
	if (memory > 0)
		(void)cgroup_file_write(dir, "memory.max", text);
	return 0;
}

int
cgroup_enter(const char *dir, pid_t pid)
{
	char text[16];

	(void)snprintf(text, sizeof text, "%d", (int)pid);
	return cgroup_file_write(dir, "cgroup.procs", text);
}

int
cgroup_kill(const char *dir)
{
	return cgroup_file_write(dir, "cgroup.kill", "1");
}

bool
cgroup_oom(const char *dir)
{
	char path[PATH_SIZE], text[1024];
	const char *at;

	if (snprintf(path, sizeof path, "%s/memory.events", dir) >= PATH_SIZE ||
	    !cgroup_file_read(path, text, sizeof text))
		return false;
	for (at = text; (at = strstr(at, "oom_")) != NULL; at += 4)
		if ((strncmp(at, "oom_kill ", 9) == 0 &&
			strtol(at + 9, NULL, 10) > 0) ||
		    (strncmp(at, "oom_group_kill ", 15) == 0 &&
			strtol(at + 15, NULL, 10) > 0))
			return true;
	return false;
}

void
cgroup_remove(const char *dir)
{
	(void)rmdir(dir);
}
