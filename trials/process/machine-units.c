/*
 * Byte 0 of the file is held while units are taken, so that of two that need the
 * rest one gets it; unit i is byte 1 + i.  The locks belong to open files, not to
 * processes: a server has one open file for each attempt.
 */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "trials/process/lock-folder.h"
#include "trials/process/machine-units.h"

static void
range_add(struct machine_units *u, int64_t first, int64_t n)
{
	u->range = xreallocarray(u->range, u->n_ranges + 1, sizeof *u->range);
	u->range[u->n_ranges++] = (struct machine_range){ first, n };
	u->total += n;
}

void
machine_units_cores(struct machine_units *u)
{
	cpu_set_t set;
	int cpu, first = -1;

	*u = (struct machine_units){ .name = "cores" };
	if (sched_getaffinity(0, sizeof set, &set) == -1)
		return;
	for (cpu = 0; cpu <= CPU_SETSIZE; cpu++)
		if (cpu < CPU_SETSIZE && CPU_ISSET((size_t)cpu, &set)) {
			if (first == -1)
				first = cpu;
		} else if (first != -1) {
			range_add(u, first, cpu - first);
			first = -1;
		}
}

void
machine_units_memory(struct machine_units *u)
{
	int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

	*u = (struct machine_units){ .name = "memory" };
	if (pages > 0 && page > 0)
		range_add(u, 0, pages / (MACHINE_UNIT_BYTES / page));
}

void
machine_units_free(struct machine_units *u)
{
	free(u->range);
	*u = (struct machine_units){ 0 };
}

static int
lock(int fd, int command, short type, struct flock *l, int64_t at, int64_t n)
{
	*l = (struct flock){ .l_type = type,
		.l_whence = SEEK_SET,
		.l_start = 1 + at,
		.l_len = n };
	return fcntl(fd, command, l);
}

/*
 * The first free units of at to end - 1 that others do not hold: 1 and the
 * range; 0: none; -1 with errno.
 */
static int
machine_units_gap(int fd, int64_t at, int64_t end, struct machine_range *found)
{
	struct flock l;

	while (at < end) {
		if (lock(fd, F_OFD_GETLK, F_WRLCK, &l, at, end - at) == -1)
			return -1;
		*found = (struct machine_range){ at, end - at };
		if (l.l_type == F_UNLCK)
			return 1;
		if (l.l_start - 1 > at) {
			found->n = l.l_start - 1 - at;
			return 1;
		}
		if (l.l_len == 0)
			return 0;
		at = l.l_start - 1 + l.l_len;
	}
	return 0;
}

/* Take up to n units of a range: how many; -1 with errno. */
static int64_t
machine_units_range_take(int fd, const struct machine_range *r, int64_t n)
{
	int64_t at = r->first, end = r->first + r->n, got = 0;
	struct machine_range free_units;
	struct flock l;
	int rc = 0;

	while (got < n &&
	       (rc = machine_units_gap(fd, at, end, &free_units)) == 1) {
		if (free_units.n > n - got)
			free_units.n = n - got;
		if (lock(fd, F_OFD_SETLK, F_WRLCK, &l, free_units.first,
			free_units.n) == -1)
			return -1;
		got += free_units.n;
		at = free_units.first + free_units.n;
	}
	return rc == -1 ? -1 : got;
}

static bool
is_taken(int error)
{
	return error == EAGAIN || error == EACCES;
}

int
machine_units_take(const struct machine_units *u, int64_t n, struct err *e)
{
	int64_t got = 0, r = 0;
	struct flock l;
	int dir, fd;
	size_t i;

	fd = lock_folder_open(u->name, &dir, e);
	if (fd == -1)
		return -1;
	(void)close(dir);
	if (lock(fd, F_OFD_SETLK, F_WRLCK, &l, -1, 1) == -1)
		r = -1;
	for (i = 0; r != -1 && i < u->n_ranges && got < n; i++) {
		r = machine_units_range_take(fd, &u->range[i], n - got);
		got += r;
	}
	if (r != -1 && got == n &&
	    lock(fd, F_OFD_SETLK, F_UNLCK, &l, -1, 1) == 0)
		return fd;
	if (r != -1 || is_taken(errno))
		(void)err_set(e, ERR_BUSY, "not so many are free");
	else
		(void)err_set(e, ERR_FILE, "cannot lock %s/%s: %s",
		    lock_folder_path(), u->name, strerror(errno));
	(void)close(fd);
	return -1;
}

int64_t
machine_units_left(const struct machine_units *u)
{
	struct machine_range found;
	int64_t left = 0, at, end;
	int dir = lock_folder_enter(), fd, rc = 0;
	size_t i;

	if (dir == -1)
		return errno == ENOENT ? u->total : -1;
	fd = lock_folder_file(dir, u->name, O_RDWR);
	(void)close(dir);
	if (fd == -1)
		return errno == ENOENT ? u->total : -1;
	for (i = 0; rc != -1 && i < u->n_ranges; i++) {
		end = u->range[i].first + u->range[i].n;
		for (at = u->range[i].first;
		     (rc = machine_units_gap(fd, at, end, &found)) == 1;
		     at = found.first + found.n)
			left += found.n;
	}
	(void)close(fd);
	return rc == -1 ? -1 : left;
}
