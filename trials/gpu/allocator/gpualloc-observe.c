/*
 * Processes a snapshot: which GPUs exist, who owns their processes, how their
 * memory changes.  In a container the driver lists processes by pids of another
 * pid namespace; a process that is invisible here counts only by the memory in
 * use.
 */

#include <stdio.h>
#include <string.h>

#include "src/base/mem.h"
#include "trials/gpu/allocator/gpualloc-internal.h"
#include "trials/gpu/allocator/gpualloc-release.h"
#include "trials/gpu/allocator/gpualloc-usage.h"

/* Processes without an owner, such as the MPS daemon. */
static bool
is_nobody(const struct gpu_process *p)
{
	return strcmp(p->owner, "mps") == 0;
}

/* The first process that is visible here and not ours; or NULL. */
static const struct gpu_process *
stranger(const struct gpualloc_gpu *gpu)
{
	const struct gpu_process *p;
	size_t k;

	for (k = 0; k < gpu->seen.n_processes; k++) {
		p = &gpu->seen.processes[k];
		if (!p->gone && !is_nobody(p) && !gpualloc_ledger_owns(gpu, p))
			return p;
	}
	return NULL;
}

/* One of our trials on a GPU that it was not given, or NULL. */
static const struct gpualloc_hold *
strayed(const struct gpualloc *g, const struct gpu_process *p)
{
	const struct gpualloc_hold *h =
	    p->owner[0] != '\0' ? gpualloc_ledger_find(g, p->owner) : NULL;

	return h != NULL && !h->ended ? h : NULL;
}

static void
foreign_process(const struct gpualloc *g, struct gpualloc_gpu *gpu,
    const struct gpu_process *p)
{
	const struct gpualloc_hold *h = strayed(g, p);
	char size[32], memory[48] = "";

	if (p->memory >= 0)
		snprintf(memory, sizeof memory, " (%s)",
		    gpualloc_ledger_size(size, sizeof size, p->memory));
	if (h != NULL)
		snprintf(gpu->foreign_why, sizeof gpu->foreign_why,
		    "process %lld%s of trial %lld, which has other GPUs",
		    (long long)p->pid, memory, (long long)h->trial);
	else
		snprintf(gpu->foreign_why, sizeof gpu->foreign_why,
		    "process %lld%s of another owner", (long long)p->pid,
		    memory);
}

/*
 * Utilization is not used: it may stay at 100 % on an idle GPU, and rises when
 * other programs query it.
 */
static void
see_foreign(struct gpualloc *g, struct gpualloc_gpu *gpu, int64_t now_ms)
{
	const struct gpu_process *p = stranger(gpu);
	const bool before = gpu->foreign;
	char size[32];

	gpu->foreign = p != NULL;
	if (p != NULL)
		foreign_process(g, gpu, p);
	else if (gpu->n_stays == 0 && !gpu->leaking && g->busy_memory > 0 &&
		 gpu->seen.used > g->busy_memory) {
		gpu->foreign = true;
		snprintf(gpu->foreign_why, sizeof gpu->foreign_why,
		    "%s in use without a visible process",
		    gpualloc_ledger_size(size, sizeof size, gpu->seen.used));
	}
	if (!gpu->foreign)
		gpu->foreign_noted = gpu->theirs = false;
	else if (gpu->reserved)
		gpu->theirs = true;
	else if (!before && g->born && gpu->used)
		gpualloc_choose_ask(g, gpu, now_ms);
	/* During our start they may be trials that are not adopted yet. */
	if (gpu->foreign && !gpu->theirs && g->born && !gpu->foreign_noted &&
	    gpu->used && gpu->health == HEALTH_OK &&
	    gpualloc_ledger_may_note(gpu, NEWS_FOREIGN, now_ms)) {
		gpu->foreign_noted = true;
		gpualloc_ledger_note(g, false, NULL, "%s is not used: %s",
		    gpu->label, gpu->foreign_why);
	}
}

static void
pid_add(struct gpualloc_stay *s, int64_t pid)
{
	size_t k;

	for (k = 0; k < s->n_pids; k++)
		if (s->pids[k] == pid)
			return;
	/* Drop the oldest; it has exited long ago. */
	if (s->n_pids == GPUALLOC_PIDS)
		memmove(s->pids, s->pids + 1, --s->n_pids * sizeof *s->pids);
	s->pids = xreallocarray(s->pids, s->n_pids + 1, sizeof *s->pids);
	s->pids[s->n_pids++] = pid;
}

static void
see_pids(struct gpualloc_gpu *gpu, struct gpualloc_stay *s)
{
	const struct gpu_process *p;
	size_t k;

	for (k = 0; k < gpu->seen.n_processes; k++) {
		p = &gpu->seen.processes[k];
		if (p->owner[0] != '\0' && strcmp(p->owner, s->hold->key) == 0)
			pid_add(s, p->pid);
	}
}

void
gpualloc_observe_owners(struct gpualloc *g, size_t i, int64_t now_ms)
{
	struct gpualloc_gpu *gpu = &g->gpu[i];
	size_t j;

	for (j = 0; j < gpu->n_stays; j++)
		see_pids(gpu, &gpu->stays[j]);
	see_foreign(g, gpu, now_ms);
}

/* See how long the memory of a trial has not moved. */
static void
see_level(struct gpualloc_gpu *gpu, struct gpualloc_stay *s, int64_t now_ms)
{
	int64_t used = gpu->seen.used;

	if (used < 0)
		return;
	/* Adopted: the first snapshot is the reference. */
	if (s->before < 0)
		s->before = gpu->base >= 0 ? gpu->base : 0;
	if (used > s->level + GPUALLOC_LEVEL ||
	    used < s->level - GPUALLOC_LEVEL) {
		s->level = used;
		s->level_ms = now_ms;
		s->level_looks = 0;
	}
	s->level_looks++;
}

static void
seen_copy(struct gpu_device *to, const struct gpu_device *from)
{
	struct gpu_process *old = to->processes;

	*to = *from;
	to->processes = old;
	if (from->n_processes > 0) {
		to->processes =
		    xreallocarray(old, from->n_processes, sizeof *old);
		memcpy(to->processes, from->processes,
		    from->n_processes * sizeof *old);
	}
}

/* Temperature and the like, now and then. */
static void
see_numbers(struct gpualloc *g, size_t i, int64_t now_ms)
{
	struct gpualloc_gpu *gpu = &g->gpu[i];

	if (gpu->changed_ms != 0 &&
	    now_ms - gpu->changed_ms < GPUALLOC_NUMBERS_MS)
		return;
	gpu->changed_ms = now_ms;
	if (g->born)
		g->hooks.changed(g->hooks.arg, i);
}

static void
see_gpu(struct gpualloc *g, size_t i, const struct gpu_snapshot *look,
    const struct gpu_device *seen, int64_t now_ms)
{
	struct gpualloc_gpu *gpu = &g->gpu[i];
	size_t j;

	gpualloc_usage_observe(g, i, seen, now_ms);
	seen_copy(&gpu->seen, seen);
	gpu->seen_ms = now_ms;
	if (gpu->gone) {
		gpu->gone = false;
		gpualloc_health_reappeared(g, gpu, now_ms);
	}
	for (j = 0; j < gpu->n_stays; j++) {
		see_pids(gpu, &gpu->stays[j]);
		see_level(gpu, &gpu->stays[j], now_ms);
	}
	/* A process left after the release counts as foreign from now on. */
	gpualloc_release_check(g, i, look->seq, now_ms);
	see_foreign(g, gpu, now_ms);
	if (gpu->n_stays == 0 && !gpu->leaking)
		gpu->base = gpu->seen.used;
	gpualloc_health_observe(g, gpu, now_ms);
	see_numbers(g, i, now_ms);
}

static void
see_missing(struct gpualloc *g, struct gpualloc_gpu *gpu, int64_t now_ms)
{
	char why[GPU_WHY];

	if (gpu->gone)
		return;
	gpu->gone = true;
	snprintf(why, sizeof why, "%.80s has disappeared", gpu->label);
	gpualloc_health_blame(gpu, why);
	if (gpu->used && gpualloc_ledger_may_note(gpu, NEWS_GONE, now_ms))
		gpualloc_ledger_note(g, true, NULL,
		    "%s has disappeared: the driver does not list it any more",
		    gpu->label);
}

static const struct gpu_device *
observe_seen_find(const struct gpu_snapshot *look, const char *uuid)
{
	size_t k;

	for (k = 0; k < look->n; k++)
		if (strcmp(look->gpus[k].uuid, uuid) == 0)
			return &look->gpus[k];
	return NULL;
}

static bool
observe_is_known(const struct gpualloc *g, const char *uuid)
{
	size_t i;

	for (i = 0; i < g->n; i++)
		if (strcmp(g->gpu[i].seen.uuid, uuid) == 0)
			return true;
	return false;
}

/* Add the GPUs that have appeared since the start. */
static void
see_new(struct gpualloc *g, const struct gpu_snapshot *look)
{
	size_t k;

	for (k = 0; g->all && k < look->n; k++)
		if (!observe_is_known(g, look->gpus[k].uuid))
			gpualloc_ledger_add(g, &look->gpus[k], true);
}

/*
 * The driver worked before and fails now: keep the state, allocate nothing new,
 * let the trials run.
 */
static void
see_nothing(struct gpualloc *g, const struct gpu_snapshot *look, int64_t now_ms)
{
	snprintf(g->unknown_why, sizeof g->unknown_why, "%s",
	    look->why[0] != '\0' ? look->why : "the driver does not respond");
	if (!g->unknown && (g->unknown_ms == 0 ||
			       now_ms - g->unknown_ms >= GPUALLOC_NOTE_MS)) {
		g->unknown_noted = true;
		g->unknown_ms = now_ms;
		gpualloc_ledger_note(g, true, NULL,
		    "the GPUs cannot be queried now: %s; running trials "
		    "continue, no trial is started on them",
		    g->unknown_why);
	}
	g->unknown = true;
	g->look_ms = now_ms;
	gpualloc_state_update_all(g, now_ms);
}

/* Rank of a source by the detail it provides. */
static int
observe_worth(enum gpu_source source)
{
	switch (source) {
	case GPU_NONE:
		return 0;
	case GPU_PROC:
		return 1;
	case GPU_NVML:
	case GPU_SIMULATED:
		return 2;
	}
	return 0;
}

void
gpualloc_observe(
    struct gpualloc *g, const struct gpu_snapshot *look, int64_t now_ms)
{
	const struct gpu_device *seen;
	size_t i;

	if (g->n == 0)
		return;
	gpualloc_health_faults(g, look, now_ms);
	if (observe_worth(look->source) < observe_worth(g->source)) {
		see_nothing(g, look, now_ms);
		return;
	}
	g->source = look->source;
	if (g->unknown_noted)
		gpualloc_ledger_note(
		    g, false, NULL, "the GPUs are visible again");
	g->unknown = g->unknown_noted = false;
	g->look_ms = now_ms;
	if (look->seq > g->answered)
		g->answered = look->seq;
	see_new(g, look);
	for (i = 0; i < g->n; i++) {
		seen = observe_seen_find(look, g->gpu[i].seen.uuid);
		if (seen != NULL)
			see_gpu(g, i, look, seen, now_ms);
		else
			see_missing(g, &g->gpu[i], now_ms);
	}
	gpualloc_usage_observed(g);
	gpualloc_state_update_all(g, now_ms);
}

void
gpualloc_observe_asked(struct gpualloc *g, int64_t seq)
{
	size_t i, j;

	if (seq > g->asked)
		g->asked = seq;
	for (i = 0; i < g->n; i++)
		for (j = 0; j < g->gpu[i].n_stays; j++)
			if (g->gpu[i].stays[j].hold->ended &&
			    g->gpu[i].stays[j].need_seq == INT64_MAX)
				g->gpu[i].stays[j].need_seq = seq;
}

int64_t
gpualloc_observe_in_ms(const struct gpualloc *g, int64_t now_ms)
{
	int64_t every = GPUALLOC_IDLE_MS, due;
	size_t i, j;

	for (i = 0; i < g->n; i++) {
		/* Others may leave it at any moment. */
		if ((g->gpu[i].leaking ||
			(g->gpu[i].used && g->gpu[i].foreign)) &&
		    every > GPUALLOC_LOOK_MS)
			every = GPUALLOC_LOOK_MS;
		for (j = 0; j < g->gpu[i].n_stays; j++) {
			if (g->gpu[i].stays[j].hold->ended) {
				if (g->gpu[i].stays[j].need_seq == INT64_MAX &&
				    !g->unknown)
					return 0;
				every = GPUALLOC_FAST_MS;
			} else if (every > GPUALLOC_LOOK_MS)
				every = GPUALLOC_LOOK_MS;
		}
	}
	/* A query is already pending. */
	if (!g->unknown && g->asked > g->answered)
		return every;
	if (g->unknown && every < GPUALLOC_LOOK_MS)
		every = GPUALLOC_LOOK_MS;
	/*
	 * Count from the last snapshot: this function may be called more often.
	 */
	due = g->look_ms + every - now_ms;
	return due > 0 ? due : 0;
}
