/*
 * Looks at the GPUs and probes of them, on the loop.  What arrives is kept
 * until the next collect, which judges it.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "trials/local/local-gpu-internal.h"
#include "trials/local/local-internal.h"

/* A fault is told once: those of a look nobody has judged go to the next. */
static void
faults_keep(struct gpu_look *look, struct gpu_fault *faults, size_t n)
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
on_look(void *arg, const struct gpu_look *look, const char *why)
{
	struct local_gpus *g = arg;
	struct gpu_fault *faults = NULL;
	size_t n = 0;

	if (g->look_here) {
		faults = g->look.faults;
		n = g->look.n_faults;
		g->look.faults = NULL;
		g->look.n_faults = 0;
	}
	gpu_look_free(&g->look);
	g->look = (struct gpu_look){ .source = GPU_NONE };
	if (look != NULL) {
		gpu_look_copy(&g->look, look);
		/* At once: who is shown may be gone in a moment. */
		local_owners_fill(g->owners, g->local, &g->look);
	} else {
		(void)snprintf(g->look.why, sizeof g->look.why, "%s", why);
		g->look.seq = g->asked;
	}
	faults_keep(&g->look, faults, n);
	g->look_here = true;
	loop_wake(g->local->loop);
}

static void
on_timer(void *arg)
{
	local_gpus_ask(arg);
}

int
local_gpus_watch(struct local_gpus *g, struct err *e)
{
	g->owners = local_owners_new();
	g->timer = loop_timer_new(g->local->loop, on_timer, g);
	if (g->simulated)
		return 0;
	return gpu_watch_new(&g->watch, g->local->loop, on_look, g, e);
}

void
local_gpus_unwatch(struct local_gpus *g)
{
	if (g->watch != NULL)
		gpu_watch_free(g->watch);
	if (g->timer != NULL)
		loop_timer_free(g->timer);
	local_owners_free(g->owners);
	gpu_look_free(&g->look);
	gpu_look_free(&g->sim);
}

void
local_gpus_ask(struct local_gpus *g)
{
	if (g->simulated) {
		g->asked++;
		loop_wake(g->local->loop);
	} else
		g->asked = gpu_watch_ask(g->watch);
	gpus_asked(g->gpus, g->asked);
}

void
local_gpus_arm(struct local_gpus *g)
{
	int64_t ms;

	/* The answer that is awaited comes first. */
	if (g->asked > g->seen)
		return;
	ms = gpus_look_in(g->gpus, loop_now_ms(g->local->loop));
	if (ms <= 0)
		local_gpus_ask(g);
	else
		loop_timer_set(g->timer, ms);
}

static void
look_simulate(struct local_gpus *g)
{
	if (!g->simulated || g->asked <= g->seen)
		return;
	gpu_look_free(&g->look);
	gpu_look_copy(&g->look, &g->sim);
	g->look.seq = g->asked;
	g->look_here = true;
}

void
local_gpus_judge(struct local_gpus *g)
{
	int64_t now = loop_now_ms(g->local->loop);
	struct gpus_answer a;
	size_t i;

	for (i = 0; i < g->n_answers; i++) {
		/* Another probe may be asked for, and answered, at once. */
		a = g->answers[i];
		gpus_probed(g->gpus, a.uuid, a.good, a.why, now);
	}
	g->n_answers = 0;
	look_simulate(g);
	if (g->look_here) {
		if (g->look.seq > g->seen)
			g->seen = g->look.seq;
		gpus_see(g->gpus, &g->look, now);
		local_locks_tend(g);
	}
	g->look_here = false;
	gpus_tick(g->gpus, now);
}

static void
answer_add(struct local_gpus *g, const char *uuid, bool good, const char *why)
{
	struct gpus_answer *a;

	g->answers =
	    xreallocarray(g->answers, g->n_answers + 1, sizeof *g->answers);
	a = &g->answers[g->n_answers++];
	*a = (struct gpus_answer){ .good = good };
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
local_gpus_probe(void *arg, const char *uuid)
{
	struct local_gpus *g = arg;
	struct err e = ERR_INIT;

	if (g->simulated)
		answer_add(g, uuid, true, "");
	else if (gpu_probe(g->watch, uuid, on_probe, g, &e) == -1)
		answer_add(g, uuid, false, e.text);
}
