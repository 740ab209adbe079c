/*
 * The use of GPUs by attempts.  Energy is the difference of a counter and
 * utilization a value of the whole GPU: both are divided equally among the
 * trials on it, weighted by time.  For MIG slices neither is known.
 */

#include <math.h>
#include <string.h>

#include "trials/gpu/allocator/gpualloc-internal.h"
#include "trials/gpu/allocator/gpualloc-usage.h"

static void
gpualloc_usage_add(double *sum, double x)
{
	*sum = isnan(*sum) ? x : *sum + x;
}

/* Seconds that a trial was on the GPU, in an interval of ms. */
static double
usage_overlap(const struct gpualloc_stay *s, int64_t from_ms, int64_t to_ms)
{
	if (s->since_ms > from_ms)
		from_ms = s->since_ms;
	if (s->hold->ended && s->ended_ms < to_ms)
		to_ms = s->ended_ms;
	return to_ms > from_ms ? (double)(to_ms - from_ms) / 1000 : 0;
}

/* Joules since the last snapshot; NAN = unknown, e.g. after a reset. */
static double
joules(const struct gpu_device *then, const struct gpu_device *now)
{
	if (then->energy < 0 || now->energy < then->energy)
		return NAN;
	return (double)(now->energy - then->energy) / 1000;
}

static void
see_energy(
    struct gpualloc_gpu *gpu, const struct gpu_device *now, int64_t now_ms)
{
	double all = (double)(now_ms - gpu->seen_ms) / 1000, sum = 0, share;
	double energy = joules(&gpu->seen, now);
	struct gpualloc_stay *s;
	size_t j;

	for (j = 0; j < gpu->n_stays; j++)
		sum += usage_overlap(&gpu->stays[j], gpu->seen_ms, now_ms);
	if (sum < all)
		sum = all;
	for (j = 0; j < gpu->n_stays; j++) {
		s = &gpu->stays[j];
		if (s->hold->ended)
			continue;
		share = usage_overlap(s, gpu->seen_ms, now_ms) / sum;
		if (!isnan(energy))
			gpualloc_usage_add(
			    &s->hold->usage.energy, energy * share);
		if (now->utilization >= 0) {
			gpualloc_usage_add(&s->hold->usage.busy,
			    now->utilization / 100.0 * all * share);
			s->hold->usage.seen += all * share;
		}
	}
}

/* Bytes of one trial on one GPU; -1 = cannot be separated from others. */
static int64_t
stay_memory(const struct gpualloc_gpu *gpu, const struct gpualloc_stay *s,
    const struct gpu_device *now)
{
	const struct gpu_process *p;
	int64_t sum = -1;
	size_t k;

	for (k = 0; k < now->n_processes; k++) {
		p = &now->processes[k];
		if (p->memory >= 0 && p->owner[0] != '\0' &&
		    strcmp(p->owner, s->hold->key) == 0)
			sum = (sum > 0 ? sum : 0) + p->memory;
	}
	if (sum < 0 && gpu->n_stays == 1 && now->used >= 0 && gpu->base >= 0)
		sum = now->used > gpu->base ? now->used - gpu->base : 0;
	return sum;
}

void
gpualloc_usage_observe(
    struct gpualloc *g, size_t i, const struct gpu_device *now, int64_t now_ms)
{
	struct gpualloc_gpu *gpu = &g->gpu[i];
	struct gpualloc_hold *h;
	int64_t memory;
	size_t j;

	if (now->parent[0] == '\0' && gpu->seen_ms != 0 &&
	    now_ms > gpu->seen_ms)
		see_energy(gpu, now, now_ms);
	for (j = 0; j < gpu->n_stays; j++) {
		h = gpu->stays[j].hold;
		memory = stay_memory(gpu, &gpu->stays[j], now);
		if (h->ended || memory < 0)
			continue;
		h->memory_now =
		    (h->memory_now > 0 ? h->memory_now : 0) + (double)memory;
	}
}

void
gpualloc_usage_observed(struct gpualloc *g)
{
	struct gpualloc_hold *h;
	size_t k;

	for (k = 0; k < g->n_holds; k++) {
		h = g->hold[k];
		if (h->memory_now >= 0 && !(h->usage.memory >= h->memory_now))
			h->usage.memory = h->memory_now;
		h->memory_now = -1;
	}
}

void
gpualloc_usage_end(struct gpualloc *g, struct gpualloc_hold *h, int64_t now_ms)
{
	const struct gpualloc_gpu *gpu;
	size_t j, k;
	double s;

	for (k = 0; k < h->n_at; k++) {
		gpu = &g->gpu[h->at[k]];
		for (j = 0; j < gpu->n_stays; j++)
			if (gpu->stays[j].hold == h)
				break;
		if (j == gpu->n_stays || gpu->seen.parent[0] != '\0' ||
		    gpu->seen_ms <= gpu->stays[j].since_ms ||
		    now_ms <= gpu->seen_ms)
			continue;
		s = (double)(now_ms - gpu->seen_ms) / 1000 /
		    gpualloc_ledger_live(gpu);
		if (gpu->seen.energy >= 0 && gpu->seen.power >= 0)
			gpualloc_usage_add(&h->usage.energy,
			    (double)gpu->seen.power / 1000 * s);
		if (gpu->seen.utilization >= 0) {
			gpualloc_usage_add(
			    &h->usage.busy, gpu->seen.utilization / 100.0 * s);
			h->usage.seen += s;
		}
	}
}

bool
gpualloc_usage(const struct gpualloc *g, const char *key, struct gpu_usage *u)
{
	const struct gpualloc_hold *h = gpualloc_ledger_find(g, key);

	if (h == NULL)
		return false;
	*u = h->usage;
	return true;
}
