/* Health probes of GPUs. */

#ifndef HPOTUNE_GPU_HEALTH_PROBE_H
#define HPOTUNE_GPU_HEALTH_PROBE_H

#include <stdbool.h>

struct err;
struct gpu_monitor;

/*
 * Check whether a GPU works: "hpotune-gpu probe UUID" on the loop, killed after
 * a minute.  One at a time per GPU; freed with the monitor.
 */
typedef void
gpu_health_probe_cb(void *arg, const char *uuid, bool good, const char *why);
int gpu_health_probe(struct gpu_monitor *, const char *uuid,
    gpu_health_probe_cb *, void *arg, struct err *);
/* The monitor ends. */
void gpu_health_probes_end(struct gpu_monitor *);

#endif /* HPOTUNE_GPU_HEALTH_PROBE_H */
