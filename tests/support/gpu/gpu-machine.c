/* The simulated machine of gpu-machine.h: queries and snapshots. */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/gpu/gpu-machine.h"

void
gpu_rig_wrong(struct gpu_machine *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (r->why[0] == '\0')
		vsnprintf(r->why, sizeof r->why, fmt, ap);
	va_end(ap);
}

static size_t
which(const struct gpu_machine *r, const char *uuid)
{
	size_t i;

	for (i = 0; i + 1 < r->n && strcmp(r->seen[i].uuid, uuid) != 0; i++)
		;
	return i;
}

static bool
gpu_rig_book(void *arg, const char *uuid, char *who, size_t n)
{
	struct gpu_machine *r = arg;
	size_t i = which(r, uuid);

	if (r->booked[i])
		gpu_rig_wrong(r, "GPU %zu is booked twice", i);
	if (r->other[i]) {
		snprintf(who, n, "mnist of alice");
		return false;
	}
	r->booked[i] = true;
	return true;
}

static void
gpu_rig_unbook(void *arg, const char *uuid)
{
	struct gpu_machine *r = arg;
	size_t i = which(r, uuid);

	if (!r->booked[i])
		gpu_rig_wrong(r, "GPU %zu is given back and was not booked", i);
	r->booked[i] = false;
}

static void
gpu_rig_note(void *arg, bool warn, int64_t trial, int attempt, const char *text)
{
	struct gpu_machine *r = arg;

	(void)attempt;
	buf_printf(&r->notes, "%s %lld %s\n", warn ? "warn" : "info",
	    (long long)trial, text);
}

static void
gpu_rig_changed(void *arg, size_t i)
{
	struct gpu_machine *r = arg;

	if (i >= r->n)
		gpu_rig_wrong(r, "GPU %zu has changed and is not there", i);
}

static void
gpu_rig_probe(void *arg, const char *uuid)
{
	struct gpu_machine *r = arg;
	size_t i = which(r, uuid);

	if (r->probing[i])
		gpu_rig_wrong(r, "GPU %zu is probed twice", i);
	r->probing[i] = true;
}

struct gpualloc_hooks
gpu_rig_hooks(struct gpu_machine *r)
{
	return (struct gpualloc_hooks){ gpu_rig_book, gpu_rig_unbook,
		gpu_rig_note, gpu_rig_changed, gpu_rig_probe, r };
}

void
gpu_rig_look(struct gpu_machine *r, int64_t seq)
{
	struct gpu_device shown[GPU_MACHINE_GPUS];
	struct gpu_snapshot look = { .seq = seq,
		.source = r->source,
		.gpus = shown,
		.faults = r->faults,
		.n_faults = r->n_faults };
	size_t i;

	for (i = 0; i < r->n; i++) {
		if (r->gone[i])
			continue;
		shown[look.n] = r->seen[i];
		shown[look.n++].processes = r->process[i];
	}
	if (r->source == GPU_NONE) {
		look.n = look.n_faults = 0;
		snprintf(look.why, sizeof look.why, "no answer");
	}
	gpualloc_observe(r->g, &look, r->now);
	r->n_faults = 0;
}
