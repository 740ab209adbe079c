/* The monitor, as its health probes see it. */

#ifndef HPOTUNE_GPU_MONITOR_INTERNAL_H
#define HPOTUNE_GPU_MONITOR_INTERNAL_H

#include "src/base/mem.h"
#include "trials/gpu/gpu-monitor.h"

struct coproc;
struct gpu_health_probe;
struct loop_timer;

struct gpu_monitor {
	struct loop *loop;
	char *program;
	gpu_monitor_cb *cb;
	void *arg;
	struct coproc *peer; /* NULL: not started */
	struct buf heard; /* incomplete line */
	struct loop_timer *limit; /* time limit of the pending query */
	struct loop_timer *again; /* delays the next start */
	int64_t seq; /* of the last query */
	int64_t asked; /* pending query, 0 = none */
	int64_t waiting; /* query not sent yet, 0 = none */
	/* time of the last answer of this process, 0 = none */
	int64_t answered_ms;
	int64_t pause_ms; /* delay of the next start */
	int64_t patience_ms;
	char *why; /* why it was killed */
	struct gpu_health_probe *probes;
};

#endif /* HPOTUNE_GPU_MONITOR_INTERNAL_H */
