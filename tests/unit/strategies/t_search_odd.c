/*
 * Requirements on every strategy: points in the cube, settings that respect
 * steps and conditions, the same result for the same input, and results for odd
 * or long histories.
 */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/history/history.h"
#include "src/model/space.h"
#include "strategies/strategy.h"
#include "tests/support/search-run.h"
#include "tests/support/tap.h"

#if defined(__SANITIZE_ADDRESS__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
enum { DIMS = 9, LONG = 10000, SEEDS = 20, OPT = 3, MOMENTUM = 4 };

static const char space[] =
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
    "\"one\": {\"type\": \"int\", \"min\": 3, \"max\": 3},"
    "\"fix\": {\"type\": \"fixed\", \"value\": \"x\"}}";

/* The whole cube is alike. */
static void
flat(const struct value *v, double *losses, double *bounds)
{
	size_t i;

	(void)v;
	for (i = 0; i < FUNCTION_LOSSES; i++)
		losses[i] = 1;
	for (i = 0; i < FUNCTION_BOUNDS; i++)
		bounds[i] = 0;
}

static const struct function plain = { "plain", space, 1, 0, 0, { 0 }, flat };
static const struct function wide = { "wide", space, 2, 2, 0, { 0 }, flat };

enum ending {
	ALL_EQUAL,
	ALL_NAN,
	ALL_FAILED,
	ALL_STOPPED,
	ALL_INFINITE,
	ALL_CANCELLED,
	ALL_MIXED
};

static const char *const endings[] = { "are equal", "are NaN", "failed",
	"were stopped", "are infinite", "were cancelled",
	"ended one way or another" };

static void
end(struct history *h, int64_t trial, enum ending how)
{
	double x = 1, rows[2], bounds[2];
	enum trial_state state = TRIAL_COMPLETED;

	if (how == ALL_MIXED)
		how = (enum ending)(trial % ALL_MIXED);
	if (trial % 3 == 0)
		history_report(h, trial, trial % 7, trial % 5 == 0 ? NAN : 1);
	if (how == ALL_NAN || how == ALL_FAILED || how == ALL_STOPPED ||
	    how == ALL_CANCELLED)
		x = NAN;
	if (how == ALL_FAILED)
		state = TRIAL_FAILED;
	if (how == ALL_STOPPED)
		state = TRIAL_STOPPED;
	if (how == ALL_CANCELLED)
		state = TRIAL_CANCELLED;
	if (how == ALL_INFINITE)
		x = trial % 2 == 0 ? INFINITY : -INFINITY;
	rows[0] = x;
	rows[1] = -x;
	bounds[0] = trial % 4 == 0 ? 1 : -1;
	bounds[1] = trial % 10 == 0 ? NAN : 0;
	if (history_has_results(h))
		history_results(h, trial, rows, bounds);
	history_end(h, trial, state, x);
}

static bool
in_cube(const double *x)
{
	size_t i;

	for (i = 0; i < DIMS; i++)
		if (!isnan(x[i]) && !(x[i] >= 0 && x[i] <= 1))
			return false;
	return true;
}

/* The setting of a point: steps, and who is there. */
static bool
is_setting(const struct space *s, const double *u)
{
	struct value v[DIMS];
	double tenths;

	space_decode(s, u, v);
	tenths = v[2].real * 10;
	return v[0].real >= 1e-4 && v[0].real <= 0.3 && v[1].integer >= 16 &&
	       v[1].integer <= 256 && fabs(tenths - rint(tenths)) < 1e-9 &&
	       (v[MOMENTUM].kind == VALUE_NONE) ==
		   (strcmp(v[OPT].text, "adam") == 0) &&
	       isnan(u[MOMENTUM]) == (v[MOMENTUM].kind == VALUE_NONE) &&
	       v[7].integer == 3;
}

/* A process over few trials is as odd as one over many, and quicker. */
static const char *
options_of(const char *name)
{
	if (strcmp(name, "gp") != 0)
		return "{}";
	return "{\"candidates\": 256, \"local_searches\": 1, "
	       "\"restarts\": 1, \"fit_trials\": 60, \"max_trials\": 300}";
}

static void
check_ending(const char *name, const struct function *f, enum ending how)
{
	double x[DIMS], y[DIMS];
	bool inside = true, same = true, setting = true;
	struct search_run_state s;
	int64_t trial;
	/*
	 * auto uses gp with all of its candidates: it is asked less often.  What
	 * is compared is the same with sanitizers: the slow ones ask twice less
	 * often there, and end when they have a model; so they do without
	 * TEST_LONG.
	 */
	bool is_auto = strcmp(name, "auto") == 0;
	bool few = SANITIZED || often(true, false);
	bool slow = is_auto || (few && strcmp(name, "gp") == 0);
	int i, every = slow ? 5 : 1, trials = slow && few ? 25 : 50;

	if (!ok(search_run_open(&s, f, name, options_of(name), 5), "%s opens",
		name))
		return;
	for (i = 0; i < trials; i++) {
		if (search_run_ask(&s, x) != 0 ||
		    (i % every == every - 1 && search_run_ask(&s, y) != 0) ||
		    (trial = search_run_next(&s)) == 0)
			break;
		inside = inside && in_cube(x);
		same = same &&
		       (i % every != every - 1 || memcmp(x, y, sizeof x) == 0);
		setting = setting &&
			  is_setting(s.space, history_point(s.history, trial));
		/* Some are left to run. */
		if (i % 9 != 8)
			end(s.history, trial, how);
	}
	is_int(i, trials, "answers every time");
	ok(inside, "%s, %s, all %s: in the cube", name, f->name, endings[how]);
	ok(setting, "%s, %s: settings are allowed", name, f->name);
	ok(same, "%s, %s: the same question, the same answer", name, f->name);
	search_run_close(&s);
}

/* A long history of points at random, of other studies' trials, too. */
static void
fill(struct search_run_state *s, int from, int to)
{
	double x[DIMS], loss[2], bounds[2];
	struct rng rng;
	int t, i;

	rng_init(&rng, 9, 9);
	for (t = from; t <= to; t++) {
		for (loss[0] = 0, i = 0; i < DIMS; i++) {
			x[i] = rng_uniform(&rng);
			loss[0] += (x[i] - 0.3) * (x[i] - 0.3);
		}
		space_snap(s->space, x);
		history_add(s->history, t, x);
		loss[1] = rng_uniform(&rng);
		bounds[0] = rng_uniform(&rng) - 0.5;
		bounds[1] = -1;
		if (history_has_results(s->history))
			history_results(s->history, t, loss, bounds);
		history_end(s->history, t,
		    t % 3 == 0 && !history_has_results(s->history)
			? TRIAL_STOPPED
			: TRIAL_COMPLETED,
		    loss[0]);
	}
}

/* Whether two points are others by more than rounding. */
static bool
is_other(const double *x, const double *y)
{
	size_t i;

	for (i = 0; i < DIMS; i++)
		if (isnan(x[i]) != isnan(y[i]) || fabs(x[i] - y[i]) > 1e-6)
			return true;
	return false;
}

/*
 * Of one long history there may be one best point, which a search reaches from
 * whatever it draws: how many of the next seeds are asked until one says
 * another, SEEDS + 1 when none does.
 */
static int
seeds_asked(struct search_run_state *s, const double *x)
{
	double y[DIMS];
	int n;

	for (n = 1; n <= SEEDS; n++) {
		s->seed++;
		if (search_run_ask(s, y) == 0 && is_other(x, y))
			break;
	}
	return n;
}

static void
check_long(const char *name, const struct function *f)
{
	double x[DIMS];
	struct search_run_state s;

	if (!ok(search_run_open(&s, f, name, options_of(name), 5), "%s opens",
		name))
		return;
	fill(&s, 1, LONG);
	ok(search_run_ask(&s, x) == 0 && in_cube(x),
	    "%s, %s: an answer to %d trials", name, f->name, LONG);
	ok(seeds_asked(&s, x) <= SEEDS,
	    "%s, %s: another seed has another answer", name, f->name);
	search_run_close(&s);
}

/* Trials that are only of other studies. */
static void
check_before(const char *name, const struct function *f)
{
	double x[DIMS];
	struct search_run_state s;
	int64_t trial;
	int i, trials = often(5, 20);

	if (!ok(search_run_open(&s, f, name, options_of(name), 5), "%s opens",
		name))
		return;
	history_add_prior(s.history, 60);
	fill(&s, -59, 0);
	for (i = 0; i < trials; i++) {
		if (search_run_ask(&s, x) != 0 || !in_cube(x) ||
		    (trial = search_run_next(&s)) == 0)
			break;
		end(s.history, trial, ALL_EQUAL);
	}
	is_int(i, trials, "answers with trials of other studies before");
	search_run_close(&s);
}

/* Two that are asked side by side, and one that is asked again. */
static void
check_apart(const char *name)
{
	struct suggestion out = { .made_by = "cpu" };
	double x[DIMS], y[DIMS];
	struct strategy_ask ask;
	struct search_run_state s;

	if (!ok(search_run_open(&s, &plain, name, options_of(name), 5),
		"%s opens", name))
		return;
	fill(&s, 1, 40);
	(void)search_run_ask(&s, x);
	ask = (struct strategy_ask){ .space = s.space,
		.history = s.history,
		.seed = 5,
		.trial = history_count(s.history) + 1,
		.redraw = 1,
		.kernels = s.kernels };
	out.x = y;
	ok(s.strategy->suggest(&out, &ask, s.options, &s.err) == 0 &&
		(memcmp(x, y, sizeof x) != 0 || strcmp(name, "grid") == 0),
	    "%s: asked again, another answer", name);
	(void)search_run_next(&s);
	ok(search_run_ask(&s, y) == 0 && memcmp(x, y, sizeof x) != 0,
	    "%s: two in a row are two", name);
	search_run_close(&s);
}

static void
check_strategy(const struct strategy *strategy)
{
	enum ending how;

	for (how = ALL_EQUAL; how <= ALL_MIXED; how++)
		check_ending(strategy->name, &plain, how);
	check_long(strategy->name, &plain);
	check_before(strategy->name, &plain);
	check_apart(strategy->name);
	if (!strategy->several || !strategy->constraints)
		return;
	for (how = ALL_EQUAL; how <= ALL_MIXED; how++)
		check_ending(strategy->name, &wide, how);
	check_long(strategy->name, &wide);
	check_before(strategy->name, &wide);
}

int
main(void)
{
	size_t i;

	for (i = 0; strategies[i] != NULL; i++)
		if (!strategies[i]->outside)
			check_strategy(strategies[i]);
	return done_testing();
}
