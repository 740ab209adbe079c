/*
 * What tpe and nsga2 do without options is what they do with the values that
 * their manual names as defaults, with one objective and with several.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/strategy-run.h"
#include "tests/support/tap.h"

static const char space[] = "{" UNIT("a") "," UNIT("b") "," UNIT(
    "c") ","
	 "\"k\": {\"type\": \"choice\", \"values\": [1, 2, 3]}}";

enum { TRIALS = 80 };

/* The points of the trials of one strategy; n objectives. */
static void
points_fill(double *points, const char *strategy, const char *options, size_t n)
{
	static const bool goals[3] = { false, false, false };
	double x[DIMS_MAX] = { 0 }, losses[3];
	struct strategy_run r;
	int64_t trial;
	int i;

	strategy_run_open(&r, strategy, space, options, 3);
	if (n > 1)
		history_set_objectives(r.history, n, goals, 0);
	for (i = 0; i < TRIALS; i++) {
		trial = strategy_run_next(&r, x);
		memcpy(points + i * 4, x, 4 * sizeof *x);
		losses[0] = fabs(x[0] - 0.3) + x[2] * x[3];
		losses[1] = fabs(x[0] - 0.7) + x[1];
		losses[2] = x[2];
		if (n > 1)
			history_results(r.history, trial, losses, NULL);
		history_end(r.history, trial, TRIAL_COMPLETED, losses[0]);
	}
	strategy_run_close(&r);
}

static bool
is_same(const char *strategy, const char *a, const char *b, size_t n)
{
	double points[TRIALS * 4], others[TRIALS * 4];

	points_fill(points, strategy, a, n);
	points_fill(others, strategy, b, n);
	return memcmp(points, others, sizeof points) == 0;
}

static const struct {
	const char *strategy, *few,
	    *said; /* options: the default ones left out */
	size_t objectives;
	bool same;
} rows[] = {
	{ "tpe", "{}",
	    "{\"multivariate\": true, \"group\": false, \"n_ei_candidates\": "
	    "64}",
	    1, true },
	{ "tpe", "{}", "{\"multivariate\": false, \"n_ei_candidates\": 24}", 2,
	    true },
	{ "tpe", "{}", "{\"multivariate\": false, \"n_ei_candidates\": 24}", 3,
	    true },
	{ "tpe", "{\"group\": true}",
	    "{\"group\": true, \"multivariate\": true, \"n_ei_candidates\": "
	    "24}",
	    2, true },
	{ "tpe", "{}", "{\"multivariate\": true}", 2, false },
	{ "tpe", "{}", "{\"multivariate\": false}", 1, false },
	{ "tpe", "{}", "{\"n_ei_candidates\": 64}", 2, false },
	{ "tpe", "{}", "{\"n_ei_candidates\": 24}", 1, false },
	{ "nsga2", "{}",
	    "{\"population_size\": 10, \"crossover\": \"uniform\", "
	    "\"crossover_prob\": 0.9, \"swapping_prob\": 0.5, "
	    "\"mutation\": \"uniform\", \"mutation_prob\": 0.25}",
	    2, true },
	{ "nsga2", "{\"crossover\": \"sbx\"}",
	    "{\"crossover\": \"sbx\", \"crossover_eta\": 2}", 1, true },
	{ "nsga2", "{\"crossover\": \"sbx\"}",
	    "{\"crossover\": \"sbx\", \"crossover_eta\": 20}", 2, true },
	{ "nsga2", "{\"crossover\": \"sbx\"}",
	    "{\"crossover\": \"sbx\", \"crossover_eta\": 20}", 1, false },
	{ "nsga2", "{\"mutation\": \"polynomial\"}",
	    "{\"mutation\": \"polynomial\", \"mutation_eta\": 20}", 2, true },
	{ "nsga2", "{}", "{\"population_size\": 20}", 2, false },
};

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		ok(is_same(rows[i].strategy, rows[i].few, rows[i].said,
		       rows[i].objectives) == rows[i].same,
		    "%s, objectives: %zu: %s is%s the same as %s",
		    rows[i].strategy, rows[i].objectives, rows[i].few,
		    rows[i].same ? "" : " not", rows[i].said);
	return done_testing();
}
