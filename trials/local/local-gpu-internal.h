/* The GPU part of the local backend: declarations shared by local-gpu*.c. */

#ifndef HPOTUNE_LOCAL_GPU_INTERNAL_H
#define HPOTUNE_LOCAL_GPU_INTERNAL_H

#include "trials/gpu/gpu-monitor.h"
#include "trials/backend.h"
#include "trials/local/local-gpu.h"

struct local_attempt;
struct loop_timer;

/* A GPU that is reserved by a lock against other studies. */
struct local_gpu_lock {
	char uuid[GPU_UUID];
	int fd; /* -1: locks do not work here */
};

/* A note for the view events, kept until the next collect. */
struct local_gpu_message {
	enum launch_level level;
	int64_t trial;
	int attempt;
	char *text;
};

/* The state of a GPU in its last event. */
struct local_gpu_shown {
	enum gpualloc_state state;
	int trials;
	int64_t at_ms; /* -1: no event yet */
	bool dirty;
	bool noted_mps;
};

/* The result of a health probe, kept until the next collect. */
struct local_gpu_probe_result {
	char uuid[GPU_UUID];
	bool good;
	char why[GPU_WHY];
};

/* A place (one program) of packed trials. */
struct local_gpu_place {
	struct gpu_usage shared; /* use that was charged to its members */
};

/* An attempt that holds GPUs and has not started. */
struct local_gpu_pending {
	char *uuid;
	int slot;
};

struct local_gpu {
	struct local *local;
	struct gpualloc *gpus; /* NULL: trials use no GPUs */
	int per_trial;
	size_t *at; /* capacity */
	int share; /* trials on one GPU */
	bool declared; /* trial.gpu_memory is given */
	bool by_index, bind, mps;
	char *study;
	int64_t ends_us; /* when it is likely to end; 0 = not known */
	uint64_t key; /* key of our locks */

	bool simulated;
	struct gpu_snapshot sim; /* the simulated snapshot, without its seq */
	struct gpu_monitor *watch; /* NULL when simulated */
	struct loop_timer *timer; /* for the next query */
	/* seq of the newest query, and of the newest answer */
	int64_t asked, seen;
	struct gpu_snapshot look; /* received, not processed yet */
	bool snapshot_pending;
	struct local_gpu_owners *owners;

	struct local_gpu_lock *locks;
	size_t n_locks;
	bool noted_locks;
	struct local_gpu_pending *fresh;
	size_t n_fresh;
	struct local_gpu_place *place; /* of packed trials, by place number */
	size_t n_places;
	struct local_gpu_message *notes;
	size_t n_notes;
	struct local_gpu_shown *shown;
	size_t n_shown;
	struct local_gpu_probe_result *answers;
	size_t n_answers;
	int places; /* capacity: attempts, or programs of packed trials */
	bool back; /* a GPU became usable again */
	bool noted_none; /* the note that none is usable was sent */
};

/* local-gpu-poll.c */
/* The callbacks of the allocator. */
struct gpualloc_hooks local_gpu_poll_hooks(struct local_gpu *);
/* A note for the view events; trial 0: of the whole study. */
void local_gpu_poll_note(
    void *arg, bool warn, int64_t trial, int attempt, const char *text);
/* When the study is likely to end, for those who wait for its GPUs. */
void local_gpu_poll_ends(struct local_gpu *, int64_t us);
/* The first snapshot gets the owners of its processes. */
int local_gpu_poll_open(
    struct local_gpu *, struct gpu_snapshot *first, struct err *);
void local_gpu_poll_close(struct local_gpu *);
/* Start a query that reflects everything sent so far. */
void local_gpu_poll_ask(struct local_gpu *);
/* Process the received snapshot and probe results; inside collect. */
void local_gpu_poll_apply(struct local_gpu *);

/* local-mps.c */
/* Whether trials share their GPUs through MPS. */
bool local_mps_serves(const struct local_gpu *, const struct gpu_device *);

/* local-gpu-owners.c: the trials whose processes use GPUs. */
/* Free it with local_gpu_owners_free. */
struct local_gpu_owners *local_gpu_owners_new(void);
void local_gpu_owners_free(struct local_gpu_owners *);
/* Fill in the owners of the processes of a snapshot. */
void local_gpu_owners_fill(
    struct local_gpu_owners *, const struct local *, struct gpu_snapshot *look);

/* local-gpu-pack.c: the GPUs of places of packed trials. */
/* Whether a GPU in this state is given to no trial. */
bool local_gpu_pack_is_out(enum gpualloc_state);
/* Whether the place accepts another attempt; false: it has no GPUs yet. */
bool local_gpu_pack_admits(
    const struct local *, int slot, bool *ready, char *why, size_t n);
/* Whether a failure may be caused by a GPU: why, one clause of n bytes. */
bool local_gpu_pack_blame(const struct local *, int slot, char *why, size_t n);
/*
 * The set of packed trials changes: charge the GPU use so far to the current
 * members.
 */
void local_gpu_pack_charge(struct local *, int slot);
/* The share of an attempt in the GPU use of its place. */
bool local_gpu_pack_usage(struct local_attempt *, struct gpu_usage *);
/* Release the GPUs of places without attempts. */
void local_gpu_pack_release(struct local *);

/* local-gpu-events.c: inside collect, but for the timer. */
/* Send the GPU use of an attempt. */
void local_gpu_events_usage(struct local_attempt *);
/* The notes of the poll and of the allocator. */
void local_gpu_events_notes(struct local_gpu *);
/* Arm the timer for the next query that the allocator requests. */
void local_gpu_events_arm(struct local_gpu *);

#endif /* HPOTUNE_LOCAL_GPU_INTERNAL_H */
