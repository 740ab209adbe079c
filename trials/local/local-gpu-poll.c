/*
 * GPU queries and probes on the event loop.  Results are kept until the next
 * collect, which processes them.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "trials/local/local-gpu-internal.h"
#include "trials/local/local-internal.h"

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
		local_gpu_owners_fill(g->owners, g->local, &g->look);
	} else {
		(void)snprintf(g->look.why, sizeof g->look.why, "%s", why);
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
local_gpu_poll_open(struct local_gpu *g, struct err *e)
{
	g->owners = local_gpu_owners_new();
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

void
local_gpu_poll_arm(struct local_gpu *g)
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
		local_gpu_hooks_renew_locks(g);
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
	(void)snprintf(a->why, sizeof a->why, "%s", why != NULL ? why : "");
	loop_wake(g->local->loop);
}

static void
on_probe(void *arg, const char *uuid, bool good, const char *why)
{
	answer_add(arg, uuid, good, why);
}

void
local_gpu_poll_probe(void *arg, const char *uuid)
{
	struct local_gpu *g = arg;
	struct err e = ERR_INIT;

	if (g->simulated)
		answer_add(g, uuid, true, "");
	else if (gpu_health_probe(g->watch, uuid, on_probe, g, &e) == -1)
		answer_add(g, uuid, false, e.text);
}
