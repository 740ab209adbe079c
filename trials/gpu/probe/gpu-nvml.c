/*
 * A session with NVML.  GPUs are identified by their index in PCI order, and by
 * their last UUID once they have fallen off the bus.
 */

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "trials/gpu/probe/gpu-nvml-internal.h"
#include "trials/gpu/probe/gpu-nvml.h"
#include "trials/gpu/gpu-snapshot-build.h"
#include "trials/gpu/gpu-sysfs.h"

const char *
gpu_nvml_error_text(const struct nvml *nv, int error)
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
		(void)err_set(
		    e, ERR_REMOTE, "%s", gpu_nvml_error_text(nv, answer));
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

/* The library is unloaded too: an upgraded driver has a new one. */
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
seen_add(struct gpu_snapshot *l, const struct nvml_known *k, unsigned int index)
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
	g = seen_add(l, k, index);
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
		    gpu_nvml_error_text(nv, answer));
		return;
	}
	if (answer == NVML_OK && slices_query(nv, k, i, l))
		return;
	g = seen_add(l, k, i);
	if (answer == NVML_OK) {
		gpu_nvml_device_read(nv, k->device, k->device, g);
		return;
	}
	g->lost = true;
	gpu_snapshot_set_text(
	    g->why, sizeof g->why, gpu_nvml_error_text(nv, answer));
}

int
gpu_nvml_snapshot(struct nvml *nv, struct gpu_snapshot *l, struct err *e)
{
	unsigned int n = 0, i;
	char driver[96] = "";
	int answer = nv->call.count(&n);

	if (answer != NVML_OK)
		return err_set(
		    e, ERR_REMOTE, "%s", gpu_nvml_error_text(nv, answer));
	l->source = GPU_NVML;
	if (nv->call.driver != NULL &&
	    nv->call.driver(driver, sizeof driver - 1) == NVML_OK)
		gpu_snapshot_set_text(l->driver, sizeof l->driver, driver);
	for (i = 0; i < n && l->n < GPU_SNAPSHOT_GPUS; i++)
		device_query(nv, i, l);
	faults_query(nv, l);
	return 0;
}
