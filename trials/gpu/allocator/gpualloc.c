/* The allocation table: which attempt holds which GPU. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "trials/gpu/allocator/gpualloc-internal.h"

const char *
gpualloc_size(char *text, size_t n, int64_t bytes)
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
gpualloc_note(struct gpualloc *g, bool warn, const struct gpualloc_hold *hold,
    const char *fmt, ...)
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
gpualloc_may_note(
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

static bool
is_wanted(const struct gpualloc_options *o, const struct gpu_device *s)
{
	const char *word;
	char index[16];
	size_t i;

	if (o->only == NULL)
		return true;
	snprintf(index, sizeof index, "%d", s->index);
	for (i = 0; i < o->n_only; i++) {
		word = o->only[i];
		if (strcmp(word, s->uuid) == 0 || strcmp(word, index) == 0)
			return true;
		/* All slices of a GPU, or a prefix as CUDA accepts it. */
		if (strcmp(word, s->parent) == 0 ||
		    (strlen(word) > 4 &&
			strncmp(word, s->uuid, strlen(word)) == 0))
			return true;
	}
	return false;
}

static void
gpu_init(struct gpualloc_gpu *gpu, const struct gpu_device *s, bool used)
{
	gpu->seen = *s;
	gpu->seen.processes = NULL;
	gpu->seen.n_processes = 0;
	gpu->used = used;
	gpu->base = -1;
	gpu->state = GPU_FREE;
	label_make(gpu);
}

void
gpualloc_add(struct gpualloc *g, const struct gpu_device *s)
{
	g->gpu = xreallocarray(g->gpu, g->n + 1, sizeof *g->gpu);
	memset(&g->gpu[g->n], 0, sizeof g->gpu[g->n]);
	gpu_init(&g->gpu[g->n++], s, true);
	g->hooks.changed(g->hooks.arg, g->n - 1);
}

struct gpualloc *
gpualloc_new(const struct gpualloc_options *o,
    const struct gpualloc_hooks *hooks, const struct gpu_snapshot *first,
    int64_t now_ms)
{
	struct gpualloc *g = xcalloc(1, sizeof *g);
	size_t i;

	g->per_trial = o->per_trial > 0 ? o->per_trial : 1;
	g->share = o->share > 0 ? o->share : 1;
	g->memory = o->memory;
	g->busy_memory = o->busy_memory;
	g->hooks = *hooks;
	g->all = o->only == NULL;
	g->n = first->n;
	g->gpu = xcalloc(g->n + 1, sizeof *g->gpu);
	for (i = 0; i < g->n; i++)
		gpu_init(
		    &g->gpu[i], &first->gpus[i], is_wanted(o, &first->gpus[i]));
	gpualloc_observe(g, first, now_ms);
	g->born = true;
	return g;
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
gpualloc_free(struct gpualloc *g)
{
	size_t i, j;

	if (g == NULL)
		return;
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
	free(g);
}

size_t
gpualloc_count(const struct gpualloc *g)
{
	return g->n;
}

/*
 * The newest hold of that name: a pack may return while it is being released.
 */
struct gpualloc_hold *
gpualloc_find(const struct gpualloc *g, const char *key)
{
	size_t i = g->n_holds;

	while (i-- > 0)
		if (strcmp(g->hold[i]->key, key) == 0)
			return g->hold[i];
	return NULL;
}

/* Ended holds are kept for gpualloc_usage until the next allocation. */
static void
sweep(struct gpualloc *g)
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
gpualloc_hold_new(
    struct gpualloc *g, const char *key, int64_t trial, int attempt)
{
	struct gpualloc_hold *h = xcalloc(1, sizeof *h);

	sweep(g);
	h->key = xstrdup(key);
	h->trial = trial;
	h->attempt = attempt;
	gpualloc_usage_begin(h);
	g->hold = xreallocarray(g->hold, g->n_holds + 1, sizeof *g->hold);
	g->hold[g->n_holds++] = h;
	return h;
}

void
gpualloc_stay_add(
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
gpualloc_stay_drop(struct gpualloc *g, struct gpualloc_gpu *gpu, size_t j)
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
gpualloc_live(const struct gpualloc_gpu *gpu)
{
	size_t j;
	int n = 0;

	for (j = 0; j < gpu->n_stays; j++)
		n += !gpu->stays[j].hold->ended;
	return n;
}

bool
gpualloc_ours(const struct gpualloc_gpu *gpu, const struct gpu_process *p)
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

void
gpualloc_adopt(struct gpualloc *g, const char *key, int64_t trial, int attempt,
    const char *const *uuids, size_t n, int64_t now_ms)
{
	struct gpualloc_hold *h = NULL;
	struct gpualloc_gpu *gpu;
	size_t i, k;

	for (k = 0; k < n; k++)
		for (i = 0; i < g->n; i++) {
			gpu = &g->gpu[i];
			if (strcmp(gpu->seen.uuid, uuids[k]) != 0)
				continue;
			if (h == NULL)
				h = gpualloc_hold_new(g, key, trial, attempt);
			/* The memory in use before its start is unknown now. */
			if (gpu->n_stays == 0)
				gpu->base = -1;
			if (!gpu->booked)
				gpu->booked = g->hooks.book(g->hooks.arg,
				    gpu->seen.uuid, gpu->who, sizeof gpu->who);
			gpualloc_stay_add(g, h, i, now_ms);
			gpu->stays[gpu->n_stays - 1].before = -1;
			gpualloc_observe_owners(g, i, now_ms);
			break;
		}
	gpualloc_state_update_all(g, now_ms);
}

size_t
gpualloc_of(const struct gpualloc *g, const char *key, size_t *at)
{
	const struct gpualloc_hold *h = gpualloc_find(g, key);
	size_t k;

	if (h == NULL || h->ended)
		return 0;
	for (k = 0; k < h->n_at && k < (size_t)g->per_trial; k++)
		at[k] = h->at[k];
	return k;
}

void
gpualloc_settled(struct gpualloc *g, const char *key, int64_t now_ms)
{
	struct gpualloc_hold *h = gpualloc_find(g, key);

	if (h == NULL || h->settled)
		return;
	h->settled = true;
	gpualloc_state_update_all(g, now_ms);
}

void
gpualloc_at(const struct gpualloc *g, size_t i, struct gpualloc_view *v)
{
	const struct gpualloc_gpu *gpu = &g->gpu[i];

	*v = (struct gpualloc_view){ .seen = &gpu->seen,
		.state = gpu->state,
		.why = gpu->state_why,
		.trials = gpu->trials,
		.used = gpu->used };
}
