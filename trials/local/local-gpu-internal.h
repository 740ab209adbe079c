/* The GPU part of the local launcher: declarations shared by local-gpu*.c. */

#ifndef HPOTUNE_LOCAL_GPU_INTERNAL_H
#define HPOTUNE_LOCAL_GPU_INTERNAL_H

#include "trials/gpu/gpu-monitor.h"
#include "trials/launcher.h"
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
	bool by_index, bind, mps;
	char *study;
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
	struct local_gpu_shown *told;
	size_t n_told;
	struct local_gpu_probe_result *answers;
	size_t n_answers;
	int places; /* capacity: attempts, or programs of packed trials */
	bool back; /* a GPU became usable again */
	bool noted_none; /* the note that none is usable was sent */
};

/* local-gpu-hooks.c: callbacks of the allocator; arg is the struct local_gpu. */
/* Lock a GPU against other studies, and unlock it. */
bool local_gpu_hooks_book(void *arg, const char *uuid, char *who, size_t n);
void local_gpu_hooks_unbook(void *arg, const char *uuid);
/* A note for the view events; trial 0: of the whole study. */
void local_gpu_hooks_note(
    void *arg, bool warn, int64_t trial, int attempt, const char *text);
void local_gpu_hooks_changed(void *arg, size_t i);
/* systemd may remove our lock files at logout: lock again. */
void local_gpu_hooks_renew_locks(struct local_gpu *);
/* Inside collect: send the notes. */
void local_gpu_hooks_send_notes(struct local_gpu *);

/* local-gpu-mps.c: whether trials share their GPUs through MPS. */
bool local_gpu_mps_serves(const struct local_gpu *, const struct gpu_device *);

/* local-gpu-poll.c */
int local_gpu_poll_open(struct local_gpu *, struct err *);
void local_gpu_poll_close(struct local_gpu *);
/* Start a query that reflects everything sent so far. */
void local_gpu_poll_ask(struct local_gpu *);
/* Arm the timer for the next query that the allocator wants. */
void local_gpu_poll_arm(struct local_gpu *);
/* Process the received snapshot and probe results; inside collect. */
void local_gpu_poll_apply(struct local_gpu *);
/* Callback of the allocator: probe one GPU in a separate process. */
void local_gpu_poll_probe(void *, const char *uuid);
/* local-gpu-events.c, inside collect */
/* Send the pending notes. */
void local_gpu_hooks_send_notes(struct local_gpu *);
/* Send the GPU use of an attempt. */
void local_gpu_events_usage(struct local_attempt *);

#endif /* HPOTUNE_LOCAL_GPU_INTERNAL_H */
