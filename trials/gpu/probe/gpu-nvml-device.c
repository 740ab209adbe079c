/*
 * Variable values of one GPU: memory, processes, temperature, health.  Values
 * that cannot be queried stay unknown; a lost GPU fails at the first query.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "trials/gpu/probe/gpu-nvml-internal.h"
#include "trials/gpu/gpu-snapshot-build.h"

/*
 * pids of Linux end at 2^22.  A larger one, or 0, means that the driver's
 * records are not of the size that was agreed on.
 */
enum { PID_MOST = 1 << 22, ROOM_MORE = 16, TRIES_MOST = 8 };

static void
lost_set(const struct nvml *nv, struct gpu_device *g, int answer)
{
	g->lost = true;
	gpu_snapshot_set_text(
	    g->why, sizeof g->why, gpu_nvml_error_text(nv, answer));
}

/*
 * Record what a return code means for the health of the GPU; true if it is
 * success.
 */
static bool
answer_good(const struct nvml *nv, struct gpu_device *g, int answer)
{
	if (answer == NVML_LOST || answer == NVML_RESET_REQUIRED)
		lost_set(nv, g, answer);
	return answer == NVML_OK;
}

/*
 * The same for a value without which the GPU cannot be called free: the code
 * must be success or "not supported".
 */
static bool
answer_needed(
    const struct nvml *nv, struct gpu_device *g, int answer, const char *what)
{
	if (answer == NVML_OK)
		return true;
	if (answer == NVML_NO_PERMISSION || answer == NVML_TOO_SMALL)
		(void)snprintf(g->why, sizeof g->why, "%s: %.100s", what,
		    gpu_nvml_error_text(nv, answer));
	else if (answer != NVML_NOT_SUPPORTED)
		lost_set(nv, g, answer);
	return false;
}

static void
memory_query(
    const struct nvml *nv, struct nvml_device *device, struct gpu_device *g)
{
	struct nvml_memory m = { 0 };

	if (nv->call.memory == NULL ||
	    !answer_needed(nv, g, nv->call.memory(device, &m),
		"the driver does not report its memory"))
		return;
	g->memory = (int64_t)m.total;
	g->used = (int64_t)m.used;
}

static void
process_add(struct gpu_device *g, const struct nvml_process *from)
{
	struct gpu_process *p = NULL;
	size_t i;

	for (i = 0; i < g->n_processes; i++)
		if (g->processes[i].pid == (int64_t)from->pid)
			p = &g->processes[i];
	if (p == NULL) {
		if (g->n_processes == GPU_SNAPSHOT_PROCESSES)
			return;
		g->processes = xreallocarray(
		    g->processes, g->n_processes + 1, sizeof *g->processes);
		p = &g->processes[g->n_processes++];
		*p = (struct gpu_process){ .pid = from->pid, .memory = -1 };
	}
	if (from->memory != ~0ULL && (int64_t)from->memory > p->memory)
		p->memory = (int64_t)from->memory;
}

/*
 * The list may grow between the query for its length and the query for its
 * contents: allow for more entries and retry.
 */
static int
processes_ask(nvml_processes_fn *ask, struct nvml_device *device,
    struct nvml_process **list, unsigned int *n)
{
	unsigned int room = 0;
	int answer, tries;

	*list = NULL;
	for (tries = 0; tries < TRIES_MOST; tries++) {
		*n = room;
		answer = ask(device, n, room > 0 ? *list : NULL);
		if (answer != NVML_TOO_SMALL || *n > 1U << 20)
			return answer;
		room = 2 * (*n > room ? *n : room) + ROOM_MORE;
		/* Room for records of 32 bytes, should it write such. */
		free(*list);
		*list = xcalloc(room, 32);
	}
	return answer;
}

static void
processes_query(const struct nvml *nv, nvml_processes_fn *ask,
    struct nvml_device *device, struct gpu_device *g)
{
	struct nvml_process *list = NULL;
	unsigned int n = 0, i;
	int answer;

	if (ask == NULL)
		return;
	answer = processes_ask(ask, device, &list, &n);
	if (!answer_needed(
		nv, g, answer, "the driver does not report its processes"))
		n = 0;
	for (i = 0; i < n && list != NULL; i++)
		if (list[i].pid > 0 && list[i].pid <= PID_MOST)
			process_add(g, &list[i]);
		else
			(void)snprintf(g->why, sizeof g->why,
			    "its list of processes holds nonsense");
	free(list);
}

static void
load_query(
    const struct nvml *nv, struct nvml_device *device, struct gpu_device *g)
{
	const struct nvml_calls *c = &nv->call;
	struct nvml_utilization load;
	unsigned long long energy;
	unsigned int n;

	if (c->temperature != NULL &&
	    answer_good(nv, g, c->temperature(device, 0, &n)) && n < 1000)
		g->temperature = (int)n;
	if (c->utilization != NULL &&
	    answer_good(nv, g, c->utilization(device, &load)))
		g->utilization = load.gpu > 100 ? 100 : (int)load.gpu;
	if (c->power != NULL && answer_good(nv, g, c->power(device, &n)))
		g->power = n;
	if (c->energy != NULL && answer_good(nv, g, c->energy(device, &energy)))
		g->energy = (int64_t)energy;
}

static void
recovery_query(
    const struct nvml *nv, struct nvml_device *device, struct gpu_device *g)
{
	struct nvml_field f = { .field = NVML_FIELD_RECOVERY };
	static const char *const wants[] = { "", "a reset",
		"a reboot of the machine", "its peers to be left alone",
		"its peers to be left alone, and a reset",
		"its domain of machines to be recovered" };
	const int known = sizeof wants / sizeof *wants;

	if (nv->call.fields == NULL ||
	    !answer_good(nv, g, nv->call.fields(device, 1, &f)) ||
	    f.answer != NVML_OK)
		return;
	if (f.type == NVML_TYPE_UNSIGNED || f.type == NVML_TYPE_SIGNED)
		g->recovery = f.value.i;
	if (g->recovery < 0 || g->recovery > 1000)
		g->recovery = 0;
	if (g->recovery > 0 && !g->lost)
		(void)snprintf(g->why, sizeof g->why, "the driver asks for %s",
		    g->recovery < known ? wants[g->recovery] : "a recovery");
}

void
gpu_nvml_device_read(const struct nvml *nv, struct nvml_device *device,
    struct nvml_device *whole, struct gpu_device *g)
{
	memory_query(nv, device, g);
	if (!g->lost)
		processes_query(nv, nv->call.compute, device, g);
	if (!g->lost)
		processes_query(nv, nv->call.mps, device, g);
	if (!g->lost)
		load_query(nv, whole, g);
	if (!g->lost)
		recovery_query(nv, whole, g);
}
