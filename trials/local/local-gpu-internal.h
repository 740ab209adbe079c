/* What local-gpu.c, -look.c and -names.c share. */

#ifndef HPOTUNE_LOCAL_GPU_INTERNAL_H
#define HPOTUNE_LOCAL_GPU_INTERNAL_H

#include "trials/gpu/gpu-monitor.h"
#include "trials/launcher.h"
#include "trials/local/local-gpu.h"

struct local_attempt;
struct loop_timer;

/* A GPU that is booked against other studies. */
struct gpus_lock {
	char uuid[GPU_UUID];
	int fd; /* -1: locks do not work here */
};

/* Something for view events, until the next collect. */
struct gpus_note {
	enum launch_level level;
	int64_t trial;
	int attempt;
	char *text;
};

/* What was last told of a GPU. */
struct gpus_told {
	enum gpu_state state;
	int trials;
	int64_t at_ms; /* -1: nothing yet */
	bool dirty;
	bool noted_mps;
};

/* What came of a probe, until the next collect. */
struct gpus_answer {
	char uuid[GPU_UUID];
	bool good;
	char why[GPU_WHY];
};

/* A place of packed trials. */
struct gpus_place {
	struct gpus_usage shared; /* what its members were told of */
};

/* An attempt that has its GPUs and has not begun. */
struct gpus_fresh {
	char *uuid;
	int slot;
};

struct local_gpus {
	struct local *local;
	struct gpus *gpus; /* NULL: trials have none */
	int per_trial;
	size_t *at; /* room for that many */
	int share; /* trials on one GPU */
	bool by_index, bind, mps;
	char *study;
	uint64_t key; /* of our locks */

	bool simulated;
	struct gpu_look sim; /* what a look at them shows, but for its seq */
	struct gpu_watch *watch; /* NULL when simulated */
	struct loop_timer *timer; /* ask again */
	int64_t asked, seen; /* seq of the newest question, and answer */
	struct gpu_look look; /* came, and was not judged yet */
	bool look_here;
	struct local_owners *owners;

	struct gpus_lock *locks;
	size_t n_locks;
	bool noted_locks;
	struct gpus_fresh *fresh;
	size_t n_fresh;
	struct gpus_place *place; /* of packed trials, by number */
	size_t n_places;
	struct gpus_note *notes;
	size_t n_notes;
	struct gpus_told *told;
	size_t n_told;
	struct gpus_answer *answers;
	size_t n_answers;
	int places; /* for attempts, or for programs that have several */
	bool back; /* one is of use again */
	bool noted_none; /* said that none is of use */
};

/* local-gpu.c: for view events, of no single trial. */
void local_gpus_note(struct local_gpus *, bool warn, const char *text);

/* local-gpu-mps.c: whether trials share this one through MPS. */
bool local_mps_serves(const struct local_gpus *, const struct gpu_seen *);

/* local-gpu-locks.c */
/* For the manager: book a GPU against other studies, and give it back. */
bool local_lock_book(void *, const char *uuid, char *who, size_t n);
void local_lock_unbook(void *, const char *uuid);
/* Whoever logs out may have removed our files: book anew. */
void local_locks_tend(struct local_gpus *);
/* local-gpu-poll.c */
int local_gpus_watch(struct local_gpus *, struct err *);
void local_gpus_unwatch(struct local_gpus *);
/* A look that begins after all that was told so far. */
void local_gpus_ask(struct local_gpus *);
/* Ask when the manager wants to. */
void local_gpus_arm(struct local_gpus *);
/* Judge what has come, inside collect. */
void local_gpus_judge(struct local_gpus *);
/* For the manager: try one in a process of its own. */
void local_gpus_probe(void *, const char *uuid);
/* local-gpu-events.c, inside collect */
/* What waits for view events. */
void local_gpus_say(struct local_gpus *);
/* What an attempt has used so far. */
void local_gpus_use(struct local_attempt *);

#endif /* HPOTUNE_LOCAL_GPU_INTERNAL_H */
