/*
 * Cores and memory that a study asks for (trial.cpus, trial.memory) are taken from
 * what trials of all studies and users of this machine share.  The supervisor of
 * an attempt holds its part, so that it outlives the server and is free again with
 * the last process of the trial.
 */

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/model/study/study.h"
#include "trials/local/local-gpu.h"
#include "trials/local/local-internal.h"

enum {
	AGAIN_MS = 500, /* between two looks at what others have left */
	SAME_MS = 100, /* so long an answer counts for all free slots */
	SAID_MS = 600000 /* between two notes that the study waits */
};

/* By kind. */
static const struct {
	const char *what, *key;
} words[LOCAL_SHARE_KINDS] = {
	{ "cores", "trial.cpus" },
	{ "MiB of memory", "trial.memory" },
};

static void
share_on_timer(void *arg)
{
	struct local *l = arg;

	loop_wake(l->loop);
}

void
local_share_open(struct local *l, const struct study_trial *t)
{
	struct local_share *s = &l->share;
	int64_t memory =
	    (t->memory + MACHINE_UNIT_BYTES - 1) / MACHINE_UNIT_BYTES;
	int i;

	/* The program of packed trials belongs to a place, not to an attempt. */
	if (t->pack > 0 || (t->cpus == 0 && t->memory == 0))
		return;
	machine_units_cores(&s->units[0]);
	machine_units_memory(&s->units[1]);
	s->need[0] = t->cpus;
	s->need[1] = memory;
	/* A trial that asks for more than there is gets everything. */
	for (i = 0; i < LOCAL_SHARE_KINDS; i++)
		if (s->need[i] > s->units[i].total)
			s->need[i] = s->units[i].total;
	s->timer = loop_timer_new(l->loop, share_on_timer, l);
}

static void
part_close(struct local_share_part *p)
{
	int i;

	for (i = 0; i < LOCAL_SHARE_KINDS; i++)
		if (p->fd[i] != -1)
			(void)close(p->fd[i]);
	free(p->uuid);
}

static void
parts_drop(struct local_share *s)
{
	while (s->n > 0)
		part_close(&s->part[--s->n]);
}

void
local_share_collect(struct local *l)
{
	struct local_share *s = &l->share;

	parts_drop(s);
	/* Not in ready(), which is asked while the tuner decides. */
	if (s->why[0] == '\0' || l->n > 0 ||
	    (s->said_ms != 0 && s->looked_ms < s->said_ms + SAID_MS))
		return;
	s->said_ms = s->looked_ms;
	backend_note(&l->source, LAUNCH_INFO, "it waits: %s", s->why);
}

void
local_share_close(struct local *l)
{
	struct local_share *s = &l->share;
	int i;

	parts_drop(s);
	free(s->part);
	for (i = 0; i < LOCAL_SHARE_KINDS; i++)
		machine_units_free(&s->units[i]);
	if (s->timer != NULL)
		loop_timer_free(s->timer);
}

static bool
look(struct local *l)
{
	struct local_share *s = &l->share;
	int64_t left;
	int i;

	for (i = 0; i < LOCAL_SHARE_KINDS; i++) {
		if (s->need[i] == 0)
			continue;
		left = machine_units_left(&s->units[i]);
		if (left < 0 || left >= s->need[i])
			continue;
		(void)snprintf(s->why, sizeof s->why,
		    "%" PRId64 " of the %" PRId64
		    " %s of this machine are free of trials, and a trial takes "
		    "%" PRId64 " (%s)",
		    left, s->units[i].total, words[i].what, s->need[i],
		    words[i].key);
		return false;
	}
	return true;
}

bool
local_share_ready(struct local *l, char *why, size_t n)
{
	struct local_share *s = &l->share;
	int64_t now = loop_now_ms(l->loop);

	if (s->timer == NULL)
		return true;
	if (s->why[0] == '\0' || now >= s->looked_ms + SAME_MS) {
		s->looked_ms = now;
		s->why[0] = '\0';
		if (look(l))
			return true;
		loop_timer_set(s->timer, AGAIN_MS);
	}
	(void)snprintf(why, n, "%s", s->why);
	return false;
}

static struct local_share_part *
part_find(struct local *l, const char *uuid)
{
	struct local_share *s = &l->share;
	size_t i;

	for (i = 0; i < s->n; i++)
		if (strcmp(s->part[i].uuid, uuid) == 0)
			return &s->part[i];
	return NULL;
}

/* Above those that a supervisor gets from 3 on. */
static int
share_fd_raise(const struct local *l, int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC,
	    3 + local_gpu_per_trial(l) + LOCAL_SHARE_KINDS);

	(void)close(fd);
	return high;
}

bool
local_share_take(struct local *l, const char *uuid)
{
	struct local_share *s = &l->share;
	struct local_share_part part = { .fd = { -1, -1 } };
	struct err e = ERR_INIT;
	int i;

	if (s->timer == NULL || part_find(l, uuid) != NULL)
		return true;
	for (i = 0; i < LOCAL_SHARE_KINDS; i++) {
		if (s->need[i] == 0)
			continue;
		part.fd[i] = machine_units_take(&s->units[i], s->need[i], &e);
		if (part.fd[i] != -1) {
			part.fd[i] = share_fd_raise(l, part.fd[i]);
			continue;
		}
		if (e.kind == ERR_BUSY) {
			part_close(&part);
			loop_timer_set(s->timer, AGAIN_MS);
			return false;
		}
		if (!s->noted)
			backend_note(&l->source, LAUNCH_WARNING,
			    "%s are not shared with other studies: %s",
			    words[i].what, e.text);
		s->noted = true;
	}
	part.uuid = xstrdup(uuid);
	XGROW(s->part, s->n, s->cap);
	s->part[s->n++] = part;
	return true;
}

void
local_share_drop(struct local *l, const char *uuid)
{
	struct local_share_part *p = part_find(l, uuid);

	if (p == NULL)
		return;
	part_close(p);
	*p = l->share.part[--l->share.n];
}

void
local_share_fds(
    struct local *l, const char *uuid, struct local_gpu_lock_fds *fds)
{
	const struct local_share_part *p = part_find(l, uuid);
	int i;

	if (p == NULL)
		return;
	fds->fd =
	    xreallocarray(fds->fd, fds->n + LOCAL_SHARE_KINDS, sizeof *fds->fd);
	for (i = 0; i < LOCAL_SHARE_KINDS; i++)
		if (p->fd[i] != -1)
			fds->fd[fds->n++] = p->fd[i];
}
