/* Snapshots as one line of JSON and in memory. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/json.h"
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
text_put(struct buf *b, const char *key, const char *text)
{
	buf_printf(b, ",\"%s\":", key);
	json_put_string(b, text);
}

static void
number_put(struct buf *b, const char *key, int64_t n)
{
	buf_printf(b, ",\"%s\":%" PRId64, key, n);
}

static void
processes_put(struct buf *b, const struct gpu_device *g)
{
	size_t i;

	buf_puts(b, ",\"processes\":[");
	for (i = 0; i < g->n_processes && i < GPU_SNAPSHOT_PROCESSES; i++)
		buf_printf(b, "%s{\"pid\":%" PRId64 ",\"memory\":%" PRId64 "}",
		    i == 0 ? "" : ",", g->processes[i].pid,
		    g->processes[i].memory);
	buf_putc(b, ']');
}

static void
seen_put(struct buf *b, const struct gpu_device *g)
{
	buf_puts(b, "{\"uuid\":");
	json_put_string(b, g->uuid);
	text_put(b, "name", g->name);
	text_put(b, "bus", g->bus);
	text_put(b, "parent", g->parent);
	text_put(b, "cpus", g->cpus);
	number_put(b, "node", g->node);
	number_put(b, "index", g->index);
	number_put(b, "minor", g->minor);
	number_put(b, "memory", g->memory);
	number_put(b, "used", g->used);
	number_put(b, "temperature", g->temperature);
	number_put(b, "utilization", g->utilization);
	number_put(b, "power", g->power);
	number_put(b, "energy", g->energy);
	number_put(b, "recovery", g->recovery);
	buf_printf(b, ",\"lost\":%s", g->lost ? "true" : "false");
	text_put(b, "why", g->why);
	processes_put(b, g);
	buf_putc(b, '}');
}

void
gpu_snapshot_write(struct buf *b, const struct gpu_snapshot *l)
{
	size_t i;

	buf_printf(b, "{\"seq\":%" PRId64 ",\"source\":\"%s\"", l->seq,
	    gpu_source_names[l->source]);
	text_put(b, "driver", l->driver);
	text_put(b, "why", l->why);
	buf_puts(b, ",\"gpus\":[");
	for (i = 0; i < l->n && i < GPU_SNAPSHOT_GPUS; i++) {
		if (i > 0)
			buf_putc(b, ',');
		seen_put(b, &l->gpus[i]);
	}
	buf_puts(b, "],\"faults\":[");
	for (i = 0; i < l->n_faults && i < GPU_SNAPSHOT_FAULTS; i++) {
		buf_puts(b, i == 0 ? "{\"uuid\":" : ",{\"uuid\":");
		json_put_string(b, l->faults[i].uuid);
		buf_printf(b, ",\"xid\":%d}", l->faults[i].xid);
	}
	buf_puts(b, "]}");
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

void
gpu_snapshot_device_init(struct gpu_device *g)
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
	gpu_snapshot_device_init(g);
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
