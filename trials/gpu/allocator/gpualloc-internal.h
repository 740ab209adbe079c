/*
 * State shared by the files of the allocator.
 *
 * hold: an attempt and its GPUs, from the allocation until the last of them is
 * released; stay: the part of a hold on one GPU.  A stay is live until the
 * attempt ends; then it is in release until its processes and memory are gone.
 */

#ifndef HPOTUNE_GPUALLOC_INTERNAL_H
#define HPOTUNE_GPUALLOC_INTERNAL_H

#include "trials/gpu/allocator/gpualloc.h"

enum {
	GPUALLOC_PIDS = 256, /* processes remembered per stay */
	GPUALLOC_XIDS = 16, /* kinds of faults remembered */
	GPUALLOC_PASSES = 2 /* successful probes needed to return to service */
};

/* Times, in ms. */
enum {
	/* between queries while a GPU is being released */
	GPUALLOC_FAST_MS = 50,
	GPUALLOC_LOOK_MS = 1000, /* between queries while a trial runs */
	GPUALLOC_IDLE_MS = 10000,
	GPUALLOC_RELEASE_MS = 30000, /* after which a release counts as stuck */
	GPUALLOC_SETTLE_MS = 120000, /* after which a trial counts as settled */
	/* of constant memory, after which it is settled */
	GPUALLOC_LEVEL_MS = 10000,
	/* before the lock of a reserved GPU is tried again */
	GPUALLOC_RESERVED_MS = 1000,
	GPUALLOC_NOTE_MS = 60000, /* between two notes of one kind on a GPU */
	/* between two events when only numbers changed */
	GPUALLOC_NUMBERS_MS = 5000
};

#define GPUALLOC_MIB (INT64_C(1) << 20)
/* Memory that the driver itself may use or free. */
#define GPUALLOC_SLACK (256 * GPUALLOC_MIB)
/* A smaller change of memory counts as constant. */
#define GPUALLOC_LEVEL (32 * GPUALLOC_MIB)

struct gpualloc_hold {
	char *key;
	int64_t trial;
	int attempt;
	bool ended;
	bool settled;
	int stays; /* number of GPUs it is still on */
	size_t *at; /* its GPUs, in the order of allocation */
	size_t n_at;
	char blame[GPU_WHY]; /* why a failure is the machine's fault, or "" */
	int xids[GPUALLOC_XIDS]; /* already noted */
	size_t n_xids;
	int64_t expected; /* bytes that it was likely to need; 0 = not known */
	struct gpu_usage usage;
	double memory_now; /* bytes; used while a snapshot is processed */
};

struct gpualloc_stay {
	struct gpualloc_hold *hold;
	int64_t since_ms;
	int64_t ended_ms;
	/* seq of the first snapshot that counts; INT64_MAX = request one */
	int64_t need_seq;
	int64_t *pids; /* its processes seen on this GPU */
	size_t n_pids;
	/* processes invisible from here even before its end */
	int64_t *strange;
	size_t n_unseen;
	int64_t before; /* memory in use at its start */
	int64_t level; /* memory when it last changed */
	int64_t level_ms;
	int level_looks;
	int64_t last; /* memory at the last release check */
};

enum gpualloc_health { HEALTH_OK, HEALTH_SUSPECT, HEALTH_QUARANTINED };

enum gpualloc_news {
	NEWS_FOREIGN,
	NEWS_SUSPECT,
	NEWS_QUARANTINED,
	NEWS_BACK,
	NEWS_GONE,
	NEWS_N
};

struct gpualloc_gpu {
	struct gpu_device seen; /* a copy, including its processes */
	char label[GPU_UUID + GPU_NAME + 32]; /* "GPU 3 (NVIDIA H200)" */
	bool used;
	bool gone;
	int64_t seen_ms; /* time of the last snapshot that shows it; 0 = none */
	/* reservation */
	bool booked;
	bool reserved;
	char who[GPU_OWNER];
	int64_t reserved_ms; /* time of the last attempt to lock it */
	/* ledger */
	struct gpualloc_stay *stays;
	size_t n_stays;
	int64_t base; /* memory in use without our trials; -1 = unknown */
	/* others */
	bool foreign;
	bool foreign_noted;
	/*
	 * Foreign, and seen while another study had reserved it: between two of
	 * its trials that study reserves nothing, but its processes are still
	 * listed.
	 */
	bool theirs;
	char foreign_why[GPU_WHY];
	/* health */
	enum gpualloc_health health;
	char why[GPU_WHY];
	bool leaking; /* its memory must be released, too */
	int passes, need; /* successful probes so far, and needed */
	int step; /* back-off step */
	bool probing;
	int64_t probe_ms; /* time of the next probe */
	int xids[GPUALLOC_XIDS]; /* noted while it had no trial */
	size_t n_xids;
	int64_t noted_ms[NEWS_N]; /* 0 = never */
	/* values of the last event */
	enum gpualloc_state state;
	char state_why[GPU_WHY];
	int trials;
	int64_t changed_ms;
};

struct gpualloc {
	int per_trial, share;
	int64_t memory, busy_memory;
	int64_t expected; /* bytes of the next attempt; 0 = not known */
	struct gpualloc_hooks hooks;
	bool all; /* GPUs that appear later are used, too */
	struct gpualloc_gpu *gpu;
	size_t n;
	struct gpualloc_hold **hold;
	size_t n_holds;
	enum gpu_source source; /* best source of a snapshot so far */
	bool born; /* gpualloc_new has returned */
	bool unknown; /* the driver does not respond */
	bool unknown_noted;
	int64_t unknown_ms; /* time of the last note */
	char unknown_why[GPU_WHY];
	int64_t asked, answered; /* seq */
	int64_t look_ms; /* time of the last snapshot, even an empty one */
};

/* gpualloc-ledger.c */
/* Add a GPU that was not listed before; used: trials may run on it. */
void
gpualloc_ledger_add(struct gpualloc *, const struct gpu_device *, bool used);
/* Free the GPUs and the holds. */
void gpualloc_ledger_clear(struct gpualloc *);
struct gpualloc_hold *
gpualloc_ledger_find(const struct gpualloc *, const char *key);
struct gpualloc_hold *gpualloc_ledger_hold(
    struct gpualloc *, const char *key, int64_t trial, int attempt);
void gpualloc_ledger_stay(
    struct gpualloc *, struct gpualloc_hold *, size_t i, int64_t now_ms);
/* Remove stay j; the last one on a GPU releases the lock. */
void gpualloc_ledger_drop(struct gpualloc *, struct gpualloc_gpu *, size_t j);
/* Number of stays whose attempts have not ended. */
int gpualloc_ledger_live(const struct gpualloc_gpu *);
bool
gpualloc_ledger_owns(const struct gpualloc_gpu *, const struct gpu_process *);
/* Whether the memory in use is back at the level without our trials. */
bool
gpualloc_ledger_memory_ok(const struct gpualloc *, const struct gpualloc_gpu *);
void
gpualloc_ledger_note(struct gpualloc *, bool warn, const struct gpualloc_hold *,
    const char *, ...) __attribute__((format(printf, 4, 5)));
/* Whether a note of this kind on a GPU is due. */
bool gpualloc_ledger_may_note(
    struct gpualloc_gpu *, enum gpualloc_news, int64_t now_ms);
/* "29.0 GiB" */
const char *gpualloc_ledger_size(char *text, size_t n, int64_t bytes);

/* gpualloc-choose.c */
/* See whether another study has reserved a GPU that has no trial of ours. */
void
gpualloc_choose_ask(struct gpualloc *, struct gpualloc_gpu *, int64_t now_ms);

/* gpualloc-observe.c */
/* Find the owners of the processes on GPU i. */
void gpualloc_observe_owners(struct gpualloc *, size_t i, int64_t now_ms);

/* gpualloc-state.c */
/* Compute the state of one GPU, and report a change. */
void gpualloc_state_update(struct gpualloc *, size_t i, int64_t now_ms);
void gpualloc_state_update_all(struct gpualloc *, int64_t now_ms);

/* gpualloc-health.c */
void gpualloc_health_quarantine(struct gpualloc *, struct gpualloc_gpu *,
    int64_t now_ms, const char *, ...) __attribute__((format(printf, 4, 5)));
/* Mark the trials on it: their failure may be the machine's fault. */
void gpualloc_health_blame(struct gpualloc_gpu *, const char *why);
void gpualloc_health_reappeared(
    struct gpualloc *, struct gpualloc_gpu *, int64_t now_ms);
void gpualloc_health_observe(
    struct gpualloc *, struct gpualloc_gpu *, int64_t now_ms);
void
gpualloc_health_tick(struct gpualloc *, struct gpualloc_gpu *, int64_t now_ms);
void gpualloc_health_faults(
    struct gpualloc *, const struct gpu_snapshot *, int64_t now_ms);
/* An attempt that has not failed has ended on it. */
void gpualloc_health_good(struct gpualloc_gpu *);

#endif /* HPOTUNE_GPUALLOC_INTERNAL_H */
