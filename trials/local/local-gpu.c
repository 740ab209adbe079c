/*
 * Connects the GPU allocator, which decides, with the local launcher, which
 * acts.  The allocator may call back at any time; events wait for collect.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/model/plugin-options.h"
#include "src/model/study/study.h"
#include "trials/gpu/gpu-lock.h"
#include "trials/local/local-gpu-internal.h"
#include "trials/local/local-internal.h"
#include "trials/process/attempt-record.h"

enum { AT_ONCE_US = 5000000, LATE_MS = 2000 };

/* ---- GPUs of packed trials ---------------------------------------------- */

/*
 * They belong to the program of a place: they are allocated for its first trial
 * and released when the program ends.  Their use is divided equally among the
 * trials that run in the program at the time.
 */

static bool
is_member(const struct local_attempt *a, int place)
{
	return !a->over && local_pack_place(a->local, a->slot) == place;
}

static int
members(const struct local *l, int place)
{
	int n = 0;
	size_t i;

	for (i = 0; i < l->n; i++)
		n += is_member(l->attempts[i], place);
	return n;
}

/* Including attempts that are about to start. */
static bool
is_wanted(const struct local *l, int place)
{
	const struct local_gpu *g = l->gpus;
	size_t i;

	for (i = 0; i < g->n_fresh; i++)
		if (local_pack_place(l, g->fresh[i].slot) == place)
			return true;
	return members(l, place) > 0 || local_pack_alive(l, place);
}

static bool
is_out(enum gpualloc_state s)
{
	return s == GPU_SUSPECT || s == GPU_QUARANTINED || s == GPU_GONE;
}

/* Find the first of its GPUs that must not be used for new attempts. */
static bool
find_sick(const struct local *l, const char *key, bool unknown_too, char *why,
    size_t n)
{
	const struct local_gpu *g = l->gpus;
	size_t k = gpualloc_of(g->gpus, key, g->at);
	struct gpualloc_view v;

	while (k-- > 0) {
		gpualloc_at(g->gpus, g->at[k], &v);
		if (is_out(v.state) ||
		    (unknown_too && v.state == GPU_UNKNOWN)) {
			(void)snprintf(why, n, "%s", v.why);
			return true;
		}
	}
	return false;
}

/* Whether the place accepts another attempt; false: it has no GPUs yet. */
static bool
pack_admits(const struct local *l, int slot, bool *ready, char *why, size_t n)
{
	const struct local_gpu *g = l->gpus;
	struct local_gpu_key key;

	(void)local_gpu_key(&key, l, slot, NULL);
	if (gpualloc_of(g->gpus, key.text, g->at) == 0)
		return false;
	*ready = !find_sick(l, key.text, true, why, n);
	return true;
}

/* Whether a failure may be caused by a GPU: why, one clause of n bytes. */
static bool
pack_blame(const struct local *l, int slot, char *why, size_t n)
{
	struct local_gpu_key key;

	return find_sick(l, local_gpu_key(&key, l, slot, NULL), false, why, n);
}

static double
since(double now, double before)
{
	return isnan(before) ? now : now - before;
}

static void
share_add(double *mine, double part)
{
	if (!isnan(part))
		*mine = isnan(*mine) ? part : *mine + part;
}

/*
 * The set of packed trials changes: charge the GPU use so far to the current
 * members.
 */
static void
pack_charge(struct local *l, int slot)
{
	struct local_gpu *g = l->gpus;
	int place = local_pack_place(l, slot), n;
	struct local_attempt *a;
	struct gpu_usage now, *last;
	struct local_gpu_key key;
	size_t i;

	if (l->pack.size == 0 ||
	    !gpualloc_usage(g->gpus, local_gpu_key(&key, l, slot, NULL), &now))
		return;
	while (g->n_places <= (size_t)place) {
		g->place =
		    xreallocarray(g->place, g->n_places + 1, sizeof *g->place);
		g->place[g->n_places++] = (struct local_gpu_place){ 0 };
	}
	last = &g->place[place].shared;
	n = members(l, place);
	for (i = 0; i < l->n; i++) {
		a = l->attempts[i];
		if (!is_member(a, place))
			continue;
		if (a->share.gpus == 0)
			a->share =
			    (struct gpu_usage){ now.gpus, NAN, NAN, NAN, NAN };
		share_add(
		    &a->share.energy, since(now.energy, last->energy) / n);
		share_add(&a->share.busy, since(now.busy, last->busy) / n);
		share_add(&a->share.seen, since(now.seen, last->seen) / n);
		a->share.memory = fmax(a->share.memory, now.memory / n);
	}
	*last = now;
}

/* The share of an attempt in the GPU use of its place. */
static bool
pack_usage(struct local_attempt *a, struct gpu_usage *u)
{
	*u = a->share;
	return u->gpus > 0;
}

/* Release the GPUs of places without attempts. */
static void
pack_release(struct local *l)
{
	static const struct gpualloc_end over = { 0 };
	struct local_gpu *g = l->gpus;
	struct local_gpu_key key;
	char why[GPU_WHY];
	int place;

	for (place = 0; place < l->pack.places; place++) {
		(void)local_gpu_key(&key, l, place, NULL);
		if (gpualloc_of(g->gpus, key.text, g->at) == 0 ||
		    is_wanted(l, place))
			continue;
		(void)gpualloc_release(g->gpus, key.text, &over,
		    loop_now_ms(l->loop), why, sizeof why);
		if ((size_t)place < g->n_places)
			g->place[place] = (struct local_gpu_place){ 0 };
		local_gpu_poll_ask(g);
	}
}

/* ---- events: states, the use of each attempt; inside collect ------------ */

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
	launcher_emit(&g->local->source, &ev);
}

static void
gpus_show(struct local_gpu *g, int64_t now)
{
	struct local_gpu_shown *t;
	struct gpualloc_view v;
	size_t i;

	for (i = 0; i < g->n_told; i++) {
		t = &g->told[i];
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
			   is_out(t->state) && !is_out(v.state);
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

/* Send the GPU use of an attempt. */
static void
usage_send(struct local_attempt *a)
{
	struct launch_event ev = { .kind = LAUNCH_USAGE };
	const struct gpu_usage *before = &a->used;
	struct gpu_usage u;
	char text[256];

	if (a->local->pack.size > 0
		? !pack_usage(a, &u)
		: !gpualloc_usage(a->local->gpus->gpus, a->uuid, &u))
		return;
	a->used_ms = loop_now_ms(a->local->loop);
	ev.u.usage = u;
	/* What it used before our start. */
	if (before->gpus > 0) {
		ev.u.usage.energy = sum(u.energy, before->energy);
		ev.u.usage.memory = fmax(u.memory, before->memory);
		ev.u.usage.busy = sum(u.busy, before->busy);
		ev.u.usage.seen = sum(u.seen, before->seen);
	}
	launcher_emit(&a->source, &ev);
	if (gpu_idle_update(&a->idle, u.gpus, ev.u.usage.busy, ev.u.usage.seen,
		a->used_ms, text, sizeof text))
		launcher_note(&a->source, LAUNCH_WARNING, "%s", text);
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
		pack_charge(l, a->slot);
		usage_send(a);
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
		launcher_note(&g->local->source, LAUNCH_WARNING,
		    "no trial can begin until a GPU is free: %s", why);
	else
		launcher_note(&g->local->source, LAUNCH_INFO,
		    "a GPU is available for trials again");
}

/* The notes of the poll and of the allocator. */
static void
notes_send(struct local_gpu *g)
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
			launcher_note(a != NULL ? &a->source : &l->source,
			    note->level, "%s", note->text);
		else
			launcher_note(&l->source, note->level, "trial %lld: %s",
			    (long long)note->trial, note->text);
		free(note->text);
	}
	g->n_notes = 0;
}

/* Arm the timer for the next query that the allocator requests. */
static void
query_arm(struct local_gpu *g)
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
		pack_release(l);
	notes_send(g);
	gpus_show(g, now);
	usage_tell(l, now);
	changed = places_changed(g);
	none_free_note(g);
	query_arm(g);
	return changed;
}

/* ---- open, close -------------------------------------------------------- */

static void
manager_open(struct local_gpu *g, const struct local_gpu_request *w,
    const struct launch_env *env)
{
	const struct gpualloc_options o = {
		.per_trial = w->per_trial,
		.share = w->share,
		.memory = env->settings->gpu_memory,
		.busy_memory = (int64_t)plugin_option_number(
		    env->options, "gpu_busy_memory"),
		.only = (const char *const *)w->only,
		.n_only = w->n_only,
	};
	const struct gpualloc_hooks hooks = local_gpu_poll_hooks(g);
	size_t i;

	g->gpus = gpualloc_new(&o, &hooks, &w->look, loop_now_ms(env->loop));
	g->places = gpualloc_choose_capacity(g->gpus);
	for (i = gpualloc_count(g->gpus); i-- > 0;)
		hooks.changed(g, i);
	for (i = 0; i < env->n_out; i++)
		gpualloc_health_distrust(g->gpus, env->out[i].uuid,
		    env->out[i].why, loop_now_ms(env->loop));
}

int
local_gpu_open(struct local *l, const struct launch_env *env, struct err *e)
{
	struct local_gpu *g = xcalloc(1, sizeof *g);
	struct local_gpu_request w = { 0 };
	int rc = 0;

	l->gpus = g;
	g->local = l;
	/* A command without a server starts nothing and needs no GPUs. */
	if (!env->hold)
		rc = local_gpu_request_read(&w, env->settings, env->options, e);
	if (rc == 0 && w.per_trial > 0) {
		g->per_trial = w.per_trial;
		g->at = xcalloc((size_t)w.per_trial, sizeof *g->at);
		g->simulated = w.simulated;
		g->study = xstrdup(env->study);
		g->key = gpu_lock_key(env->state_dir);
		g->by_index =
		    plugin_option_says(env->options, "gpu_ids", "index");
		g->share = w.share;
		g->mps = plugin_option_says(env->options, "mps", "auto");
		g->bind = plugin_option_is(env->options, "bind");
		if (w.simulated)
			gpu_snapshot_copy(&g->sim, &w.look);
		rc = local_gpu_poll_open(g, &w.look, e);
		if (rc == 0) {
			manager_open(g, &w, env);
			/* From now on faults are detected. */
			local_gpu_poll_ask(g);
		}
	}
	local_gpu_request_free(&w);
	return rc;
}

void
local_gpu_close(struct local *l)
{
	struct local_gpu *g = l->gpus;
	size_t i;

	if (g == NULL)
		return;
	if (g->gpus != NULL)
		gpualloc_free(g->gpus);
	local_gpu_poll_close(g);
	for (i = 0; i < g->n_locks; i++)
		if (g->locks[i].fd != -1)
			(void)close(g->locks[i].fd);
	for (i = 0; i < g->n_fresh; i++)
		free(g->fresh[i].uuid);
	for (i = 0; i < g->n_notes; i++)
		free(g->notes[i].text);
	free(g->locks);
	free(g->fresh);
	free(g->place);
	free(g->notes);
	free(g->told);
	free(g->answers);
	free(g->study);
	free(g->at);
	free(g);
	l->gpus = NULL;
}

int64_t
local_gpu_capacity(const struct local *l)
{
	return l->gpus->gpus == NULL ? -1 : l->gpus->places;
}

int
local_gpu_per_trial(const struct local *l)
{
	return l->gpus != NULL ? l->gpus->per_trial : 0;
}

/* ---- the GPUs of an attempt, from its choice to its end ----------------- */

bool
local_gpu_ready(void *ctx, int slot, char *why, size_t n)
{
	const struct local *l = ctx;
	bool ready;

	if (l->gpus->gpus == NULL)
		return true;
	if (l->pack.size > 0 && pack_admits(l, slot, &ready, why, n))
		return ready;
	return gpualloc_choose_ready(l->gpus->gpus, why, n);
}

/* Whether it was taken for and has not begun; not any more. */
static bool
fresh_drop(struct local_gpu *g, const char *uuid)
{
	size_t i;

	for (i = 0; i < g->n_fresh; i++)
		if (strcmp(g->fresh[i].uuid, uuid) == 0) {
			free(g->fresh[i].uuid);
			g->fresh[i] = g->fresh[--g->n_fresh];
			return true;
		}
	return false;
}

/* Its GPUs, unless its place has them already. */
static bool
take(struct local *l, int64_t trial, int attempt, int slot, const char *uuid)
{
	struct gpualloc *gpus = l->gpus->gpus;
	struct local_gpu_key key;
	char why[160];
	bool ready;

	if (l->pack.size > 0 && pack_admits(l, slot, &ready, why, sizeof why))
		return ready;
	return gpualloc_choose(gpus, local_gpu_key(&key, l, slot, uuid), trial,
	    attempt, loop_now_ms(l->loop));
}

bool
local_gpu_take(
    void *ctx, int64_t trial, int attempt, int slot, const char *uuid)
{
	struct local *l = ctx;
	struct local_gpu *g = l->gpus;

	if (g->gpus == NULL)
		return true;
	if (!take(l, trial, attempt, slot, uuid))
		return false;
	g->fresh = xreallocarray(g->fresh, g->n_fresh + 1, sizeof *g->fresh);
	g->fresh[g->n_fresh++] =
	    (struct local_gpu_pending){ .uuid = xstrdup(uuid), .slot = slot };
	query_arm(g);
	return true;
}

int
local_gpu_begin(struct local *l, const struct launch_spec *spec, struct err *e)
{
	struct local_gpu *g = l->gpus;
	struct local_gpu_key key;
	char why[160] = "";

	if (g->gpus == NULL)
		return 0;
	pack_charge(l, spec->slot);
	if (fresh_drop(g, spec->uuid) ||
	    (l->pack.size == 0 &&
		gpualloc_of(g->gpus,
		    local_gpu_key(&key, l, spec->slot, spec->uuid), g->at) > 0))
		return 0;
	if (take(l, spec->trial, spec->attempt, spec->slot, spec->uuid)) {
		query_arm(g);
		return 0;
	}
	(void)local_gpu_ready(l, spec->slot, why, sizeof why);
	return err_set(e, ERR_BUSY, "no GPU is free: %s", why);
}

void
local_gpu_undo(struct local *l, int slot, const char *uuid)
{
	static const struct gpualloc_end never = { .never_began = true };
	struct local_gpu *g = l->gpus;
	struct local_gpu_key key;
	char why[GPU_WHY];

	if (g->gpus == NULL)
		return;
	(void)fresh_drop(g, uuid);
	/* The GPUs of a place are released when no attempt is left in it. */
	if (l->pack.size == 0)
		(void)gpualloc_release(g->gpus,
		    local_gpu_key(&key, l, slot, uuid), &never,
		    loop_now_ms(l->loop), why, sizeof why);
}

void
local_gpu_started(struct local_attempt *a)
{
	if (a->local->gpus->gpus == NULL)
		return;
	pack_charge(a->local, a->slot);
	usage_send(a);
}

void
local_gpu_reported(struct local_attempt *a)
{
	struct local *l = a->local;
	struct local_gpu_key key;

	if (!a->reported && l->gpus->gpus != NULL)
		gpualloc_settled(l->gpus->gpus,
		    local_gpu_key(&key, l, a->slot, a->uuid),
		    loop_now_ms(l->loop));
	a->reported = true;
}

static bool
exit_failed(bool ran, bool told, int exit_code, int signal)
{
	return ran && !told && (exit_code != 0 || signal != 0);
}

/*
 * Faults are found by queries, and a program that dies of one ends before the
 * next query shows it.  A hanging driver delays an end only for a limited time.
 */
bool
local_gpu_end_waits(struct local_attempt *a, const struct attempt_exit *x)
{
	struct local_gpu *g = a->local->gpus;
	struct local_gpu_key key;

	if (g->gpus == NULL || g->simulated ||
	    !exit_failed(x->ran, x->stopped || x->timeout || x->oom,
		x->exit_code, x->signal) ||
	    gpualloc_of(g->gpus,
		local_gpu_key(&key, a->local, a->slot, a->uuid), g->at) == 0)
		return false;
	if (a->end_wait_seq == 0) {
		local_gpu_poll_ask(g);
		a->end_wait_seq = g->asked;
		a->end_wait_ms = loop_now_ms(a->local->loop);
	}
	return g->seen < a->end_wait_seq &&
	       loop_now_ms(a->local->loop) - a->end_wait_ms < LATE_MS;
}

static void
end_judge(const struct local_attempt *a, const struct launch_event *ev,
    struct gpualloc_end *end)
{
	const struct launch_exit *x = &ev->u.exit;

	*end = (struct gpualloc_end){ 0 };
	if (ev->kind != LAUNCH_EXIT)
		return;
	end->never_began = !x->ran;
	end->failed = exit_failed(x->ran, x->stopped || x->timeout || x->oom,
	    x->exit_code, x->signal);
	end->at_once = end->failed && !a->reported &&
		       x->ended_us - x->started_us < AT_ONCE_US;
}

/* Whether a failure is that of a GPU. */
static bool
end_blame(const struct local_attempt *a, const struct gpualloc_end *end,
    char *why, size_t n)
{
	struct local_gpu *g = a->local->gpus;

	if (a->local->pack.size > 0)
		return pack_blame(a->local, a->slot, why, n);
	return gpualloc_release(
	    g->gpus, a->uuid, end, loop_now_ms(a->local->loop), why, n);
}

void
local_gpu_ended(struct local_attempt *a, struct launch_event *ev)
{
	struct local_gpu *g = a->local->gpus;
	char why[GPU_WHY] = "";
	struct local_gpu_key key;
	struct gpualloc_end end;

	(void)local_gpu_key(&key, a->local, a->slot, a->uuid);
	if (g->gpus == NULL || gpualloc_of(g->gpus, key.text, g->at) == 0)
		return;
	pack_charge(a->local, a->slot);
	end_judge(a, ev, &end);
	if (end_blame(a, &end, why, sizeof why) && end.failed) {
		ev->u.exit.end = END_LOST;
		(void)snprintf(
		    ev->u.exit.why, sizeof ev->u.exit.why, "%.150s", why);
	}
	/* Includes the time since the last query. */
	usage_send(a);
	/* Notes about this attempt must precede its end. */
	notes_send(g);
	if (!end.never_began && a->local->pack.size == 0)
		local_gpu_poll_ask(g);
}

void
local_gpu_collect(struct local *l)
{
	struct local_gpu *g = l->gpus;
	struct local_gpu_pending one;

	if (g->gpus == NULL)
		return;
	while (g->n_fresh > 0) {
		one = g->fresh[--g->n_fresh];
		local_gpu_undo(l, one.slot, one.uuid);
		free(one.uuid);
	}
	local_gpu_poll_apply(g);
}
