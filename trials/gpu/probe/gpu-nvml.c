/*
 * A session with NVML.  GPUs are identified by their index in PCI order, and by
 * their last UUID once they have fallen off the bus.  Variable values of one
 * GPU: memory, processes, temperature, health.  Values that cannot be queried
 * stay unknown; a lost GPU fails at the first query.
 */

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "trials/gpu/gpu-snapshot-build.h"
#include "trials/gpu/gpu-snapshot.h"
#include "trials/gpu/gpu-sysfs.h"
#include "trials/gpu/probe/gpu-nvml-dl.h"
#include "trials/gpu/probe/gpu-nvml.h"

/* Constant properties of a GPU, cached. */
struct nvml_known {
	struct nvml_device *device;
	char uuid[GPU_UUID];
	char name[GPU_NAME];
	char bus[GPU_BUS];
	char cpus[GPU_CPUS];
	int node, minor;
	bool watched; /* its fault events are registered, if supported */
};

struct nvml {
	void *so;
	struct nvml_calls call;
	struct nvml_events *events; /* NULL: no fault events */
	struct nvml_known *known; /* by index */
	size_t n_known;
};

/*
 * pids of Linux end at 2^22.  A larger one, or 0, means that the driver's
 * records are not of the size that was agreed on.
 */
enum { PID_MOST = 1 << 22, ROOM_MORE = 16, TRIES_MOST = 8 };

/* Description of an NVML error: one clause.  Borrowed. */
static const char *
nvml_error_text(const struct nvml *nv, int error)
{
	const char *text;

	switch (error) {
	case NVML_NO_DRIVER:
		return "the NVIDIA driver is not loaded";
	case NVML_LOST:
		return "it has fallen off the bus: reboot the machine";
	case NVML_RESET_REQUIRED:
		return "it must be reset (nvidia-smi --gpu-reset)";
	case NVML_MISMATCH:
		return "the loaded NVIDIA driver is not of the version of its "
		       "libraries: reboot the machine";
	case NVML_NO_PERMISSION:
		return "no permission to use the NVIDIA driver";
	}
	text = nv->call.error != NULL ? nv->call.error(error) : NULL;
	return text != NULL ? text : "NVML failed";
}

static void
lost_set(const struct nvml *nv, struct gpu_device *g, int answer)
{
	g->lost = true;
	gpu_snapshot_set_text(
	    g->why, sizeof g->why, nvml_error_text(nv, answer));
}

/*
 * Record what a return code means for the health of the GPU; true if it is
 * success.
 */
static bool
nvml_answer_good(const struct nvml *nv, struct gpu_device *g, int answer)
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
		    nvml_error_text(nv, answer));
	else if (answer != NVML_NOT_SUPPORTED)
		lost_set(nv, g, answer);
	return false;
}

/*
 * What the driver reserves for itself is no part of the memory that a GPU has for
 * processes, nor used by one; false: the driver cannot tell it apart.
 */
static bool
memory_query_v2(
    const struct nvml *nv, struct nvml_device *device, struct gpu_device *g)
{
	struct nvml_memory_v2 m = { .version = NVML_MEMORY_V2 };

	if (nv->call.memory_v2 == NULL ||
	    nv->call.memory_v2(device, &m) != NVML_OK || m.reserved > m.total)
		return false;
	g->memory = (int64_t)(m.total - m.reserved);
	g->used = (int64_t)m.used;
	return true;
}

/* Version 1 counts the reserve as used: 615 MiB on an idle H200. */
static void
memory_query(
    const struct nvml *nv, struct nvml_device *device, struct gpu_device *g)
{
	struct nvml_memory m = { 0 };

	if (memory_query_v2(nv, device, g))
		return;
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
			    "the driver's list of its processes is not "
			    "valid");
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
	    nvml_answer_good(nv, g, c->temperature(device, 0, &n)) && n < 1000)
		g->temperature = (int)n;
	if (c->utilization != NULL &&
	    nvml_answer_good(nv, g, c->utilization(device, &load)))
		g->utilization = load.gpu > 100 ? 100 : (int)load.gpu;
	if (c->power != NULL && nvml_answer_good(nv, g, c->power(device, &n)))
		g->power = n;
	if (c->energy != NULL &&
	    nvml_answer_good(nv, g, c->energy(device, &energy)))
		g->energy = (int64_t)energy;
}

static void
recovery_query(
    const struct nvml *nv, struct nvml_device *device, struct gpu_device *g)
{
	struct nvml_field f = { .field = NVML_FIELD_RECOVERY };
	static const char *const wants[] = { "", "a reset",
		"a reboot of the machine", "that its NVLink peers are unused",
		"a reset, with its NVLink peers unused",
		"a recovery of its NVLink domain" };
	const int known = sizeof wants / sizeof *wants;

	if (nv->call.fields == NULL ||
	    !nvml_answer_good(nv, g, nv->call.fields(device, 1, &f)) ||
	    f.answer != NVML_OK)
		return;
	if (f.type == NVML_TYPE_UNSIGNED || f.type == NVML_TYPE_SIGNED)
		g->recovery = f.value.i;
	if (g->recovery < 0 || g->recovery > 1000)
		g->recovery = 0;
	if (g->recovery > 0 && !g->lost)
		(void)snprintf(g->why, sizeof g->why, "the driver requests %s",
		    g->recovery < known ? wants[g->recovery] : "a recovery");
}

/*
 * Read the variable values of a GPU, or of a slice (whole: its GPU's handle).
 */
static void
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

int
gpu_nvml_open(struct nvml **out, bool *missing, struct err *e)
{
	struct nvml *nv = xcalloc(1, sizeof *nv);
	int answer;

	nv->so = gpu_nvml_dl_open(&nv->call, e);
	*missing = nv->so == NULL;
	if (nv->so == NULL) {
		free(nv);
		return -1;
	}
	if (nv->call.init_flags != NULL)
		answer = nv->call.init_flags(NVML_INIT_NO_GPUS);
	else
		answer = nv->call.init();
	if (answer != NVML_OK) {
		(void)err_set(e, ERR_REMOTE, "%s", nvml_error_text(nv, answer));
		(void)dlclose(nv->so);
		free(nv);
		return -1;
	}
	if (nv->call.events_new != NULL && nv->call.events_add != NULL &&
	    nv->call.events_wait != NULL && nv->call.events_free != NULL &&
	    nv->call.events_new(&nv->events) != NVML_OK)
		nv->events = NULL;
	*out = nv;
	return 0;
}

void
gpu_nvml_close(struct nvml *nv)
{
	if (nv == NULL)
		return;
	if (nv->events != NULL)
		(void)nv->call.events_free(nv->events);
	(void)nv->call.shutdown();
	(void)dlclose(nv->so);
	free(nv->known);
	free(nv);
}

/* Read the constant properties, once per UUID. */
static void
known_learn(const struct nvml *nv, struct nvml_known *k, const char *uuid)
{
	char text[128] = "";
	struct nvml_pci pci = { 0 };
	unsigned int minor;

	if (strcmp(k->uuid, uuid) == 0)
		return;
	*k =
	    (struct nvml_known){ .device = k->device, .node = -1, .minor = -1 };
	gpu_snapshot_set_text(k->uuid, sizeof k->uuid, uuid);
	if (nv->call.name != NULL &&
	    nv->call.name(k->device, text, sizeof text - 1) == NVML_OK)
		gpu_snapshot_set_text(k->name, sizeof k->name, text);
	if (nv->call.minor != NULL &&
	    nv->call.minor(k->device, &minor) == NVML_OK && minor < 1U << 20)
		k->minor = (int)minor;
	if (nv->call.pci != NULL && nv->call.pci(k->device, &pci) == NVML_OK) {
		pci.id[sizeof pci.id - 1] = '\0';
		gpu_sysfs_bus_name(k->bus, pci.id);
		gpu_sysfs_locality("", k->bus, k->cpus, &k->node);
	}
}

/*
 * The GPU with this index: its handle and cached properties.  A lost one may
 * not return its UUID; then it is the GPU that had this index before.
 */
static int
known_find(struct nvml *nv, unsigned int i)
{
	struct nvml_known *k;
	char uuid[GPU_UUID + 1] = "";
	int answer;

	while (nv->n_known <= i) {
		nv->known = xreallocarray(
		    nv->known, nv->n_known + 1, sizeof *nv->known);
		nv->known[nv->n_known++] =
		    (struct nvml_known){ .node = -1, .minor = -1 };
	}
	k = &nv->known[i];
	answer = nv->call.by_index(i, &k->device);
	if (answer == NVML_OK)
		answer = nv->call.uuid(k->device, uuid, GPU_UUID);
	if (answer == NVML_OK)
		known_learn(nv, k, uuid);
	if (answer == NVML_OK && !k->watched && nv->events != NULL) {
		/* A GPU without fault events is not registered again. */
		(void)nv->call.events_add(
		    k->device, NVML_EVENT_XID, nv->events);
		k->watched = true;
	}
	return answer;
}

static struct gpu_device *
nvml_seen_add(
    struct gpu_snapshot *l, const struct nvml_known *k, unsigned int index)
{
	struct gpu_device *g = gpu_snapshot_add(l);

	g->index = (int)index;
	g->minor = k->minor;
	g->node = k->node;
	gpu_snapshot_set_text(g->uuid, sizeof g->uuid, k->uuid);
	gpu_snapshot_set_text(g->name, sizeof g->name, k->name);
	gpu_snapshot_set_text(g->bus, sizeof g->bus, k->bus);
	gpu_snapshot_set_text(g->cpus, sizeof g->cpus, k->cpus);
	return g;
}

static void
slice_query(struct nvml *nv, const struct nvml_known *k, unsigned int index,
    struct nvml_device *slice, struct gpu_snapshot *l)
{
	char text[128] = "";
	struct gpu_device *g;

	if (nv->call.uuid(slice, text, GPU_UUID) != NVML_OK)
		return;
	g = nvml_seen_add(l, k, index);
	gpu_snapshot_set_text(g->parent, sizeof g->parent, g->uuid);
	gpu_snapshot_set_text(g->uuid, sizeof g->uuid, text);
	if (nv->call.name != NULL &&
	    nv->call.name(slice, text, sizeof text) == NVML_OK)
		gpu_snapshot_set_text(g->name, sizeof g->name, text);
	gpu_nvml_device_read(nv, slice, k->device, g);
}

/* The slices of a GPU in place of it; false: it is not cut. */
static bool
slices_query(struct nvml *nv, const struct nvml_known *k, unsigned int index,
    struct gpu_snapshot *l)
{
	unsigned int now = 0, pending, most = 0, i;
	struct nvml_device *slice;

	if (nv->call.mig_mode == NULL || nv->call.mig_most == NULL ||
	    nv->call.mig == NULL ||
	    nv->call.mig_mode(k->device, &now, &pending) != NVML_OK ||
	    now == 0 || nv->call.mig_most(k->device, &most) != NVML_OK)
		return false;
	for (i = 0; i < most && i < 64 && l->n < GPU_SNAPSHOT_GPUS; i++)
		if (nv->call.mig(k->device, i, &slice) == NVML_OK)
			slice_query(nv, k, index, slice, l);
	return true;
}

static void
faults_query(struct nvml *nv, struct gpu_snapshot *l)
{
	struct nvml_event ev;
	struct gpu_fault *f;
	size_t i;

	while (nv->events != NULL && l->n_faults < GPU_SNAPSHOT_FAULTS) {
		ev = (struct nvml_event){ 0 };
		if (nv->call.events_wait(nv->events, &ev, 0) != NVML_OK)
			return;
		for (i = 0; i < nv->n_known; i++)
			if (nv->known[i].device == ev.device)
				break;
		if (ev.type != NVML_EVENT_XID || i == nv->n_known ||
		    ev.data > 1U << 20)
			continue;
		l->faults = xreallocarray(
		    l->faults, l->n_faults + 1, sizeof *l->faults);
		f = &l->faults[l->n_faults++];
		gpu_snapshot_set_text(
		    f->uuid, sizeof f->uuid, nv->known[i].uuid);
		f->xid = (int)ev.data;
	}
}

static void
device_query(struct nvml *nv, unsigned int i, struct gpu_snapshot *l)
{
	int answer = known_find(nv, i);
	const struct nvml_known *k = &nv->known[i];
	struct gpu_device *g;

	if (k->uuid[0] == '\0') {
		(void)snprintf(l->why, sizeof l->why, "GPU %u: %.120s", i,
		    nvml_error_text(nv, answer));
		return;
	}
	if (answer == NVML_OK && slices_query(nv, k, i, l))
		return;
	g = nvml_seen_add(l, k, i);
	if (answer == NVML_OK) {
		gpu_nvml_device_read(nv, k->device, k->device, g);
		return;
	}
	g->lost = true;
	gpu_snapshot_set_text(
	    g->why, sizeof g->why, nvml_error_text(nv, answer));
}

int
gpu_nvml_snapshot(struct nvml *nv, struct gpu_snapshot *l, struct err *e)
{
	unsigned int n = 0, i;
	char driver[96] = "";
	int answer = nv->call.count(&n);

	if (answer != NVML_OK)
		return err_set(
		    e, ERR_REMOTE, "%s", nvml_error_text(nv, answer));
	l->source = GPU_NVML;
	if (nv->call.driver != NULL &&
	    nv->call.driver(driver, sizeof driver - 1) == NVML_OK)
		gpu_snapshot_set_text(l->driver, sizeof l->driver, driver);
	for (i = 0; i < n && l->n < GPU_SNAPSHOT_GPUS; i++)
		device_query(nv, i, l);
	faults_query(nv, l);
	return 0;
}
