/*
 * TPE as a strategy: it finds what is there, better than chance does; the same
 * question has the same answer; nothing in a history upsets it.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json.h"
#include "src/base/mem.h"
#include "src/model/history.h"
#include "src/model/options.h"
#include "src/model/space.h"
#include "strategies/strategy.h"
#include "tests/tap.h"

enum { DIMS_MAX = 8, SEEDS = 9 };

struct problem {
	const char *name;
	const char *space;
	double (*loss)(const struct value *);
	const char *options;
	int trials;
	double reach; /* the median over seeds must not be above */
};

static double
branin(const struct value *v)
{
	double x = v[0].real, y = v[1].real;
	double a = y - 5.1 / (4 * M_PI * M_PI) * x * x + 5 / M_PI * x - 6;

	return a * a + 10 * (1 - 1 / (8 * M_PI)) * cos(x) + 10;
}

static double
hartmann6(const struct value *v)
{
	static const double alpha[] = { 1, 1.2, 3, 3.2 };
	static const double a[4][6] = { { 10, 3, 17, 3.5, 1.7, 8 },
		{ 0.05, 10, 17, 0.1, 8, 14 }, { 3, 3.5, 1.7, 10, 17, 8 },
		{ 17, 8, 0.05, 10, 0.1, 14 } };
	static const int p[4][6] = { { 1312, 1696, 5569, 124, 8283, 5886 },
		{ 2329, 4135, 8307, 3736, 1004, 9991 },
		{ 2348, 1451, 3522, 2883, 3047, 6650 },
		{ 4047, 8828, 8732, 5743, 1091, 381 } };
	double sum = 0, inner, d;
	int i, k;

	for (i = 0; i < 4; i++) {
		for (inner = 0, k = 0; k < 6; k++) {
			d = v[k].real - p[i][k] * 1e-4;
			inner += a[i][k] * d * d;
		}
		sum -= alpha[i] * exp(-inner);
	}
	return sum;
}

static double
ackley(const struct value *v)
{
	double squares = 0, cosines = 0;
	int i;

	for (i = 0; i < 5; i++) {
		squares += v[i].real * v[i].real / 5;
		cosines += cos(2 * M_PI * v[i].real) / 5;
	}
	return -20 * exp(-0.2 * sqrt(squares)) - exp(cosines) + 20 + M_E;
}

/* Best: lr 0.01, 100 units, adam, drop 0.2: 0. */
static double
mixed(const struct value *v)
{
	double lr = log10(v[0].real) + 2, units = log(v[1].real / 100);
	double drop = v[3].real - 0.2;

	return lr * lr + units * units +
	       (strcmp(v[2].text, "adam") == 0 ? 0 : 0.7) + 20 * drop * drop;
}

/* Best: svm with c = 1 and gamma = 0.01: 0; the net gets 0.1 at best. */
static double
conditional(const struct value *v)
{
	double a, b;

	if (strcmp(v[0].text, "svm") == 0) {
		a = log10(v[1].real);
		b = log10(v[2].real) + 2;
		return a * a + b * b;
	}
	a = log10(v[3].real) + 3;
	b = (double)v[4].integer - 3;
	return 0.1 + a * a + b * b;
}

#define UNIT(name) "\"" name "\": {\"type\": \"float\", \"min\": 0, \"max\": 1}"
#define BALL(name)                                      \
	"\"" name "\": {\"type\": \"float\", \"min\": " \
	"-32.768, \"max\": 32.768}"
#define LOG(name, min, max, more)                                 \
	"\"" name "\": {\"type\": \"float\", \"scale\": \"log\"," \
	" \"min\": " min ", \"max\": " max more "}"
#define SVM ", \"when\": {\"model\": [\"svm\"]}"
#define NET ", \"when\": {\"model\": [\"net\"]}"

static const char conditional_space[] =
    "{\"model\": {\"type\": \"choice\", \"values\": [\"net\", \"svm\"]}," LOG(
	"c", "1e-3", "1e3", SVM) "," LOG("gamma", "1e-5", "10",
	SVM) "," LOG("lr", "1e-5", "1",
	NET) ","
	     "\"layers\": {\"type\": \"int\", \"min\": 1, \"max\": 8" NET "}}";

static const struct problem problems[] = {
	{ "branin",
	    "{\"x\": {\"type\": \"float\", \"min\": -5, \"max\": 10},"
	    "\"y\": {\"type\": \"float\", \"min\": 0, \"max\": 15}}",
	    branin, "{}", 100, 0.5 },
	{ "hartmann6",
	    "{" UNIT("a") "," UNIT("b") "," UNIT("c") "," UNIT("d") "," UNIT(
		"e") "," UNIT("f") "}",
	    hartmann6, "{}", 150, -2.9 },
	{ "ackley",
	    "{" BALL("a") "," BALL("b") "," BALL("c") "," BALL("d") "," BALL(
		"e") "}",
	    ackley, "{}", 150, 6.5 },
	{ "ackley, one by one",
	    "{" BALL("a") "," BALL("b") "," BALL("c") "," BALL("d") "," BALL(
		"e") "}",
	    ackley, "{\"multivariate\": false}", 150, 9 },
	{ "mixed",
	    "{" LOG("lr", "1e-5", "1",
		"") ","
		    "\"units\": {\"type\": \"int\", \"min\": 4, \"max\": 1024,"
		    " \"scale\": \"log\"},"
		    "\"opt\": {\"type\": \"choice\", \"values\": [\"sgd\", "
		    "\"adam\","
		    " \"lion\"]},"
		    "\"drop\": {\"type\": \"float\", \"min\": 0, \"max\": 0.5,"
		    " \"step\": 0.1}}",
	    mixed, "{}", 100, 0.05 },
	{ "conditional", conditional_space, conditional, "{}", 100, 0.05 },
	{ "conditional, in groups", conditional_space, conditional,
	    "{\"group\": true, \"startup\": \"sobol\"}", 100, 0.05 },
};

struct run {
	struct json_doc *space_doc, *options_doc;
	const struct strategy *strategy;
	struct option_value *options;
	struct space *space;
	struct history *history;
	uint64_t seed;
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

static void
run_open(struct run *r, const char *strategy, const char *space,
    const char *options, uint64_t seed)
{
	struct err e = ERR_INIT;

	*r = (struct run){ .seed = seed };
	r->strategy = strategy_find(strategy);
	r->space_doc = doc(space);
	r->options_doc = doc(options);
	if (space_read(&r->space, json_root(r->space_doc), &e) != 0 ||
	    options_read(&r->options, r->strategy->options,
		json_root(r->options_doc), NULL, &e) != 0)
		printf("# %s\n", e.text);
	r->history =
	    history_new(r->space->n, false, HISTORY_POINTS | HISTORY_CURVES);
}

static void
run_close(struct run *r)
{
	history_free(r->history);
	options_free(r->options, r->strategy->options);
	space_free(r->space);
	json_free(r->space_doc);
	json_free(r->options_doc);
}

/* The next point, added to the history as one that runs. */
static int64_t
run_next(struct run *r, double *x)
{
	struct strategy_ask ask = { .space = r->space,
		.history = r->history,
		.seed = r->seed,
		.trial = history_count(r->history) + 1 };
	struct suggestion out = { .x = x, .made_by = "cpu" };
	struct err e = ERR_INIT;

	if (r->strategy->suggest(&out, &ask, r->options, &e) != 0)
		return 0;
	space_snap(r->space, x);
	history_add(r->history, ask.trial, x);
	return ask.trial;
}

/* The least loss. */
static double
run_all(struct run *r, const struct problem *p)
{
	struct value values[DIMS_MAX];
	double x[DIMS_MAX], best = INFINITY, loss;
	int64_t trial;
	int i;

	for (i = 0; i < p->trials; i++) {
		trial = run_next(r, x);
		space_decode(r->space, x, values);
		loss = p->loss(values);
		history_end(r->history, trial, TRIAL_COMPLETED, loss);
		best = fmin(best, loss);
	}
	return best;
}

static int
by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
median(const char *strategy, const struct problem *p, const char *options)
{
	double best[SEEDS];
	struct run r;
	int i;

	for (i = 0; i < SEEDS; i++) {
		run_open(&r, strategy, p->space, options, (uint64_t)i + 1);
		best[i] = run_all(&r, p);
		run_close(&r);
	}
	qsort(best, SEEDS, sizeof *best, by_number);
	return best[SEEDS / 2];
}

static void
check_problem(const struct problem *p)
{
	double tpe = median("tpe", p, p->options);
	double chance = median("random", p, "{}");

	ok(tpe <= p->reach, "%s: %g is reached, %g is there", p->name, p->reach,
	    tpe);
	ok(tpe < chance, "%s: better than the %g of chance", p->name, chance);
}

static const char small[] =
    "{\"lr\": {\"type\": \"float\", \"min\": 1e-4, \"max\": 0.3,"
    " \"scale\": \"log\"},"
    "\"n\": {\"type\": \"int\", \"min\": 16, \"max\": 256,"
    " \"scale\": \"log\"},"
    "\"drop\": {\"type\": \"float\", \"min\": 0, \"max\": 0.5,"
    " \"step\": 0.1},"
    "\"opt\": {\"type\": \"choice\", \"values\": [\"sgd\", \"adam\"]},"
    "\"momentum\": {\"type\": \"float\", \"min\": 0, \"max\": 0.99,"
    " \"when\": {\"opt\": [\"sgd\"]}},"
    "\"size\": {\"type\": \"choice\", \"values\": [1, 2, 4, 8],"
    " \"ordered\": true},"
    "\"beta\": {\"type\": \"float\", \"min\": 0, \"max\": 0.999,"
    " \"scale\": \"reverse-log\"},"
    "\"one\": {\"type\": \"int\", \"min\": 3, \"max\": 3}}";

/* How each trial of a history ends. */
enum ending { END_EQUAL, END_NAN, END_FAIL, END_STOP, END_INFINITE, END_MIX };

static void
end(struct history *h, int64_t trial, enum ending ending)
{
	if (ending == END_MIX)
		ending = (enum ending)(trial % END_MIX);
	if (trial % 3 == 0)
		history_report(h, trial, trial % 7, trial % 5 == 0 ? NAN : 1);
	switch (ending) {
	case END_EQUAL:
		history_end(h, trial, TRIAL_COMPLETED, 1);
		break;
	case END_NAN:
		history_end(h, trial, TRIAL_COMPLETED, NAN);
		break;
	case END_FAIL:
		history_end(h, trial, TRIAL_FAILED, NAN);
		break;
	case END_STOP:
		history_end(h, trial, TRIAL_STOPPED, NAN);
		break;
	case END_INFINITE:
		history_end(h, trial, TRIAL_COMPLETED,
		    trial % 2 == 0 ? INFINITY : -INFINITY);
		break;
	case END_MIX:
		break;
	}
}

static bool
in_cube(const double *x, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!(isnan(x[i]) && i == 4) && !(x[i] >= 0 && x[i] <= 1))
			return false;
	return true;
}

static void
check_endings(const char *options)
{
	static const char *const names[] = { "equal", "NaN", "failed",
		"stopped", "infinite", "mixed" };
	double x[DIMS_MAX];
	struct run r;
	int i, k, good;

	for (i = 0; i <= END_MIX; i++) {
		run_open(&r, "tpe", small, options, 5);
		for (k = 0, good = 0; k < 60; k++) {
			int64_t trial = run_next(&r, x);

			good += trial > 0 && in_cube(x, r.space->n);
			/* Some are left to run. */
			if (k % 9 != 8)
				end(r.history, trial, (enum ending)i);
		}
		ok(good == 60, "%s: all %s", options, names[i]);
		run_close(&r);
	}
}

/* Two that are asked in a row, and the same question twice. */
static void
check_same(void)
{
	double x[DIMS_MAX], y[DIMS_MAX], z[DIMS_MAX];
	struct run a, b;
	bool same = true;
	int i;

	run_open(&a, "tpe", small, "{}", 5);
	run_open(&b, "tpe", small, "{}", 5);
	for (i = 0; i < 40; i++) {
		end(a.history, run_next(&a, x), END_MIX);
		end(b.history, run_next(&b, y), END_MIX);
		same = same && memcmp(x, y, sizeof x) == 0;
	}
	ok(same, "the same history has the same next point");
	(void)run_next(&a, x);
	(void)run_next(&a, y);
	ok(memcmp(x, y, sizeof x) != 0, "two in a row are two");
	b.seed = 6;
	(void)run_next(&b, z);
	ok(memcmp(x, z, sizeof x) != 0, "another seed has another answer");
	run_close(&a);
	run_close(&b);
}

/* Trials that run drive the next ones away: the liar spreads a batch. */
static double
batch_spread(const char *options)
{
	static const char line[] = "{" UNIT("x") "}";
	double x, sum = 0, squares = 0;
	struct run r;
	int i;

	run_open(&r, "tpe", line, options, 2);
	for (i = 0; i < 30; i++) {
		int64_t trial = run_next(&r, &x);

		history_end(r.history, trial, TRIAL_COMPLETED, fabs(x - 0.6));
	}
	for (i = 0; i < 40; i++) {
		(void)run_next(&r, &x);
		sum += x / 40;
		squares += x * x / 40;
	}
	run_close(&r);
	return sqrt(squares - sum * sum);
}

static void
check_long(void)
{
	double x[DIMS_MAX] = { 0 };
	struct run r;
	int i, k;

	run_open(&r, "tpe", small, "{}", 5);
	for (i = 1; i <= 10000; i++) {
		for (k = 0; k < 8; k++)
			x[k] = fmod(i * 0.61803398875 * (k + 1), 1);
		space_snap(r.space, x);
		history_add(r.history, i, x);
		history_end(r.history, i, TRIAL_COMPLETED, x[0]);
	}
	is_int(run_next(&r, x), 10001, "after 10,000 trials");
	ok(x[0] < 0.1, "it knows where it was good");
	run_close(&r);
}

static void
check_options(void)
{
	struct err e = ERR_INIT;
	struct run r;

	run_open(
	    &r, "tpe", small, "{\"group\": true, \"multivariate\": false}", 1);
	is_int(r.strategy->check(r.options, r.space, &e), -1,
	    "group without multivariate is refused");
	run_close(&r);
	run_open(&r, "tpe", small, "{\"startup\": \"sobol\"}", 1);
	is_int(r.strategy->check(r.options, r.space, &e), 0, "sobol starts it");
	run_close(&r);
}

int
main(void)
{
	double liar, none;
	size_t i;

	for (i = 0; i < sizeof problems / sizeof *problems; i++)
		check_problem(&problems[i]);
	check_endings("{}");
	check_endings("{\"group\": true}");
	check_endings("{\"multivariate\": false, \"n_startup_trials\": 0,"
		      " \"prior_weight\": 0, \"gamma\": \"hyperopt\","
		      " \"weights\": \"uniform\"}");
	check_endings("{\"consider_magic_clip\": false,"
		      " \"consider_endpoints\": true, \"startup\": \"sobol\"}");
	check_same();
	liar = batch_spread("{}");
	none = batch_spread("{\"constant_liar\": false}");
	ok(liar > none, "the liar spreads a batch: %g against %g", liar, none);
	check_long();
	check_options();
	return done_testing();
}
