/*
 * How limits.convergence does on known functions: when it ends a study, what
 * the study has found by then, and what it would have found by more trials.
 *
 *	bench/convergence [STRATEGY [TRIALS [SEEDS [NOISE [MEDIAN]]]]]
 *
 * A false stop is one after which, with all trials, the best would have got
 * better by more than the tolerance: 1 % of the median's distance from the
 * least that there is.  NOISE is a share of that distance, added to results.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/model/history/history.h"
#include "src/model/plugin-options.h"
#include "src/model/space.h"
#include "strategies/strategy.h"
#include "tests/support/search-run.h"

enum { TRIALS_MOST = 1000 };

static const char *const names[] = { "branin", "hartmann3", "hartmann6",
	"ackley5", "rosenbrock4", "levy4", "mixed", "conditional", "discrete",
	NULL };

struct run {
	struct search_run_state search;
	int stopped; /* after so many trials; 0 = never */
	double then, last; /* best true losses */
};

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* What chance gives: the median of 1000 points, less the least there is. */
static double
spread_of(const struct function *f)
{
	double found[1000];
	struct search_run_state s;
	int i;

	(void)search_run_open(&s, f, "random", "{}", 99);
	for (i = 0; i < 1000; i++)
		found[i] = search_run_tell(&s, search_run_next(&s));
	search_run_close(&s);
	qsort(found, 1000, sizeof found[0], by_value);
	return found[500] - f->best;
}

/* One result, with noise; the true one is returned. */
static double
tell(struct search_run_state *s, int64_t trial, double noise, struct rng *rng)
{
	struct value *values = xcalloc(s->space->n + 1, sizeof *values);
	double losses[FUNCTION_LOSSES], bounds[FUNCTION_BOUNDS];

	space_decode(s->space, history_point(s->history, trial), values);
	s->function->give(values, losses, bounds);
	history_end(s->history, trial, TRIAL_COMPLETED,
	    losses[0] + noise * rng_normal(rng));
	free(values);
	return losses[0];
}

static int
converged(struct search_run_state *s, const struct option_value *options, int n)
{
	double *x = xcalloc(s->space->n, sizeof *x);
	struct suggestion out = { .x = x };
	struct strategy_ask ask = { .space = s->space,
		.history = s->history,
		.seed = s->seed,
		.trial = n,
		.kernels = s->kernels };
	int rc = strategy_convergence.suggest(&out, &ask, options, &s->err);

	free(x);
	return rc;
}

static void
run(struct run *r, const struct function *f, const char *strategy, int trials,
    double noise, uint64_t seed)
{
	struct option_value *options;
	double best = INFINITY, best_seen = INFINITY, value, seen;
	struct rng rng;
	int64_t trial;
	int i;

	*r = (struct run){ .stopped = 0 };
	rng_init(&rng, seed, 7);
	if (!search_run_open(&r->search, f, strategy,
		strcmp(strategy, "gp") == 0 ? "{\"candidates\": 2048}" : "{}",
		seed) ||
	    plugin_options_read(&options, strategy_convergence.options, NULL,
		NULL, &r->search.err) != 0)
		exit(1);
	for (i = 1; i <= trials; i++) {
		trial = search_run_next(&r->search);
		if (trial == 0)
			break;
		value = tell(&r->search, trial, noise, &rng);
		seen = history_loss(r->search.history, trial);
		/* Who is best is said by what was seen. */
		if (seen < best_seen) {
			best_seen = seen;
			best = value;
		}
		if (r->stopped == 0 && converged(&r->search, options, i) == 1) {
			r->stopped = i;
			r->then = best;
		}
	}
	r->last = best;
	plugin_options_free(options);
	search_run_close(&r->search);
}

int
main(int argc, char **argv)
{
	const char *strategy = argc > 1 ? argv[1] : "gp";
	int trials = argc > 2 ? atoi(argv[2]) : 100;
	int seeds = argc > 3 ? atoi(argv[3]) : 10, i, k, stops, bad;
	double noise = argc > 4 ? atof(argv[4]) : 0, spread, after, lost;
	struct run r;

	printf("%-12s %5s %5s %6s %8s\n", strategy, "stops", "false", "after",
	    "lost");
	for (i = 0; names[i] != NULL; i++) {
		const struct function *f = test_function_find(names[i]);

		spread = spread_of(f);
		stops = bad = 0;
		after = lost = 0;
		for (k = 0; k < seeds; k++) {
			run(&r, f, strategy, trials, noise * spread,
			    (uint64_t)k + 1);
			if (r.stopped == 0)
				continue;
			stops++;
			after += r.stopped;
			lost += (r.then - r.last) / spread;
			bad += r.then - r.last > fmax(0.01, noise) * spread;
		}
		printf("%-12s %5d %5d %6.0f %8.4f\n", names[i], stops, bad,
		    stops > 0 ? after / stops : NAN,
		    stops > 0 ? lost / stops : NAN);
		(void)fflush(stdout);
	}
	return 0;
}
