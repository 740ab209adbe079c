/* Snapshots as one line of JSON and in memory. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/json-writer.h"
#include "src/base/mem.h"
#include "trials/gpu/gpu-snapshot-build.h"
#include "trials/gpu/gpu-snapshot.h"

const char *const gpu_source_names[] = {
	[GPU_NONE] = "none",
	[GPU_NVML] = "nvml",
	[GPU_PROC] = "proc",
	[GPU_SIMULATED] = "simulated",
	NULL,
};

static void
gpu_snapshot_processes_put(struct json_writer *o, const struct gpu_device *g)
{
	size_t i;

	json_writer_array(o, "processes");
	for (i = 0; i < g->n_processes && i < GPU_SNAPSHOT_PROCESSES; i++) {
		json_writer_object(o, NULL);
		json_writer_integer(o, "pid", g->processes[i].pid);
		json_writer_integer(o, "memory", g->processes[i].memory);
		json_writer_end(o);
	}
	json_writer_end(o);
}

static void
device_put(struct json_writer *o, const struct gpu_device *g)
{
	json_writer_object(o, NULL);
	json_writer_text(o, "uuid", g->uuid);
	json_writer_text(o, "name", g->name);
	json_writer_text(o, "bus", g->bus);
	json_writer_text(o, "parent", g->parent);
	json_writer_text(o, "cpus", g->cpus);
	json_writer_integer(o, "node", g->node);
	json_writer_integer(o, "index", g->index);
	json_writer_integer(o, "minor", g->minor);
	json_writer_integer(o, "memory", g->memory);
	json_writer_integer(o, "used", g->used);
	json_writer_integer(o, "temperature", g->temperature);
	json_writer_integer(o, "utilization", g->utilization);
	json_writer_integer(o, "power", g->power);
	json_writer_integer(o, "energy", g->energy);
	json_writer_integer(o, "recovery", g->recovery);
	json_writer_bool(o, "lost", g->lost);
	json_writer_text(o, "why", g->why);
	gpu_snapshot_processes_put(o, g);
	json_writer_end(o);
}

void
gpu_snapshot_write(struct buf *b, const struct gpu_snapshot *l)
{
	struct json_writer o = { .out = b };
	size_t i;

	json_writer_object(&o, NULL);
	json_writer_integer(&o, "seq", l->seq);
	json_writer_text(&o, "source", gpu_source_names[l->source]);
	json_writer_text(&o, "driver", l->driver);
	json_writer_text(&o, "why", l->why);
	json_writer_array(&o, "gpus");
	for (i = 0; i < l->n && i < GPU_SNAPSHOT_GPUS; i++)
		device_put(&o, &l->gpus[i]);
	json_writer_end(&o);
	json_writer_array(&o, "faults");
	for (i = 0; i < l->n_faults && i < GPU_SNAPSHOT_FAULTS; i++) {
		json_writer_object(&o, NULL);
		json_writer_text(&o, "uuid", l->faults[i].uuid);
		json_writer_integer(&o, "xid", l->faults[i].xid);
		json_writer_end(&o);
	}
	json_writer_end(&o);
	json_writer_end(&o);
}

void
gpu_snapshot_free(struct gpu_snapshot *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		free(l->gpus[i].processes);
	free(l->gpus);
	free(l->faults);
	*l = (struct gpu_snapshot){ 0 };
}

/* A copy of n elements; NULL for none. */
static void *
array_copy(const void *from, size_t n, size_t size)
{
	void *to;

	if (n == 0)
		return NULL;
	to = xreallocarray(NULL, n, size);
	memcpy(to, from, n * size);
	return to;
}

void
gpu_snapshot_copy(struct gpu_snapshot *to, const struct gpu_snapshot *from)
{
	size_t i;

	*to = *from;
	to->gpus = array_copy(from->gpus, from->n, sizeof *from->gpus);
	to->faults =
	    array_copy(from->faults, from->n_faults, sizeof *from->faults);
	for (i = 0; i < to->n; i++)
		to->gpus[i].processes = array_copy(from->gpus[i].processes,
		    from->gpus[i].n_processes, sizeof *from->gpus[i].processes);
}

/* Set all fields to unknown. */
static void
device_init(struct gpu_device *g)
{
	*g = (struct gpu_device){ .node = -1,
		.index = -1,
		.minor = -1,
		.memory = -1,
		.used = -1,
		.temperature = -1,
		.utilization = -1,
		.power = -1,
		.energy = -1 };
}

void
gpu_snapshot_simulate(struct gpu_snapshot *l, int n, int64_t memory)
{
	int i;

	*l = (struct gpu_snapshot){ .source = GPU_SIMULATED };
	if (n > GPU_SNAPSHOT_GPUS)
		n = GPU_SNAPSHOT_GPUS;
	for (i = 0; i < n; i++) {
		struct gpu_device *g = gpu_snapshot_add(l);

		g->index = i;
		(void)snprintf(g->uuid, sizeof g->uuid, "SIM-%d", i);
		(void)snprintf(g->name, sizeof g->name, "simulated GPU");
		g->memory = memory;
		g->used = 0;
	}
}

struct gpu_device *
gpu_snapshot_add(struct gpu_snapshot *l)
{
	struct gpu_device *g;

	l->gpus = xreallocarray(l->gpus, l->n + 1, sizeof *l->gpus);
	g = &l->gpus[l->n++];
	device_init(g);
	return g;
}

void
gpu_snapshot_set_text(char *to, size_t n, const char *from)
{
	size_t i;

	for (i = 0; i + 1 < n && from[i] != '\0'; i++)
		to[i] = from[i];
	to[i] = '\0';
	for (i = 0; to[i] != '\0'; i++)
		if (to[i] < ' ' || to[i] > '~')
			to[i] = '?';
}
