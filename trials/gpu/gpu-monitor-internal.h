/* What the two files of the watch share. */

#ifndef HPOTUNE_GPU_MONITOR_INTERNAL_H
#define HPOTUNE_GPU_MONITOR_INTERNAL_H

#include "src/base/mem.h"
#include "trials/gpu/gpu-monitor.h"

struct gpu_health_probe;
struct loop_timer;
struct coproc;

struct gpu_monitor {
	struct loop *loop;
	char *program;
	gpu_monitor_cb *cb;
	void *arg;
	struct coproc *peer; /* NULL: not started */
	struct buf heard; /* of a line */
	struct loop_timer *limit; /* for the look in flight */
	struct loop_timer *again; /* until it may be started again */
	int64_t seq; /* of the last question */
	int64_t asked; /* in flight, 0 = none */
	int64_t waiting; /* not sent yet, 0 = none */
	int64_t answered_ms; /* the last answer of this program, 0 = none */
	int64_t pause_ms; /* before the next start */
	int64_t patience_ms;
	char *why; /* it was killed */
	struct gpu_health_probe *probes;
};

/* gpu-health-probe.c */
void gpu_health_probes_end(struct gpu_monitor *);

#endif /* HPOTUNE_GPU_MONITOR_INTERNAL_H */
