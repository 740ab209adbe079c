/*
 * "hpotune-gpu watch" on the event loop: one snapshot per query.  A process
 * that exited or hangs is restarted with growing delays.
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
 * look is borrowed until the callback returns; NULL: the pending query failed,
 * see why; a waiting query stays.  The callback must not free the monitor.
 */
typedef void
gpu_monitor_cb(void *arg, const struct gpu_snapshot *look, const char *why);

int gpu_monitor_new(struct gpu_monitor **, struct loop *, gpu_monitor_cb *,
    void *arg, struct err *);
void gpu_monitor_free(struct gpu_monitor *);
/*
 * Request a snapshot that is taken after this call; returns its seq.  While a
 * query is pending, further ones wait and are merged into one.
 */
int64_t gpu_monitor_ask(struct gpu_monitor *);
/*
 * For tests: the limit of a query; one that opens NVML gets six times as long.
 */
void gpu_monitor_patience(struct gpu_monitor *, int64_t ms);

#endif /* HPOTUNE_GPU_MONITOR_H */
