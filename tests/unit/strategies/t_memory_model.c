/*
 * The model of memory, on the computed memory of a transformer with 14 parameters:
 * how often it is right of random settings, how many trials of a search run out of
 * memory with it and without, that a restart comes to the same answer, and that a
 * search goes on where nothing is likely to fit.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/history/history-serialize.h"
#include "src/model/where.h"
#include "strategies/memory/memory-model.h"
#include "tests/support/gp-run.h"
#include "tests/support/tap.h"

enum { DIMS = 14, START = 10, TRIALS = 40, SEEDS = 3, RANDOM = 2000 };

#define GIB 1073741824.0

static const double limit = 24 * GIB;

static const char transformer[] =
    "{\"layers\": {\"type\": \"int\", \"min\": 2, \"max\": 48},"
    "\"width\": {\"type\": \"int\", \"min\": 256, \"max\": 4096, "
    "\"scale\": \"log\"},"
    "\"heads\": {\"type\": \"choice\", \"values\": [4, 8, 16, 32]},"
    "\"feed\": {\"type\": \"int\", \"min\": 1, \"max\": 8},"
    "\"length\": {\"type\": \"choice\", \"values\": [256, 512, 1024, 2048]},"
    "\"batch\": {\"type\": \"choice\", \"values\": [1, 2, 4, 8, 16, 32, 64]},"
    "\"precision\": {\"type\": \"choice\", \"values\": [\"half\", \"full\"]},"
    "\"optimizer\": {\"type\": \"choice\", "
    "\"values\": [\"sgd\", \"lion\", \"adam\"]},"
    "\"recompute\": {\"type\": \"choice\", \"values\": [true, false]},"
    "\"vocabulary\": {\"type\": \"int\", \"min\": 8000, \"max\": 64000},"
    "\"rate\": {\"type\": \"float\", \"min\": 1e-5, \"max\": 0.1, "
    "\"scale\": \"log\"},"
    "\"decay\": {\"type\": \"float\", \"min\": 1e-6, \"max\": 1, "
    "\"scale\": \"log\"},"
    "\"dropout\": {\"type\": \"float\", \"min\": 0, \"max\": 0.5},"
    "\"warmup\": {\"type\": \"float\", \"min\": 0, \"max\": 0.2}}";

/* The trials of a study: its history knows the peaks where told holds. */
struct scene {
	struct strategy_run run;
	struct rng rng;
	bool told;
	size_t over; /* after the first START */
	double best;
};

/* Bytes, and the loss: less with more weights and larger batches. */
static double
need(const struct space *space, const double *x, double *loss)
{
	struct value v[DIMS];
	double layers, width, weights, tokens, layer, kept, bytes, rate;

	space_decode(space, x, v);
	layers = v[0].real;
	width = v[1].real;
	weights =
	    layers * width * width * (4 + 2 * v[3].real) + v[9].real * width;
	tokens = v[4].real * v[5].real;
	bytes = strcmp(v[6].text, "half") == 0 ? 2 : 4;
	layer = tokens * width * (9 + 2 * v[3].real) +
		2.5 * v[2].real * v[4].real * tokens;
	kept = v[8].integer ? tokens * width * layers + layer : layer * layers;
	rate = log(v[10].real / 0.003);
	*loss = 400 / pow(weights, 0.34) + 400 / pow(1e5 * tokens, 0.28) +
		0.03 * rate * rate + 0.8 * pow(v[12].real - 0.1, 2);
	return 0.6 * GIB +
	       weights * (4 * bytes + (*v[7].text == 's'      ? 0
					  : *v[7].text == 'l' ? 4
							      : 8)) +
	       bytes * kept + 2 * bytes * tokens * v[9].real;
}

static void
scene_open(struct scene *s, uint64_t seed, bool told)
{
	*s = (struct scene){ .told = told, .best = INFINITY };
	/* A brief search: what it leaves out is the model's to say. */
	gp_open(&s->run, transformer,
	    "{\"candidates\": 1024, \"local_searches\": 2, \"restarts\": 2}",
	    seed);
	rng_init(&s->rng, seed, 1);
}

/* Run a trial with this point. */
static void
scene_add(struct scene *s, int64_t trial, double *x)
{
	struct history *h = s->run.history;
	double loss, bytes;
	bool over;

	space_snap(s->run.space, x);
	bytes = need(s->run.space, x, &loss) * exp(0.02 * rng_normal(&s->rng));
	over = bytes > limit;
	history_add(h, trial, x);
	if (over)
		bytes = limit * (0.6 + 0.4 * rng_uniform(&s->rng));
	if (s->told)
		history_set_memory(h, trial, bytes, over);
	history_end(
	    h, trial, over ? TRIAL_FAILED : TRIAL_COMPLETED, over ? NAN : loss);
	s->over += over && trial > START;
	if (!over)
		s->best = fmin(s->best, loss);
}

static void
draw(struct scene *s, double *x)
{
	size_t k;

	for (k = 0; k < DIMS; k++)
		x[k] = rng_uniform(&s->rng);
}

static int
scene_ask(struct scene *s, const struct history *h, struct suggestion *out)
{
	struct strategy_ask ask = { .space = s->run.space,
		.history = h,
		.seed = s->run.seed,
		.trial = history_count(h) + 1,
		.kernels = s->run.kernels };

	*out = (struct suggestion){ .x = out->x, .made_by = "cpu" };
	return strategy_suggest(
	    s->run.strategy, out, &ask, s->run.options, NULL);
}

/* Of random settings: what it allows fits, and much of what fits is allowed. */
static void
check_right(void)
{
	size_t allowed = 0, right = 0, small = 0, found = 0, same = 0, i;
	double x[DIMS], loss, bytes, expected, fits, off = 0;
	struct memory_model *m;
	struct scene s;
	int64_t t;

	scene_open(&s, 3, true);
	for (t = 1; t <= TRIALS; t++) {
		draw(&s, x);
		scene_add(&s, t, x);
	}
	m = memory_model_new(s.run.space, s.run.history);
	ok(m != NULL, "trials ran out of memory: there is a model");
	for (i = 0; i < RANDOM && m != NULL; i++) {
		draw(&s, x);
		space_snap(s.run.space, x);
		bytes = need(s.run.space, x, &loss);
		fits = memory_model_fits(m, x, &expected);
		allowed += fits >= MEMORY_MODEL_LEAST;
		right += fits >= MEMORY_MODEL_LEAST && bytes < limit;
		same +=
		    memory_model_allows(m, x) == (fits >= MEMORY_MODEL_LEAST);
		small += bytes < limit / 4;
		found += fits >= MEMORY_MODEL_LEAST && bytes < limit / 4;
		if (bytes < limit)
			off += fabs(log(expected / bytes)) / RANDOM;
	}
	memory_model_free(m);
	ok(same == RANDOM, "the faster question has the same answer");
	ok((double)right > 0.9 * (double)allowed,
	    "of %zu settings that it allows, %zu fit", allowed, right);
	ok((double)found > 0.4 * (double)small,
	    "of %zu that need a quarter, it allows %zu", small, found);
	ok(off < 0.5, "what it expects is off by a factor of %.2f", exp(off));
	strategy_run_close(&s.run);
}

/* What random settings need at most, by trials of which none or some ran out of memory. */
static void
check_need(void)
{
	size_t within = 0, near = 0, small = 0, i;
	double x[DIMS], loss, bytes, need_most, expected;
	struct memory_model *m;
	struct scene s;
	int64_t t;

	scene_open(&s, 4, true);
	for (t = 1; t <= 3 * TRIALS; t++) {
		draw(&s, x);
		scene_add(&s, t, x);
		if (t == 6) {
			m = memory_model_of_peaks(s.run.space, s.run.history);
			ok(m == NULL, "six peaks are too few");
			memory_model_free(m);
		}
	}
	m = memory_model_of_peaks(s.run.space, s.run.history);
	for (i = 0; i < RANDOM && m != NULL; i++) {
		draw(&s, x);
		space_snap(s.run.space, x);
		bytes = need(s.run.space, x, &loss);
		need_most = memory_model_need(m, x);
		(void)memory_model_fits(m, x, &expected);
		if (bytes > limit)
			continue;
		small++;
		within += bytes <= need_most;
		near += need_most < 4 * bytes && need_most > expected;
	}
	memory_model_free(m);
	ok((double)within > 0.9 * (double)small,
	    "%zu of %zu settings need what was said at most", within, small);
	ok((double)near > 0.75 * (double)small,
	    "of which %zu at least a quarter of it", near);
	strategy_run_close(&s.run);
}

static void
search(struct scene *s, uint64_t seed, bool told)
{
	struct suggestion out;
	double x[DIMS];
	int64_t t;

	scene_open(s, seed, told);
	out.x = x;
	for (t = 1; t <= TRIALS; t++) {
		if (scene_ask(s, s->run.history, &out) != 0)
			break;
		scene_add(s, t, x);
	}
}

/* A restart reads the same: the answer, and what is said of it. */
static void
check_restart(struct scene *s)
{
	double x[DIMS], y[DIMS];
	struct suggestion a = { .x = x }, b = { .x = y };
	struct history *copy = NULL;
	struct buf bytes = { 0 };
	struct err e = ERR_INIT;

	history_serialize(
	    &bytes, s->run.history, HISTORY_POINTS | HISTORY_CURVES);
	ok(history_deserialize(&copy, bytes.data, bytes.len, &e) == 0,
	    "peaks are among the bytes of a history");
	ok(copy != NULL && scene_ask(s, s->run.history, &a) == 0 &&
		scene_ask(s, copy, &b) == 0 && memcmp(x, y, sizeof x) == 0,
	    "the answer from them is the same");
	ok(a.fits == b.fits && a.memory == b.memory && a.fits > 0 &&
		a.memory > 0,
	    "so is what is expected of it: %g GiB, %g", a.memory / GIB, a.fits);
	history_free(copy);
	buf_free(&bytes);
}

static void
check_search(void)
{
	struct scene with, without;
	size_t over = 0, before = 0, better = 0;
	uint64_t seed;

	for (seed = 1; seed <= SEEDS; seed++) {
		search(&with, seed, true);
		search(&without, seed, false);
		over += with.over;
		before += without.over;
		better += with.best <= without.best;
		printf("# seed %d: %zu and %zu out of memory, best %g and %g\n",
		    (int)seed, with.over, without.over, with.best,
		    without.best);
		if (seed == 1)
			check_restart(&with);
		strategy_run_close(&with.run);
		strategy_run_close(&without.run);
	}
	ok(over * 20 <= SEEDS * (TRIALS - START),
	    "%zu of %d trials ran out of memory", over,
	    SEEDS * (TRIALS - START));
	ok(before > 3 * over, "without the model %zu did", before);
	ok(2 * better >= SEEDS, "the best is as good in %zu of %d", better,
	    SEEDS);
}

/* One small trial, all others over: the likeliest is suggested. */
static void
check_last_resort(void)
{
	struct suggestion out;
	double x[DIMS];
	struct scene s;
	int64_t t;
	int rc;

	scene_open(&s, 5, true);
	out.x = x;
	for (t = 1; t <= TRIALS; t++) {
		draw(&s, x);
		space_snap(s.run.space, x);
		history_add(s.run.history, t, x);
		history_set_memory(s.run.history, t, t == 1 ? 1e9 : 9e8, t > 1);
		history_end(s.run.history, t,
		    t == 1 ? TRIAL_COMPLETED : TRIAL_FAILED, t == 1 ? 1 : NAN);
	}
	rc = scene_ask(&s, s.run.history, &out);
	ok(rc == 0 && where_holds(s.run.space, x) && out.fits > 0,
	    "where hardly anything fits there is an answer: %g", out.fits);
	strategy_run_close(&s.run);
}

/* Peaks alone, and failures of other kinds, ask for no model. */
static void
check_none(void)
{
	struct suggestion out;
	struct memory_model *m;
	double x[DIMS], most;
	struct scene s;
	int64_t t;

	scene_open(&s, 6, false);
	out.x = x;
	for (t = 1; t <= START; t++) {
		draw(&s, x);
		scene_add(&s, t, x);
		history_set_memory(s.run.history, t, 1e9, false);
	}
	m = memory_model_new(s.run.space, s.run.history);
	ok(m == NULL, "no trial ran out of memory: no model");
	memory_model_free(m);
	m = memory_model_of_peaks(s.run.space, s.run.history);
	most = m != NULL ? memory_model_need(m, x) / 1e9 : 0;
	ok(most > 1 && most < 2, "but what a trial needs is known: %g GB",
	    most);
	memory_model_free(m);
	ok(scene_ask(&s, s.run.history, &out) == 0 && out.fits == 0,
	    "nothing is said of the suggestion");
	history_set_memory(s.run.history, 1, 0, true);
	m = memory_model_new(s.run.space, s.run.history);
	ok(m != NULL && fabs(memory_model_limit(m) / 1e9 - 1) < 1e-9,
	    "one did: the limit is the largest peak");
	memory_model_free(m);
	strategy_run_close(&s.run);
}

int
main(void)
{
	check_none();
	check_right();
	check_need();
	check_search();
	check_last_resort();
	return done_testing();
}
