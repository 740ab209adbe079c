/*
 * What the GPU allocator calls back: locks that reserve GPUs against other
 * studies, notes for the user, changed states.  The allocator may call at any
 * time; notes wait for the next collect.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "trials/gpu/gpu-lock.h"
#include "trials/local/local-gpu-internal.h"
#include "trials/local/local-internal.h"

void
local_gpu_hooks_note(
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

void
local_gpu_hooks_changed(void *arg, size_t i)
{
	struct local_gpu *g = arg;

	while (g->n_told <= i) {
		g->told =
		    xreallocarray(g->told, g->n_told + 1, sizeof *g->told);
		g->told[g->n_told++] = (struct local_gpu_shown){ .at_ms = -1 };
	}
	g->told[i].dirty = true;
}

void
local_gpu_hooks_send_notes(struct local_gpu *g)
{
	struct local *l = g->local;
	struct local_gpu_message *note;
	struct launch_event ev;
	char *text;
	size_t i;

	for (i = 0; i < g->n_notes; i++) {
		note = &g->notes[i];
		ev = (struct launch_event){ .kind = LAUNCH_NOTE };
		text = note->text;
		if (note->trial != 0 &&
		    local_attempt_find(l, note->trial, note->attempt) != NULL) {
			ev.trial = note->trial;
			ev.attempt = note->attempt;
		} else if (note->trial != 0) {
			/*
			 * The attempt has ended: the note needs the number in
			 * its text.
			 */
			text = xasprintf("trial %lld: %s",
			    (long long)note->trial, note->text);
			free(note->text);
		}
		ev.u.note.level = note->level;
		ev.u.note.text = text;
		l->event(l->arg, &ev);
		free(text);
	}
	g->n_notes = 0;
}

/* Out of the way of those that a supervisor gets, from 3 on. */
static int
fd_raise(const struct local_gpu *g, int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, 3 + g->per_trial);

	(void)close(fd);
	return high;
}

bool
local_gpu_hooks_book(void *arg, const char *uuid, char *who, size_t n)
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
			local_gpu_hooks_note(g, true, 0, 0, text);
		}
	}
	(void)snprintf(lock.uuid, sizeof lock.uuid, "%s", uuid);
	g->locks = xreallocarray(g->locks, g->n_locks + 1, sizeof *g->locks);
	g->locks[g->n_locks++] = lock;
	return true;
}

void
local_gpu_hooks_unbook(void *arg, const char *uuid)
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
	local_gpu_hooks_note(g, true, 0, 0, text);
}

void
local_gpu_hooks_renew_locks(struct local_gpu *g)
{
	size_t i;

	for (i = 0; i < g->n_locks; i++)
		if (g->locks[i].fd != -1 &&
		    !gpu_lock_valid(g->locks[i].fd, g->locks[i].uuid))
			lock_renew(g, &g->locks[i]);
}
