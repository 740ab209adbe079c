/*
 * The allocator as a whole: opens with the first snapshot, takes over the
 * attempts of an earlier server, and answers which attempt holds which GPU.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "trials/gpu/allocator/gpualloc-internal.h"

static bool
gpualloc_is_wanted(const struct gpualloc_options *o, const struct gpu_device *s)
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
	for (i = 0; i < first->n; i++)
		gpualloc_ledger_add(
		    g, &first->gpus[i], gpualloc_is_wanted(o, &first->gpus[i]));
	gpualloc_observe(g, first, now_ms);
	g->born = true;
	return g;
}

void
gpualloc_free(struct gpualloc *g)
{
	if (g != NULL)
		gpualloc_ledger_clear(g);
	free(g);
}

void
gpualloc_expect(struct gpualloc *g, int64_t bytes, int64_t now_ms)
{
	if (g->memory > 0 || bytes == g->expected)
		return;
	g->expected = bytes;
	gpualloc_state_update_all(g, now_ms);
}

size_t
gpualloc_count(const struct gpualloc *g)
{
	return g->n;
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
				h = gpualloc_ledger_hold(
				    g, key, trial, attempt);
			/* The memory in use before its start is unknown now. */
			if (gpu->n_stays == 0)
				gpu->base = -1;
			if (!gpu->booked)
				gpu->booked = g->hooks.book(g->hooks.arg,
				    gpu->seen.uuid, gpu->who, sizeof gpu->who);
			gpualloc_ledger_stay(g, h, i, now_ms);
			gpu->stays[gpu->n_stays - 1].before = -1;
			gpualloc_observe_owners(g, i, now_ms);
			break;
		}
	gpualloc_state_update_all(g, now_ms);
}

size_t
gpualloc_of(const struct gpualloc *g, const char *key, size_t *at)
{
	const struct gpualloc_hold *h = gpualloc_ledger_find(g, key);
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
	struct gpualloc_hold *h = gpualloc_ledger_find(g, key);

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
