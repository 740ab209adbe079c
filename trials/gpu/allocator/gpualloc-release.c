/*
 * The release of GPUs between two trials.  On an H200 a killed process leaves the
 * list, its memory comes back and it can be reaped in one moment, 0.1 to 0.17 s after
 * SIGKILL whatever it held: the snapshot that is taken at once shows that, and nothing
 * waits.  Other drivers list a process longer, or free memory later.  So a GPU is allocated again only when a snapshot taken
 * after the end shows none of its processes and the memory is back.  Without
 * such data (names only, or simulated) the GPU is released at once.
 */

#include <stdio.h>
#include <string.h>

#include "src/base/mem.h"
#include "trials/gpu/allocator/gpualloc-internal.h"
#include "trials/gpu/allocator/gpualloc-release.h"
#include "trials/gpu/allocator/gpualloc-usage.h"

/* What keeps a stay at the gate. */
struct held {
	/* … and counts as a fault when it persists; else only waits */
	bool firm;
	char why[GPU_WHY];
};

static bool
has_pid(const int64_t *pids, size_t n, int64_t pid)
{
	size_t k;

	for (k = 0; k < n; k++)
		if (pids[k] == pid)
			return true;
	return false;
}

/*
 * A dead process may be listed for a moment.  A pid that was invisible from
 * here before the end already belongs to another pid namespace (a container
 * sees the host's pids) and is ignored.
 */
static bool
process_holds(const struct gpualloc_stay *s, const struct gpu_process *p,
    bool alone, struct held *held)
{
	bool mine =
	    (p->owner[0] != '\0' && strcmp(p->owner, s->hold->key) == 0) ||
	    has_pid(s->pids, s->n_pids, p->pid);

	if (!mine && (!p->gone || has_pid(s->strange, s->n_unseen, p->pid)))
		return false;
	held->firm = mine && (!p->gone || (!alone && p->memory > 0));
	snprintf(held->why, sizeof held->why,
	    "process %lld of trial %lld does not end", (long long)p->pid,
	    (long long)s->hold->trial);
	return true;
}

static bool
memory_holds(const struct gpualloc *g, const struct gpualloc_gpu *gpu,
    struct gpualloc_stay *s, bool alone, struct held *held)
{
	int64_t used = gpu->seen.used, last = s->last;
	char size[32];

	s->last = used;
	if (alone) {
		if (gpualloc_ledger_memory_ok(g, gpu))
			return false;
		held->firm = true;
		snprintf(held->why, sizeof held->why,
		    "memory of trial %lld was not released: %s still in use",
		    (long long)s->hold->trial,
		    gpualloc_ledger_size(size, sizeof size,
			used - (gpu->base > 0 ? gpu->base : 0)));
		return true;
	}
	/*
	 * Other trials change the memory too; if no process of this trial was
	 * ever seen, the only criterion is that no memory is being freed.
	 */
	if (s->n_pids > 0 || used < 0)
		return false;
	held->firm = false;
	return last < 0 || used < last - GPUALLOC_LEVEL;
}

static bool
release_is_held(const struct gpualloc *g, const struct gpualloc_gpu *gpu,
    struct gpualloc_stay *s, struct held *held)
{
	bool alone = gpualloc_ledger_live(gpu) == 0;
	struct held soft = { .firm = false };
	bool waits = false;
	size_t k;

	for (k = 0; k < gpu->seen.n_processes; k++)
		if (process_holds(s, &gpu->seen.processes[k], alone, held)) {
			if (held->firm)
				return true;
			waits = true;
		}
	if (memory_holds(g, gpu, s, alone, held))
		return true;
	*held = soft;
	return waits;
}

void
gpualloc_release_check(
    struct gpualloc *g, size_t i, int64_t seq, int64_t now_ms)
{
	struct gpualloc_gpu *gpu = &g->gpu[i];
	struct gpualloc_stay *s;
	struct held held = { .why = "" };
	size_t j = gpu->n_stays;

	while (j-- > 0) {
		s = &gpu->stays[j];
		if (!s->hold->ended || seq < s->need_seq)
			continue;
		if (release_is_held(g, gpu, s, &held)) {
			if (now_ms - s->ended_ms < GPUALLOC_RELEASE_MS)
				continue;
			if (held.firm) {
				gpu->leaking = true;
				gpualloc_health_quarantine(
				    g, gpu, now_ms, "%s", held.why);
			}
		}
		gpualloc_ledger_drop(g, gpu, j);
	}
}

/* Remember the processes that are invisible from here while the trial runs. */
static void
strange_note(const struct gpualloc_gpu *gpu, struct gpualloc_stay *s)
{
	const struct gpu_process *p;
	size_t k;

	for (k = 0; k < gpu->seen.n_processes; k++) {
		p = &gpu->seen.processes[k];
		if (!p->gone || has_pid(s->pids, s->n_pids, p->pid))
			continue;
		s->strange = xreallocarray(
		    s->strange, s->n_unseen + 1, sizeof *s->strange);
		s->strange[s->n_unseen++] = p->pid;
	}
}

static void
stay_end(struct gpualloc *g, struct gpualloc_gpu *gpu,
    const struct gpualloc_hold *h, bool gate, int64_t now_ms)
{
	struct gpualloc_stay *s;
	size_t j;

	for (j = 0; j < gpu->n_stays && gpu->stays[j].hold != h; j++)
		;
	if (j == gpu->n_stays)
		return;
	if (!gate || gpu->gone) {
		gpualloc_ledger_drop(g, gpu, j);
		return;
	}
	s = &gpu->stays[j];
	s->ended_ms = now_ms;
	s->need_seq = INT64_MAX;
	strange_note(gpu, s);
}

bool
gpualloc_release(struct gpualloc *g, const char *key,
    const struct gpualloc_end *end, int64_t now_ms, char *why, size_t n)
{
	struct gpualloc_hold *h = gpualloc_ledger_find(g, key);
	bool gate = !end->never_began && g->source == GPU_NVML;
	size_t k;

	if (n > 0)
		*why = '\0';
	if (h == NULL || h->ended)
		return false;
	if (!end->never_began)
		gpualloc_usage_end(g, h, now_ms);
	h->ended = true;
	for (k = 0; k < h->n_at; k++) {
		stay_end(g, &g->gpu[h->at[k]], h, gate, now_ms);
		if (!end->never_began && !end->failed)
			gpualloc_health_good(&g->gpu[h->at[k]]);
	}
	gpualloc_state_update_all(g, now_ms);
	if (!end->failed || end->never_began || h->blame[0] == '\0')
		return false;
	snprintf(why, n, "%s", h->blame);
	return true;
}
