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
	GPUS_PIDS = 256, /* processes remembered of one stay */
	GPUS_XIDS = 16, /* kinds of faults remembered */
	GPUS_STREAK = 3, /* trials in a row that fail at once */
	GPUS_PASSES = 2 /* clean probes to come back */
};

/* Times, in ms. */
enum {
	GPUS_FAST_MS = 50, /* between looks while something is released */
	GPUS_LOOK_MS = 1000, /* … while something runs */
	GPUS_IDLE_MS = 10000,
	GPUS_RELEASE_MS = 30000, /* then what is left is stuck */
	GPUS_SETTLE_MS = 120000, /* then a trial counts as settled */
	GPUS_LEVEL_MS = 10000, /* level memory for so long is at rest */
	GPUS_RESERVED_MS = 1000, /* then another study is asked again */
	GPUS_NOTE_MS = 60000, /* between two notes of one kind on a GPU */
	GPUS_NUMBERS_MS = 5000 /* between two changes of mere numbers */
};

#define GPUS_MIB (INT64_C(1) << 20)
/* Memory that comes and goes with the driver alone. */
#define GPUS_SLACK (256 * GPUS_MIB)
/* Memory that moves less is level. */
#define GPUS_LEVEL (32 * GPUS_MIB)

struct gpus_hold {
	char *key;
	int64_t trial;
	int attempt;
	bool ended;
	bool settled;
	int stays; /* on how many GPUs it still is */
	size_t *at; /* its GPUs, in the order they were given */
	size_t n_at;
	char blame[GPU_WHY]; /* why a failure is the machine's, or "" */
	int xids[GPUS_XIDS]; /* told already */
	size_t n_xids;
	struct gpus_usage usage;
	double memory_now; /* bytes, while a look is read */
};

struct gpus_stay {
	struct gpus_hold *hold;
	int64_t since_ms;
	int64_t ended_ms;
	int64_t need_seq; /* of a look that counts; INT64_MAX = ask for one */
	int64_t *pids; /* seen of it here */
	size_t n_pids;
	int64_t *strange; /* not to be seen from here even before the end */
	size_t n_strange;
	int64_t before; /* memory in use when it came */
	int64_t level; /* memory when it last moved */
	int64_t level_ms;
	int level_looks;
	int64_t last; /* memory at the last look of the gate */
};

enum gpus_health { HEALTH_OK, HEALTH_SUSPECT, HEALTH_QUARANTINED };

enum gpus_news {
	NEWS_FOREIGN,
	NEWS_SUSPECT,
	NEWS_QUARANTINED,
	NEWS_BACK,
	NEWS_GONE,
	NEWS_N
};

struct gpus_gpu {
	struct gpu_seen seen; /* a copy, with its processes */
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
	struct gpus_stay *stays;
	size_t n_stays;
	int64_t base; /* memory in use without us, -1 = not known */
	/* others */
	bool foreign;
	bool foreign_told;
	char foreign_why[GPU_WHY];
	/* health */
	enum gpus_health health;
	char why[GPU_WHY];
	bool leaking; /* needs its memory back, too */
	int passes, need; /* clean probes, and how many it needs */
	int step; /* of the back-off */
	bool probing;
	int64_t probe_ms; /* the next one */
	int64_t streak[GPUS_STREAK]; /* trials that failed at once */
	size_t n_streak;
	int xids[GPUS_XIDS]; /* told while no trial was on it */
	size_t n_xids;
	int64_t told_ms[NEWS_N]; /* 0 = never */
	/* what was last shown */
	enum gpu_state state;
	char state_why[GPU_WHY];
	int trials;
	int64_t changed_ms;
};

struct gpus {
	int per_trial, share;
	int64_t memory, busy_memory;
	struct gpus_hooks hooks;
	bool all; /* those that appear are to be used, too */
	struct gpus_gpu *gpu;
	size_t n;
	struct gpus_hold **hold;
	size_t n_holds;
	enum gpu_source source; /* the best there was */
	bool born; /* gpus_new has returned */
	bool unknown; /* the driver does not answer now */
	bool unknown_told;
	int64_t unknown_ms; /* last told */
	char unknown_why[GPU_WHY];
	int64_t asked, answered; /* seq */
	int64_t look_ms; /* of the last look, also one that saw nothing */
};

/* gpualloc.c: the ledger */
/* One that was not there before. */
void gpus_add(struct gpus *, const struct gpu_seen *);
struct gpus_hold *gpus_find(const struct gpus *, const char *key);
struct gpus_hold *
gpus_hold_new(struct gpus *, const char *key, int64_t trial, int attempt);
void gpus_stay_add(struct gpus *, struct gpus_hold *, size_t i, int64_t now_ms);
/* Its stay j is over; the last one gives the reservation back. */
void gpus_stay_drop(struct gpus *, struct gpus_gpu *, size_t j);
/* Stays of attempts that have not ended. */
int gpus_live(const struct gpus_gpu *);
bool gpus_ours(const struct gpus_gpu *, const struct gpu_process *);
void gpus_note(struct gpus *, bool warn, const struct gpus_hold *, const char *,
    ...) __attribute__((format(printf, 4, 5)));
/* Whether such news of a GPU may be told now. */
bool gpus_may_tell(struct gpus_gpu *, enum gpus_news, int64_t now_ms);
/* "29.0 GiB" */
const char *gpus_size(char *text, size_t n, int64_t bytes);

/* gpualloc-observe.c */
/* Whose the processes are that were seen on GPU i. */
void gpus_whose(struct gpus *, size_t i, int64_t now_ms);

/* gpualloc-state.c */
/* State of one GPU, told when it is new. */
void gpus_update(struct gpus *, size_t i, int64_t now_ms);
void gpus_update_all(struct gpus *, int64_t now_ms);

/* gpualloc-release.c */
void gpus_gate(struct gpus *, size_t i, int64_t seq, int64_t now_ms);
/* Whether the memory in use is what it was without us. */
bool gpus_memory_back(const struct gpus *, const struct gpus_gpu *);

/* gpualloc-health.c */
void gpus_suspect(struct gpus *, struct gpus_gpu *, int64_t now_ms,
    const char *, ...) __attribute__((format(printf, 4, 5)));
void gpus_quarantine(struct gpus *, struct gpus_gpu *, int64_t now_ms,
    const char *, ...) __attribute__((format(printf, 4, 5)));
/* Whoever is on it may say that the machine was at fault. */
void gpus_blame(struct gpus_gpu *, const char *why);
void gpus_shown_again(struct gpus *, struct gpus_gpu *, int64_t now_ms);
void gpus_health_see(struct gpus *, struct gpus_gpu *, int64_t now_ms);
void gpus_health_tick(struct gpus *, struct gpus_gpu *, int64_t now_ms);
void gpus_faults(struct gpus *, const struct gpu_look *, int64_t now_ms);
/* An attempt has ended there: count failures in a row. */
void gpus_streak(struct gpus *, struct gpus_gpu *, int64_t trial,
    const struct gpus_end *, int64_t now_ms);

/* gpualloc-usage.c */
void gpus_usage_begin(struct gpus_hold *);
/* A GPU was seen: from what it was to what it is now. */
void gpus_usage_see(
    struct gpus *, size_t i, const struct gpu_seen *now, int64_t now_ms);
/* All GPUs of a look were seen. */
void gpus_usage_seen(struct gpus *);
/* The time since the last look, as its numbers were. */
void gpus_usage_end(struct gpus *, struct gpus_hold *, int64_t now_ms);

#endif /* HPOTUNE_GPUALLOC_INTERNAL_H */
