/* auto: which strategy each row of its table gives, and when it is another. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"
#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "src/model/plugin-options.h"
#include "src/model/space.h"
#include "strategies/strategy.h"
#include "tests/support/tap.h"

#define FLOAT "{\"type\": \"float\", \"min\": 0, \"max\": 1}"
#define CHOICE "{\"type\": \"choice\", \"values\": [1, 2, 3]}"
#define WHEN \
	"{\"type\": \"int\", \"min\": 1, \"max\": 99, \"when\": {\"c\": [1]}}"

static const char numbers[] = "{\"a\": " FLOAT ", \"b\": " FLOAT "}";
static const char mixed[] =
    "{\"a\": " FLOAT ", \"b\": " FLOAT ", \"c\": " CHOICE "}";
static const char choices[] =
    "{\"b\": " CHOICE ", \"c\": " CHOICE ", \"d\": " CHOICE "}";
static const char choices_and_fixed[] =
    "{\"b\": " CHOICE ", \"c\": " CHOICE ", \"d\": " CHOICE
    ", \"f\": {\"type\": \"fixed\", \"value\": \"x\"}}";
static const char conditions[] =
    "{\"a\": " FLOAT ", \"c\": " CHOICE ", \"d\": " WHEN "}";
static const char ordered[] =
    "{\"a\": " FLOAT ", \"o\": {\"type\": \"choice\", \"values\": [1, 2, 3], "
    "\"ordered\": true}, \"f\": {\"type\": \"fixed\", \"value\": \"x\"}}";
static const char small[] =
    "{\"c\": " CHOICE ", \"n\": {\"type\": \"int\", \"min\": 1, \"max\": 6}}";
static const char larger[] =
    "{\"c\": " CHOICE ", \"n\": {\"type\": \"int\", \"min\": 1, \"max\": 7}, "
    "\"m\": {\"type\": \"int\", \"min\": 1, \"max\": 2}}";

/*
 * Half of the parameters have at most 16 values, and fewer than half; a choice is
 * among them.
 */
#define LEVELS(n_) "{\"type\": \"int\", \"min\": 1, \"max\": " #n_ "}"
static const char half[] = "{\"c\": " CHOICE ", \"a\": " FLOAT ", \"b\": " FLOAT
			   ", \"n\": " LEVELS(16) "}";
static const char fewer[] =
    "{\"c\": " CHOICE ", \"a\": " FLOAT ", \"n\": " LEVELS(17) "}";
static const char all_when[] =
    "{\"c\": " CHOICE ", \"d\": {\"type\": \"choice\", "
    "\"values\": [1, 2, 3, 4, 5, 6, 7], \"when\": {\"c\": [1]}}}";

static const struct {
	const char *space;
	int64_t finished;
	double seconds; /* mean duration */
	size_t objectives;
	bool no_worker;
	const char *strategy, *why; /* a part of it */
} rows[] = {
	{ small, 0, 60, 1, false, "grid", "20 settings" },
	{ small, 300, 60, 2, true, "grid", "20 settings" },
	{ larger, 0, 60, 1, false, "sobol", "fewer than 5 finished" },
	{ larger, 0, 60, 1, true, "sobol", "fewer than 10" },
	{ larger, 4, 60, 1, false, "sobol", "fewer than 5 finished" },
	{ larger, 5, 60, 1, false, "gp", "fewer than 500" },
	{ larger, 5, 60, 1, true, "sobol", "fewer than 10" },
	{ larger, 5, 0.19, 1, false, "sobol", "fewer than 10" },
	{ larger, 5, 60, 2, false, "sobol", "fewer than 10" },
	{ larger, 10, 60, 1, true, "tpe", "hpotune-worker" },
	{ choices, 5, 60, 1, false, "gp", "fewer than 500" },
	{ half, 5, 60, 1, false, "gp", "fewer than 500" },
	{ fewer, 5, 60, 1, false, "sobol", "fewer than 10" },
	{ mixed, 5, 60, 1, false, "sobol", "fewer than 10" },
	{ all_when, 5, 60, 1, false, "sobol", "fewer than 10" },
	{ numbers, 0, 0, 1, false, "middle", "fewer than 6" },
	{ numbers, 4, 60, 1, true, "middle", "fewer than 6" },
	{ numbers, 4, 0.19, 1, false, "middle", "fewer than 6" },
	{ numbers, 6, 60, 1, false, "gp", "fewer than 500" },
	{ numbers, 6, 60, 1, true, "tpe", "hpotune-worker" },
	{ numbers, 6, 60, 2, false, "sobol", "fewer than 10" },
	{ ordered, 4, 60, 1, false, "middle", "fewer than 6" },
	{ numbers, 10, 0, 1, false, "gp", "fewer than 500" },
	{ numbers, 10, 1, 1, false, "gp", "fewer than 500" },
	{ numbers, 10, 0.19, 1, false, "tpe", "less than 0.2 s" },
	{ numbers, 10, 0.2, 1, false, "gp", "fewer than 500" },
	{ numbers, 10, 60, 1, true, "tpe", "hpotune-worker" },
	{ numbers, 499, 60, 1, false, "gp", "fewer than 500" },
	{ numbers, 500, 60, 1, false, "cmaes", "all parameters are numbers" },
	{ ordered, 500, 60, 1, false, "cmaes", "all parameters are numbers" },
	{ numbers, 500, 60, 1, true, "tpe", "hpotune-worker" },
	{ numbers, 500, 0.01, 1, false, "tpe", "less than 0.2 s" },
	{ numbers, 97, 60, 1, false, "gp", "fewer than 500" },
	{ numbers, 98, 60, 1, false, "gp", "fewer than 500" },
	{ numbers, 100, 60, 1, false, "gp", "fewer than 500" },
	{ numbers, 101, 60, 1, false, "tpe", "without progress" },
	{ numbers, 102, 60, 1, false, "tpe", "without progress" },
	{ numbers, 103, 60, 1, false, "gp", "fewer than 500" },
	{ numbers, 101, 60, 1, true, "tpe", "hpotune-worker" },
	{ numbers, 101, 60, 2, false, "gp", "several objectives" },
	{ ordered, 101, 60, 1, false, "tpe", "without progress" },
	{ choices, 101, 60, 1, false, "gp", "fewer than 500" },
	{ conditions, 101, 60, 1, false, "gp", "fewer than 500" },
	{ mixed, 199, 60, 1, false, "gp", "fewer than 500" },
	{ mixed, 200, 60, 1, false, "gp", "fewer than 500" },
	{ mixed, 499, 60, 1, false, "gp", "fewer than 500" },
	{ mixed, 500, 60, 1, false, "tpe", "500 finished trials or more" },
	{ choices, 10, 60, 1, false, "gp", "fewer than 500" },
	{ choices, 499, 60, 1, false, "gp", "fewer than 500" },
	{ choices, 500, 60, 1, false, "tpe", "500 finished trials or more" },
	{ conditions, 10, 60, 1, false, "gp", "fewer than 500" },
	{ conditions, 200, 60, 1, false, "gp", "fewer than 500" },
	{ conditions, 500, 60, 1, false, "tpe", "have conditions" },
	{ numbers, 4, 60, 2, false, "sobol", "fewer than 10" },
	{ numbers, 10, 60, 2, false, "gp",
	    "several objectives, fewer than 200" },
	{ conditions, 199, 0, 3, false, "gp",
	    "several objectives, fewer than 200" },
	{ numbers, 10, 60, 2, true, "tpe",
	    "several objectives, fewer than 1000" },
	{ numbers, 10, 0.19, 2, false, "tpe",
	    "several objectives, fewer than 1000" },
	{ choices, 10, 60, 2, false, "tpe",
	    "several objectives, fewer than 1000" },
	{ choices_and_fixed, 10, 60, 2, false, "tpe",
	    "several objectives, fewer than 1000" },
	{ numbers, 200, 60, 2, false, "tpe",
	    "several objectives, fewer than 1000" },
	{ numbers, 999, 60, 2, false, "tpe",
	    "several objectives, fewer than 1000" },
	{ numbers, 1000, 60, 3, false, "nsga2", "several objectives, 1000" },
};

extern const struct strategy strategy_middle;

/* Also the one that starts a study, which no study names. */
static const struct strategy *
find(const char *name)
{
	return strcmp(name, "middle") == 0 ? &strategy_middle
					   : strategy_find(name);
}

static struct space *
space_of(const char *text, struct json_doc **doc)
{
	struct space *space = NULL;
	struct err e = ERR_INIT;

	if (json_parse(doc, text, strlen(text), NULL, false, &e) != 0 ||
	    space_read(&space, json_root(*doc), &e) != 0) {
		printf("Bail out! %s\n", e.text);
		exit(1);
	}
	return space;
}

/* Spread over the space; the values are best at the middle of the first. */
static struct history *
history_of(const struct space *space, int64_t finished, size_t objectives)
{
	static const enum trial_state endings[] = { TRIAL_COMPLETED,
		TRIAL_STOPPED, TRIAL_COMPLETED, TRIAL_FAILED };
	bool goals[3] = { false, false, false };
	struct history *h = history_new(space->n, false, HISTORY_POINTS);
	double values[3] = { 1, 2, 3 }, *x = xcalloc(space->n, sizeof *x);
	int64_t i;
	size_t k;

	if (objectives > 1)
		history_set_objectives(h, objectives, goals, 0);
	for (i = 1; i <= finished + 5; i++) {
		for (k = 0; k < space->n; k++)
			x[k] = fmod(
			    (double)i * 0.61803398875 * (double)(k + 1), 1);
		space_snap(space, x);
		history_add(h, i, x);
		/* Trials that stopped or failed count, no others. */
		if (i > finished + 2)
			continue;
		if (objectives > 1)
			history_results(h, i, values, NULL);
		history_end(h, i,
		    i > finished ? TRIAL_CANCELLED : endings[i % 4],
		    fabs(x[0] - 0.5) + (double)i * 1e-3);
	}
	free(x);
	return h;
}

static void
test_row(size_t i)
{
	const struct strategy *use, *own = strategy_find("auto");
	struct json_doc *doc;
	struct space *space = space_of(rows[i].space, &doc);
	struct history *h =
	    history_of(space, rows[i].finished, rows[i].objectives);
	struct strategy_ask ask = { .space = space,
		.history = h,
		.seed = 1,
		.trial = history_count(h) + 1,
		.trial_seconds = rows[i].seconds,
		.no_worker = rows[i].no_worker };
	const char *why = NULL;

	use = own->choose(&ask, &why);
	is_str(use->name, rows[i].strategy, rows[i].why);
	ok((ask.n_known > 0) == (strcmp(use->name, "cmaes") == 0),
	    "trials before it are known to cmaes alone");
	ok(why != NULL && strstr(why, rows[i].why) != NULL, "and why");
	ok(rows[i].objectives == 1 || use->several,
	    "it has as many objectives");
	history_free(h);
	space_free(space);
	json_free(doc);
}

/*
 * What auto suggests is what the chosen strategy does, when trials up to n_known
 * were suggested by others.
 */
static void
test_same(const char *name, const char *text, int64_t finished, size_t losses,
    double seconds, int64_t n_known)
{
	const struct strategy *other = find(name);
	struct json_doc *doc;
	struct space *space = space_of(text, &doc);
	struct history *h = history_of(space, finished, losses);
	struct strategy_ask ask = { .space = space,
		.history = h,
		.seed = 7,
		.trial = history_count(h) + 1,
		.trial_seconds = seconds,
		.kernels = kernels_cpu() };
	struct strategy_ask theirs = ask;
	struct option_value *options;
	double x[3] = { 0 }, y[3] = { 0 };
	struct suggestion a = { .x = x }, b = { .x = y };
	struct err e = ERR_INIT;

	theirs.n_known = n_known;
	if (plugin_options_read(&options, other->options, NULL, NULL, &e) != 0)
		return;
	ok(strategy_find("auto")->suggest(&a, &ask, NULL, &e) == 0 &&
		other->suggest(&b, &theirs, options, &e) == 0 &&
		memcmp(x, y, sizeof x) == 0,
	    "auto suggests what %s does after %d trials", name, (int)finished);
	plugin_options_free(options);
	history_free(h);
	space_free(space);
	json_free(doc);
}

/* With its defaults: whether its answer is that of another strategy. */
static bool
answers_as(const char *name, const char *other, const struct strategy_ask *ask)
{
	const char *names[] = { name, other };
	double x[2][3] = { 0 };
	struct option_value *options;
	struct suggestion out;
	struct err e = ERR_INIT;
	size_t i;

	for (i = 0; i < 2; i++) {
		out = (struct suggestion){ .x = x[i] };
		if (plugin_options_read(
			&options, find(names[i])->options, NULL, NULL, &e) != 0)
			return false;
		if (find(names[i])->suggest(&out, ask, options, &e) != 0)
			x[i][0] = -1 - (double)i;
		plugin_options_free(options);
	}
	return memcmp(x[0], x[1], sizeof x[0]) == 0;
}

/*
 * The start of auto and gp is six trials that have finished or run, of which
 * five have finished, and that of tpe is ten; trials that wait or were cancelled
 * do not count.
 */
static void
test_parallel(int64_t finished, int64_t running, bool start, bool start_tpe)
{
	struct json_doc *doc;
	struct space *space = space_of(numbers, &doc);
	struct history *h = history_of(space, finished, 1);
	struct strategy_ask ask = { .space = space,
		.history = h,
		.seed = 3,
		.trial_seconds = 60,
		.kernels = kernels_cpu() };
	const double x[3] = { 0.25, 0.75 };
	const char *why;
	int64_t i;

	/* The history has three more that run, and two that were cancelled. */
	for (i = 3; i < running; i++)
		history_add(h, history_count(h) + 1, x);
	for (i = running; i < 3; i++)
		history_end(h, finished + 3 + i, TRIAL_CANCELLED, NAN);
	ask.trial = history_count(h) + 1;
	ok((strcmp(strategy_find("auto")->choose(&ask, &why)->name, "middle") ==
	       0) == start,
	    "auto, %d finished and %d running", (int)finished, (int)running);
	ok(answers_as("gp", "middle", &ask) == start, "gp is asked so, too");
	ok(answers_as("tpe", "random", &ask) == start_tpe, "and tpe");
	history_free(h);
	space_free(space);
	json_free(doc);
}

/* Whether the turns of tpe begin in the tenth trial after progress. */
static void
test_progress(void)
{
	struct json_doc *doc;
	struct space *space = space_of(numbers, &doc);
	struct history *h = history_of(space, 100, 1);
	struct strategy_ask ask = {
		.space = space, .history = h, .seed = 3, .trial_seconds = 60
	};
	const double x[3] = { 0.25, 0.75 };
	const char *why;
	int i;

	for (i = 0; i <= 10; i++) {
		history_add(h, history_count(h) + 1, x);
		history_end(
		    h, history_count(h), TRIAL_COMPLETED, i == 0 ? -1 : -0.5);
		ask.trial = 400;
		ok(strcmp(strategy_find("auto")->choose(&ask, &why)->name,
		       i < 10 ? "gp" : "tpe") == 0,
		    "%d trials after progress", i);
		ask.trial = 401;
		is_str(strategy_find("auto")->choose(&ask, &why)->name, "gp",
		    "a turn of gp");
	}
	history_free(h);
	space_free(space);
	json_free(doc);
}

/* The first trial of a study has no history yet. */
static void
test_start(void)
{
	struct json_doc *doc;
	struct space *space = space_of(numbers, &doc);
	struct strategy_ask ask = { .space = space, .seed = 1, .trial = 1 };
	const char *why = NULL;

	is_str(strategy_find("auto")->choose(&ask, &why)->name, "middle",
	    "without a history the middle");
	space_free(space);
	json_free(doc);
}

/* A suggestion of the start; x has three numbers. */
static void
middle_at(double *x, const struct space *space, int64_t trial,
    int64_t n_enqueued, unsigned redraw)
{
	struct strategy_ask ask = { .space = space,
		.seed = 1,
		.trial = trial,
		.n_enqueued = n_enqueued,
		.redraw = redraw };
	struct suggestion out = { .x = x };
	struct err e = ERR_INIT;

	ok(strategy_middle.suggest(&out, &ask, NULL, &e) == 0, "trial %d",
	    (int)trial);
}

/*
 * The first suggestion for numbers is the middle of all ranges; a prior has its
 * median there.  With a choice that has no order it is that of sobol.
 */
static void
test_middle(void)
{
	static const char text[] =
	    "{\"a\": " FLOAT ", \"p\": {\"type\": \"float\", \"min\": 0, "
	    "\"max\": 1, \"mean\": 0.2, \"sd\": 0.01}, \"o\": {\"type\": "
	    "\"choice\", \"values\": [1, 2, 3], \"ordered\": true}}";
	struct json_doc *doc;
	struct space *space = space_of(text, &doc);
	const struct strategy *sobol = strategy_find("sobol");
	struct strategy_ask ask = { .space = space, .seed = 1, .trial = 1 };
	struct option_value *options;
	double first[3], x[3], even[3];
	struct suggestion out = { .x = even };
	struct err e = ERR_INIT;

	if (plugin_options_read(&options, sobol->options, NULL, NULL, &e) != 0)
		return;
	ok(sobol->suggest(&out, &ask, options, &e) == 0, "the first of sobol");
	middle_at(first, space, 1, 0, 0);
	ok(first[0] == 0.5 && first[2] == 0.5, "the middle of a range");
	ok(fabs(first[1] - 0.2) < 1e-6, "and of a prior: %g", first[1]);
	ask.trial = 2;
	ok(sobol->suggest(&out, &ask, options, &e) == 0, "the second");
	middle_at(x, space, 2, 0, 0);
	ok(memcmp(x, even, sizeof x) == 0, "the second is that of sobol");
	middle_at(x, space, 4, 3, 0);
	ok(memcmp(x, first, sizeof x) == 0, "enqueued trials do not count");
	middle_at(x, space, 1, 0, 1);
	ok(x[0] != 0.5, "a second answer for the first trial is another one");
	plugin_options_free(options);
	space_free(space);
	json_free(doc);
}

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
		test_row(i);
	test_start();
	test_middle();
	test_progress();
	test_parallel(4, 0, true, true);
	test_parallel(4, 20, true, true);
	test_parallel(5, 0, true, true);
	test_parallel(5, 1, false, true);
	test_parallel(5, 4, false, true);
	test_parallel(5, 5, false, false);
	test_parallel(6, 0, false, true);
	test_parallel(9, 1, false, false);
	test_parallel(10, 0, false, false);
	test_same("middle", numbers, 0, 1, 0, 0);
	test_same("sobol", choices, 4, 1, 60, 0);
	test_same("gp", choices, 5, 1, 60, 0);
	test_same("sobol", mixed, 5, 1, 60, 0);
	test_same("gp", numbers, 6, 1, 60, 0);
	test_same("gp", numbers, 10, 1, 60, 0);
	test_same("gp", conditions, 45, 1, 60, 0);
	test_same("gp", mixed, 45, 2, 60, 0);
	test_same("tpe", numbers, 20, 1, 0.01, 0);
	test_same("tpe", choices, 20, 2, 60, 0);
	test_same("tpe", numbers, 101, 1, 60, 0);
	test_same("cmaes", numbers, 505, 1, 60, 500);
	test_same("nsga2", numbers, 1005, 3, 60, 0);
	return done_testing();
}
