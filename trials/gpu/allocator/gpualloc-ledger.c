/*
 * The ledger of the allocator: which attempt holds which GPU.  Also the notes
 * about GPUs and how often they are sent.
 */

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "trials/gpu/allocator/gpualloc-internal.h"

const char *
gpualloc_ledger_size(char *text, size_t n, int64_t bytes)
{
	if (bytes >= 1024 * GPUALLOC_MIB)
		snprintf(text, n, "%.1f GiB",
		    (double)bytes / (1024.0 * GPUALLOC_MIB));
	else
		snprintf(
		    text, n, "%lld MiB", (long long)(bytes / GPUALLOC_MIB));
	return text;
}

void
gpualloc_ledger_note(struct gpualloc *g, bool warn,
    const struct gpualloc_hold *hold, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	g->hooks.note(g->hooks.arg, warn, hold != NULL ? hold->trial : 0,
	    hold != NULL ? hold->attempt : 0, text);
}

bool
gpualloc_ledger_may_note(
    struct gpualloc_gpu *gpu, enum gpualloc_news news, int64_t now_ms)
{
	int64_t *told = &gpu->noted_ms[news];

	if (*told != 0 && now_ms - *told < GPUALLOC_NOTE_MS)
		return false;
	*told = now_ms != 0 ? now_ms : 1;
	return true;
}

/* MIG slices of one GPU have its index: use their own name. */
static void
label_make(struct gpualloc_gpu *gpu)
{
	const struct gpu_device *s = &gpu->seen;

	if (s->parent[0] != '\0')
		snprintf(gpu->label, sizeof gpu->label, "GPU %d (%s, %.12s)",
		    s->index, s->name, s->uuid);
	else
		snprintf(gpu->label, sizeof gpu->label, "GPU %d (%s)", s->index,
		    s->name);
}

void
gpualloc_ledger_add(struct gpualloc *g, const struct gpu_device *s, bool used)
{
	struct gpualloc_gpu *gpu;

	g->gpu = xreallocarray(g->gpu, g->n + 1, sizeof *g->gpu);
	gpu = &g->gpu[g->n++];
	*gpu = (struct gpualloc_gpu){
		.seen = *s, .used = used, .base = -1, .state = GPU_FREE
	};
	gpu->seen.processes = NULL;
	gpu->seen.n_processes = 0;
	label_make(gpu);
	if (g->born)
		g->hooks.changed(g->hooks.arg, g->n - 1);
}

static void
hold_free(struct gpualloc_hold *h)
{
	free(h->key);
	free(h->at);
	free(h);
}

static void
stay_free(struct gpualloc_stay *s)
{
	free(s->pids);
	free(s->strange);
}

void
gpualloc_ledger_clear(struct gpualloc *g)
{
	size_t i, j;

	for (i = 0; i < g->n; i++) {
		for (j = 0; j < g->gpu[i].n_stays; j++)
			stay_free(&g->gpu[i].stays[j]);
		free(g->gpu[i].stays);
		free(g->gpu[i].seen.processes);
	}
	for (i = 0; i < g->n_holds; i++)
		hold_free(g->hold[i]);
	free(g->hold);
	free(g->gpu);
}

/*
 * The newest hold of that name: a pack may return while it is being released.
 */
struct gpualloc_hold *
gpualloc_ledger_find(const struct gpualloc *g, const char *key)
{
	size_t i = g->n_holds;

	while (i-- > 0)
		if (strcmp(g->hold[i]->key, key) == 0)
			return g->hold[i];
	return NULL;
}

/* Ended holds are kept for gpualloc_usage until the next allocation. */
static void
ledger_sweep(struct gpualloc *g)
{
	size_t i, n = 0;

	for (i = 0; i < g->n_holds; i++)
		if (g->hold[i]->ended && g->hold[i]->stays == 0)
			hold_free(g->hold[i]);
		else
			g->hold[n++] = g->hold[i];
	g->n_holds = n;
}

struct gpualloc_hold *
gpualloc_ledger_hold(
    struct gpualloc *g, const char *key, int64_t trial, int attempt)
{
	struct gpualloc_hold *h = xcalloc(1, sizeof *h);

	ledger_sweep(g);
	h->key = xstrdup(key);
	h->trial = trial;
	h->attempt = attempt;
	h->expected = g->expected;
	h->usage = (struct gpu_usage){
		.energy = NAN, .memory = NAN, .busy = NAN, .seen = 0
	};
	h->memory_now = -1;
	g->hold = xreallocarray(g->hold, g->n_holds + 1, sizeof *g->hold);
	g->hold[g->n_holds++] = h;
	return h;
}

void
gpualloc_ledger_stay(
    struct gpualloc *g, struct gpualloc_hold *h, size_t i, int64_t now_ms)
{
	struct gpualloc_gpu *gpu = &g->gpu[i];
	struct gpualloc_stay *s;

	gpu->stays =
	    xreallocarray(gpu->stays, gpu->n_stays + 1, sizeof *gpu->stays);
	s = &gpu->stays[gpu->n_stays++];
	*s = (struct gpualloc_stay){ .hold = h,
		.since_ms = now_ms,
		.before = gpu->seen.used,
		.level = gpu->seen.used,
		.level_ms = now_ms,
		.last = -1 };
	/*
	 * Faults noted while the GPU was empty may be noted again for this
	 * trial.
	 */
	gpu->n_xids = 0;
	h->at = xreallocarray(h->at, h->n_at + 1, sizeof *h->at);
	h->at[h->n_at++] = i;
	h->stays++;
	h->usage.gpus++;
}

void
gpualloc_ledger_drop(struct gpualloc *g, struct gpualloc_gpu *gpu, size_t j)
{
	gpu->stays[j].hold->stays--;
	stay_free(&gpu->stays[j]);
	gpu->n_stays--;
	memmove(&gpu->stays[j], &gpu->stays[j + 1],
	    (gpu->n_stays - j) * sizeof *gpu->stays);
	if (gpu->n_stays == 0 && gpu->booked && !gpu->leaking) {
		gpu->booked = false;
		g->hooks.unbook(g->hooks.arg, gpu->seen.uuid);
	}
}

int
gpualloc_ledger_live(const struct gpualloc_gpu *gpu)
{
	size_t j;
	int n = 0;

	for (j = 0; j < gpu->n_stays; j++)
		n += !gpu->stays[j].hold->ended;
	return n;
}

bool
gpualloc_ledger_owns(
    const struct gpualloc_gpu *gpu, const struct gpu_process *p)
{
	const struct gpualloc_stay *s;
	size_t j, k;

	for (j = 0; j < gpu->n_stays; j++) {
		s = &gpu->stays[j];
		if (p->owner[0] != '\0' && strcmp(p->owner, s->hold->key) == 0)
			return true;
		for (k = 0; k < s->n_pids; k++)
			if (s->pids[k] == p->pid)
				return true;
	}
	return false;
}

bool
gpualloc_ledger_memory_ok(
    const struct gpualloc *g, const struct gpualloc_gpu *gpu)
{
	int64_t used = gpu->seen.used, most;
	const struct gpu_process *p;
	size_t k;

	if (used < 0)
		return true;
	for (k = 0; k < gpu->seen.n_processes; k++) {
		p = &gpu->seen.processes[k];
		if (p->gone || gpualloc_ledger_owns(gpu, p))
			continue;
		/*
		 * With foreign processes of unknown size nothing can be
		 * checked.
		 */
		if (p->memory < 0)
			return true;
		used -= p->memory;
	}
	/* For adopted trials the memory before their start is unknown. */
	most = gpu->base >= 0 ? gpu->base : g->busy_memory;
	return most <= 0 && gpu->base < 0 ? true
					  : used <= most + GPUALLOC_SLACK;
}
