/*
 * Connects the GPU allocator with the machine: queries and probes on the event
 * loop, locks that reserve GPUs against other studies (lock files that were
 * removed are created again), notes for the user.  The allocator may call at
 * any time; results and notes wait for the next collect.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "trials/gpu/gpu-lock.h"
#include "trials/local/local-gpu-internal.h"
#include "trials/local/local-gpu.h"
#include "trials/local/local-internal.h"
#include "trials/process/proc-environ.h"
#include "trials/process/proc.h"

/* ---- owners of processes on GPUs ---------------------------------------- */

/*
 * By the marker in its environment, or by its supervisor among its
 * ancestors.  A dying process has lost both while the driver still lists it:
 * it keeps the owner found before.
 */

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

static struct local_gpu_owners *
owners_new(void)
{
	return xcalloc(1, sizeof(struct local_gpu_owners));
}

static void
owners_free(struct local_gpu_owners *o)
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

/* False: its environment has no marker. */
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
	/* It may have called exec since it was first seen. */
	if (known->owner[0] == '\0' &&
	    !owner_by_name(pid, known->owner, sizeof known->owner) &&
	    !owner_by_mark(l, pid, known->owner, sizeof known->owner))
		(void)owner_by_birth(l, pid, known->owner, sizeof known->owner);
	memcpy(p->owner, known->owner, sizeof p->owner);
}

static void
owners_fill(struct local_gpu_owners *o, const struct local *l,
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

/* ---- queries, locks and notes ------------------------------------------- */

void
local_gpu_poll_note(
    void *arg, bool warn, int64_t trial, int attempt, const char *text)
{
	struct local_gpu *g = arg;

	g->notes = xreallocarray(g->notes, g->n_notes + 1, sizeof *g->notes);
	g->notes[g->n_notes++] =
	    (struct local_gpu_message){ .level =
					    warn ? LAUNCH_WARNING : LAUNCH_INFO,
		    .trial = trial,
		    .attempt = attempt,
		    .text = xstrdup(text) };
	loop_wake(g->local->loop);
}

static void
changed(void *arg, size_t i)
{
	struct local_gpu *g = arg;

	while (g->n_told <= i) {
		g->told =
		    xreallocarray(g->told, g->n_told + 1, sizeof *g->told);
		g->told[g->n_told++] = (struct local_gpu_shown){ .at_ms = -1 };
	}
	g->told[i].dirty = true;
}

/* Out of the way of those that a supervisor gets, from 3 on. */
static int
fd_raise(const struct local_gpu *g, int fd)
{
	int high =
	    fcntl(fd, F_DUPFD_CLOEXEC, 3 + g->per_trial + LOCAL_SHARE_KINDS);

	(void)close(fd);
	return high;
}

static bool
book(void *arg, const char *uuid, char *who, size_t n)
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
			local_gpu_poll_note(g, true, 0, 0, text);
		}
	}
	(void)snprintf(lock.uuid, sizeof lock.uuid, "%s", uuid);
	g->locks = xreallocarray(g->locks, g->n_locks + 1, sizeof *g->locks);
	g->locks[g->n_locks++] = lock;
	return true;
}

static void
unbook(void *arg, const char *uuid)
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
	local_gpu_poll_note(g, true, 0, 0, text);
}

/* systemd may remove our lock files at logout: lock again. */
static void
locks_renew(struct local_gpu *g)
{
	size_t i;

	for (i = 0; i < g->n_locks; i++)
		if (g->locks[i].fd != -1 &&
		    !gpu_lock_valid(g->locks[i].fd, g->locks[i].uuid))
			lock_renew(g, &g->locks[i]);
}

/*
 * A fault is reported once: carry the faults of an unprocessed snapshot over to
 * the next.
 */
static void
faults_keep(struct gpu_snapshot *look, struct gpu_fault *faults, size_t n)
{
	if (n > 0) {
		look->faults = xreallocarray(
		    look->faults, look->n_faults + n, sizeof *faults);
		memcpy(
		    &look->faults[look->n_faults], faults, n * sizeof *faults);
		look->n_faults += n;
	}
	free(faults);
}

static void
on_look(void *arg, const struct gpu_snapshot *look, const char *why)
{
	struct local_gpu *g = arg;
	struct gpu_fault *faults = NULL;
	size_t n = 0;

	if (g->snapshot_pending) {
		faults = g->look.faults;
		n = g->look.n_faults;
		g->look.faults = NULL;
		g->look.n_faults = 0;
	}
	gpu_snapshot_free(&g->look);
	g->look = (struct gpu_snapshot){ .source = GPU_NONE };
	if (look != NULL) {
		gpu_snapshot_copy(&g->look, look);
		/*
		 * Find the owners at once: a listed process may exit at any
		 * moment.
		 */
		owners_fill(g->owners, g->local, &g->look);
	} else {
		text_cut(g->look.why, sizeof g->look.why, why);
		g->look.seq = g->asked;
	}
	faults_keep(&g->look, faults, n);
	g->snapshot_pending = true;
	loop_wake(g->local->loop);
}

static void
on_timer(void *arg)
{
	local_gpu_poll_ask(arg);
}

int
local_gpu_poll_open(
    struct local_gpu *g, struct gpu_snapshot *first, struct err *e)
{
	g->owners = owners_new();
	owners_fill(g->owners, g->local, first);
	g->timer = loop_timer_new(g->local->loop, on_timer, g);
	if (g->simulated)
		return 0;
	return gpu_monitor_new(&g->watch, g->local->loop, on_look, g, e);
}

void
local_gpu_poll_close(struct local_gpu *g)
{
	if (g->watch != NULL)
		gpu_monitor_free(g->watch);
	if (g->timer != NULL)
		loop_timer_free(g->timer);
	owners_free(g->owners);
	gpu_snapshot_free(&g->look);
	gpu_snapshot_free(&g->sim);
}

void
local_gpu_poll_ask(struct local_gpu *g)
{
	if (g->simulated) {
		g->asked++;
		loop_wake(g->local->loop);
	} else
		g->asked = gpu_monitor_ask(g->watch);
	gpualloc_observe_asked(g->gpus, g->asked);
}

static void
snapshot_simulated(struct local_gpu *g)
{
	if (!g->simulated || g->asked <= g->seen)
		return;
	gpu_snapshot_free(&g->look);
	gpu_snapshot_copy(&g->look, &g->sim);
	g->look.seq = g->asked;
	g->snapshot_pending = true;
}

void
local_gpu_poll_apply(struct local_gpu *g)
{
	int64_t now = loop_now_ms(g->local->loop);
	struct local_gpu_probe_result a;
	size_t i;

	for (i = 0; i < g->n_answers; i++) {
		/*
		 * The callback may start another probe, which may finish at
		 * once.
		 */
		a = g->answers[i];
		gpualloc_health_probed(g->gpus, a.uuid, a.good, a.why, now);
	}
	g->n_answers = 0;
	snapshot_simulated(g);
	if (g->snapshot_pending) {
		if (g->look.seq > g->seen)
			g->seen = g->look.seq;
		gpualloc_observe(g->gpus, &g->look, now);
		locks_renew(g);
	}
	g->snapshot_pending = false;
	gpualloc_tick(g->gpus, now);
}

static void
answer_add(struct local_gpu *g, const char *uuid, bool good, const char *why)
{
	struct local_gpu_probe_result *a;

	g->answers =
	    xreallocarray(g->answers, g->n_answers + 1, sizeof *g->answers);
	a = &g->answers[g->n_answers++];
	*a = (struct local_gpu_probe_result){ .good = good };
	(void)snprintf(a->uuid, sizeof a->uuid, "%s", uuid);
	text_cut(a->why, sizeof a->why, why != NULL ? why : "");
	loop_wake(g->local->loop);
}

static void
on_probe(void *arg, const char *uuid, bool good, const char *why)
{
	answer_add(arg, uuid, good, why);
}

static void
probe(void *arg, const char *uuid)
{
	struct local_gpu *g = arg;
	struct err e = ERR_INIT;

	if (g->simulated)
		answer_add(g, uuid, true, "");
	else if (gpu_monitor_probe(g->watch, uuid, on_probe, g, &e) != 0)
		answer_add(g, uuid, false, e.text);
}

struct gpualloc_hooks
local_gpu_poll_hooks(struct local_gpu *g)
{
	return (struct gpualloc_hooks){
		.book = book,
		.unbook = unbook,
		.note = local_gpu_poll_note,
		.changed = changed,
		.probe = probe,
		.arg = g,
	};
}
