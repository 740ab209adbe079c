/*
 * Strategies find known optima: on test functions the median over seeds, of which
 * there are more with TEST_LONG, reaches a loss, which was measured and given a margin, and random search does not
 * reach it.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "strategies/strategy.h"
#include "tests/support/search-run.h"
#include "tests/support/tap.h"

enum { SEEDS = 3, SEEDS_LONG = 7 };

#define FEW "{\"candidates\": 4096}"

/* reach: of several objectives a share of the largest hypervolume. */
static const struct {
	const char *strategy, *options, *function;
	int trials, parallel;
	double reach;
} tasks[] = {
	{ "tpe", "{}", "branin", 100, 1, 0.5 },
	{ "tpe", "{}", "hartmann3", 100, 4, -3.75 },
	{ "tpe", "{}", "hartmann6", 100, 1, -2.9 },
	{ "tpe", "{}", "ackley5", 100, 1, 8 },
	{ "tpe", "{}", "ackley5", 150, 1, 6.5 },
	{ "tpe", "{\"multivariate\": false}", "ackley5", 150, 1, 9 },
	{ "tpe", "{}", "rosenbrock4", 100, 1, 120 },
	{ "tpe", "{}", "levy4", 100, 4, 1 },
	{ "tpe", "{}", "mixed", 100, 1, 0.05 },
	{ "tpe", "{}", "conditional", 100, 1, 0.05 },
	{ "tpe", "{\"group\": true, \"startup\": \"sobol\"}", "conditional",
	    100, 1, 0.05 },
	{ "tpe", "{\"group\": true}", "conditional", 100, 1, 0.11 },
	{ "tpe", "{}", "braninc", 100, 1, 0.6 },
	{ "tpe", "{}", "zdt1", 150, 1, 0.3 },
	{ "tpe", "{}", "dtlz2", 150, 4, 0.6 },
	{ "tpe", "{}", "bnh", 200, 1, 0.97 },
	{ "gp", FEW, "branin", 40, 1, 0.41 },
	{ "gp", FEW, "hartmann3", 40, 1, -3.85 },
	{ "gp", FEW, "hartmann6", 60, 1, -3.1 },
	{ "gp", FEW, "conditional", 50, 1, 0.02 },
	{ "gp", FEW, "discrete", 30, 1, 1e-9 },
	{ "gp", FEW, "zdt1", 50, 1, 0.9 },
	{ "gp", FEW, "dtlz2", 50, 4, 0.53 },
	{ "gp", FEW, "bnh", 50, 1, 0.97 },
	{ "cmaes", "{}", "branin", 100, 1, 0.6 },
	{ "cmaes", "{}", "hartmann3", 100, 1, -3.75 },
	{ "cmaes", "{}", "hartmann6", 200, 4, -3 },
	{ "cmaes", "{}", "ackley5", 200, 1, 4 },
	{ "cmaes", "{}", "rosenbrock4", 400, 4, 8 },
	{ "cmaes", "{}", "levy4", 400, 8, 0.01 },
	{ "cmaes", "{}", "mixed", 100, 1, 0.05 },
	{ "cmaes", "{}", "conditional", 100, 1, 0.1 },
	{ "cmaes", "{}", "braninc", 200, 1, 0.5 },
	{ "cmaes", "{\"use_separable_cma\": true}", "hartmann6", 200, 1, -3 },
	{ "cmaes", "{\"restart_strategy\": \"bipop\"}", "branin", 300, 1, 0.4 },
	{ "cmaes", "{\"with_margin\": false}", "mixed", 100, 1, 0.1 },
	{ "nsga2", "{\"population_size\": 20}", "mixed", 200, 1, 0.1 },
	{ "nsga2", "{\"population_size\": 20}", "conditional", 200, 4, 0.11 },
	{ "nsga2", "{\"population_size\": 20}", "zdt1", 300, 4, 0.4 },
	{ "nsga2",
	    "{\"population_size\": 20, \"crossover\": \"sbx\","
	    " \"mutation\": \"polynomial\"}",
	    "zdt1", 300, 4, 0.55 },
	{ "nsga2", "{\"population_size\": 20}", "dtlz2", 200, 1, 0.65 },
	{ "nsga2", "{\"population_size\": 20}", "bnh", 200, 1, 0.975 },
	{ "nsga2",
	    "{\"crossover\": \"sbx\", \"mutation\": \"polynomial\","
	    " \"population_size\": 20}",
	    "ackley5", 200, 1, 9 },
};

static int
by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
median(const struct function *f, const char *strategy, const char *options,
    int trials, int parallel)
{
	double found[SEEDS_LONG];
	int i, seeds = often(SEEDS, SEEDS_LONG);
	struct search_run_state s;

	for (i = 0; i < seeds; i++) {
		if (!search_run_open(
			&s, f, strategy, options, (uint64_t)i + 1)) {
			printf("# %s\n", s.err.text);
			return NAN;
		}
		found[i] = search_run(&s, trials, parallel);
		search_run_close(&s);
	}
	qsort(found, (size_t)seeds, sizeof *found, by_number);
	return found[seeds / 2];
}

int
main(void)
{
	const struct function *f;
	double found, chance, reach;
	size_t i;

	for (i = 0; i < sizeof tasks / sizeof tasks[0]; i++) {
		f = test_function_find(tasks[i].function);
		found = median(f, tasks[i].strategy, tasks[i].options,
		    tasks[i].trials, tasks[i].parallel);
		chance = median(f, "random", "{}", tasks[i].trials, 1);
		reach = tasks[i].reach;
		if (f->n_losses == 1) {
			ok(found <= reach && found < chance,
			    "%s %s, %s: %.4g in %d trials is at most %g, and "
			    "less than the %.4g of chance",
			    tasks[i].strategy, tasks[i].options, f->name, found,
			    tasks[i].trials, reach, chance);
			continue;
		}
		ok(found >= reach * f->best && found > chance,
		    "%s %s, %s: a volume of %.4g in %d trials is at least %g "
		    "of %.4g, and more than the %.4g of chance",
		    tasks[i].strategy, tasks[i].options, f->name, found,
		    tasks[i].trials, reach, f->best, chance);
	}
	return done_testing();
}
