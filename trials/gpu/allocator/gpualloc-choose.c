/*
 * Chooses the GPUs of an attempt: those with the fewest trials first, so that
 * no GPU is shared while another is empty; among these one NUMA node if it has
 * enough, because trials over several GPUs communicate over it; then by index.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "trials/gpu/allocator/gpualloc-internal.h"

/* Maximum number of trials on one GPU. */
static int
gpu_places(const struct gpualloc *g, const struct gpualloc_gpu *gpu)
{
	int64_t n;

	if (!gpu->used)
		return 0;
	if (g->memory <= 0 || gpu->seen.memory < 0)
		return g->share;
	n = gpu->seen.memory / g->memory;
	return n < g->share ? (int)n : g->share;
}

/*
 * The greatest number of attempts of per_trial different GPUs each: no GPU
 * serves one attempt twice, so with t attempts it serves t at most.
 */
int
gpualloc_choose_capacity(const struct gpualloc *g)
{
	int64_t sum, most = 0, t;
	int places;
	size_t i;

	for (i = 0; i < g->n; i++)
		most += gpu_places(g, &g->gpu[i]);
	for (t = most / g->per_trial; t > 0; t--) {
		for (sum = 0, i = 0; i < g->n; i++) {
			places = gpu_places(g, &g->gpu[i]);
			sum += places < t ? places : t;
		}
		if (sum >= t * g->per_trial)
			break;
	}
	return (int)t;
}

static bool
is_ready(const struct gpualloc_gpu *gpu)
{
	return gpu->used && gpu->state == GPU_FREE;
}

/* The number of ready GPUs with at most so many trials. */
static size_t
count_ready(const struct gpualloc *g, int most_trials)
{
	size_t i, n = 0;

	for (i = 0; i < g->n; i++)
		n += is_ready(&g->gpu[i]) &&
		     gpualloc_ledger_live(&g->gpu[i]) <= most_trials;
	return n;
}

/* The number of ready GPUs of one node with exactly so many trials. */
static size_t
count_node(const struct gpualloc *g, int trials, int node)
{
	size_t i, n = 0;

	for (i = 0; i < g->n; i++)
		n += is_ready(&g->gpu[i]) &&
		     gpualloc_ledger_live(&g->gpu[i]) == trials &&
		     g->gpu[i].seen.node == node;
	return n;
}

/*
 * Take up to want more GPUs with exactly this many trials, of one node or of
 * any.
 */
static size_t
choose_from(const struct gpualloc *g, int trials, const int *node, bool *chosen,
    size_t want)
{
	size_t i, n = 0;

	for (i = 0; i < g->n && n < want; i++)
		if (!chosen[i] && is_ready(&g->gpu[i]) &&
		    gpualloc_ledger_live(&g->gpu[i]) == trials &&
		    (node == NULL || g->gpu[i].seen.node == *node)) {
			chosen[i] = true;
			n++;
		}
	return n;
}

/* The first node with enough GPUs of so many trials, else the one with most. */
static int
choose_node(const struct gpualloc *g, int trials, size_t want)
{
	size_t i, n, most = 0;
	int node = -1;

	for (i = 0; i < g->n; i++) {
		n = count_node(g, trials, g->gpu[i].seen.node);
		if (n > want)
			n = want;
		if (n > most) {
			most = n;
			node = g->gpu[i].seen.node;
		}
	}
	return node;
}

/* Mark per_trial GPUs; false: too few are available. */
static bool
choose_best(const struct gpualloc *g, bool *chosen)
{
	size_t want = (size_t)g->per_trial;
	int load = 0, trials, node;

	while (load < g->share && count_ready(g, load) < want)
		load++;
	if (load == g->share)
		return false;
	for (trials = 0; trials < load; trials++)
		want -= choose_from(g, trials, NULL, chosen, want);
	node = choose_node(g, load, want);
	want -= choose_from(g, load, &node, chosen, want);
	choose_from(g, load, NULL, chosen, want);
	return true;
}

bool
gpualloc_choose_ready(const struct gpualloc *g, char *why, size_t n)
{
	size_t ready = count_ready(g, g->share), used = 0, i, worst = g->n;

	if (n > 0)
		*why = '\0';
	if (ready >= (size_t)g->per_trial)
		return true;
	for (i = 0; i < g->n; i++) {
		if (!g->gpu[i].used)
			continue;
		used++;
		/* A GPU that is only held by trials is not worth a word. */
		if (!is_ready(&g->gpu[i]) && g->gpu[i].state != GPU_HELD &&
		    worst == g->n)
			worst = i;
	}
	if (worst == g->n)
		snprintf(why, n, "%zu of %zu GPUs are free, a trial needs %d",
		    ready, used, g->per_trial);
	else
		snprintf(why, n,
		    "%zu of %zu GPUs are free, a trial needs %d; %s is %s%s%s",
		    ready, used, g->per_trial, g->gpu[worst].label,
		    gpualloc_state_name(g->gpu[worst].state),
		    g->gpu[worst].state_why[0] != '\0' ? ": " : "",
		    g->gpu[worst].state_why);
	return false;
}

static void
reserved(struct gpualloc *g, size_t i, int64_t now_ms)
{
	g->gpu[i].reserved = true;
	g->gpu[i].reserved_ms = now_ms;
	gpualloc_state_update(g, i, now_ms);
}

/* Book all that are chosen; false: not one is booked that was not before. */
static bool
choose_book(struct gpualloc *g, const bool *chosen, int64_t now_ms)
{
	struct gpualloc_gpu *gpu;
	size_t i, k;

	for (i = 0; i < g->n; i++) {
		gpu = &g->gpu[i];
		if (!chosen[i] || gpu->booked)
			continue;
		gpu->booked = g->hooks.book(
		    g->hooks.arg, gpu->seen.uuid, gpu->who, sizeof gpu->who);
		if (!gpu->booked)
			break;
	}
	if (i == g->n)
		return true;
	reserved(g, i, now_ms);
	for (k = 0; k < i; k++) {
		gpu = &g->gpu[k];
		if (chosen[k] && gpu->booked && gpu->n_stays == 0) {
			gpu->booked = false;
			g->hooks.unbook(g->hooks.arg, gpu->seen.uuid);
		}
	}
	return false;
}

bool
gpualloc_choose(struct gpualloc *g, const char *key, int64_t trial, int attempt,
    int64_t now_ms)
{
	struct gpualloc_hold *h = gpualloc_ledger_find(g, key);
	bool *chosen;
	bool good;
	size_t i;

	if (h != NULL && !h->ended)
		return true;
	chosen = xcalloc(g->n + 1, sizeof *chosen);
	gpualloc_state_update_all(g, now_ms);
	/* Each round finds at least one more GPU to be reserved. */
	while (
	    (good = choose_best(g, chosen)) && !choose_book(g, chosen, now_ms))
		memset(chosen, 0, g->n * sizeof *chosen);
	if (good) {
		h = gpualloc_ledger_hold(g, key, trial, attempt);
		for (i = 0; i < g->n; i++) {
			if (!chosen[i])
				continue;
			if (g->gpu[i].n_stays == 0)
				g->gpu[i].base = g->gpu[i].seen.used;
			gpualloc_ledger_stay(g, h, i, now_ms);
			gpualloc_state_update(g, i, now_ms);
		}
	}
	free(chosen);
	return good;
}

/* The lock is taken, and given back at once. */
void
gpualloc_choose_ask(
    struct gpualloc *g, struct gpualloc_gpu *gpu, int64_t now_ms)
{
	char who[GPU_OWNER];

	if (gpu->booked)
		return;
	gpu->reserved_ms = now_ms;
	gpu->reserved =
	    !g->hooks.book(g->hooks.arg, gpu->seen.uuid, who, sizeof who);
	if (!gpu->reserved) {
		g->hooks.unbook(g->hooks.arg, gpu->seen.uuid);
		return;
	}
	memcpy(gpu->who, who, sizeof gpu->who);
	gpu->theirs = gpu->foreign;
}

void
gpualloc_tick(struct gpualloc *g, int64_t now_ms)
{
	size_t i;

	for (i = 0; i < g->n; i++) {
		if ((g->gpu[i].reserved ||
			(g->gpu[i].used && g->gpu[i].foreign)) &&
		    now_ms - g->gpu[i].reserved_ms >= GPUALLOC_RESERVED_MS)
			gpualloc_choose_ask(g, &g->gpu[i], now_ms);
		gpualloc_health_tick(g, &g->gpu[i], now_ms);
		gpualloc_state_update(g, i, now_ms);
	}
}
