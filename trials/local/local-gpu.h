/*
 * The hands of the GPU manager in the local launcher: looks, locks, probes and
 * the files by which a restarted server knows who has which.  What follows
 * from a look is decided in gpualloc.c alone.
 */

#ifndef HPOTUNE_LOCAL_GPU_H
#define HPOTUNE_LOCAL_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trials/gpu/allocator/gpualloc.h"

struct buf;
struct claim_exit;
struct err;
struct launch_env;
struct launch_event;
struct launch_spec;
struct local;
struct local_attempt;
struct local_gpus;
struct option_value;
struct study_trial;

/*
 * local-gpu-request.c: which GPUs a study wants, and what it wants of them.
 * Free it with local_want_free, also after an error.
 */
struct local_want {
	struct gpu_look look; /* the first one */
	char **only; /* UUIDs; NULL = all there are */
	size_t n_only;
	size_t n; /* GPUs that may be used */
	int per_trial; /* 0: trials without GPUs */
	int share;
	bool simulated;
};
int local_want_read(struct local_want *, const struct study_trial *,
    const struct option_value *, struct err *);
void local_want_free(struct local_want *);
/* Whether a visible list (CUDA_VISIBLE_DEVICES) is of these: as CUDA reads it. */
void local_want_visible(struct local_want *, const char *visible);

/*
 * local-gpu-plan.c: how many trials they hold, and in words; 0: trials have
 * none; -1: they cannot have what they want.
 */
int64_t local_gpus_plan(const struct study_trial *, const struct option_value *,
    struct buf *, struct err *);

/* local-gpu.c: in open and close of the launcher; never NULL after. */
int local_gpus_open(struct local *, const struct launch_env *, struct err *);
void local_gpus_close(struct local *);
/* Attempts at most; -1: trials have no GPUs. */
int64_t local_gpus_places(const struct local *);
bool local_gpus_ready(void *, int slot, char *why, size_t n);
bool
local_gpus_take(void *, int64_t trial, int attempt, int slot, const char *uuid);
/* An attempt that is about to start has its GPUs; ERR_BUSY: not now. */
int local_gpus_begin(struct local *, const struct launch_spec *, struct err *);
/* It did not start after all. */
void local_gpus_undo(struct local *, int slot, const char *uuid);
/* What an attempt from before our start holds, by the file in its folder. */
void
local_gpus_adopt(struct local *, const struct launch_spec *, const char *dir);
void local_gpus_reported(struct local_attempt *);
/* It is there: how many GPUs it has is told at once. */
void local_gpus_up(struct local_attempt *);
/* Whether its end must wait for a look that may say what it died of. */
bool local_gpus_late(struct local_attempt *, const struct claim_exit *);
/* Its end is about to be told: what it used, whose fault it was. */
void local_gpus_ended(struct local_attempt *, struct launch_event *);
/* Inside collect: before, and after, the attempts were looked at. */
void local_gpus_hear(struct local *);
void local_gpus_tell(struct local *);

/*
 * Who holds them: the attempt, or, where one program has several, its place.
 */
struct local_key {
	char text[GPU_OWNER];
};
const char *
local_key(struct local_key *, const struct local *, int slot, const char *uuid);

/* local-gpu-names.c: how an attempt is told of its GPUs. */
enum local_gpu_name {
	LOCAL_GPU_UUID,
	LOCAL_GPU_INDEX, /* a slice has its UUID here too */
	LOCAL_GPU_VISIBLE /* as CUDA_VISIBLE_DEVICES wants them */
};
/* Joined by commas; nothing when it has none. */
void local_gpus_put(const struct local *, const char *key, enum local_gpu_name,
    const char *comma, struct buf *);
size_t local_gpus_count(const struct local *, const char *key);
/* The cores it is bound to, "" = any; borrowed until the next call. */
const char *local_gpus_cpus(const struct local *, const char *key);
/* Descriptors whose copies in a supervisor keep its GPUs reserved. */
struct local_locks {
	int *fd; /* to be freed; each is at least 3 + n */
	size_t n;
};
struct local_locks local_gpus_locks(const struct local *, const char *key);

/* local-gpu-pack.c: several trials in one program, on the GPUs of its place. */
/* Whether its place lets another one in; false: it has no GPUs yet. */
bool local_place_holds(
    const struct local *, int slot, bool *ready, char *why, size_t n);
/* Somebody comes or goes: what was used up to now is of those who are there. */
void local_place_share(struct local *, int slot);
/* What an attempt has used of the GPUs of its place. */
bool local_place_usage(struct local_attempt *, struct gpus_usage *);
/* Whether a failure there may be that of a GPU: why, one clause. */
bool local_place_blame(const struct local *, int slot, char *why, size_t n);
/* Give back what places have that nobody lives in any more. */
void local_places_tend(struct local *);

/*
 * local-gpu-mps.c: "NAME=VALUE" words for an attempt that shares its GPU through
 * MPS; NULL: it does not.  Free with local_env_free.
 */
char **local_mps_env(
    const struct local *, const char *key, const struct study_trial *);

/* local-gpu-owner.c: whose a process on a GPU is. */
struct local_owners;
struct local_owners *local_owners_new(void);
void local_owners_free(struct local_owners *);
/* Fill owner and gone of all processes of a look. */
void local_owners_fill(
    struct local_owners *, const struct local *, struct gpu_look *);

#endif /* HPOTUNE_LOCAL_GPU_H */
