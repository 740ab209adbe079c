/* The machine of gpu-random-model.h. */

#include <stdio.h>
#include <string.h>

#include "tests/support/gpu/gpu-random-model.h"

uint32_t
gpu_random_model_any(struct gpu_random_model *w, uint32_t n)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return (uint32_t)(w->random >> 11) % n;
}

void
gpu_random_model_check(struct gpu_random_model *w, bool good, const char *what)
{
	if (!good && w->wrong == NULL)
		w->wrong = what;
}

static size_t
which(const char *uuid)
{
	return (size_t)(uuid[4] - '0');
}

static bool
book(void *arg, const char *uuid, char *who, size_t n)
{
	struct gpu_random_model *w = arg;
	size_t i = which(uuid);

	snprintf(who, n, "x");
	gpu_random_model_check(w, !w->booked[i], "booked twice");
	w->booked[i] = !w->other[i];
	return w->booked[i];
}

static void
unbook(void *arg, const char *uuid)
{
	struct gpu_random_model *w = arg;
	size_t i = which(uuid), k, j;

	gpu_random_model_check(w, w->booked[i], "given back and not booked");
	w->booked[i] = false;
	for (k = 0; k < TRIALS; k++)
		for (j = 0; w->trial[k].live && j < w->trial[k].n; j++)
			gpu_random_model_check(w, w->trial[k].at[j] != i,
			    "given back under a trial");
}

static void
note(void *arg, bool warn, int64_t trial, int attempt, const char *text)
{
	struct gpu_random_model *w = arg;

	(void)warn;
	(void)trial;
	(void)attempt;
	gpu_random_model_check(
	    w, *text != '\0' && strchr(text, '\n') == NULL, "a bad note");
}

void
gpu_random_model_show(struct gpu_random_model *w, size_t i)
{
	struct gpualloc_view v;

	gpualloc_at(w->g, i, &v);
	w->shown[i] = v.state;
	w->shown_trials[i] = v.trials;
}

static void
changed(void *arg, size_t i)
{
	struct gpu_random_model *w = arg;

	gpu_random_model_show(w, i);
}

static void
probe(void *arg, const char *uuid)
{
	struct gpu_random_model *w = arg;

	gpu_random_model_check(w, !w->probing[which(uuid)], "probed twice");
	w->probing[which(uuid)] = true;
}

/* Live trials on GPU i. */
int
gpu_random_model_live(const struct gpu_random_model *w, size_t i)
{
	size_t k, j;
	int n = 0;

	for (k = 0; k < TRIALS; k++)
		for (j = 0; w->trial[k].live && j < w->trial[k].n; j++)
			n += w->trial[k].at[j] == i;
	return n;
}

static void
fill(struct gpu_device *s, const struct gpu_random_model *w,
    const struct trial *t, struct gpu_process *p)
{
	int64_t memory = (int64_t)(w->big ? 3000 : 10) << 20;

	p[s->n_processes] =
	    (struct gpu_process){ .pid = 1000 + t->number, .memory = memory };
	snprintf(p[s->n_processes].owner, GPU_OWNER, "%s", t->key);
	s->n_processes++;
	s->used += memory;
}

/* A look at the world as it was when the look was asked for. */
void
gpu_random_model_look(struct gpu_random_model *w, struct gpu_fault *fault)
{
	struct gpu_device seen[GPUS];
	struct gpu_process p[GPUS][TRIALS + 1];
	struct gpu_snapshot l = { .seq = w->pending,
		.source = w->down ? GPU_NONE : GPU_NVML,
		.gpus = seen,
		.faults = fault,
		.n_faults = fault != NULL && !w->down };
	size_t i, j, k;

	w->saw_down = w->down;
	for (i = 0; i < w->n && !w->down; i++) {
		/* When it comes back, one good probe is enough if it was well. */
		if (w->gone[i] && !w->saw_gone[i])
			w->good[i] = w->good[i] >= 2;
		w->saw_gone[i] = w->gone[i];
		if (w->gone[i])
			continue;
		w->saw_dying[i] = w->saw_full[i] = false;
		w->saw_stranger[i] = w->stranger[i];
		seen[l.n] = (struct gpu_device){ .index = (int)i,
			.node = (int)(i & 1),
			.memory = INT64_C(16384) << 20,
			.energy = w->now,
			.power = 100000,
			.utilization = 50,
			.processes = p[i] };
		snprintf(seen[l.n].uuid, GPU_UUID, "GPU-%zu", i);
		for (k = 0; k < TRIALS; k++)
			for (j = 0; j < w->before[k].n; j++)
				if (w->before[k].at[j] == i &&
				    (w->before[k].live || w->before[k].dying)) {
					fill(
					    &seen[l.n], w, &w->before[k], p[i]);
					w->saw_dying[i] |=
					    !w->trial[k].live ||
					    w->trial[k].number !=
						w->before[k].number;
				}
		if (w->stranger[i])
			p[i][seen[l.n].n_processes++] =
			    (struct gpu_process){ .pid = 7, .memory = 1 << 20 };
		l.n++;
	}
	gpualloc_observe(w->g, &l, w->now);
	w->pending = 0;
}

void
gpu_random_model_ask(struct gpu_random_model *w)
{
	if (w->pending != 0)
		return;
	w->pending = ++w->seq;
	gpualloc_observe_asked(w->g, w->pending);
	memcpy(w->before, w->trial, sizeof w->before);
}

struct gpualloc_hooks
gpu_random_model_hooks(struct gpu_random_model *w)
{
	return (struct gpualloc_hooks){ book, unbook, note, changed, probe, w };
}
