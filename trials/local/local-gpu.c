/*
 * Connects the GPU allocator, which decides, with the local backend, which
 * acts.  The allocator may call back at any time; events wait for collect.
 */

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

enum { LATE_MS = 2000 };

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
	if (rc == 0 && *w.hidden != '\0')
		l->hidden = xstrdup(w.hidden);
	if (rc == 0 && w.per_trial > 0) {
		g->per_trial = w.per_trial;
		g->at = xcalloc((size_t)w.per_trial, sizeof *g->at);
		g->simulated = w.simulated;
		g->study = xstrdup(env->study);
		g->key = gpu_lock_key(env->state_dir);
		g->by_index =
		    plugin_option_says(env->options, "gpu_ids", "index");
		g->share = w.share;
		g->declared = env->settings->gpu_memory > 0;
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
	free(g->shown);
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

bool
local_gpu_expect(void *ctx, int64_t bytes)
{
	const struct local *l = ctx;
	struct local_gpu *g = l->gpus;

	if (g->gpus == NULL || g->share < 2 || g->per_trial != 1 ||
	    g->declared || l->pack.size > 0)
		return false;
	gpualloc_expect(g->gpus, bytes, loop_now_ms(l->loop));
	return true;
}

void
local_gpu_ends(void *ctx, int64_t us)
{
	const struct local *l = ctx;

	if (l->gpus != NULL)
		local_gpu_poll_ends(l->gpus, us);
}

bool
local_gpu_ready(void *ctx, int slot, char *why, size_t n)
{
	const struct local *l = ctx;
	bool ready;

	if (l->gpus->gpus == NULL)
		return true;
	if (l->pack.size > 0 && local_gpu_pack_admits(l, slot, &ready, why, n))
		return ready;
	return gpualloc_choose_ready(l->gpus->gpus, why, n);
}

/*
 * Forget that GPUs were taken for an attempt that has not begun; false: none
 * were.
 */
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

/* Take the GPUs of an attempt, unless its place has them already. */
static bool
local_gpu_take_places(
    struct local *l, int64_t trial, int attempt, int slot, const char *uuid)
{
	struct gpualloc *gpus = l->gpus->gpus;
	struct local_gpu_key key;
	char why[160];
	bool ready;

	if (l->pack.size > 0 &&
	    local_gpu_pack_admits(l, slot, &ready, why, sizeof why))
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
	if (!local_gpu_take_places(l, trial, attempt, slot, uuid))
		return false;
	g->fresh = xreallocarray(g->fresh, g->n_fresh + 1, sizeof *g->fresh);
	g->fresh[g->n_fresh++] =
	    (struct local_gpu_pending){ .uuid = xstrdup(uuid), .slot = slot };
	local_gpu_events_arm(g);
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
	local_gpu_pack_charge(l, spec->slot);
	if (fresh_drop(g, spec->uuid) ||
	    (l->pack.size == 0 &&
		gpualloc_of(g->gpus,
		    local_gpu_key(&key, l, spec->slot, spec->uuid), g->at) > 0))
		return 0;
	(void)local_gpu_expect(l, spec->gpu_memory);
	if (local_gpu_take_places(
		l, spec->trial, spec->attempt, spec->slot, spec->uuid)) {
		local_gpu_events_arm(g);
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
	local_gpu_pack_charge(a->local, a->slot);
	local_gpu_events_usage(a);
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
end_judge(const struct launch_event *ev, struct gpualloc_end *end)
{
	const struct launch_exit *x = &ev->u.exit;

	*end = (struct gpualloc_end){ 0 };
	if (ev->kind != LAUNCH_EXIT)
		return;
	end->never_began = !x->ran;
	end->failed = exit_failed(x->ran, x->stopped || x->timeout || x->oom,
	    x->exit_code, x->signal);
}

/* Whether a failure is that of a GPU. */
static bool
end_blame(const struct local_attempt *a, const struct gpualloc_end *end,
    char *why, size_t n)
{
	struct local_gpu *g = a->local->gpus;

	if (a->local->pack.size > 0)
		return local_gpu_pack_blame(a->local, a->slot, why, n);
	return gpualloc_release(
	    g->gpus, a->uuid, end, loop_now_ms(a->local->loop), why, n);
}

/* Write the names of an attempt's GPUs, while it has them and after its end. */
static void
gpu_places_put(const struct local_attempt *a, struct buf *names)
{
	struct local_gpu_key key;

	if (a->had_gpus != NULL)
		buf_puts(names, a->had_gpus);
	else
		local_gpu_names_put(a->local,
		    local_gpu_key(&key, a->local, a->slot, a->uuid),
		    LOCAL_GPU_UUID, " ", names);
}

bool
local_gpu_places(void *ctx, int64_t trial, int attempt, struct buf *names)
{
	struct local *l = ctx;
	const struct local_attempt *a;

	if (l->gpus == NULL || l->gpus->gpus == NULL)
		return false;
	a = names != NULL ? local_attempt_find(l, trial, attempt) : NULL;
	if (a != NULL)
		gpu_places_put(a, names);
	return true;
}

void
local_gpu_avoid(void *ctx, const char *uuid, bool avoid)
{
	struct local *l = ctx;

	if (avoid && l->gpus != NULL && l->gpus->gpus != NULL)
		gpualloc_health_doubt(l->gpus->gpus, uuid,
		    "trial after trial failed there at once",
		    loop_now_ms(l->loop));
}

/*
 * Warn once of an attempt that has failed with the UUID of its GPU in its last
 * line: a program that takes CUDA_VISIBLE_DEVICES for numbers dies so.
 */
static void
ids_note(struct local_attempt *a, const char *said)
{
	struct local *l = a->local;
	size_t n = strcspn(a->had_gpus, " ");

	if (l->noted_ids || l->gpus->by_index || n == 0 ||
	    memmem(said, strlen(said), a->had_gpus, n) == NULL)
		return;
	l->noted_ids = true;
	backend_note(&a->source, LAUNCH_WARNING,
	    "its last line has the UUID that CUDA_VISIBLE_DEVICES gives it: a "
	    "program that needs numbers there gets them with backend.gpu_ids "
	    "\"index\"");
}

void
local_gpu_ended(struct local_attempt *a, struct launch_event *ev)
{
	struct local_gpu *g = a->local->gpus;
	char why[GPU_WHY] = "";
	struct local_gpu_key key;
	struct gpualloc_end end;
	struct buf names = { 0 };

	(void)local_gpu_key(&key, a->local, a->slot, a->uuid);
	if (g->gpus == NULL || gpualloc_of(g->gpus, key.text, g->at) == 0)
		return;
	gpu_places_put(a, &names);
	a->had_gpus = buf_take(&names);
	local_gpu_pack_charge(a->local, a->slot);
	end_judge(ev, &end);
	if (end_blame(a, &end, why, sizeof why) && end.failed) {
		ev->u.exit.end = END_LOST;
		(void)snprintf(
		    ev->u.exit.why, sizeof ev->u.exit.why, "%.150s", why);
	}
	if (end.failed)
		ids_note(a, ev->u.exit.said);
	/* Includes the time since the last query. */
	local_gpu_events_usage(a);
	/* Notes about this attempt must precede its end. */
	local_gpu_events_notes(g);
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
