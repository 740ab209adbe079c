/*
 * "hpotune-gpu watch" on the loop: a question, and in a moment its look.  A
 * program that died or hangs is started again, later each time.
 */

#ifndef HPOTUNE_GPU_MONITOR_H
#define HPOTUNE_GPU_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct gpu_snapshot;
struct gpu_monitor;
struct loop;

/*
 * look: borrowed until it returns; NULL: the one that was awaited will not
 * come, for why; a question that waits stays.  The watch is not freed inside.
 */
typedef void
gpu_monitor_cb(void *arg, const struct gpu_snapshot *look, const char *why);

int gpu_monitor_new(struct gpu_monitor **, struct loop *, gpu_monitor_cb *,
    void *arg, struct err *);
void gpu_monitor_free(struct gpu_monitor *);
/*
 * Ask for a look that begins after this call; its seq.  While one is awaited
 * another question waits its turn; questions that wait become one.
 */
int64_t gpu_monitor_ask(struct gpu_monitor *);
/* How long a look may take, for tests; one that opens NVML six times that. */
void gpu_monitor_patience(struct gpu_monitor *, int64_t ms);

/*
 * Whether a GPU works: "hpotune-gpu probe UUID" on the loop, killed after a
 * minute.  One at a time per GPU; freed with the watch.
 */
typedef void
gpu_health_probe_cb(void *arg, const char *uuid, bool good, const char *why);
int gpu_health_probe(struct gpu_monitor *, const char *uuid,
    gpu_health_probe_cb *, void *arg, struct err *);

#endif /* HPOTUNE_GPU_MONITOR_H */
