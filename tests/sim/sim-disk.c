/*
 * A disk that is full or broken at times: SQLite's own writes fail, for all
 * connections of this program.
 */

#include <errno.h>
#include <sqlite3.h>
#include <stddef.h>
#include <sys/types.h>

#include "tests/sim/sim.h"

typedef ssize_t pwrite_call(int, const void *, size_t, off_t);

static pwrite_call *real_pwrite;
static int disk_errno; /* 0 = it is fine */

static ssize_t
disk_pwrite(int fd, const void *data, size_t n, off_t at)
{
	if (disk_errno != 0) {
		errno = disk_errno;
		return -1;
	}
	return real_pwrite(fd, data, n, at);
}

void
sim_disk_install(void)
{
	static const char *const names[] = { "pwrite", "pwrite64" };
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
	sqlite3_syscall_ptr old;
	size_t i;

	for (i = 0; i < sizeof names / sizeof names[0]; i++) {
		old = vfs->xGetSystemCall(vfs, names[i]);
		if (old == NULL)
			continue;
		real_pwrite = (pwrite_call *)old;
		(void)vfs->xSetSystemCall(
		    vfs, names[i], (sqlite3_syscall_ptr)disk_pwrite);
	}
}

void
sim_disk_break(int error)
{
	disk_errno = error;
}
