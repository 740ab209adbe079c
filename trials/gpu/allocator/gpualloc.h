/*
 * Allocator of the GPUs of this machine for one study: who holds which GPU,
 * which are available, which are out of service and why.  Without I/O: the
 * caller passes in snapshots, times and the ends of attempts, and reads what to
 * do next.
 */

#ifndef HPOTUNE_GPUALLOC_H
#define HPOTUNE_GPUALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/gpu.h"
#include "trials/gpu/gpu-snapshot.h"
#include "trials/gpu/gpu-xid.h"

struct gpualloc;

/*
 * Why a GPU cannot be allocated now.  If several apply, the first of: gone,
 * unknown, quarantined, suspect, releasing, reserved, foreign, held, settling,
 * full.
 */
enum gpualloc_state {
	GPU_FREE, /* available */
	GPU_HELD, /* has as many trials of this study as may share it */
	/* its newest trial has not reported and its memory still changes */
	GPU_SETTLING,
	GPU_FULL, /* no memory left beside what was declared */
	GPU_RELEASING, /* a trial has ended; its memory is not freed yet */
	GPU_FOREIGN, /* used by processes or memory of others */
	GPU_RESERVED, /* locked by another study */
	GPU_SUSPECT, /* a fault that may be its own; trials fail there */
	GPU_QUARANTINED, /* a fault, or memory that was not freed */
	GPU_UNKNOWN, /* the driver does not respond */
	GPU_GONE /* no longer listed */
};
/* One word, as in the view gpus. */
const char *gpualloc_state_name(enum gpualloc_state);

/* Callbacks.  They must not call gpualloc_ functions that change state. */
struct gpualloc_hooks {
	/*
	 * Lock it against other studies; false: another study holds it (who:
	 * "NAME of USER", or "").
	 */
	bool (*book)(void *arg, const char *uuid, char *who, size_t n);
	/* No trial of ours is left on it: unlock it. */
	void (*unbook)(void *arg, const char *uuid);
	/* A note for the view events; trial 0: of the whole study. */
	void (*note)(
	    void *arg, bool warn, int64_t trial, int attempt, const char *text);
	/* The view of gpualloc_at(i) has changed. */
	void (*changed)(void *arg, size_t i);
	/* Start a health probe; report its result by gpualloc_health_probed. */
	void (*probe)(void *arg, const char *uuid);
	void *arg;
};

struct gpualloc_options {
	int per_trial; /* GPUs per trial, at least 1 */
	int share; /* trials per GPU, at least 1 */
	/*
	 * bytes declared per trial and GPU; 0 = none: see gpualloc_expect
	 */
	int64_t memory;
	/*
	 * bytes in use without a visible process that make a GPU foreign; 0 =
	 * not checked
	 */
	int64_t busy_memory;
	/* UUIDs (of a GPU: all its slices) or indices to use; NULL = all */
	const char *const *only;
	size_t n_only;
};

/*
 * Create the allocator for the GPUs of a first snapshot, restricted by only.
 * Before it returns, changed is not called: all GPUs are new.  Next call
 * gpualloc_adopt, then gpualloc_observe again.
 */
struct gpualloc *
gpualloc_new(const struct gpualloc_options *, const struct gpualloc_hooks *,
    const struct gpu_snapshot *first, int64_t now_ms);
void gpualloc_free(struct gpualloc *);
size_t gpualloc_count(const struct gpualloc *);
/* Maximum number of attempts on these GPUs. */
int gpualloc_choose_capacity(const struct gpualloc *);

/*
 * Process a snapshot.  If its source has less detail than an earlier one, the
 * driver counts as not responding.  A process whose owner is "mps" has no
 * owner.
 */
void gpualloc_observe(
    struct gpualloc *, const struct gpu_snapshot *, int64_t now_ms);
/*
 * Process the passing of time: limits on settling and releasing, the next
 * probe.
 */
void gpualloc_tick(struct gpualloc *, int64_t now_ms);
/*
 * Milliseconds until the next query is wanted (0 = now): 50 after the last one
 * during a release, 1000 while a trial runs or others use a GPU of ours, else
 * 10000.
 */
int64_t gpualloc_observe_in_ms(const struct gpualloc *, int64_t now_ms);
/* A query with this seq was started; it reflects all calls so far. */
void gpualloc_observe_asked(struct gpualloc *, int64_t seq);

/*
 * The bytes that the next attempt is likely to need on each GPU; 0 = not known, as at
 * first.  States, gpualloc_choose_ready and gpualloc_choose are for it, until the next
 * call.  It never keeps an attempt from a GPU without trials.  Ignored where memory
 * is declared.
 */
void gpualloc_expect(struct gpualloc *, int64_t bytes, int64_t now_ms);
/* Whether an attempt could get its GPUs; else why not, one clause. */
bool gpualloc_choose_ready(const struct gpualloc *, char *why, size_t n);
/*
 * Allocate the GPUs of an attempt: fewest trials first, then one NUMA node,
 * then by index. key: its uuid, or the name of a pack; borrowed.  A key that
 * holds GPUs keeps them: true.
 */
bool gpualloc_choose(struct gpualloc *, const char *key, int64_t trial,
    int attempt, int64_t now_ms);
/*
 * Register GPUs that key holds since before our start; unknown names are
 * ignored.  What it needs is that of gpualloc_expect.
 */
void gpualloc_adopt(struct gpualloc *, const char *key, int64_t trial,
    int attempt, const char *const *uuids, size_t n, int64_t now_ms);
/*
 * The GPUs of key: returns their number, and indices for gpualloc_at in at
 * (room for per_trial).
 */
size_t gpualloc_of(const struct gpualloc *, const char *key, size_t *at);
/* key has reported: its GPUs may be shared now. */
void gpualloc_settled(struct gpualloc *, const char *key, int64_t now_ms);
/* How an attempt ended. */
struct gpualloc_end {
	bool never_began; /* the allocation is undone: nothing to release */
	bool failed;
};
/*
 * End the hold of key.  True if the failure is the machine's fault (a GPU had a
 * fault or was gone): why, one clause.  Faults are found by queries: for a
 * failed attempt, wait for a new snapshot before this call.
 */
bool gpualloc_release(struct gpualloc *, const char *key,
    const struct gpualloc_end *, int64_t now_ms, char *why, size_t n);
/*
 * A GPU was out of service when the last server ended: keep it so until probes
 * succeed; the first is due now.  Unknown names are ignored.
 */
void gpualloc_health_distrust(
    struct gpualloc *, const char *uuid, const char *why, int64_t now_ms);
/*
 * A GPU where trials fail is a suspect until probes succeed.  Unknown: ignored.
 */
void gpualloc_health_doubt(
    struct gpualloc *, const char *uuid, const char *why, int64_t now_ms);
void gpualloc_health_probed(struct gpualloc *, const char *uuid, bool good,
    const char *why, int64_t now_ms);

/* The state of GPU i, borrowed until the next call. */
struct gpualloc_view {
	const struct gpu_device *seen; /* in the last snapshot */
	enum gpualloc_state state;
	const char *why; /* one clause, or "" */
	int trials; /* number of our trials on it */
	bool used; /* may be used by this study */
};
void gpualloc_at(const struct gpualloc *, size_t i, struct gpualloc_view *);

/*
 * gpualloc-observe.c: the GPU use of an attempt so far; whole-GPU values
 * (energy, busy and seen) are divided equally among the trials on the GPU at
 * the time, so busy / seen is the mean utilization while it ran.  NAN =
 * unknown.  Valid until the next gpualloc_choose after gpualloc_release, which
 * adds the time since the last snapshot.
 */
bool
gpualloc_usage(const struct gpualloc *, const char *key, struct gpu_usage *);

#endif /* HPOTUNE_GPUALLOC_H */
