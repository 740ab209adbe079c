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
struct attempt_exit;
struct err;
struct launch_env;
struct launch_event;
struct launch_spec;
struct local;
struct local_attempt;
struct local_gpu;
struct option_value;
struct study_trial;

/*
 * local-gpu-request.c: which GPUs a study wants, and what it wants of them.
 * Free it with local_gpu_request_free, also after an error.
 */
struct local_gpu_request {
	struct gpu_snapshot look; /* the first one */
	char **only; /* UUIDs; NULL = all there are */
	size_t n_only;
	size_t n; /* GPUs that may be used */
	int per_trial; /* 0: trials without GPUs */
	int share;
	bool simulated;
};
int local_gpu_request_read(struct local_gpu_request *,
    const struct study_trial *, const struct option_value *, struct err *);
void local_gpu_request_free(struct local_gpu_request *);
/* Whether a visible list (CUDA_VISIBLE_DEVICES) is of these: as CUDA reads it. */
void local_gpu_request_visible(struct local_gpu_request *, const char *visible);

/*
 * local-gpu-plan.c: how many trials they hold, and in words; 0: trials have
 * none; -1: they cannot have what they want.
 */
int64_t local_gpu_plan(const struct study_trial *, const struct option_value *,
    struct buf *, struct err *);

/* local-gpu.c: in open and close of the launcher; never NULL after. */
int local_gpu_open(struct local *, const struct launch_env *, struct err *);
void local_gpu_close(struct local *);
/* Attempts at most; -1: trials have no GPUs. */
int64_t local_gpu_capacity(const struct local *);
bool local_gpu_ready(void *, int slot, char *why, size_t n);
bool
local_gpu_take(void *, int64_t trial, int attempt, int slot, const char *uuid);
/* An attempt that is about to start has its GPUs; ERR_BUSY: not now. */
int local_gpu_begin(struct local *, const struct launch_spec *, struct err *);
/* It did not start after all. */
void local_gpu_undo(struct local *, int slot, const char *uuid);
/* What an attempt from before our start holds, by the file in its folder. */
void local_gpu_names_adopt(
    struct local *, const struct launch_spec *, const char *dir);
void local_gpu_reported(struct local_attempt *);
/* It is there: how many GPUs it has is told at once. */
void local_gpu_started(struct local_attempt *);
/* Whether its end must wait for a look that may say what it died of. */
bool local_gpu_end_waits(struct local_attempt *, const struct attempt_exit *);
/* Its end is about to be told: what it used, whose fault it was. */
void local_gpu_ended(struct local_attempt *, struct launch_event *);
/* Inside collect: before, and after, the attempts were looked at. */
void local_gpu_collect(struct local *);
void local_gpu_events_flush(struct local *);

/*
 * Who holds them: the attempt, or, where one program has several, its place.
 */
struct local_gpu_key {
	char text[GPU_OWNER];
};
const char *local_gpu_key(
    struct local_gpu_key *, const struct local *, int slot, const char *uuid);

/* local-gpu-names.c: how an attempt is told of its GPUs. */
enum local_gpu_name {
	LOCAL_GPU_UUID,
	LOCAL_GPU_INDEX, /* a slice has its UUID here too */
	LOCAL_GPU_VISIBLE /* as CUDA_VISIBLE_DEVICES wants them */
};
/* Joined by commas; nothing when it has none. */
void local_gpu_names_put(const struct local *, const char *key,
    enum local_gpu_name, const char *comma, struct buf *);
size_t local_gpu_names_count(const struct local *, const char *key);
/* The cores it is bound to, "" = any; borrowed until the next call. */
const char *local_gpu_names_cpus(const struct local *, const char *key);
/* Descriptors whose copies in a supervisor keep its GPUs reserved. */
struct local_gpu_lock_fds {
	int *fd; /* to be freed; each is at least 3 + n */
	size_t n;
};
struct local_gpu_lock_fds
local_gpu_names_lock_fds(const struct local *, const char *key);

/* local-gpu-pack.c: several trials in one program, on the GPUs of its place. */
/* Whether its place lets another one in; false: it has no GPUs yet. */
bool local_gpu_pack_admits(
    const struct local *, int slot, bool *ready, char *why, size_t n);
/* Somebody comes or goes: what was used up to now is of those who are there. */
void local_gpu_pack_charge(struct local *, int slot);
/* What an attempt has used of the GPUs of its place. */
bool local_gpu_pack_usage(struct local_attempt *, struct gpualloc_usage *);
/* Whether a failure there may be that of a GPU: why, one clause. */
bool local_gpu_pack_blame(const struct local *, int slot, char *why, size_t n);
/* Give back what places have that nobody lives in any more. */
void local_gpu_pack_release(struct local *);

/*
 * local-gpu-mps.c: "NAME=VALUE" words for an attempt that shares its GPU through
 * MPS; NULL: it does not.  Free with local_env_free.
 */
char **local_gpu_mps_env(
    const struct local *, const char *key, const struct study_trial *);

/* local-gpu-owner.c: whose a process on a GPU is. */
struct local_gpu_owners;
struct local_gpu_owners *local_gpu_owners_new(void);
void local_gpu_owners_free(struct local_gpu_owners *);
/* Fill owner and gone of all processes of a look. */
void local_gpu_owners_fill(
    struct local_gpu_owners *, const struct local *, struct gpu_snapshot *);

#endif /* HPOTUNE_LOCAL_GPU_H */
