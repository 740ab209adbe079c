/*
 * Simulated GPUs: round numbers, equal for each step, so that sums can be
 * checked by hand.
 */

#include <stdio.h>

#include "trials/pretend/pretend.h"

#define STEP_J 100.0
#define STEP_S 1.0 /* GPU seconds measured per step */
#define STEP_BUSY_S 0.6
#define TRIAL_BYTES (INT64_C(2) << 30)
#define GPU_BYTES (INT64_C(16) << 30)
#define IDLE_W 50

void
pretend_gpus_use(struct gpu_usage *u, size_t steps)
{
	if (u->gpus == 0)
		*u = (struct gpu_usage){ .gpus = 1 };
	u->energy += STEP_J * (double)steps;
	u->busy += STEP_BUSY_S * (double)steps;
	u->seen += STEP_S * (double)steps;
	if (steps > 0)
		u->memory = (double)TRIAL_BYTES;
}

void
pretend_gpus_show(struct gpu_status *g, int i, int trials, char uuid[24])
{
	(void)snprintf(uuid, 24, "PRETEND-%d", i);
	*g = (struct gpu_status){
		.index = i,
		.uuid = uuid,
		.name = "pretended",
		.state = trials > 0 ? "held" : "free",
		.why = "",
		.owner = "",
		.trials = trials,
		.memory = GPU_BYTES,
		.used = trials * TRIAL_BYTES,
		.temperature = trials > 0 ? 60 : 30,
		.utilization = trials > 0 ? 60 : 0,
		.power = IDLE_W + trials * STEP_J / STEP_S,
	};
}
