/*
 * GPUs of packed trials belong to the program of a place: they are allocated
 * for its first trial and released when the program ends.  Their use is divided
 * equally among the trials that run in the program at the time.
 */

#include <math.h>
#include <stdio.h>

#include "src/base/loop.h"
#include "src/base/mem.h"
#include "trials/local/local-gpu-internal.h"
#include "trials/local/local-internal.h"

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
gpu_pack_is_wanted(const struct local *l, int place)
{
	const struct local_gpu *g = l->gpus;
	size_t i;

	for (i = 0; i < g->n_fresh; i++)
		if (local_pack_place(l, g->fresh[i].slot) == place)
			return true;
	return members(l, place) > 0 || local_pack_alive(l, place);
}

bool
local_gpu_pack_is_out(enum gpualloc_state s)
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
		if (local_gpu_pack_is_out(v.state) ||
		    (unknown_too && v.state == GPU_UNKNOWN)) {
			(void)snprintf(why, n, "%s", v.why);
			return true;
		}
	}
	return false;
}

bool
local_gpu_pack_admits(
    const struct local *l, int slot, bool *ready, char *why, size_t n)
{
	const struct local_gpu *g = l->gpus;
	struct local_gpu_key key;

	(void)local_gpu_key(&key, l, slot, NULL);
	if (gpualloc_of(g->gpus, key.text, g->at) == 0)
		return false;
	*ready = !find_sick(l, key.text, true, why, n);
	return true;
}

bool
local_gpu_pack_blame(const struct local *l, int slot, char *why, size_t n)
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

void
local_gpu_pack_charge(struct local *l, int slot)
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

bool
local_gpu_pack_usage(struct local_attempt *a, struct gpu_usage *u)
{
	*u = a->share;
	return u->gpus > 0;
}

void
local_gpu_pack_release(struct local *l)
{
	static const struct gpualloc_end over = { 0 };
	struct local_gpu *g = l->gpus;
	struct local_gpu_key key;
	char why[GPU_WHY];
	int place;

	for (place = 0; place < l->pack.places; place++) {
		(void)local_gpu_key(&key, l, place, NULL);
		if (gpualloc_of(g->gpus, key.text, g->at) == 0 ||
		    gpu_pack_is_wanted(l, place))
			continue;
		(void)gpualloc_release(g->gpus, key.text, &over,
		    loop_now_ms(l->loop), why, sizeof why);
		if ((size_t)place < g->n_places)
			g->place[place] = (struct local_gpu_place){ 0 };
		local_gpu_poll_ask(g);
	}
}
