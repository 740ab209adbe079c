/*
 * Ten thousand random events on a machine of GPUs; a simple model checks every
 * rule on the allocations.
 */

#include <stdint.h>
#include <stdlib.h>

#include "tests/support/gpu/gpu-random-model.h"
#include "tests/support/tap.h"

enum { STEPS = 10000, SEEDS = 40 };

static bool
settled(const struct gpu_random_model *w, size_t i)
{
	size_t k, j;

	for (k = 0; k < TRIALS; k++)
		for (j = 0; w->trial[k].live && j < w->trial[k].n; j++)
			if (w->trial[k].at[j] == i && !w->trial[k].reported &&
			    w->now - w->trial[k].since < 120000 && !w->big)
				return false;
	return true;
}

/*
 * Whether the needs of all trials on a GPU and of the next one are known; those that are
 * known fit beside the next one.
 */
static bool
check_expected(struct gpu_random_model *w, size_t i, int64_t next)
{
	int64_t sum = next;
	bool known = next > 0;
	size_t k, j;

	for (k = 0; k < TRIALS; k++)
		for (j = 0; w->trial[k].live && j < w->trial[k].n; j++)
			if (w->trial[k].at[j] == i) {
				sum += w->trial[k].expected;
				known = known && w->trial[k].expected > 0;
			}
	gpu_random_model_check(w,
	    next == 0 || sum <= 16384 || gpu_random_model_live(w, i) == 0,
	    "more than is expected fits");
	return known;
}

/* Every rule, for a GPU that was given to a trial just now. */
static void
check_given(struct gpu_random_model *w, size_t i, int64_t next)
{
	bool known = check_expected(w, i, next);
	size_t k, j;

	gpu_random_model_check(w, gpu_random_model_live(w, i) < w->share,
	    "more than may share it");
	gpu_random_model_check(w,
	    !w->declared || gpu_random_model_live(w, i) < 16384 / MEMORY,
	    "more than was declared fits");
	gpu_random_model_check(w, !w->saw_down, "given when nothing is seen");
	gpu_random_model_check(w, !w->saw_gone[i], "given when it is gone");
	gpu_random_model_check(
	    w, !w->saw_stranger[i], "given when it is somebody else's");
	gpu_random_model_check(
	    w, !w->saw_dying[i], "given before it was released");
	gpu_random_model_check(w, w->good[i] >= 2, "given when it is bad");
	gpu_random_model_check(
	    w, w->booked[i] && !w->other[i], "given and not booked");
	gpu_random_model_check(w, w->declared || known || settled(w, i),
	    "given before the last one settled");
	/* Whoever has ended there was looked for since. */
	for (k = 0; k < TRIALS; k++)
		for (j = 0; !w->trial[k].live && j < w->trial[k].n; j++)
			gpu_random_model_check(w,
			    w->trial[k].at[j] != i ||
				w->trial[k].last_seq < w->seq ||
				w->pending == 0,
			    "given before it was looked at");
}

static struct trial *
vacant(struct gpu_random_model *w)
{
	size_t k;

	for (k = 0; k < TRIALS; k++)
		if (!w->trial[k].live && !w->trial[k].dying)
			return &w->trial[k];
	return NULL;
}

static bool
take(struct gpu_random_model *w)
{
	struct trial *t = vacant(w);
	int64_t next = 0;
	size_t j, k;
	bool ready, got;
	char why[256];

	if (t == NULL)
		return false;
	gpualloc_tick(w->g, w->now);
	if (w->expects && gpu_random_model_any(w, 8) > 0)
		next = 1 + gpu_random_model_any(w, 9000);
	gpualloc_expect(w->g, next << 20, w->now);
	ready = gpualloc_choose_ready(w->g, why, sizeof why);
	gpu_random_model_check(
	    w, ready || why[0] != '\0', "not ready for no reason");
	*t = (struct trial){
		.number = ++w->numbers, .since = w->now, .expected = next
	};
	snprintf(t->key, sizeof t->key, "t%lld", (long long)t->number);
	got = gpualloc_choose(w->g, t->key, t->number, 1, w->now);
	gpu_random_model_check(w, ready || !got, "given when it was not ready");
	if (!got)
		return false;
	w->given++;
	t->n = gpualloc_of(w->g, t->key, t->at);
	gpu_random_model_check(
	    w, t->n == (size_t)w->per, "not as many as it wants");
	for (j = 0; j < t->n; j++) {
		for (k = 0; k < j; k++)
			gpu_random_model_check(
			    w, t->at[j] != t->at[k], "one of them twice");
		check_given(w, t->at[j], next);
	}
	t->live = true;
	return true;
}

static void
report(struct gpu_random_model *w, struct trial *t)
{
	t->reported = true;
	gpualloc_settled(w->g, t->key, w->now);
}

static void
end(struct gpu_random_model *w, struct trial *t)
{
	const struct gpualloc_end e = { .failed =
					    gpu_random_model_any(w, 4) == 0 };
	struct gpu_usage u;
	size_t at[GPUS];
	char why[GPU_WHY];

	gpu_random_model_check(w,
	    gpualloc_usage(w->g, t->key, &u) && u.gpus == w->per &&
		!(u.energy < 0) && !(u.busy > u.seen),
	    "what it has used");
	t->live = false;
	t->dying = gpu_random_model_any(w, 2) == 0;
	t->last_seq = w->seq;
	if (gpualloc_release(w->g, t->key, &e, w->now, why, sizeof why))
		gpu_random_model_check(
		    w, e.failed && why[0] != '\0', "excused for nothing");
	gpu_random_model_check(
	    w, gpualloc_of(w->g, t->key, at) == 0, "ended and holds GPUs");
}

/* Ills are rare, and pass. */
static bool
flip(struct gpu_random_model *w, bool ill)
{
	return gpu_random_model_any(w, ill ? 3 : 60) == 0 ? !ill : ill;
}

static struct trial *
any_live(struct gpu_random_model *w)
{
	size_t k = gpu_random_model_any(w, TRIALS), left = TRIALS;

	while (!w->trial[k].live && --left > 0)
		k = (k + 1) % TRIALS;
	return &w->trial[k];
}

/* Of the probes that are wanted one in so many is bad. */
static void
answer(struct gpu_random_model *w, uint32_t bad)
{
	char uuid[8];
	size_t i;
	bool good;

	for (i = 0; i < w->n; i++) {
		if (!w->probing[i])
			continue;
		w->probing[i] = false;
		good = gpu_random_model_any(w, bad) != 0;
		w->good[i] = good ? w->good[i] + 1 : 0;
		snprintf(uuid, sizeof uuid, "GPU-%zu", i);
		gpualloc_health_probed(w->g, uuid, good, "x", w->now);
	}
}

static void
step(struct gpu_random_model *w)
{
	struct gpu_fault fault = { .xid =
				       gpu_random_model_any(w, 2) ? 79 : 31 };
	struct trial *t = any_live(w);
	size_t i = gpu_random_model_any(w, (uint32_t)w->n);

	w->now += gpu_random_model_any(w, 400);
	switch (gpu_random_model_any(w, 16)) {
	case 0:
	case 1:
	case 2:
		take(w);
		break;
	case 3:
	case 4:
		if (t->live)
			end(w, t);
		break;
	case 5:
		for (i = 0; i < TRIALS; i++)
			w->trial[i].dying &= gpu_random_model_any(w, 2) == 0;
		break;
	case 6:
		if (t->live)
			report(w, t);
		break;
	case 7:
		w->stranger[i] = flip(w, w->stranger[i]);
		break;
	case 8:
		w->gone[i] = flip(w, w->gone[i]);
		break;
	case 9:
		if (!w->booked[i])
			w->other[i] = flip(w, w->other[i]);
		break;
	case 10:
		w->down = flip(w, w->down);
		break;
	case 11:
		if (gpu_random_model_any(w, 30) != 0 || w->pending == 0 ||
		    w->down || w->gone[i])
			break;
		snprintf(fault.uuid, GPU_UUID, "GPU-%zu", i);
		if (fault.xid == 79)
			w->good[i] = 0;
		gpu_random_model_look(w, &fault);
		break;
	case 12:
		answer(w, 4);
		break;
	default:
		if (w->pending != 0)
			gpu_random_model_look(w, NULL);
		else if (gpualloc_observe_in_ms(w->g, w->now) == 0)
			gpu_random_model_ask(w);
		break;
	}
	if (gpu_random_model_any(w, 8) == 0)
		gpu_random_model_ask(w);
	if (gpu_random_model_any(w, 3) == 0)
		gpualloc_tick(w->g, w->now);
}

static void
check_shown(struct gpu_random_model *w)
{
	struct gpualloc_view v;
	size_t i;

	for (i = 0; i < w->n; i++) {
		gpualloc_at(w->g, i, &v);
		gpu_random_model_check(
		    w, v.trials == gpu_random_model_live(w, i), "trials on it");
		gpu_random_model_check(w,
		    v.state == w->shown[i] && v.trials == w->shown_trials[i],
		    "a change that was not told");
	}
}

/* All is well again: everything comes back. */
static void
calm(struct gpu_random_model *w)
{
	size_t i, k;
	int n = 0;

	w->down = w->expects = false;
	memset(w->stranger, 0, sizeof w->stranger);
	memset(w->gone, 0, sizeof w->gone);
	memset(w->other, 0, sizeof w->other);
	for (k = 0; k < TRIALS; k++) {
		if (w->trial[k].live)
			end(w, &w->trial[k]);
		w->trial[k].dying = false;
	}
	for (k = 0; k < 40; k++) {
		w->now += 60000;
		w->pending = 0;
		gpu_random_model_ask(w);
		gpu_random_model_look(w, NULL);
		gpualloc_tick(w->g, w->now);
		answer(w, UINT32_MAX);
	}
	for (i = 0; i < w->n; i++) {
		gpu_random_model_check(w, !w->booked[i], "a booking is left");
		gpu_random_model_check(
		    w, w->shown[i] == GPU_FREE, "not free in the end");
		/* GPUs that were suspects needed only one good probe. */
		w->good[i] = 2;
	}
	while (take(w)) {
		n++;
		for (k = 0; k < TRIALS; k++)
			if (w->trial[k].live)
				report(w, &w->trial[k]);
	}
	gpu_random_model_check(w, n == gpualloc_choose_capacity(w->g),
	    "not as many as there are places");
}

static void
play(uint64_t seed)
{
	struct gpu_random_model w = { .random =
					  seed * UINT64_C(0x9e3779b97f4a7c15) };
	const struct gpualloc_hooks hooks = gpu_random_model_hooks(&w);
	struct gpualloc_options o = { .busy_memory = INT64_C(1) << 30 };
	struct gpu_device seen[GPUS];
	struct gpu_snapshot first = { .source = GPU_NVML, .gpus = seen };
	int i;

	w.n = first.n = 1 + gpu_random_model_any(&w, GPUS);
	w.share = o.share = 1 + (int)gpu_random_model_any(&w, 5);
	w.per = o.per_trial =
	    1 + (int)gpu_random_model_any(&w, w.n < 3 ? (uint32_t)w.n : 3);
	w.big = gpu_random_model_any(&w, 2) == 0;
	w.declared = gpu_random_model_any(&w, 2) == 0;
	w.expects = !w.declared && seed % 2 == 0;
	o.memory = w.declared ? (int64_t)MEMORY << 20 : 0;
	w.now = 1;
	for (i = 0; i < (int)w.n; i++) {
		seen[i] = (struct gpu_device){ .index = i,
			.node = i & 1,
			.memory = INT64_C(16384) << 20 };
		snprintf(seen[i].uuid, GPU_UUID, "GPU-%d", i);
		w.good[i] = 2;
	}
	w.g = gpualloc_new(&o, &hooks, &first, w.now);
	for (i = 0; i < (int)w.n; i++)
		gpu_random_model_show(&w, (size_t)i);
	for (i = 0; i < STEPS && w.wrong == NULL; i++) {
		step(&w);
		check_shown(&w);
	}
	if (w.wrong == NULL)
		calm(&w);
	ok(w.wrong == NULL && w.given > 10,
	    "seed %d: %zu GPUs, %d each, %d share one: %d given", (int)seed,
	    w.n, w.per, w.share, w.given);
	if (w.wrong != NULL)
		printf("# step %d: %s\n", i, w.wrong);
	gpualloc_free(w.g);
}

int
main(void)
{
	uint64_t seed;

	for (seed = 1; seed <= SEEDS; seed++)
		play(seed);
	return done_testing();
}
