/*
 * The strategies without a model: bounds, determinism, spread, and a grid that
 * is complete.
 */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "src/model/plugin-options.h"
#include "src/model/space.h"
#include "strategies/strategy.h"
#include "tests/support/tap.h"

/* A space and the options of a strategy, from JSON. */
struct setup {
	struct json_doc *space_doc, *options_doc;
	struct space *space;
	const struct strategy *strategy;
	struct option_value *options;
};

static struct json_doc *
doc(const char *text)
{
	struct json_doc *d = NULL;
	struct err e = ERR_INIT;

	if (json_parse(&d, text, strlen(text), "test", false, &e) == -1)
		printf("# %s\n", e.text);
	return d;
}

static bool
setup_open(struct setup *s, const char *strategy, const char *space,
    const char *options)
{
	struct err e = ERR_INIT;

	memset(s, 0, sizeof *s);
	s->space_doc = doc(space);
	s->options_doc = doc(options);
	s->strategy = strategy_find(strategy);
	if (s->strategy != NULL &&
	    space_read(&s->space, json_root(s->space_doc), &e) == 0 &&
	    plugin_options_read(&s->options, s->strategy->options,
		json_root(s->options_doc), NULL, &e) == 0)
		return true;
	printf("# %s: %s\n", strategy, e.text);
	return false;
}

static void
setup_close(struct setup *s)
{
	plugin_options_free(s->options);
	space_free(s->space);
	json_free(s->space_doc);
	json_free(s->options_doc);
}

static int
suggest(const struct setup *s, uint64_t seed, int64_t trial, double *x)
{
	struct strategy_ask ask = {
		.space = s->space, .seed = seed, .trial = trial
	};
	struct suggestion out = { .x = x, .made_by = "cpu" };
	struct err e = ERR_INIT;

	return s->strategy->suggest(&out, &ask, s->options, &e);
}

/* The point's parameters as JSON: what a trial would be told. */
static char *
point_text(const struct setup *s, double *x)
{
	struct value *values = xcalloc(s->space->n, sizeof *values);
	struct buf out = { 0 };

	space_snap(s->space, x);
	space_decode(s->space, x, values);
	space_put_json(&out, s->space, values);
	free(values);
	return buf_take(&out);
}

static const char mixed[] =
    "{\"lr\": {\"type\": \"float\", \"min\": 1e-4, \"max\": 0.3, "
    "\"scale\": \"log\"},"
    "\"hidden\": {\"type\": \"int\", \"min\": 16, \"max\": 256, "
    "\"scale\": \"log\"},"
    "\"drop\": {\"type\": \"float\", \"min\": 0, \"max\": 0.5, "
    "\"step\": 0.1},"
    "\"opt\": {\"type\": \"choice\", \"values\": [\"sgd\", \"adam\"]},"
    "\"momentum\": {\"type\": \"float\", \"min\": 0, \"max\": 0.99, "
    "\"when\": {\"opt\": [\"sgd\"]}},"
    "\"one\": {\"type\": \"int\", \"min\": 3, \"max\": 3},"
    "\"fix\": {\"type\": \"fixed\", \"value\": \"x\"}}";

/* What every strategy owes: the cube, the same answer twice, snapping. */
static void
check_any(const char *name)
{
	double x[8], y[8], drop, tenths;
	bool inside = true, same = true, inactive = true, steps = true;
	bool differs = false, moves = false;
	double last = -1;
	struct value values[8];
	struct setup s;
	int64_t trial;
	int i;

	if (!ok(setup_open(&s, name, mixed, "{}"), "%s: opens", name))
		return;
	for (trial = 1; trial <= 200; trial++) {
		if (suggest(&s, 7, trial, x) != 0 ||
		    suggest(&s, 7, trial, y) != 0)
			break;
		for (i = 0; i < 7; i++) {
			inside =
			    inside && (isnan(x[i]) || (x[i] >= 0 && x[i] <= 1));
			same = same &&
			       (x[i] == y[i] || (isnan(x[i]) && isnan(y[i])));
		}
		(void)suggest(&s, 8, trial, y);
		differs = differs || x[0] != y[0];
		moves = moves || (trial > 1 && x[0] != last);
		last = x[0];
		space_snap(s.space, x);
		space_decode(s.space, x, values);
		inactive =
		    inactive &&
		    isnan(x[4]) == (strcmp(values[3].text, "adam") == 0) &&
		    (values[4].kind == VALUE_NONE) == isnan(x[4]);
		drop = values[2].real;
		tenths = round(drop * 10) / 10;
		steps = steps && fabs(drop - tenths) < 1e-12 &&
			values[5].integer == 3;
	}
	is_int(trial, 201, "200 points");
	ok(inside, "%s: all in the cube", name);
	ok(same, "%s: the same question has the same answer", name);
	ok(differs, "%s: another seed gives other points", name);
	ok(moves, "%s: another trial gives another point", name);
	ok(inactive, "%s: inactive is NaN after snapping, active is not", name);
	ok(steps, "%s: steps and one-valued parameters are kept", name);
	setup_close(&s);
}

/* {"p1": {…}, "p2": …} with n floats in 0 … 1. */
static char *
floats(int n)
{
	struct buf out = { 0 };
	int i;

	for (i = 0; i < n; i++)
		buf_printf(&out,
		    "%s\"p%d\": {\"type\": \"float\", \"min\": 0, \"max\": 1}",
		    i == 0 ? "{" : ", ", i);
	buf_putc(&out, '}');
	return buf_take(&out);
}

/* Unscrambled points against another implementation with the same table. */
static void
check_sobol_known(void)
{
	static const struct {
		int64_t index;
		double x[6]; /* dimensions 1, 2, 3, 4, 64, 128 */
		uint64_t sum; /* of 2^32 x times the dimension, all 128 */
	} known[] = {
		{ 1, { 0.5, 0.5, 0.5, 0.5, 0.5, 0.5 }, 17729624997888 },
		{ 2, { 0.75, 0.25, 0.25, 0.25, 0.75, 0.25 }, 0 },
		{ 4, { 0.375, 0.375, 0.625, 0.875, 0.125, 0.625 }, 0 },
		{ 5, { 0.875, 0.875, 0.125, 0.375, 0.625, 0.125 }, 0 },
		{ 1000,
		    { 0.2197265625, 0.0966796875, 0.5185546875, 0.6767578125,
			0.4462890625, 0.5439453125 },
		    18626098757632 },
		{ 1023,
		    { 0.0009765625, 0.7529296875, 0.6123046875, 0.1455078125,
			0.0400390625, 0.7001953125 },
		    19054790180864 },
	};
	static const int dims[] = { 0, 1, 2, 3, 63, 127 };
	char *space = floats(128);
	struct setup s;
	double x[128];
	uint64_t sum;
	bool good;
	size_t k;
	int i;

	ok(setup_open(&s, "sobol", space, "{\"scramble\": false}"),
	    "sobol in 128 dimensions");
	for (k = 0; k < sizeof known / sizeof known[0]; k++) {
		good = suggest(&s, 1, known[k].index + 1, x) == 0;
		for (i = 0; i < 6; i++)
			good = good && x[dims[i]] == known[k].x[i];
		for (sum = 0, i = 0; i < 128; i++)
			sum += (uint64_t)(x[i] * 0x1p32) * (uint64_t)(i + 1);
		good = good && (known[k].sum == 0 || sum == known[k].sum);
		ok(good, "sobol point %" PRId64, known[k].index);
	}
	setup_close(&s);
	free(space);
}

/* Squared L2 star discrepancy (Warnock's formula). */
static double
discrepancy(const double *x, int n, int d)
{
	double once = 0, pairs = 0, p;
	int i, j, k;

	for (i = 0; i < n; i++) {
		for (p = 1, k = 0; k < d; k++)
			p *= 1 - x[i * d + k] * x[i * d + k];
		once += p;
		for (j = 0; j < n; j++) {
			for (p = 1, k = 0; k < d; k++)
				p *= 1 - fmax(x[i * d + k], x[j * d + k]);
			pairs += p;
		}
	}
	return pow(3, -d) - pow(2, 1 - d) * once / n + pairs / ((double)n * n);
}

static double
spread(const char *strategy, uint64_t seed)
{
	char *space = floats(4);
	double x[256 * 4], result = -1;
	struct setup s;
	int i;

	if (setup_open(&s, strategy, space, "{}")) {
		for (i = 0; i < 256; i++)
			(void)suggest(&s, seed, i + 1, x + i * 4);
		result = discrepancy(x, 256, 4);
		setup_close(&s);
	}
	free(space);
	return result;
}

/* Each of the first 2^m points in its own interval, in every dimension. */
static void
check_sobol_net(void)
{
	enum { N = 64, DIMS = 100 };
	char *space = floats(DIMS), seen[DIMS][N] = { { 0 } };
	double x[DIMS], sobol = 0, even = 0;
	struct setup s;
	bool good = true;
	int i, k;

	ok(setup_open(&s, "sobol", space, "{}"), "sobol in 100 dimensions");
	for (i = 0; i < N; i++) {
		(void)suggest(&s, 5, i + 1, x);
		for (k = 0; k < DIMS; k++)
			seen[k][(int)(x[k] * N)]++;
	}
	for (k = 0; k < DIMS; k++)
		for (i = 0; i < N; i++)
			good = good && seen[k][i] == 1;
	ok(good, "scrambled sobol stays a net in every dimension");
	setup_close(&s);
	free(space);
	for (i = 1; i <= 5; i++) {
		sobol += spread("sobol", (uint64_t)i);
		even += spread("random", (uint64_t)i);
	}
	if (!ok(sobol * 5 < even, "sobol is spread 5 times better"))
		printf("# %g against %g\n", sobol, even);
}

/* n points before the end, all different; in the order of the seed. */
static void
check_grid(
    const char *what, const char *space, const char *options, int64_t want)
{
	char **seen = xcalloc((size_t)want + 2, sizeof *seen);
	double x[16];
	struct setup s;
	int64_t n, i;
	bool different = true;

	if (!ok(setup_open(&s, "grid", space, options), "grid: %s", what)) {
		free(seen);
		return;
	}
	for (n = 0; n <= want && suggest(&s, 3, n + 1, x) == 0; n++) {
		seen[n] = point_text(&s, x);
		for (i = 0; i < n; i++)
			if (strcmp(seen[i], seen[n]) == 0) {
				different = false;
				printf("# twice: %s\n", seen[n]);
			}
	}
	is_int(n, want, "as many points as there are");
	ok(different, "no point twice");
	is_int(suggest(&s, 3, want + 1000, x), 1, "then it is done");
	for (i = 0; i < n; i++)
		free(seen[i]);
	free(seen);
	setup_close(&s);
}

#define INT(lo, hi) "{\"type\": \"int\", \"min\": " lo ", \"max\": " hi "}"
#define INT_WHEN(lo, hi, when)                              \
	"{\"type\": \"int\", \"min\": " lo ", \"max\": " hi \
	", \"when\": {" when "}}"
#define ABC "{\"type\": \"choice\", \"values\": [\"a\", \"b\", \"c\"]}"

static void
check_grids(void)
{
	check_grid("one value", "{\"x\": " INT("4", "4") "}", "{}", 1);
	check_grid("three ints",
	    "{\"x\": " INT("0", "2") ", \"y\": " INT("-1", "2") ", \"z\": " INT(
		"7", "8") "}",
	    "{}", 24);
	check_grid("in order", "{\"x\": " INT("0", "2") ", \"y\": " ABC "}",
	    "{\"shuffle\": false}", 9);
	check_grid("levels of a float",
	    "{\"x\": {\"type\": \"float\", \"min\": 1e-5, \"max\": 1, "
	    "\"scale\": \"log\"}}",
	    "{\"levels\": 7}", 7);
	check_grid("one level",
	    "{\"x\": {\"type\": \"float\", \"min\": 0, \"max\": 1}}",
	    "{\"levels\": 1}", 1);
	check_grid("steps of a float",
	    "{\"x\": {\"type\": \"float\", \"min\": 0, \"max\": 0.7, "
	    "\"step\": 0.1}}",
	    "{}", 8);
	check_grid("int on a log scale",
	    "{\"x\": {\"type\": \"int\", \"min\": 1, \"max\": 100, "
	    "\"scale\": \"log\"}}",
	    "{}", 100);
	/* a: 3 x 2 values below; b: 4; c: none -> 6 + 4 + 1 = 11, times 2. */
	check_grid("conditions",
	    "{\"k\": " ABC ", \"p\": " INT_WHEN(
		"1", "3", "\"k\": [\"a\"]") ", \"q\": " INT_WHEN("1", "2",
		"\"k\": [\"a\"]") ", \"r\": " INT_WHEN("1", "4",
		"\"k\": [\"b\"]") ", \"z\": " INT("0", "1") "}",
	    "{}", 22);
	/* k=a: m in 1..3, of which m=2 has n in 1..5: 1 + 5 + 1; b, c: 1. */
	check_grid("a condition below a condition",
	    "{\"n\": " INT_WHEN("1", "5", "\"m\": [2]") ", \"m\": " INT_WHEN(
		"1", "3", "\"k\": [\"a\"]") ", \"k\": " ABC "}",
	    "{}", 9);
	check_grid("several values of a parent",
	    "{\"k\": " ABC
	    ", \"p\": " INT_WHEN("1", "3", "\"k\": [\"a\", \"c\"]") "}",
	    "{}", 7);
}

static void
check_grid_ends(void)
{
	double x[4], low = 2, high = -1;
	struct setup s;
	struct err e = ERR_INIT;
	int i;

	ok(setup_open(&s, "grid",
	       "{\"x\": {\"type\": \"float\", \"min\": 2, \"max\": 5}}", "{}"),
	    "grid of five levels");
	for (i = 1; i <= 5; i++) {
		(void)suggest(&s, 1, i, x);
		low = fmin(low, x[0]);
		high = fmax(high, x[0]);
	}
	ok(low == 0 && high == 1, "levels reach both ends");
	setup_close(&s);
	ok(setup_open(&s, "grid",
	       "{\"x\": " INT("0", "100000000000") ", \"y\": " INT(
		   "0", "100000000000") "}",
	       "{}"),
	    "a grid beyond counting");
	is_int(s.strategy->check(s.options, s.space, &e), -1, "is refused");
	setup_close(&s);
}

/* A shuffled grid of a million points is a permutation where it was looked. */
static void
check_grid_shuffle(void)
{
	static char seen[1000 * 1000];
	struct value values[2];
	bool good = true, moved = false;
	double x[2];
	struct setup s;
	int i, at;

	ok(setup_open(&s, "grid",
	       "{\"x\": " INT("0", "999") ", \"y\": " INT("0", "999") "}",
	       "{}"),
	    "a grid of a million points");
	for (i = 0; i < 20000; i++) {
		(void)suggest(&s, 11, i + 1, x);
		space_decode(s.space, x, values);
		at = (int)(values[0].integer * 1000 + values[1].integer);
		good = good && seen[at]++ == 0;
		moved = moved || at > 500000;
	}
	ok(good, "no point twice among 20000");
	ok(moved, "the order is shuffled");
	setup_close(&s);
}

int
main(void)
{
	size_t i;

	ok(strategy_find("random") != NULL, "random is there");
	ok(strategy_find("rnadom") == NULL, "rnadom is not");
	for (i = 0; strategies[i] != NULL; i++) {
		ok(strategies[i]->about != NULL &&
			strategies[i]->source != NULL &&
			strategy_find(strategies[i]->name) == strategies[i],
		    "%s states what it is", strategies[i]->name);
		check_any(strategies[i]->name);
	}
	check_sobol_known();
	check_sobol_net();
	check_grids();
	check_grid_ends();
	check_grid_shuffle();
	return done_testing();
}
