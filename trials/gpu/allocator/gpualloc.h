/*
 * The GPUs of this machine as one study uses them: who has which, which may be
 * given, which are out of service and why.  Pure: it is fed with looks, times
 * and what became of attempts, and says what it wants next.
 */

#ifndef HPOTUNE_GPUALLOC_H
#define HPOTUNE_GPUALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trials/gpu/gpu-snapshot.h"
#include "trials/gpu/gpu-xid.h"

struct gpualloc;

/*
 * Why a GPU is not given just now.  Of several that hold it is: gone, unknown,
 * quarantined, suspect, releasing, reserved, foreign, held, settling, full.
 */
enum gpualloc_state {
	GPU_FREE, /* may be given */
	GPU_HELD, /* by trials of this study, as many as may share it */
	GPU_SETTLING, /* its newest trial has neither reported nor come to rest */
	GPU_FULL, /* no memory left beside what was declared */
	GPU_RELEASING, /* a trial has ended; its memory is not back yet */
	GPU_FOREIGN, /* processes or memory of somebody else */
	GPU_RESERVED, /* another study has booked it */
	GPU_SUSPECT, /* trial after trial failed there at once */
	GPU_QUARANTINED, /* a fault, or memory that does not come back */
	GPU_UNKNOWN, /* the driver does not answer now */
	GPU_GONE /* no look shows it any more */
};
/* One word, as in view gpus. */
const char *gpualloc_state_name(enum gpualloc_state);

/* None of them may call gpus_ functions that change anything. */
struct gpualloc_hooks {
	/* Book it against other studies; false: one has it (who: "NAME of
	 * USER", or ""). */
	bool (*book)(void *arg, const char *uuid, char *who, size_t n);
	/* No trial of ours is on it any more. */
	void (*unbook)(void *arg, const char *uuid);
	/* For view events; trial 0: of no single one. */
	void (*note)(
	    void *arg, bool warn, int64_t trial, int attempt, const char *text);
	/* What gpualloc_at says of it is new. */
	void (*changed)(void *arg, size_t i);
	/* Try whether it works: gpualloc_health_probed answers. */
	void (*probe)(void *arg, const char *uuid);
	void *arg;
};

struct gpualloc_options {
	int per_trial; /* GPUs of one trial, at least 1 */
	int share; /* trials on one GPU, at least 1 */
	int64_t memory; /* bytes declared per trial and GPU; 0 = not */
	int64_t busy_memory; /* in use by nobody visible: somebody else's;
			      * 0 = memory is not looked at */
	const char *const *only; /* UUIDs (of a GPU: all its slices) or
				  * indices to use; NULL = all */
	size_t n_only;
};

/*
 * The ones to use of those that are shown; with only, by the first look.
 * Before it returns changed is not called: all are new.  Adopt next, then look
 * again.
 */
struct gpualloc *
gpualloc_new(const struct gpualloc_options *, const struct gpualloc_hooks *,
    const struct gpu_snapshot *first, int64_t now_ms);
void gpualloc_free(struct gpualloc *);
size_t gpualloc_count(const struct gpualloc *);
/* How many attempts they can hold at most. */
int gpualloc_choose_capacity(const struct gpualloc *);

/*
 * What is seen now.  A source that knows less than an earlier one did: the
 * driver does not answer now.  A process whose owner is "mps" is nobody's.
 */
void gpualloc_observe(
    struct gpualloc *, const struct gpu_snapshot *, int64_t now_ms);
/* Times have passed: limits on settling, releasing, the next probe. */
void gpualloc_tick(struct gpualloc *, int64_t now_ms);
/*
 * In how many ms it wants the next look (0 = at once): 50 after the last while
 * something is released, 1000 while something runs, else 10000.
 */
int64_t gpualloc_observe_in_ms(const struct gpualloc *, int64_t now_ms);
/* The look with this seq, or a later one, begins after all that was told. */
void gpualloc_observe_asked(struct gpualloc *, int64_t seq);

/* Whether an attempt could be given its GPUs; else why not, one clause. */
bool gpualloc_choose_ready(const struct gpualloc *, char *why, size_t n);
/*
 * Give an attempt its GPUs: those with the fewest trials, of one NUMA node,
 * then by index.  key: its uuid, or the name of a pack; borrowed.  A key that
 * has some keeps them: true.
 */
bool gpualloc_choose(struct gpualloc *, const char *key, int64_t trial,
    int attempt, int64_t now_ms);
/* It holds these, from before our start; unknown names are passed over. */
void gpualloc_adopt(struct gpualloc *, const char *key, int64_t trial,
    int attempt, const char *const *uuids, size_t n, int64_t now_ms);
/* Its GPUs: how many, indices for gpualloc_at in at (room for per_trial). */
size_t gpualloc_of(const struct gpualloc *, const char *key, size_t *at);
/* It has reported: whoever shares its GPUs may come. */
void gpualloc_settled(struct gpualloc *, const char *key, int64_t now_ms);
/* What an attempt came to. */
struct gpualloc_end {
	bool never_began; /* the booking is taken back: nothing to release */
	bool failed;
	bool at_once; /* … before it reported anything, within 5 s */
};
/*
 * It is over.  True when the failure is not its own (a GPU of it had a fault
 * or was gone meanwhile): why, one clause.  Faults are known by looks: of an
 * attempt that failed, ask for one and wait for it before this.
 */
bool gpualloc_release(struct gpualloc *, const char *key,
    const struct gpualloc_end *, int64_t now_ms, char *why, size_t n);
/* It was out of service when the last server ended: it is until probes pass,
 * the first of which is due at once.  Unknown names are passed over. */
void gpualloc_health_distrust(
    struct gpualloc *, const char *uuid, const char *why, int64_t now_ms);
void gpualloc_health_probed(struct gpualloc *, const char *uuid, bool good,
    const char *why, int64_t now_ms);

/* What it knows of GPU i, borrowed until the next call. */
struct gpualloc_view {
	const struct gpu_device *seen; /* at the last look */
	enum gpualloc_state state;
	const char *why; /* one clause, or "" */
	int trials; /* of ours on it */
	bool used; /* … may be used by this study at all */
};
void gpualloc_at(const struct gpualloc *, size_t i, struct gpualloc_view *);

/*
 * gpualloc-usage.c: what an attempt has used of its GPUs so far; whole-GPU numbers
 * (energy, busy and seen) are shared out equally among the trials on it at the
 * time, so busy / seen is how much the GPUs did while it was on them.  NAN =
 * not known.  Can be asked until the next gpualloc_choose after gpualloc_release, which
 * adds the time since the last look.
 */
struct gpualloc_usage {
	int gpus;
	double energy; /* joules */
	double memory; /* bytes at most, of all its GPUs together */
	double busy; /* GPU seconds in use: sum of utilization x time */
	double seen; /* GPU seconds that busy was counted over */
};
bool gpualloc_usage(
    const struct gpualloc *, const char *key, struct gpualloc_usage *);

#endif /* HPOTUNE_GPUALLOC_H */
