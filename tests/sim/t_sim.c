/*
 * Thousands of studies, each from a seed and with faults; then the same with
 * deliberate bugs, which must be detected.
 *
 *	t_sim: $SIM_SEEDS seeds (if unset 200, with TEST_LONG 1,000; with sanitizers
 *	    40 and 100), and, without sanitizers, the bugs
 *	t_sim --seed N: one seed, with its events
 *	t_sim --seed N BUG: the same with a bug
 */

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/log.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/store/store.h"
#include "tests/sim/sim.h"
#include "tests/support/scratch.h"
#include "tests/support/tap.h"

/*
 * Sanitizers take several times as long for the same, and show nothing more of
 * whether a bug is found.
 */
#ifdef __SANITIZE_ADDRESS__
enum { SEEDS = 40, SEEDS_LONG = 100, WITH_BUGS = 0 };
#else
/* Of the bugs 24 of 26 are found by the first 200 seeds. */
enum { SEEDS = 200, SEEDS_LONG = 1000, WITH_BUGS = 1 };
#endif
enum { SEEDS_OF_A_BUG = 1000 };

/* The bugs, and what each of them is. */
/* Each with the seed that showed it last: where the search begins. */
static const struct bug {
	const char *point, *about;
	uint64_t seed;
} bugs[] = {
	{ "bug.act_before_commit", "acting before the commit", 1 },
	{ "bug.ignore_look", "taking what runs for lost at a restart", 3 },
	{ "bug.no_abandon", "moving on from an attempt that may still start",
	    119 },
	{ "bug.forget_slots", "forgetting at a restart who has a slot", 3 },
	{ "bug.no_cursor", "reading reports again after a restart", 1 },
	{ "bug.retry_always", "retrying what is never to be retried", 1 },
	{ "bug.not_alone", "placing beside what must run alone", 3 },
	{ "bug.keep_queue", "trying a setting of the queue again", 12 },
	{ "bug.hear_again", "recording twice what was delivered twice", 1 },
	{ "bug.forget_blame", "blaming settings at a restart for lost trials",
	    150 },
	{ "bug.forget_usage", "counting anew at a restart what was used", 1 },
	{ "bug.forget_aims", "forgetting at a restart what was reported last",
	    16 },
	{ "bug.forget_paused", "forgetting at a restart who is paused", 29 },
	{ "bug.never_resume", "never resuming who is paused", 428 },
	{ "bug.look_twice", "a second look at whom had one", 160 },
	{ "bug.look_over", "a second look that the budget has no room for",
	    10 },
	{ "bug.look_unpaid", "a second look without a price", 6 },
	{ "bug.look_unspent", "forgetting what second looks have cost", 19 },
	{ "bug.forget_look", "forgetting at a restart who has a second look",
	    1214 },
	{ "bug.forget_series",
	    "forgetting at a restart what rules by seconds have read", 10 },
	{ "bug.forget_own_steps",
	    "forgetting at a restart how many steps trials have", 2 },
	{ "bug.forget_stop", "not asking again for a stop after a restart", 7 },
	{ "bug.early_whole", "completing a crash before the last step", 2 },
	{ "bug.fail_whole", "failing for a crash after the last step", 45 },
	{ "bug.whole_worthless", "completing a crash without a finite value",
	    151 },
	{ "bug.stops_complete", "a stop that begins the count of failures",
	    19 },
};

void
sim_wrong(struct sim *s, const char *fmt, ...)
{
	va_list ap;

	if (*s->wrong != '\0')
		return;
	va_start(ap, fmt);
	(void)vsnprintf(s->wrong, sizeof s->wrong, fmt, ap);
	va_end(ap);
}

bool
sim_chance(struct sim *s, double share)
{
	return rng_uniform(&s->dice) < share;
}

int64_t
sim_below(struct sim *s, int64_t n)
{
	return (int64_t)rng_below(&s->dice, (uint64_t)n);
}

int64_t
sim_number(struct sim *s, const char *sql, const char *param)
{
	const char *params[] = { param, NULL };
	struct store_rows *r = NULL;
	struct err e = ERR_INIT;
	int64_t n = -1;

	if (store_rows_open(&r, s->reader, sql, params, &e) != 0 ||
	    store_rows_next(r, &e) != 1)
		sim_wrong(s, "%s: %s", sql, e.text);
	else
		n = store_rows_int(r, 0);
	if (r != NULL)
		store_rows_close(r);
	return n;
}

static void
quiet(void *arg, enum log_level level, const char *area, const char *text)
{
	(void)arg;
	(void)level;
	(void)area;
	(void)text;
}

static void
loud(void *arg, enum log_level level, const char *area, const char *text)
{
	const struct sim *s = arg;

	printf("# %9.3f %s %s: %s\n",
	    s->loop != NULL ? (double)loop_now_ms(s->loop) / 1000 : 0,
	    log_level_name(level), area, text);
}

static void
sim_free(struct sim *s)
{
	buf_free(&s->mind);
	store_close(s->reader);
	loop_timer_free(s->reopen);
	loop_timer_free(s->unpause);
	pretend_world_free(s->world);
	loop_close(s->loop);
	sim_study_free(s);
	free(s);
}

/* The whole of one seed; the caller frees. */
static struct sim *
sim_seed(char *dir, uint64_t seed, const char *bug, bool verbose)
{
	struct sim *s = xcalloc(1, sizeof *s);

	s->seed = seed;
	s->dir = dir;
	s->bug = bug;
	rng_init(&s->dice, seed, 0);
	if (verbose) {
		log_set_level(LOG_LEVEL_DEBUG);
		log_set_sink(loud, s);
	} else
		log_set_sink(quiet, NULL);
	sim_study_make(s);
	if (verbose)
		printf("# %s\n", s->json);
	if (*s->wrong == '\0')
		sim_run(s);
	if (*s->wrong == '\0')
		sim_check(s);
	return s;
}

static double
seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void
run_seeds(char *dir, uint64_t n)
{
	uint64_t seed, bad = 0;
	int64_t crashes = 0, turns = 0, attempts = 0, locks = 0, leaves = 0,
		retried = 0, disks = 0;
	double begin = seconds();
	struct sim *s;

	for (seed = 1; seed <= n && bad < 5; seed++) {
		s = sim_seed(dir, seed, NULL, false);
		if (*s->wrong != '\0') {
			bad++;
			printf("# seed %" PRIu64 ": %s\n", seed, s->wrong);
		}
		crashes += s->crashes;
		turns += s->turns;
		locks += s->locks;
		leaves += s->leaves;
		retried += s->retried;
		disks += s->disks;
		attempts += s->world != NULL
				? (int64_t)pretend_world_count(s->world)
				: 0;
		sim_free(s);
		/* What is silent for long is ended. */
		if (seed % 100 == 0) {
			printf("# %" PRIu64 " seeds\n", seed);
			(void)fflush(stdout);
		}
	}
	printf("# %" PRId64 " turns, %" PRId64 " attempts, %" PRId64
	       " crashes, %" PRId64 " locks, %" PRId64
	       " turns without disk, %" PRId64 " leaves, %" PRId64
	       " retries, %.1f s\n",
	    turns, attempts, crashes, locks, disks, leaves, retried,
	    seconds() - begin);
	ok(bad == 0, "%" PRIu64 " seeds", n);
	ok(crashes >= (int64_t)n / 2, "with enough crashes of the server");
}

/* Whether the seed shows the bug. */
static bool
shows(char *dir, const struct bug *bug, uint64_t seed)
{
	struct sim *s = sim_seed(dir, seed, bug->point, false);
	bool found = *s->wrong != '\0';

	if (found)
		printf(
		    "# %s, seed %" PRIu64 ": %s\n", bug->point, seed, s->wrong);
	sim_free(s);
	return found;
}

static void
run_bugs(char *dir)
{
	uint64_t seed;
	bool found;
	size_t i;

	for (i = 0; i < sizeof bugs / sizeof bugs[0]; i++) {
		found = shows(dir, &bugs[i], bugs[i].seed);
		for (seed = 1; seed <= SEEDS_OF_A_BUG && !found; seed++)
			found = shows(dir, &bugs[i], seed);
		ok(found, "found: %s", bugs[i].about);
	}
}

static int
run_one(char *dir, uint64_t seed, const char *bug)
{
	struct sim *s = sim_seed(dir, seed, bug, true);
	bool good = *s->wrong == '\0';

	printf("# %d turns, %d crashes; %s\n", s->turns, s->crashes, s->why);
	printf("# seed %" PRIu64 ": %s\n", seed, good ? "good" : s->wrong);
	log_set_sink(NULL, NULL);
	sim_free(s);
	return !good;
}

static char *
make_dir(void)
{
	char *dir = xasprintf("%s/t_sim.XXXXXX", scratch_folder());

	if (mkdtemp(dir) == NULL) {
		perror(dir);
		exit(1);
	}
	return dir;
}

int
main(int argc, char **argv)
{
	const char *seeds = getenv("SIM_SEEDS");
	char *dir = make_dir();
	int rc;

	store_settle();
	sim_disk_install();
	if (argc >= 3 && strcmp(argv[1], "--seed") == 0)
		rc = run_one(dir, strtoull(argv[2], NULL, 10),
		    argc > 3 ? argv[3] : NULL);
	else {
		run_seeds(dir, seeds != NULL
				   ? strtoull(seeds, NULL, 10)
				   : (uint64_t)often(SEEDS, SEEDS_LONG));
		if (WITH_BUGS)
			run_bugs(dir);
		rc = done_testing();
	}
	(void)rmdir(dir);
	free(dir);
	return rc;
}
