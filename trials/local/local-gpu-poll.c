/*
 * Connects the GPU allocator with the machine: queries and probes on the event
 * loop, locks that reserve GPUs against other studies (lock files that were
 * removed are created again), notes for the user.  The allocator may call at
 * any time; results and notes wait for the next collect.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "trials/gpu/gpu-health-probe.h"
#include "trials/gpu/gpu-lock.h"
#include "trials/local/local-gpu-internal.h"
#include "trials/local/local-internal.h"

#define MINUTE_US INT64_C(60000000)

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

	while (g->n_shown <= i) {
		g->shown =
		    xreallocarray(g->shown, g->n_shown + 1, sizeof *g->shown);
		g->shown[g->n_shown++] =
		    (struct local_gpu_shown){ .at_ms = -1 };
	}
	g->shown[i].dirty = true;
}

/* Out of the way of those that a supervisor gets, from 3 on. */
static int
gpu_poll_fd_raise(const struct local_gpu *g, int fd)
{
	int high =
	    fcntl(fd, F_DUPFD_CLOEXEC, 3 + g->per_trial + LOCAL_SHARE_KINDS);

	(void)close(fd);
	return high;
}

static struct gpu_lock_words
gpu_poll_words(const struct local_gpu *g)
{
	return (
	    struct gpu_lock_words){ .study = g->study, .ends_us = g->ends_us };
}

void
local_gpu_poll_ends(struct local_gpu *g, int64_t us)
{
	struct gpu_lock_words words;
	size_t i;

	/* The minute is what others see. */
	us = us / MINUTE_US * MINUTE_US;
	if (us == g->ends_us)
		return;
	g->ends_us = us;
	words = gpu_poll_words(g);
	for (i = 0; i < g->n_locks; i++)
		if (g->locks[i].fd != -1)
			gpu_lock_say(g->locks[i].fd, &words);
}

static bool
book(void *arg, const char *uuid, char *who, size_t n)
{
	struct local_gpu *g = arg;
	struct gpu_lock_words words = gpu_poll_words(g);
	struct local_gpu_lock lock = { .fd = -1 };
	struct err e = ERR_INIT;
	char text[256];

	if (!g->simulated) {
		lock.fd = gpu_lock_take(uuid, g->key, &words, who, n, &e);
		if (lock.fd == -1 && e.kind == ERR_BUSY)
			return false;
		if (lock.fd != -1)
			lock.fd = gpu_poll_fd_raise(g, lock.fd);
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

/* Lock the GPU again, with a new file. */
static void
lock_renew(struct local_gpu *g, struct local_gpu_lock *lock)
{
	struct gpu_lock_words words = gpu_poll_words(g);
	struct err e = ERR_INIT;
	char who[GPU_OWNER], text[256];
	int fd = gpu_lock_take(lock->uuid, g->key, &words, who, sizeof who, &e);

	/*
	 * Another process is locking it at this moment: retry after the next
	 * query.
	 */
	if (fd == -1 && e.kind == ERR_BUSY && who[0] == '\0')
		return;
	(void)close(lock->fd);
	lock->fd = fd != -1 ? gpu_poll_fd_raise(g, fd) : -1;
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
gpu_poll_on_look(void *arg, const struct gpu_snapshot *look, const char *why)
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
		local_gpu_owners_fill(g->owners, g->local, &g->look);
	} else {
		text_cut(g->look.why, sizeof g->look.why, why);
		g->look.seq = g->asked;
	}
	faults_keep(&g->look, faults, n);
	g->snapshot_pending = true;
	loop_wake(g->local->loop);
}

static void
gpu_poll_on_timer(void *arg)
{
	local_gpu_poll_ask(arg);
}

int
local_gpu_poll_open(
    struct local_gpu *g, struct gpu_snapshot *first, struct err *e)
{
	g->owners = local_gpu_owners_new();
	local_gpu_owners_fill(g->owners, g->local, first);
	g->timer = loop_timer_new(g->local->loop, gpu_poll_on_timer, g);
	if (g->simulated)
		return 0;
	return gpu_monitor_new(
	    &g->watch, g->local->loop, gpu_poll_on_look, g, e);
}

void
local_gpu_poll_close(struct local_gpu *g)
{
	if (g->watch != NULL)
		gpu_monitor_free(g->watch);
	if (g->timer != NULL)
		loop_timer_free(g->timer);
	local_gpu_owners_free(g->owners);
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
	else if (gpu_health_probe(g->watch, uuid, on_probe, g, &e) != 0)
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
