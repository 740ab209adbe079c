/*
 * Many studies on a simulated AWS that throttles, loses answers, acts late,
 * returns stale lists and ends jobs in every way, with a server that is killed
 * repeatedly: no job without a row, never two for one trial, no result lost.
 */

#include <stdlib.h>

#include "tests/support/sagemaker-world/sm-rows.h"
#include "tests/support/tap.h"

/* Sanitizers take several times as long for the same paths. */
#ifdef __SANITIZE_ADDRESS__
enum { SEEDS = 100 };
#else
enum { SEEDS = 400 };
#endif

static void
draw_faults(struct sm_rows *r)
{
	struct sm_world *w = &r->world;
	struct sm_world_faults *bad = &w->bad;
	double rough = (double)sm_world_between(w, 0, 100) / 300;

	bad->throttle = rough * sm_world_chance(w, 0.5);
	bad->lose_before = rough * sm_world_chance(w, 0.5);
	bad->lose_after = rough * sm_world_chance(w, 0.7);
	bad->late = rough / 4 * sm_world_chance(w, 0.7);
	bad->hidden = rough * sm_world_chance(w, 0.5);
	bad->denied = rough / 4 * sm_world_chance(w, 0.3);
	bad->deaf = 0.2 * sm_world_chance(w, 0.3);
	bad->no_spot = 0.1;
	bad->interrupt = 0.2;
	bad->capacity = bad->internal = bad->fail = bad->max_wait =
	    0.15 * sm_world_chance(w, 0.5);
	bad->client = 0.05 * sm_world_chance(w, 0.5);
	bad->stolen = 0.05 * sm_world_chance(w, 0.3);
	bad->lag_ms = sm_world_chance(w, 0.5) ? 90000 : 0;
	bad->quota = sm_world_chance(w, 0.3) ? 2 : 0;
	bad->train_ms = sm_world_chance(w, 0.5) ? 600000 : 30000;
	r->kill = sm_world_chance(w, 0.7)
		      ? 0.05 * sm_world_chance(w, 0.7) + 0.005
		      : 0;
	r->stop = sm_world_chance(w, 0.5) ? 0.02 : 0;
}

int
main(void)
{
	const char *one = getenv("SM_SEED");
	uint64_t seed = one != NULL ? strtoull(one, NULL, 10) : 1;
	uint64_t last = one != NULL ? seed : SEEDS;
	long jobs = 0, kills = 0, attempts = 0, late = 0, broken = 0;
	long lost = 0, doubled = 0;
	struct sm_rows r;

	for (; seed <= last; seed++) {
		sm_rows_open(&r, seed, ROWS_TRIALS, NULL);
		draw_faults(&r);
		late += !sm_rows_run(&r, NULL);
		if (r.broken > 0 || r.late)
			printf("# seed %llu%s\n", (unsigned long long)seed,
			    r.late ? " does not end" : "");
		broken += r.broken;
		jobs += (long)r.world.n;
		kills += r.kills;
		attempts += (long)r.n;
		lost += r.world.lost;
		doubled += r.world.doubled;
		sm_rows_close(&r);
	}
	printf("# %ld jobs, %ld attempts, %ld kills\n", jobs, attempts, kills);
	printf("# Creates and Stops: %ld answers lost, %ld asked twice\n", lost,
	    doubled);
	is_int(late, 0, "every study ends");
	is_int(broken, 0, "no job without a row, none twice, no result lost");
	ok(one != NULL || (kills > SEEDS && jobs > SEEDS * ROWS_TRIALS),
	    "it was rough enough");
	ok(one != NULL || lost + doubled >= 1000,
	    "a thousand answers were lost, or of requests that came twice");
	return done_testing();
}
