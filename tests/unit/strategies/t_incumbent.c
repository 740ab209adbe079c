/* The trial that a model holds best: with noise, without, and with few results. */

#include <math.h>
#include <stdlib.h>

#include "src/base/rng.h"
#include "strategies/incumbent/incumbent.h"
#include "tests/support/strategy-run.h"
#include "tests/support/tap.h"

enum { D = 3, MOST = 400 };

static const char space[] = "{" UNIT("a") "," UNIT(
    "b") ", \"c\": {\"type\": \"choice\", \"values\": [1, 2, 3]}}";

/* The second choice is the best; inactive is none. */
static double
loss_of(const double *x)
{
	return 3 * (x[0] - 0.3) * (x[0] - 0.3) +
	       2 * (x[1] - 0.6) * (x[1] - 0.6) +
	       (x[2] < 1.0 / 3 || x[2] > 2.0 / 3);
}

/*
 * Whether noise is found in n random trials.  true loss of the one that is held
 * best, of the luckiest, and the answer.
 */
static bool
ask(struct incumbent *found, double *held, double *luckiest, size_t n,
    double deviation, uint64_t seed)
{
	double points[MOST * D], losses[MOST];
	struct strategy_run r;
	struct rng rng;
	size_t i, k;
	bool is;

	strategy_run_open(&r, "random", space, "{}", 1);
	rng_init(&rng, seed, 0);
	for (i = 0; i < n; i++) {
		for (k = 0; k < D; k++)
			points[i * D + k] = rng_uniform(&rng);
		points[i * D + 2] = (floor(3 * points[i * D + 2]) + 0.5) / 3;
		losses[i] =
		    loss_of(points + i * D) + deviation * rng_normal(&rng);
	}
	is = incumbent_find(found, r.space, n, points, losses);
	if (is) {
		*held = loss_of(points + found->at * D);
		*luckiest = loss_of(points + found->looks * D);
	}
	strategy_run_close(&r);
	return is;
}

static void
check_noise(size_t n)
{
	double held = NAN, luckiest = NAN, sum = 0, lucky = 0, off = 0;
	struct incumbent found;
	uint64_t seed;
	int noisy = 0;

	for (seed = 1; seed <= 8; seed++) {
		noisy += ask(&found, &held, &luckiest, n, 0.7, seed);
		sum += held / 8;
		lucky += luckiest / 8;
		off += fabs(found.expected - held) / 8;
	}
	is_int(noisy, 8, "noise is found");
	ok(sum < 0.25 && sum < lucky,
	    "of %zu trials the one held best is good: %g, the luckiest %g", n,
	    sum, lucky);
	ok(off < 0.3, "its expected loss is off by %g", off);
}

int
main(void)
{
	double held, luckiest;
	struct incumbent found;

	check_noise(60);
	check_noise(MOST);
	ok(!ask(&found, &held, &luckiest, 60, 0, 1), "none without noise");
	ok(!ask(&found, &held, &luckiest, 60, 1e-3, 1),
	    "nor where it is small");
	ok(!ask(&found, &held, &luckiest, INCUMBENT_LEAST - 1, 0.4, 1),
	    "nor of a few trials");
	return done_testing();
}
