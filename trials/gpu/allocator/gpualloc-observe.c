/*
 * Processes a snapshot: which GPUs exist, who owns their processes, how their
 * memory changes; what a trial has used, and whether it has left its GPUs.  In
 * a container the driver lists processes by pids of another pid namespace; a
 * process that is invisible here counts only by the memory in use.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "trials/gpu/allocator/gpualloc-internal.h"

/* ---- the use of GPUs by attempts ---------------------------------------- */

/*
 * Energy is the difference of a counter and utilization a value of the whole
 * GPU: both are divided equally among the trials on it, weighted by time.  For
 * MIG slices neither is known.
 */

static void
add(double *sum, double x)
{
	*sum = isnan(*sum) ? x : *sum + x;
}

/* Seconds of its life in an interval of ms. */
static double
overlap(const struct gpualloc_stay *s, int64_t from_ms, int64_t to_ms)
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
		sum += overlap(&gpu->stays[j], gpu->seen_ms, now_ms);
	if (sum < all)
		sum = all;
	for (j = 0; j < gpu->n_stays; j++) {
		s = &gpu->stays[j];
		if (s->hold->ended)
			continue;
		share = overlap(s, gpu->seen_ms, now_ms) / sum;
		if (!isnan(energy))
			add(&s->hold->usage.energy, energy * share);
		if (now->utilization >= 0) {
			add(&s->hold->usage.busy,
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

/* Integrate the use of a GPU from its previous values to the current ones. */
static void
usage_observe(
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

/* All GPUs of a snapshot were processed. */
static void
usage_observed(struct gpualloc *g)
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

/*
 * The time since the last snapshot is charged with its values, if it showed the
 * trial.
 */
static void
usage_end(struct gpualloc *g, struct gpualloc_hold *h, int64_t now_ms)
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
			add(&h->usage.energy,
			    (double)gpu->seen.power / 1000 * s);
		if (gpu->seen.utilization >= 0) {
			add(&h->usage.busy, gpu->seen.utilization / 100.0 * s);
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

/* ---- the release between two trials ------------------------------------- */

/*
 * A killed process disappears before its memory does: the kernel frees it while
 * the process dies, tens of gigabytes for seconds.  So a GPU is allocated again
 * only when a snapshot taken after the end shows none of its processes and the
 * memory is back.  Without such data (names only, or simulated) the GPU is
 * released at once.
 */

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
is_held(const struct gpualloc *g, const struct gpualloc_gpu *gpu,
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

static void
release_check(struct gpualloc *g, size_t i, int64_t seq, int64_t now_ms)
{
	struct gpualloc_gpu *gpu = &g->gpu[i];
	struct gpualloc_stay *s;
	struct held held = { .why = "" };
	size_t j = gpu->n_stays;

	while (j-- > 0) {
		s = &gpu->stays[j];
		if (!s->hold->ended || seq < s->need_seq)
			continue;
		if (is_held(g, gpu, s, &held)) {
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
		usage_end(g, h, now_ms);
	h->ended = true;
	for (k = 0; k < h->n_at; k++) {
		stay_end(g, &g->gpu[h->at[k]], h, gate, now_ms);
		if (!end->never_began)
			gpualloc_health_streak(
			    g, &g->gpu[h->at[k]], h->trial, end, now_ms);
	}
	gpualloc_state_update_all(g, now_ms);
	if (!end->failed || end->never_began || h->blame[0] == '\0')
		return false;
	snprintf(why, n, "%s", h->blame);
	return true;
}

/* ---- snapshots ---------------------------------------------------------- */

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
		gpu->foreign_noted = false;
	/* During our start they may be trials that are not adopted yet. */
	else if (g->born && !gpu->foreign_noted && gpu->used &&
		 gpu->health == HEALTH_OK &&
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

/* How long its memory has not moved. */
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

	usage_observe(g, i, seen, now_ms);
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
	release_check(g, i, look->seq, now_ms);
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
seen_find(const struct gpu_snapshot *look, const char *uuid)
{
	size_t k;

	for (k = 0; k < look->n; k++)
		if (strcmp(look->gpus[k].uuid, uuid) == 0)
			return &look->gpus[k];
	return NULL;
}

static bool
is_known(const struct gpualloc *g, const char *uuid)
{
	size_t i;

	for (i = 0; i < g->n; i++)
		if (strcmp(g->gpu[i].seen.uuid, uuid) == 0)
			return true;
	return false;
}

/* Those that have appeared since the start. */
static void
see_new(struct gpualloc *g, const struct gpu_snapshot *look)
{
	size_t k;

	for (k = 0; g->all && k < look->n; k++)
		if (!is_known(g, look->gpus[k].uuid))
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
worth(enum gpu_source source)
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
	if (worth(look->source) < worth(g->source)) {
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
		seen = seen_find(look, g->gpu[i].seen.uuid);
		if (seen != NULL)
			see_gpu(g, i, look, seen, now_ms);
		else
			see_missing(g, &g->gpu[i], now_ms);
	}
	usage_observed(g);
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
		if (g->gpu[i].leaking && every > GPUALLOC_LOOK_MS)
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
