/*
 * GPUs in the local backend: queries, locks, probes, and the files from which
 * a restarted server reads the assignment.  The decisions are in gpualloc.c.
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
struct option_value;
struct study_trial;

/*
 * local-gpu-request.c: which GPUs a study may use, and how.  Free with
 * local_gpu_request_free, also after an error.
 */
struct local_gpu_request {
	struct gpu_snapshot look; /* the first snapshot */
	char **only; /* UUIDs; NULL = all GPUs */
	size_t n_only;
	size_t n; /* number of usable GPUs */
	int per_trial; /* 0: trials without GPUs */
	int share;
	bool simulated;
	/* GPUs that CUDA_VISIBLE_DEVICES does not give, and why; "" = none */
	char hidden[240];
};
int local_gpu_request_read(struct local_gpu_request *,
    const struct study_trial *, const struct option_value *, struct err *);
void local_gpu_request_free(struct local_gpu_request *);
/*
 * Whether visible, in the format of CUDA_VISIBLE_DEVICES, selects only allowed
 * GPUs.
 */
void local_gpu_request_visible(struct local_gpu_request *, const char *visible);

/*
 * local-gpu-request.c: number of trials that the GPUs hold, with a description; 0:
 * trials use no GPUs; -1: the requested GPUs are missing.
 */
int64_t local_gpu_plan(const struct study_trial *, const struct option_value *,
    struct buf *, struct err *);

/*
 * local-gpu.c: called by open and close of the backend; l->gpu is never NULL
 * after open.
 */
int local_gpu_open(struct local *, const struct launch_env *, struct err *);
void local_gpu_close(struct local *);
/* Maximum number of attempts; -1: trials use no GPUs. */
int64_t local_gpu_capacity(const struct local *);
/* struct backend_type has expect: where trials of one GPU each share it. */
bool local_gpu_expect(void *, int64_t bytes);
/* struct backend_type has ends. */
void local_gpu_ends(void *, int64_t us);
bool local_gpu_ready(void *, int slot, char *why, size_t n);
bool local_gpu_places(void *, int64_t trial, int attempt, struct buf *names);
void local_gpu_avoid(void *, const char *uuid, bool avoid);
bool
local_gpu_take(void *, int64_t trial, int attempt, int slot, const char *uuid);
/*
 * Allocate the GPUs of an attempt before its start; ERR_BUSY: not available
 * now.
 */
int local_gpu_begin(struct local *, const struct launch_spec *, struct err *);
/* The start failed: release them. */
void local_gpu_undo(struct local *, int slot, const char *uuid);
/*
 * Register the GPUs of an attempt of an earlier server, from the file in its
 * folder.
 */
void local_gpu_names_adopt(
    struct local *, const struct launch_spec *, const char *dir);
void local_gpu_reported(struct local_attempt *);
/* The attempt has started: report how many GPUs it has. */
void local_gpu_started(struct local_attempt *);
/* Whether an attempt's end must wait for a query that may show the cause. */
bool local_gpu_end_waits(struct local_attempt *, const struct attempt_exit *);
/*
 * Before an attempt's end is sent: fill in its GPU use, and blame a faulty GPU.
 */
void local_gpu_ended(struct local_attempt *, struct launch_event *);
/* Inside collect: before the attempts are reconciled. */
void local_gpu_collect(struct local *);
/* … and after; true: count the slots again, their capacity has changed. */
bool local_gpu_flush(struct local *);

/* GPUs of a trial, as far as they are locked: 0 = none. */
int local_gpu_per_trial(const struct local *);

/* The holder of GPUs: the attempt or, for packed trials, its place. */
struct local_gpu_key {
	char text[GPU_OWNER];
};
const char *local_gpu_key(
    struct local_gpu_key *, const struct local *, int slot, const char *uuid);

/* local-gpu-names.c: formats of the GPUs of an attempt. */
enum local_gpu_name {
	LOCAL_GPU_UUID,
	LOCAL_GPU_INDEX, /* a MIG slice has its UUID here too */
	LOCAL_GPU_VISIBLE /* format of CUDA_VISIBLE_DEVICES */
};
/*
 * Append the names of a key's GPUs, separated by commas; nothing if it has
 * none.
 */
void local_gpu_names_put(const struct local *, const char *key,
    enum local_gpu_name, const char *comma, struct buf *);
size_t local_gpu_names_count(const struct local *, const char *key);
/* The CPU cores near its GPUs, "" = any; borrowed until the next call. */
const char *local_gpu_names_cpus(const struct local *, const char *key);
/*
 * Lock descriptors that a supervisor inherits, so that its GPUs stay reserved.
 */
struct local_gpu_lock_fds {
	int *fd; /* array to be freed; each descriptor is at least 3 + n */
	size_t n;
};
struct local_gpu_lock_fds
local_gpu_names_lock_fds(const struct local *, const char *key);
/*
 * local-mps.c: "NAME=VALUE" words for an attempt that shares its GPU through
 * MPS; NULL: it does not.  Free with strv_free.
 */
char **local_mps_options(
    const struct local *, const char *key, const struct study_trial *);

#endif /* HPOTUNE_LOCAL_GPU_H */
