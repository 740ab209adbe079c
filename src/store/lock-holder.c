/*
 * Finds the process that holds a lock on the study's files, from /proc/locks.
 * Only for messages.
 *
 * SQLite's unix layer locks single bytes: byte 120 of the -shm file is the
 * write lock of the log, 123 to 127 are those of its readers; without a log,
 * the bytes from 0x40000000 of the file itself.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "src/store/store-internal.h"

#define WAL_WRITE_BYTE 120

/* The fields of a line of /proc/locks that are used here. */
struct held {
	long pid;
	unsigned long inode;
	unsigned long long first, last;
};

static bool
read_line(const char *line, struct held *h)
{
	char last[32];

	/* 1: POSIX  ADVISORY  WRITE 123 08:02:4711 120 120 */
	if (sscanf(line, "%*d: %*s %*s %*s %ld %*x:%*x:%lu %llu %31s", &h->pid,
		&h->inode, &h->first, last) != 4)
		return false;
	h->last = strcmp(last, "EOF") == 0 ? ~0ULL : strtoull(last, NULL, 10);
	return true;
}

/*
 * The pid of another process with a lock on inode that overlaps first to last.
 */
static long
find_holder(
    unsigned long inode, unsigned long long first, unsigned long long last)
{
	char line[256];
	struct held h;
	long pid = 0;
	FILE *f;

	if ((f = fopen("/proc/locks", "re")) == NULL)
		return 0;
	while (pid == 0 && fgets(line, sizeof line, f) != NULL)
		if (read_line(line, &h) && h.inode == inode && h.pid > 0 &&
		    h.pid != (long)getpid() && h.first <= last &&
		    h.last >= first)
			pid = h.pid;
	(void)fclose(f);
	return pid;
}

static unsigned long
inode_of(const char *path, const char *suffix)
{
	char *name = xasprintf("%s%s", path, suffix);
	struct stat st;
	unsigned long inode = stat(name, &st) == 0 ? st.st_ino : 0;

	free(name);
	return inode;
}

static void
name_process(long pid, char *buf, size_t n)
{
	char path[64], comm[64] = "";
	FILE *f;

	(void)snprintf(path, sizeof path, "/proc/%ld/comm", pid);
	if ((f = fopen(path, "re")) != NULL) {
		if (fgets(comm, sizeof comm, f) == NULL)
			comm[0] = '\0';
		(void)fclose(f);
	}
	comm[strcspn(comm, "\n")] = '\0';
	(void)snprintf(
	    buf, n, "%s (pid %ld)", comm[0] != '\0' ? comm : "a process", pid);
}

bool
store_lock_holder(struct store *s, char *buf, size_t n)
{
	unsigned long shm = inode_of(s->path, "-shm");
	long pid = 0;

	if (shm != 0)
		pid = find_holder(shm, WAL_WRITE_BYTE, WAL_WRITE_BYTE);
	if (pid == 0 && shm != 0)
		pid = find_holder(shm, 121, 127);
	if (pid == 0)
		pid = find_holder(inode_of(s->path, ""), 0x40000000ULL, ~0ULL);
	if (pid != 0)
		name_process(pid, buf, n);
	else
		(void)snprintf(buf, n, "another process");
	return pid != 0;
}

/*
 * A new file there, without a name; -1: none can be made.  Not the database: a
 * process that closes a file loses the locks that SQLite has on it.
 */
static int
nameless_file(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash != NULL ? xstrndup(path, (size_t)(slash - path) + 1)
				  : xstrdup("./");
	char *name = xasprintf("%s.hpotune-XXXXXX", dir);
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd == -1 && (fd = mkostemp(name, O_CLOEXEC)) != -1)
		(void)unlink(name);
	free(name);
	free(dir);
	return fd;
}

bool
store_lock_impossible(const struct store *s)
{
	struct flock any = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = nameless_file(s->path);
	bool is;

	if (fd == -1)
		return false;
	is = fcntl(fd, F_OFD_SETLK, &any) == -1 &&
	     (errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP);
	(void)close(fd);
	return is;
}
