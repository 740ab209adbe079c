/*
 * Computes the state of a GPU: the first reason why it cannot be allocated.
 * The order is that of enum gpualloc_state.
 */

#include <stdio.h>
#include <string.h>

#include "trials/gpu/allocator/gpualloc-internal.h"

const char *
gpualloc_state_name(enum gpualloc_state state)
{
	switch (state) {
	case GPU_FREE:
		return "free";
	case GPU_HELD:
		return "held";
	case GPU_SETTLING:
		return "settling";
	case GPU_FULL:
		return "full";
	case GPU_RELEASING:
		return "releasing";
	case GPU_FOREIGN:
		return "foreign";
	case GPU_RESERVED:
		return "reserved";
	case GPU_SUSPECT:
		return "suspect";
	case GPU_QUARANTINED:
		return "quarantined";
	case GPU_UNKNOWN:
		return "unknown";
	case GPU_GONE:
		return "gone";
	}
	return "unknown";
}

static const struct gpualloc_stay *
stay_releasing(const struct gpualloc_gpu *gpu)
{
	size_t j;

	for (j = 0; j < gpu->n_stays; j++)
		if (gpu->stays[j].hold->ended)
			return &gpu->stays[j];
	return NULL;
}

/*
 * Whether a trial on the GPU is at rest: it has reported, or its memory has
 * risen and stays where it is, or a time has passed in which any trial has
 * begun.
 */
static bool
stay_settled(const struct gpualloc_stay *s, int64_t now_ms)
{
	return s->hold->settled || now_ms - s->since_ms >= GPUALLOC_SETTLE_MS ||
	       (s->level_looks >= 3 &&
		   now_ms - s->level_ms >= GPUALLOC_LEVEL_MS &&
		   s->before >= 0 && s->level > s->before + 2 * GPUALLOC_LEVEL);
}

static const struct gpualloc_stay *
stay_settling(const struct gpualloc_gpu *gpu, int64_t now_ms)
{
	size_t j;

	for (j = 0; j < gpu->n_stays; j++)
		if (!stay_settled(&gpu->stays[j], now_ms))
			return &gpu->stays[j];
	return NULL;
}

/* Bytes that the next trial declares, or is likely to need; 0 = not known. */
static int64_t
memory_of_next(const struct gpualloc *g)
{
	return g->memory > 0 ? g->memory : g->expected;
}

/*
 * Bytes that a trial declared; else the most of what it was likely to need and what it
 * has used so far: only attempts on one GPU have an expectation.
 */
static int64_t
hold_memory(const struct gpualloc *g, const struct gpualloc_hold *h)
{
	if (g->memory > 0)
		return g->memory;
	return h->usage.memory > (double)h->expected ? (int64_t)h->usage.memory
						     : h->expected;
}

/*
 * Bytes available for one more trial: the total less the memory used by others
 * and declared or expected by our trials, and less the memory in use now.
 */
static int64_t
memory_left(const struct gpualloc *g, const struct gpualloc_gpu *gpu)
{
	const struct gpu_device *s = &gpu->seen;
	int64_t others = gpu->n_stays == 0 ? s->used : gpu->base, left, now;
	size_t j;

	if (others < 0)
		others = 0;
	left = s->memory - others;
	for (j = 0; j < gpu->n_stays; j++)
		if (!gpu->stays[j].hold->ended)
			left -= hold_memory(g, gpu->stays[j].hold);
	now = s->memory - (s->used > 0 ? s->used : 0);
	return left < now ? left : now;
}

/* Whether the memory of all trials on the GPU is known before they use it. */
static bool
memory_known(const struct gpualloc *g, const struct gpualloc_gpu *gpu)
{
	size_t j;

	if (gpu->seen.memory < 0 || memory_of_next(g) <= 0)
		return false;
	for (j = 0; j < gpu->n_stays && g->memory <= 0; j++)
		if (gpu->stays[j].hold->expected <= 0)
			return false;
	return true;
}

static bool
gpualloc_state_is_full(const struct gpualloc *g, const struct gpualloc_gpu *gpu,
    char *why, size_t n)
{
	char left[32], want[32];
	int64_t m;

	if (gpu->seen.memory < 0 || memory_of_next(g) <= 0 ||
	    (g->memory <= 0 && gpualloc_ledger_live(gpu) == 0))
		return false;
	m = memory_left(g, gpu);
	if (m >= memory_of_next(g))
		return false;
	snprintf(why, n, "%s of memory are left, %s %s",
	    gpualloc_ledger_size(left, sizeof left, m > 0 ? m : 0),
	    g->memory > 0 ? "a trial declares"
			  : "the next trial is likely to need",
	    gpualloc_ledger_size(want, sizeof want, memory_of_next(g)));
	return true;
}

/*
 * The state that excludes a GPU for all trials, whoever uses it; else GPU_FREE.
 */
static enum gpualloc_state
state_of_gpu(const struct gpualloc *g, const struct gpualloc_gpu *gpu,
    char *why, size_t n)
{
	const struct gpualloc_stay *s;

	if (gpu->gone) {
		snprintf(why, n, "the driver does not list it any more");
		return GPU_GONE;
	}
	if (g->unknown) {
		snprintf(why, n, "%s", g->unknown_why);
		return GPU_UNKNOWN;
	}
	if (gpu->health != HEALTH_OK) {
		snprintf(why, n, "%s", gpu->why);
		return gpu->health == HEALTH_SUSPECT ? GPU_SUSPECT
						     : GPU_QUARANTINED;
	}
	if ((s = stay_releasing(gpu)) != NULL) {
		snprintf(why, n,
		    "trial %lld has ended, its memory is not yet released",
		    (long long)s->hold->trial);
		return GPU_RELEASING;
	}
	if (gpu->reserved || gpu->theirs) {
		snprintf(why, n, "study %s has reserved it",
		    gpu->who[0] != '\0' ? gpu->who : "of another owner");
		return GPU_RESERVED;
	}
	if (gpu->foreign) {
		snprintf(why, n, "%s", gpu->foreign_why);
		return GPU_FOREIGN;
	}
	return GPU_FREE;
}

static enum gpualloc_state
gpualloc_state_of(const struct gpualloc *g, const struct gpualloc_gpu *gpu,
    int64_t now_ms, char *why, size_t n)
{
	enum gpualloc_state state = state_of_gpu(g, gpu, why, n);
	const struct gpualloc_stay *s;

	if (state != GPU_FREE)
		return state;
	if (gpualloc_ledger_live(gpu) >= g->share)
		return GPU_HELD;
	/* Memory that is declared or expected need not be seen first. */
	if (!memory_known(g, gpu) && (s = stay_settling(gpu, now_ms)) != NULL) {
		snprintf(why, n, "trial %lld has not reported yet",
		    (long long)s->hold->trial);
		return GPU_SETTLING;
	}
	return gpualloc_state_is_full(g, gpu, why, n) ? GPU_FULL : GPU_FREE;
}

void
gpualloc_state_update(struct gpualloc *g, size_t i, int64_t now_ms)
{
	struct gpualloc_gpu *gpu = &g->gpu[i];
	char why[GPU_WHY] = "";
	enum gpualloc_state state =
	    gpualloc_state_of(g, gpu, now_ms, why, sizeof why);
	int trials = gpualloc_ledger_live(gpu);

	if (state == gpu->state && trials == gpu->trials &&
	    strcmp(why, gpu->state_why) == 0)
		return;
	gpu->state = state;
	gpu->trials = trials;
	memcpy(gpu->state_why, why, sizeof why);
	gpu->changed_ms = now_ms;
	if (g->born)
		g->hooks.changed(g->hooks.arg, i);
}

void
gpualloc_state_update_all(struct gpualloc *g, int64_t now_ms)
{
	size_t i;

	for (i = 0; i < g->n; i++)
		gpualloc_state_update(g, i, now_ms);
}
