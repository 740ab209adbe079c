/*
 * Lock files of GPUs for the allocator.  Lock files that were removed are
 * created again.
 */

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "trials/gpu/gpu-lock.h"
#include "trials/local/local-gpu-internal.h"

/* Out of the way of those that a supervisor gets, from 3 on. */
static int
fd_raise(const struct local_gpu *g, int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, 3 + g->per_trial);

	(void)close(fd);
	return high;
}

bool
local_gpu_locks_book(void *arg, const char *uuid, char *who, size_t n)
{
	struct local_gpu *g = arg;
	struct local_gpu_lock lock = { .fd = -1 };
	struct err e = ERR_INIT;
	char text[256];

	if (!g->simulated) {
		lock.fd = gpu_lock_take(uuid, g->key, g->study, who, n, &e);
		if (lock.fd == -1 && e.kind == ERR_BUSY)
			return false;
		if (lock.fd != -1)
			lock.fd = fd_raise(g, lock.fd);
		else if (!g->noted_locks) {
			g->noted_locks = true;
			(void)snprintf(text, sizeof text,
			    "GPUs are not reserved against other studies: "
			    "%.180s",
			    e.text);
			local_gpu_note(g, true, text);
		}
	}
	(void)snprintf(lock.uuid, sizeof lock.uuid, "%s", uuid);
	g->locks = xreallocarray(g->locks, g->n_locks + 1, sizeof *g->locks);
	g->locks[g->n_locks++] = lock;
	return true;
}

void
local_gpu_locks_unbook(void *arg, const char *uuid)
{
	struct local_gpu *g = arg;
	size_t i, kept = 0;

	for (i = 0; i < g->n_locks; i++)
		if (strcmp(g->locks[i].uuid, uuid) != 0)
			g->locks[kept++] = g->locks[i];
		else if (g->locks[i].fd != -1)
			(void)close(g->locks[i].fd);
	g->n_locks = kept;
}

/* Lock it again, with a new file. */
static void
lock_renew(struct local_gpu *g, struct local_gpu_lock *lock)
{
	struct err e = ERR_INIT;
	char who[GPU_OWNER], text[256];
	int fd =
	    gpu_lock_take(lock->uuid, g->key, g->study, who, sizeof who, &e);

	/*
	 * Another process is locking it at this moment: retry after the next
	 * query.
	 */
	if (fd == -1 && e.kind == ERR_BUSY && who[0] == '\0')
		return;
	(void)close(lock->fd);
	lock->fd = fd != -1 ? fd_raise(g, fd) : -1;
	if (fd != -1)
		return;
	(void)snprintf(text, sizeof text,
	    "the reservation of %.80s was removed: %.64s%s", lock->uuid,
	    e.kind == ERR_BUSY ? who : e.text,
	    e.kind == ERR_BUSY ? " has it as well" : "");
	local_gpu_note(g, true, text);
}

void
local_gpu_locks_renew(struct local_gpu *g)
{
	size_t i;

	for (i = 0; i < g->n_locks; i++)
		if (g->locks[i].fd != -1 &&
		    !gpu_lock_valid(g->locks[i].fd, g->locks[i].uuid))
			lock_renew(g, &g->locks[i]);
}
