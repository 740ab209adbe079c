/*
 * Health of GPUs.  Faults, unreleased memory and the failures that the server
 * blames on it put a GPU out of service; probes in a separate process, with growing intervals, put it
 * back.  So a bad GPU does not fail many trials, and no GPU is given up for
 * good.
 */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "trials/gpu/allocator/gpualloc-internal.h"

/* Until the next probe, ms. */
static const int64_t delays[] = { 5000, 15000, 60000, 300000 };
enum { N_DELAYS = sizeof delays / sizeof *delays };

static int64_t
delay(const struct gpualloc_gpu *gpu)
{
	return delays[gpu->step < N_DELAYS ? gpu->step : N_DELAYS - 1];
}

/* Put a GPU out of service; a note sent recently is not repeated. */
static void
take_out(struct gpualloc *g, struct gpualloc_gpu *gpu,
    enum gpualloc_health health, const char *why, int64_t now_ms)
{
	enum gpualloc_news news =
	    health == HEALTH_SUSPECT ? NEWS_SUSPECT : NEWS_QUARANTINED;

	if (health > gpu->health) {
		snprintf(gpu->why, sizeof gpu->why, "%s", why);
		if (gpu->used && gpualloc_ledger_may_note(gpu, news, now_ms))
			gpualloc_ledger_note(g, true, NULL, "%s is %s: %s",
			    gpu->label,
			    health == HEALTH_SUSPECT ? "under suspicion"
						     : "out of service",
			    why);
		gpu->health = health;
	}
	gpu->passes = 0;
	gpu->need = GPUALLOC_PASSES;
	gpu->probe_ms = now_ms + delay(gpu);
}

static void __attribute__((format(printf, 4, 5)))
suspect_gpu(struct gpualloc *g, struct gpualloc_gpu *gpu, int64_t now_ms,
    const char *fmt, ...)
{
	char why[GPU_WHY];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof why, fmt, ap);
	va_end(ap);
	take_out(g, gpu, HEALTH_SUSPECT, why, now_ms);
}

void
gpualloc_health_quarantine(struct gpualloc *g, struct gpualloc_gpu *gpu,
    int64_t now_ms, const char *fmt, ...)
{
	char why[GPU_WHY];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof why, fmt, ap);
	va_end(ap);
	take_out(g, gpu, HEALTH_QUARANTINED, why, now_ms);
}

void
gpualloc_health_blame(struct gpualloc_gpu *gpu, const char *why)
{
	struct gpualloc_hold *h;
	size_t j;

	for (j = 0; j < gpu->n_stays; j++) {
		h = gpu->stays[j].hold;
		if (h->blame[0] == '\0')
			snprintf(h->blame, sizeof h->blame, "%s", why);
	}
}

/* Put a GPU back into service when probes, driver and memory allow it. */
static void
try_return(struct gpualloc *g, struct gpualloc_gpu *gpu, int64_t now_ms)
{
	if (gpu->health == HEALTH_OK || gpu->passes < gpu->need || gpu->gone ||
	    gpu->seen.lost || gpu->seen.recovery > 0 ||
	    (gpu->leaking &&
		(gpu->foreign || !gpualloc_ledger_memory_ok(g, gpu))))
		return;
	gpu->health = HEALTH_OK;
	gpu->why[0] = '\0';
	gpu->leaking = false;
	/*
	 * Later notes of this kind are new again; the next back-off is longer.
	 */
	gpu->step++;
	if (gpu->n_stays == 0 && gpu->booked) {
		gpu->booked = false;
		g->hooks.unbook(g->hooks.arg, gpu->seen.uuid);
	}
	if (gpu->used && gpualloc_ledger_may_note(gpu, NEWS_BACK, now_ms))
		gpualloc_ledger_note(g, false, NULL,
		    "%s is in service again: it works", gpu->label);
}

void
gpualloc_health_reappeared(
    struct gpualloc *g, struct gpualloc_gpu *gpu, int64_t now_ms)
{
	bool well = gpu->health == HEALTH_OK;

	suspect_gpu(g, gpu, now_ms, "it had disappeared for a while");
	if (well) {
		gpu->need = 1;
		gpu->probe_ms = now_ms;
	}
}

static const char *
recovery_text(int action)
{
	switch (action) {
	case 1:
		return "the driver requests its reset";
	case 2:
		return "the driver requests a reboot of the machine";
	case 3:
		return "the driver requests an end of programs on several GPUs";
	case 4:
		return "the driver requests its reset when no process uses it";
	}
	return "the driver requests its recovery";
}

void
gpualloc_health_observe(
    struct gpualloc *g, struct gpualloc_gpu *gpu, int64_t now_ms)
{
	const char *why = NULL;
	char blame[GPU_WHY];

	if (gpu->seen.lost)
		why = "the driver has lost it";
	else if (gpu->seen.recovery > 0)
		why = recovery_text(gpu->seen.recovery);
	if (why != NULL) {
		snprintf(blame, sizeof blame, "%.80s: %.60s", gpu->label, why);
		gpualloc_health_blame(gpu, blame);
		if (gpu->health != HEALTH_QUARANTINED)
			gpualloc_health_quarantine(g, gpu, now_ms, "%s", why);
	}
	try_return(g, gpu, now_ms);
}

void
gpualloc_health_tick(
    struct gpualloc *g, struct gpualloc_gpu *gpu, int64_t now_ms)
{
	if (gpu->health == HEALTH_OK || gpu->probing || !gpu->used ||
	    gpu->gone || g->unknown || gpu->seen.lost || gpu->foreign ||
	    gpu->n_stays > 0 || gpu->passes >= gpu->need ||
	    now_ms < gpu->probe_ms)
		return;
	gpu->probing = true;
	g->hooks.probe(g->hooks.arg, gpu->seen.uuid);
}

/* The index of the GPU; the number of GPUs = none. */
static size_t
index_of(const struct gpualloc *g, const char *uuid)
{
	size_t i;

	for (i = 0; i < g->n; i++)
		if (strcmp(g->gpu[i].seen.uuid, uuid) == 0)
			break;
	return i;
}

void
gpualloc_health_distrust(
    struct gpualloc *g, const char *uuid, const char *why, int64_t now_ms)
{
	size_t i = index_of(g, uuid);

	if (i == g->n)
		return;
	gpualloc_health_quarantine(g, &g->gpu[i], now_ms, "%s", why);
	g->gpu[i].probe_ms = now_ms;
	gpualloc_state_update(g, i, now_ms);
}

void
gpualloc_health_doubt(
    struct gpualloc *g, const char *uuid, const char *why, int64_t now_ms)
{
	size_t i = index_of(g, uuid);

	if (i == g->n)
		return;
	suspect_gpu(g, &g->gpu[i], now_ms, "%s", why);
	gpualloc_state_update(g, i, now_ms);
}

void
gpualloc_health_probed(struct gpualloc *g, const char *uuid, bool good,
    const char *why, int64_t now_ms)
{
	size_t i = index_of(g, uuid);
	struct gpualloc_gpu *gpu;

	if (i == g->n || !g->gpu[i].probing)
		return;
	gpu = &g->gpu[i];
	gpu->probing = false;
	if (gpu->health == HEALTH_OK)
		return;
	if (good) {
		gpu->passes++;
		gpu->probe_ms = now_ms + delays[0];
		try_return(g, gpu, now_ms);
	} else {
		gpu->passes = 0;
		gpu->need = GPUALLOC_PASSES;
		gpu->step++;
		gpu->probe_ms = now_ms + delay(gpu);
		snprintf(gpu->why, sizeof gpu->why, "a probe failed: %s", why);
		if (gpu->used &&
		    gpualloc_ledger_may_note(gpu, NEWS_QUARANTINED, now_ms))
			gpualloc_ledger_note(g, true, NULL,
			    "%s is out of service: %s", gpu->label, gpu->why);
		gpu->health = HEALTH_QUARANTINED;
	}
	gpualloc_state_update(g, i, now_ms);
}

void
gpualloc_health_good(struct gpualloc_gpu *gpu)
{
	if (gpu->health == HEALTH_OK)
		gpu->step = 0;
}

/* Whether a fault is the first of its kind; the kinds are few. */
static bool
health_is_first(int *xids, size_t *n, int xid)
{
	size_t k;

	for (k = 0; k < *n; k++)
		if (xids[k] == xid)
			return false;
	if (*n == GPUALLOC_XIDS)
		return false;
	xids[(*n)++] = xid;
	return true;
}

static const char *
blame_text(enum gpu_blame blame, int trials)
{
	switch (blame) {
	case GPU_BLAME_TRIAL:
		return trials > 1 ? ", by the fault of one of its trials"
				  : ", by the trial's own fault";
	case GPU_BLAME_SUSPECT:
		return ", by the fault of a trial or of the GPU";
	case GPU_BLAME_GPU:
		return ", not by the fault of a trial";
	case GPU_BLAME_NONE:
		break;
	}
	return "";
}

/* Repeated faults of one kind are noted once per trial. */
static void
fault_note(struct gpualloc *g, struct gpualloc_gpu *gpu, int xid)
{
	enum gpu_blame blame = gpu_xid_blame(xid);
	struct gpualloc_hold *h;
	size_t j;

	for (j = 0; j < gpu->n_stays; j++) {
		h = gpu->stays[j].hold;
		if (health_is_first(h->xids, &h->n_xids, xid))
			gpualloc_ledger_note(g, blame != GPU_BLAME_NONE, h,
			    "Xid %d on %s: %s%s", xid, gpu->label,
			    gpu_xid_text(xid),
			    blame_text(blame, (int)gpu->n_stays));
	}
	/* A fault of a process outside the study is not reported. */
	if (gpu->n_stays == 0 && gpu->used && blame != GPU_BLAME_TRIAL &&
	    health_is_first(gpu->xids, &gpu->n_xids, xid))
		gpualloc_ledger_note(g, blame != GPU_BLAME_NONE, NULL,
		    "Xid %d on %s: %s", xid, gpu->label, gpu_xid_text(xid));
}

static void
fault_see(struct gpualloc *g, struct gpualloc_gpu *gpu, int xid, int64_t now_ms)
{
	char blame[GPU_WHY];

	fault_note(g, gpu, xid);
	switch (gpu_xid_blame(xid)) {
	case GPU_BLAME_TRIAL:
	case GPU_BLAME_NONE:
		break;
	case GPU_BLAME_SUSPECT:
		suspect_gpu(
		    g, gpu, now_ms, "Xid %d: %s", xid, gpu_xid_text(xid));
		break;
	case GPU_BLAME_GPU:
		snprintf(blame, sizeof blame, "%.80s: Xid %d: %.50s",
		    gpu->label, xid, gpu_xid_text(xid));
		gpualloc_health_blame(gpu, blame);
		gpualloc_health_quarantine(
		    g, gpu, now_ms, "Xid %d: %s", xid, gpu_xid_text(xid));
		break;
	}
}

void
gpualloc_health_faults(
    struct gpualloc *g, const struct gpu_snapshot *look, int64_t now_ms)
{
	const struct gpu_fault *f;
	size_t i, k;

	for (k = 0; k < look->n_faults; k++) {
		f = &look->faults[k];
		if (f->uuid[0] == '\0')
			continue;
		/* A fault of a GPU is one of all its slices. */
		for (i = 0; i < g->n; i++)
			if (strcmp(g->gpu[i].seen.uuid, f->uuid) == 0 ||
			    strcmp(g->gpu[i].seen.parent, f->uuid) == 0)
				fault_see(g, &g->gpu[i], f->xid, now_ms);
	}
}
