/* What local-gpu.c, -look.c and -names.c share. */

#ifndef HPOTUNE_LOCAL_GPU_INTERNAL_H
#define HPOTUNE_LOCAL_GPU_INTERNAL_H

#include "trials/gpu/gpu-monitor.h"
#include "trials/launcher.h"
#include "trials/local/local-gpu.h"

struct local_attempt;
struct loop_timer;

/* A GPU that is booked against other studies. */
struct local_gpu_lock {
	char uuid[GPU_UUID];
	int fd; /* -1: locks do not work here */
};

/* Something for view events, until the next collect. */
struct local_gpu_message {
	enum launch_level level;
	int64_t trial;
	int attempt;
	char *text;
};

/* What was last told of a GPU. */
struct local_gpu_shown {
	enum gpualloc_state state;
	int trials;
	int64_t at_ms; /* -1: nothing yet */
	bool dirty;
	bool noted_mps;
};

/* What came of a probe, until the next collect. */
struct local_gpu_probe_result {
	char uuid[GPU_UUID];
	bool good;
	char why[GPU_WHY];
};

/* A place of packed trials. */
struct local_gpu_place {
	struct gpualloc_usage shared; /* what its members were told of */
};

/* An attempt that has its GPUs and has not begun. */
struct local_gpu_pending {
	char *uuid;
	int slot;
};

struct local_gpu {
	struct local *local;
	struct gpualloc *gpus; /* NULL: trials have none */
	int per_trial;
	size_t *at; /* room for that many */
	int share; /* trials on one GPU */
	bool by_index, bind, mps;
	char *study;
	uint64_t key; /* of our locks */

	bool simulated;
	struct gpu_snapshot
	    sim; /* what a look at them shows, but for its seq */
	struct gpu_monitor *watch; /* NULL when simulated */
	struct loop_timer *timer; /* ask again */
	int64_t asked, seen; /* seq of the newest question, and answer */
	struct gpu_snapshot look; /* came, and was not judged yet */
	bool snapshot_pending;
	struct local_gpu_owners *owners;

	struct local_gpu_lock *locks;
	size_t n_locks;
	bool noted_locks;
	struct local_gpu_pending *fresh;
	size_t n_fresh;
	struct local_gpu_place *place; /* of packed trials, by number */
	size_t n_places;
	struct local_gpu_message *notes;
	size_t n_notes;
	struct local_gpu_shown *told;
	size_t n_told;
	struct local_gpu_probe_result *answers;
	size_t n_answers;
	int places; /* for attempts, or for programs that have several */
	bool back; /* one is of use again */
	bool noted_none; /* said that none is of use */
};

/* local-gpu.c: for view events, of no single trial. */
void local_gpu_note(struct local_gpu *, bool warn, const char *text);

/* local-gpu-mps.c: whether trials share this one through MPS. */
bool local_gpu_mps_serves(const struct local_gpu *, const struct gpu_device *);

/* local-gpu-locks.c */
/* For the manager: book a GPU against other studies, and give it back. */
bool local_gpu_locks_book(void *, const char *uuid, char *who, size_t n);
void local_gpu_locks_unbook(void *, const char *uuid);
/* Whoever logs out may have removed our files: book anew. */
void local_gpu_locks_renew(struct local_gpu *);
/* local-gpu-poll.c */
int local_gpu_poll_open(struct local_gpu *, struct err *);
void local_gpu_poll_close(struct local_gpu *);
/* A look that begins after all that was told so far. */
void local_gpu_poll_ask(struct local_gpu *);
/* Ask when the manager wants to. */
void local_gpu_poll_arm(struct local_gpu *);
/* Judge what has come, inside collect. */
void local_gpu_poll_apply(struct local_gpu *);
/* For the manager: try one in a process of its own. */
void local_gpu_poll_probe(void *, const char *uuid);
/* local-gpu-events.c, inside collect */
/* What waits for view events. */
void local_gpu_events_notes(struct local_gpu *);
/* What an attempt has used so far. */
void local_gpu_events_usage(struct local_attempt *);

#endif /* HPOTUNE_LOCAL_GPU_INTERNAL_H */
