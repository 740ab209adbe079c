/* Events of GPUs: their states, and the use of each attempt. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/loop.h"
#include "trials/gpu/gpu-lock.h"
#include "trials/local/local-gpu-internal.h"
#include "trials/local/local-internal.h"

enum {
	TOLD_MS = 5000, /* minimum interval when only numbers changed */
	USED_MS = 10000
};

/* Describe the other owner of a GPU. */
static void
owner_put(const struct gpualloc_view *v, char *owner, size_t n)
{
	const struct gpu_device *s = v->seen;
	size_t i;

	*owner = '\0';
	if (v->state == GPU_RESERVED)
		(void)gpu_lock_owner(s->uuid, owner, n);
	if (v->state != GPU_FOREIGN)
		return;
	for (i = 0; i < s->n_processes && *owner == '\0'; i++)
		if (s->processes[i].owner[0] == '\0')
			(void)snprintf(owner, n, "pid %lld",
			    (long long)s->processes[i].pid);
}

static void
gpu_show(struct local_gpu *g, const struct gpualloc_view *v)
{
	const struct gpu_device *s = v->seen;
	struct launch_event ev = { .kind = LAUNCH_GPU };
	char owner[GPU_OWNER];

	owner_put(v, owner, sizeof owner);
	ev.u.gpu = (struct gpu_status){
		.index = s->index,
		.uuid = s->uuid,
		.name = s->name,
		.state = gpualloc_state_name(v->state),
		.why = v->why,
		.owner = owner,
		.trials = v->trials,
		.memory = s->memory,
		.used = s->used,
		.temperature = s->temperature,
		.utilization = s->utilization,
		.power = s->power < 0 ? -1 : (double)s->power / 1000,
	};
	backend_emit(&g->local->source, &ev);
}

static void
gpus_show(struct local_gpu *g, int64_t now)
{
	struct local_gpu_shown *t;
	struct gpualloc_view v;
	size_t i;

	for (i = 0; i < g->n_shown; i++) {
		t = &g->shown[i];
		if (!t->dirty)
			continue;
		gpualloc_at(g->gpus, i, &v);
		if (!v.used) {
			t->dirty = false;
			continue;
		}
		if (t->at_ms >= 0 && t->state == v.state &&
		    t->trials == v.trials && now - t->at_ms < TOLD_MS)
			continue;
		/*
		 * A GPU is back: wake the tuner.  A program that fails at once
		 * would fail again.
		 */
		g->back |= t->at_ms >= 0 && t->state != GPU_SUSPECT &&
			   local_gpu_pack_is_out(t->state) &&
			   !local_gpu_pack_is_out(v.state);
		t->state = v.state;
		t->trials = v.trials;
		t->at_ms = now;
		t->dirty = false;
		gpu_show(g, &v);
	}
}

static double
sum(double a, double b)
{
	return isnan(a) ? b : isnan(b) ? a : a + b;
}

void
local_gpu_events_usage(struct local_attempt *a)
{
	struct launch_event ev = { .kind = LAUNCH_USAGE };
	const struct gpu_usage *before = &a->used;
	struct gpu_usage u;
	char text[256];

	if (a->local->pack.size > 0
		? !local_gpu_pack_usage(a, &u)
		: !gpualloc_usage(a->local->gpus->gpus, a->uuid, &u))
		return;
	a->used_ms = loop_now_ms(a->local->loop);
	ev.u.usage = u;
	/* Add what the attempt had used before our start. */
	if (before->gpus > 0) {
		ev.u.usage.energy = sum(u.energy, before->energy);
		ev.u.usage.memory = fmax(u.memory, before->memory);
		ev.u.usage.busy = sum(u.busy, before->busy);
		ev.u.usage.seen = sum(u.seen, before->seen);
	}
	backend_emit(&a->source, &ev);
	if (gpu_idle_update(&a->idle, u.gpus, ev.u.usage.busy, ev.u.usage.seen,
		a->used_ms, text, sizeof text))
		backend_note(&a->source, LAUNCH_WARNING, "%s", text);
}

static void
usage_tell(struct local *l, int64_t now)
{
	struct local_attempt *a;
	size_t i;

	for (i = 0; i < l->n; i++) {
		a = l->attempts[i];
		if (a->over || !a->up || now - a->used_ms < USED_MS)
			continue;
		local_gpu_pack_charge(l, a->slot);
		local_gpu_events_usage(a);
	}
}

/* Whether another number of trials fits than when this was last asked. */
static bool
places_changed(struct local_gpu *g)
{
	int places = gpualloc_choose_capacity(g->gpus);

	if (places == g->places && !g->back)
		return false;
	g->places = places;
	g->back = false;
	return true;
}

/* Note once that no GPU is usable, so that the user sees why nothing runs. */
static void
none_free_note(struct local_gpu *g)
{
	char why[160] = "";
	struct gpualloc_view v;
	bool none;
	size_t i;

	none = g->local->n == 0 &&
	       !gpualloc_choose_ready(g->gpus, why, sizeof why);
	for (i = gpualloc_count(g->gpus); none && i-- > 0;) {
		gpualloc_at(g->gpus, i, &v);
		none = !v.used ||
		       (v.state != GPU_RELEASING && v.state != GPU_HELD &&
			   v.state != GPU_SETTLING);
	}
	if (none == g->noted_none)
		return;
	/* Clear the note only when an attempt could start again. */
	if (!none && g->local->n == 0 &&
	    !gpualloc_choose_ready(g->gpus, why, sizeof why))
		return;
	g->noted_none = none;
	if (none)
		backend_note(&g->local->source, LAUNCH_WARNING,
		    "no trial can begin until a GPU is free: %s", why);
	else
		backend_note(&g->local->source, LAUNCH_INFO,
		    "a GPU is available for trials again");
}

void
local_gpu_events_notes(struct local_gpu *g)
{
	struct local *l = g->local;
	struct local_gpu_message *note;
	const struct local_attempt *a;
	size_t i;

	for (i = 0; i < g->n_notes; i++) {
		note = &g->notes[i];
		a = local_attempt_find(l, note->trial, note->attempt);
		/* The text needs the number of an attempt that has ended. */
		if (a != NULL || note->trial == 0)
			backend_note(a != NULL ? &a->source : &l->source,
			    note->level, "%s", note->text);
		else
			backend_note(&l->source, note->level, "trial %lld: %s",
			    (long long)note->trial, note->text);
		free(note->text);
	}
	g->n_notes = 0;
}

void
local_gpu_events_arm(struct local_gpu *g)
{
	int64_t ms;

	/* Wait for the pending answer first. */
	if (g->asked > g->seen)
		return;
	ms = gpualloc_observe_in_ms(g->gpus, loop_now_ms(g->local->loop));
	if (ms <= 0)
		local_gpu_poll_ask(g);
	else
		loop_timer_set(g->timer, ms);
}

bool
local_gpu_flush(struct local *l)
{
	int64_t now = loop_now_ms(l->loop);
	struct local_gpu *g = l->gpus;
	bool changed;

	if (g->gpus == NULL)
		return false;
	/* Simulated GPU states need no query process. */
	if (g->simulated)
		local_gpu_poll_apply(g);
	if (l->pack.size > 0)
		local_gpu_pack_release(l);
	local_gpu_events_notes(g);
	gpus_show(g, now);
	usage_tell(l, now);
	changed = places_changed(g);
	none_free_note(g);
	local_gpu_events_arm(g);
	return changed;
}
