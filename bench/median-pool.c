/*
 * The pool of the running median alone: nanoseconds of processor time for a
 * report (observe and one query) with W trials at a time, until N have
 * finished.  Steps are shared by all trials, or each trial has its own.
 *
 *	bench/median-pool [TRIALS [REPORTS [intervals]]]
 *
 * intervals: from the first report on, instead of when the pool changes to
 * them by itself.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/rng.h"
#include "src/model/history/history.h"
#include "strategies/stop/median/pool.h"

enum {
	AT_ONCE = 64,
	OWN = 1000000 /* steps between two reports, at most */
};

static double
cpu_seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void
report(struct history *h, struct pool *p, int64_t trial, int64_t step, double v)
{
	struct pool_answer a;

	history_report(h, trial, step, v);
	pool_observe(p, h, trial, step);
	pool_query(p, h, step, trial, &a);
}

static void
measure(int64_t trials, int64_t reports, bool shared, bool intervals)
{
	struct pool_rule rule = { .share = 0.5 };
	struct history *h = history_new(0, false, HISTORY_CURVES);
	struct pool *p = pool_new(&rule);
	int64_t first, i, k, n = 0, steps[AT_ONCE];
	struct rng rng;
	double begun = 0, took;

	rng_init(&rng, 1, 0);
	for (k = 1; k <= trials; k++)
		history_add(h, k, NULL);
	if (intervals)
		pool_use_intervals(p, h);
	begun = cpu_seconds();
	for (first = 1; first + AT_ONCE <= trials + 1; first += AT_ONCE) {
		memset(steps, 0, sizeof steps);
		for (i = 0; i < reports; i++)
			for (k = 0; k < AT_ONCE; k++, n++) {
				steps[k] +=
				    shared ? 1
					   : 1 + (int64_t)rng_below(&rng, OWN);
				report(h, p, first + k, steps[k],
				    rng_normal(&rng) + 1.0 / (double)(i + 1));
			}
	}
	took = cpu_seconds() - begun;
	printf("%8lld trials %6lld reports %-7s %-9s %8.0f ns a report\n",
	    (long long)trials, (long long)reports, shared ? "shared" : "own",
	    intervals ? "intervals" : "auto", 1e9 * took / (double)n);
	pool_free(p);
	history_free(h);
}

int
main(int argc, char **argv)
{
	int64_t trials = argc > 1 ? atoll(argv[1]) : 1024;
	int64_t reports = argc > 2 ? atoll(argv[2]) : 100;
	bool intervals = argc > 3 && strcmp(argv[3], "intervals") == 0;

	measure(trials, reports, true, intervals);
	measure(trials, reports, false, intervals);
	return 0;
}
