/*
 * The trial that a process on a GPU belongs to: by the marker in its environment,
 * or by its supervisor among its ancestors.  A dying process has lost both while
 * the driver still lists it: it keeps the owner found before.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "trials/local/local-gpu-internal.h"
#include "trials/local/local-internal.h"
#include "trials/process/proc-environ.h"
#include "trials/process/proc.h"

enum {
	DEPTH_MAX = 64 /* of ancestors */
};

struct owned {
	pid_t pid;
	int64_t start;
	char owner[GPU_OWNER];
	bool seen; /* in the snapshot that is being filled */
};

struct local_gpu_owners {
	struct owned *of;
	size_t n, cap;
};

struct local_gpu_owners *
local_gpu_owners_new(void)
{
	return xcalloc(1, sizeof(struct local_gpu_owners));
}

void
local_gpu_owners_free(struct local_gpu_owners *o)
{
	if (o != NULL)
		free(o->of);
	free(o);
}

/* Find the attempt whose supervisor is an ancestor of pid. */
static bool
owner_by_birth(const struct local *l, pid_t pid, char *owner, size_t n)
{
	struct proc_stat s;
	size_t i;
	int k;

	for (k = 0; k < DEPTH_MAX && pid > 1; k++) {
		for (i = 0; i < l->n; i++)
			if (l->attempts[i]->supervisor.pid == pid) {
				(void)snprintf(
				    owner, n, "%s", l->attempts[i]->uuid);
				return true;
			}
		if (!proc_stat(pid, &s))
			return false;
		pid = s.ppid;
	}
	return false;
}

/* The server that lends a GPU to processes which share it. */
static bool
owner_by_name(pid_t pid, char *owner, size_t n)
{
	static const char mps[] = "nvidia-cuda-mps";
	char path[64], name[32] = "";
	int fd;

	(void)snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return false;
	if (read(fd, name, sizeof name - 1) <= 0)
		name[0] = '\0';
	(void)close(fd);
	if (strncmp(name, mps, sizeof mps - 1) != 0)
		return false;
	(void)snprintf(owner, n, "mps");
	return true;
}

/* Find the owner by the marker in the environment of a process; false: none. */
static bool
owner_by_mark(const struct local *l, pid_t pid, char *owner, size_t n)
{
	struct buf b = { 0 };
	char place[4200];
	size_t len = l->pack.dir != NULL ? strlen(l->pack.dir) : 0;
	bool found = false;

	if (proc_environ_read(pid, &b) &&
	    proc_environ_get(&b, "HPOTUNE_PACK_DIR", place, sizeof place)) {
		/* A program of several trials; of another study, perhaps. */
		found = len > 0 && strncmp(place, l->pack.dir, len) == 0 &&
			place[len] == '/';
		if (found)
			(void)snprintf(owner, n, "pack %.32s", place + len + 1);
	} else if (b.len > 0)
		found = proc_environ_get(&b, "HPOTUNE_ATTEMPT_UUID", owner, n);
	buf_free(&b);
	return found;
}

static struct owned *
owned_find(struct local_gpu_owners *o, pid_t pid, int64_t start)
{
	size_t i;

	for (i = 0; i < o->n; i++)
		if (o->of[i].pid == pid && o->of[i].start == start)
			return &o->of[i];
	return NULL;
}

static void
process_fill(
    struct local_gpu_owners *o, const struct local *l, struct gpu_process *p)
{
	pid_t pid = (pid_t)p->pid;
	struct owned *known;
	struct proc_stat s;

	p->owner[0] = '\0';
	p->gone = pid <= 0 || !proc_stat(pid, &s);
	if (p->gone)
		return;
	known = owned_find(o, pid, s.start);
	if (known == NULL) {
		XGROW(o->of, o->n, o->cap);
		known = &o->of[o->n++];
		*known = (struct owned){ .pid = pid, .start = s.start };
	}
	known->seen = true;
	/* The process may have called exec since it was first seen. */
	if (known->owner[0] == '\0' &&
	    !owner_by_name(pid, known->owner, sizeof known->owner) &&
	    !owner_by_mark(l, pid, known->owner, sizeof known->owner))
		(void)owner_by_birth(l, pid, known->owner, sizeof known->owner);
	memcpy(p->owner, known->owner, sizeof p->owner);
}

void
local_gpu_owners_fill(struct local_gpu_owners *o, const struct local *l,
    struct gpu_snapshot *look)
{
	size_t i, k, kept = 0;

	for (i = 0; i < o->n; i++)
		o->of[i].seen = false;
	for (i = 0; i < look->n; i++)
		for (k = 0; k < look->gpus[i].n_processes; k++)
			process_fill(o, l, &look->gpus[i].processes[k]);
	for (i = 0; i < o->n; i++)
		if (o->of[i].seen)
			o->of[kept++] = o->of[i];
	o->n = kept;
}
