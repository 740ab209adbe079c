/*
 * What the files of gpus share: the ledger and the state of each GPU.
 *
 *   hold: an attempt and its GPUs, from take to the moment when the last of
 *         them is released;
 *   stay: a hold's part on one GPU.  It is live until the attempt ends, then
 *         it waits at the gate until its processes and memory have left.
 */

#ifndef HPOTUNE_GPUALLOC_INTERNAL_H
#define HPOTUNE_GPUALLOC_INTERNAL_H

#include "trials/gpu/allocator/gpualloc.h"

enum {
	GPUALLOC_PIDS = 256, /* processes remembered of one stay */
	GPUALLOC_XIDS = 16, /* kinds of faults remembered */
	GPUALLOC_STREAK = 3, /* trials in a row that fail at once */
	GPUALLOC_PASSES = 2 /* clean probes to come back */
};

/* Times, in ms. */
enum {
	GPUALLOC_FAST_MS = 50, /* between looks while something is released */
	GPUALLOC_LOOK_MS = 1000, /* … while something runs */
	GPUALLOC_IDLE_MS = 10000,
	GPUALLOC_RELEASE_MS = 30000, /* then what is left is stuck */
	GPUALLOC_SETTLE_MS = 120000, /* then a trial counts as settled */
	GPUALLOC_LEVEL_MS = 10000, /* level memory for so long is at rest */
	GPUALLOC_RESERVED_MS = 1000, /* then another study is asked again */
	GPUALLOC_NOTE_MS = 60000, /* between two notes of one kind on a GPU */
	GPUALLOC_NUMBERS_MS = 5000 /* between two changes of mere numbers */
};

#define GPUALLOC_MIB (INT64_C(1) << 20)
/* Memory that comes and goes with the driver alone. */
#define GPUALLOC_SLACK (256 * GPUALLOC_MIB)
/* Memory that moves less is level. */
#define GPUALLOC_LEVEL (32 * GPUALLOC_MIB)

struct gpualloc_hold {
	char *key;
	int64_t trial;
	int attempt;
	bool ended;
	bool settled;
	int stays; /* on how many GPUs it still is */
	size_t *at; /* its GPUs, in the order they were given */
	size_t n_at;
	char blame[GPU_WHY]; /* why a failure is the machine's, or "" */
	int xids[GPUALLOC_XIDS]; /* told already */
	size_t n_xids;
	struct gpualloc_usage usage;
	double memory_now; /* bytes, while a look is read */
};

struct gpualloc_stay {
	struct gpualloc_hold *hold;
	int64_t since_ms;
	int64_t ended_ms;
	int64_t need_seq; /* of a look that counts; INT64_MAX = ask for one */
	int64_t *pids; /* seen of it here */
	size_t n_pids;
	int64_t *strange; /* not to be seen from here even before the end */
	size_t n_unseen;
	int64_t before; /* memory in use when it came */
	int64_t level; /* memory when it last moved */
	int64_t level_ms;
	int level_looks;
	int64_t last; /* memory at the last look of the gate */
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
	struct gpu_device seen; /* a copy, with its processes */
	char label[GPU_UUID + GPU_NAME + 32]; /* "GPU 3 (NVIDIA H200)" */
	bool used;
	bool gone;
	int64_t seen_ms; /* of the last look that shows it; 0 = none */
	/* reservation */
	bool booked;
	bool reserved;
	char who[GPU_OWNER];
	int64_t reserved_ms; /* asked then */
	/* ledger */
	struct gpualloc_stay *stays;
	size_t n_stays;
	int64_t base; /* memory in use without us, -1 = not known */
	/* others */
	bool foreign;
	bool foreign_noted;
	char foreign_why[GPU_WHY];
	/* health */
	enum gpualloc_health health;
	char why[GPU_WHY];
	bool leaking; /* needs its memory back, too */
	int passes, need; /* clean probes, and how many it needs */
	int step; /* of the back-off */
	bool probing;
	int64_t probe_ms; /* the next one */
	int64_t streak[GPUALLOC_STREAK]; /* trials that failed at once */
	size_t n_streak;
	int xids[GPUALLOC_XIDS]; /* told while no trial was on it */
	size_t n_xids;
	int64_t noted_ms[NEWS_N]; /* 0 = never */
	/* what was last shown */
	enum gpualloc_state state;
	char state_why[GPU_WHY];
	int trials;
	int64_t changed_ms;
};

struct gpualloc {
	int per_trial, share;
	int64_t memory, busy_memory;
	struct gpualloc_hooks hooks;
	bool all; /* those that appear are to be used, too */
	struct gpualloc_gpu *gpu;
	size_t n;
	struct gpualloc_hold **hold;
	size_t n_holds;
	enum gpu_source source; /* the best there was */
	bool born; /* gpualloc_new has returned */
	bool unknown; /* the driver does not answer now */
	bool unknown_noted;
	int64_t unknown_ms; /* last told */
	char unknown_why[GPU_WHY];
	int64_t asked, answered; /* seq */
	int64_t look_ms; /* of the last look, also one that saw nothing */
};

/* gpualloc.c: the ledger */
/* One that was not there before. */
void gpualloc_add(struct gpualloc *, const struct gpu_device *);
struct gpualloc_hold *gpualloc_find(const struct gpualloc *, const char *key);
struct gpualloc_hold *gpualloc_hold_new(
    struct gpualloc *, const char *key, int64_t trial, int attempt);
void gpualloc_stay_add(
    struct gpualloc *, struct gpualloc_hold *, size_t i, int64_t now_ms);
/* Its stay j is over; the last one gives the reservation back. */
void gpualloc_stay_drop(struct gpualloc *, struct gpualloc_gpu *, size_t j);
/* Stays of attempts that have not ended. */
int gpualloc_live(const struct gpualloc_gpu *);
bool gpualloc_ours(const struct gpualloc_gpu *, const struct gpu_process *);
void gpualloc_note(struct gpualloc *, bool warn, const struct gpualloc_hold *,
    const char *, ...) __attribute__((format(printf, 4, 5)));
/* Whether such news of a GPU may be told now. */
bool
gpualloc_may_note(struct gpualloc_gpu *, enum gpualloc_news, int64_t now_ms);
/* "29.0 GiB" */
const char *gpualloc_size(char *text, size_t n, int64_t bytes);

/* gpualloc-observe.c */
/* Whose the processes are that were seen on GPU i. */
void gpualloc_observe_owners(struct gpualloc *, size_t i, int64_t now_ms);

/* gpualloc-state.c */
/* State of one GPU, told when it is new. */
void gpualloc_state_update(struct gpualloc *, size_t i, int64_t now_ms);
void gpualloc_state_update_all(struct gpualloc *, int64_t now_ms);

/* gpualloc-release.c */
void gpualloc_release_check(
    struct gpualloc *, size_t i, int64_t seq, int64_t now_ms);
/* Whether the memory in use is what it was without us. */
bool gpualloc_release_memory_ok(
    const struct gpualloc *, const struct gpualloc_gpu *);

/* gpualloc-health.c */
void gpualloc_health_suspect(struct gpualloc *, struct gpualloc_gpu *,
    int64_t now_ms, const char *, ...) __attribute__((format(printf, 4, 5)));
void gpualloc_health_quarantine(struct gpualloc *, struct gpualloc_gpu *,
    int64_t now_ms, const char *, ...) __attribute__((format(printf, 4, 5)));
/* Whoever is on it may say that the machine was at fault. */
void gpualloc_health_blame(struct gpualloc_gpu *, const char *why);
void gpualloc_health_reappeared(
    struct gpualloc *, struct gpualloc_gpu *, int64_t now_ms);
void gpualloc_health_observe(
    struct gpualloc *, struct gpualloc_gpu *, int64_t now_ms);
void
gpualloc_health_tick(struct gpualloc *, struct gpualloc_gpu *, int64_t now_ms);
void gpualloc_health_faults(
    struct gpualloc *, const struct gpu_snapshot *, int64_t now_ms);
/* An attempt has ended there: count failures in a row. */
void gpualloc_health_streak(struct gpualloc *, struct gpualloc_gpu *,
    int64_t trial, const struct gpualloc_end *, int64_t now_ms);

/* gpualloc-usage.c */
void gpualloc_usage_begin(struct gpualloc_hold *);
/* A GPU was seen: from what it was to what it is now. */
void gpualloc_usage_observe(
    struct gpualloc *, size_t i, const struct gpu_device *now, int64_t now_ms);
/* All GPUs of a look were seen. */
void gpualloc_usage_observed(struct gpualloc *);
/* The time since the last look, as its numbers were. */
void
gpualloc_usage_end(struct gpualloc *, struct gpualloc_hold *, int64_t now_ms);

#endif /* HPOTUNE_GPUALLOC_INTERNAL_H */
