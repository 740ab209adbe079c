/* Recorded GPU use: rows in and out, sums against numbers computed by hand. */

#include "src/store/store-internal.h"
#include "tests/support/store-fixture.h"

static struct err e;

static const enum trial_state stopped[] = { TRIAL_STARTING, TRIAL_RUNNING,
	TRIAL_STOPPING, TRIAL_STOPPED, TRIAL_STATES };
static const enum trial_state completed[] = { TRIAL_STARTING, TRIAL_RUNNING,
	TRIAL_COMPLETED, TRIAL_STATES };

static const struct gpu_usage nothing = {
	.gpus = 2, .energy = NAN, .memory = NAN, .busy = NAN, .seen = NAN
};

static void
attempt_put(struct store *s, const struct store_attempt *a)
{
	must(store_attempt_put(s, a, &e), &e);
}

/* An attempt that runs from second 0 and is about to end. */
static struct store_attempt
begin(struct store *s, int64_t trial, int attempt)
{
	struct store_attempt a = fixture_attempt(trial, attempt);

	must(store_attempt_add(s, &a, &e), &e);
	a.state = TRIAL_RUNNING;
	a.started_us = T0;
	attempt_put(s, &a);
	return a;
}

static void
end(struct store *s, struct store_attempt *a, double seconds, enum end_class c)
{
	a->state = TRIAL_COMPLETED;
	a->end_class = c;
	a->ended_us = T0 + (int64_t)(seconds * SECOND);
	attempt_put(s, a);
}

static const char in_trial[] =
    "SELECT seconds, gpu_seconds, energy_joules, gpu_memory, "
    "gpu_utilization FROM trials WHERE trial = 1";
static const char in_attempts[] =
    "SELECT attempt, gpus, gpu_seconds, energy_joules, gpu_memory, "
    "gpu_utilization FROM attempts";

/* Two attempts of one trial over two GPUs, the first of them lost. */
static void
test_usage(void)
{
	struct store *s = fixture_create("usage.db", true);
	struct store_trial t = fixture_trial(1, TRIAL_WAITING);
	struct store_attempt a, back;

	must(store_begin(s, &e), &e);
	must(store_trial_add(s, &t, &e), &e);
	a = begin(s, 1, 1);
	is_query(s, in_attempts, "1|NULL|NULL|NULL|NULL|NULL", "no GPU yet");
	a.usage = nothing;
	attempt_put(s, &a);
	is_query(s, in_attempts, "1|2|NULL|NULL|NULL|NULL",
	    "two, and nothing is known of them");
	a.usage = (struct gpu_usage){ 2, 1500, 3e9, 5, 20 };
	attempt_put(s, &a);
	is_query(s, in_attempts, "1|2|NULL|1500.0|3000000000|25.0",
	    "what it has used so far");
	is_query(s, in_trial, "0.0|NULL|NULL|NULL|NULL",
	    "its trial counts attempts that have ended");
	must(store_attempt_get(s, 1, 1, &back, &e), &e);
	ok(back.usage.gpus == 2 && back.usage.energy == 1500 &&
		back.usage.memory == 3e9 && back.usage.busy == 5 &&
		back.usage.seen == 20,
	    "all of it is read back");
	store_attempt_fini(&back);
	a.cpus = 3;
	attempt_put(s, &a);
	must(store_attempt_get(s, 1, 1, &back, &e), &e);
	is_int(back.cpus, 3, "and its cores");
	store_attempt_fini(&back);
	end(s, &a, 10, END_LOST);
	is_query(s, "SELECT cpus, cpu_seconds FROM attempts", "3|30.0",
	    "10 s of three cores");
	is_query(s, in_attempts, "1|2|20.0|1500.0|3000000000|25.0",
	    "GPU seconds: 10 s of two");
	is_query(s, in_trial, "10.0|20.0|1500.0|3000000000|25.0",
	    "now its trial has it");
	a = begin(s, 1, 2);
	a.usage = (struct gpu_usage){ 2, 500, 1e9, 55, 60 };
	end(s, &a, 30, END_OK);
	is_query(s, in_trial, "40.0|80.0|2000.0|3000000000|75.0",
	    "sums, the most, and the mean over both");
	must(store_commit(s, false, &e), &e);
	store_close(s);
}

static void
finish(struct store *s, int64_t number, const enum trial_state *states,
    int64_t steps, const struct gpu_usage *u)
{
	struct store_trial t = fixture_trial(number, TRIAL_WAITING);
	struct store_attempt a;
	int64_t i;

	must(store_trial_add(s, &t, &e), &e);
	a = begin(s, number, 1);
	/* A step a second, after a start that takes as long as all of them. */
	for (i = 1; i <= steps && u != NULL; i++)
		must(store_metric_add(s, number, 1, "acc", i, 1,
			 T0 + (steps + i) * SECOND, &e),
		    &e);
	t.attempts = 1;
	t.objective = 1;
	t.last_step = t.reports = steps;
	if (u != NULL)
		a.usage = *u;
	end(s, &a, 2.0 * (double)steps, END_OK);
	fixture_walk(s, &t, states);
}

/*
 * max_steps is 10.  Trial 2 skips 6 seconds at 900 J in 8 s, trial 3 five at
 * 100 J in 10 s; what trial 4 took is not known.
 */
static void
test_saved(void)
{
	struct store *s = fixture_create("saved.db", true);
	const char *sql = "SELECT steps_skipped, energy_saved FROM savings";

	must(store_begin(s, &e), &e);
	finish(s, 1, stopped, 4, NULL);
	is_query(s, sql, "6|NULL", "no GPU, no energy");
	finish(s, 2, stopped, 4, &(struct gpu_usage){ 1, 900, 0, 4, 8 });
	is_query(s, sql, "12|675.0", "six seconds of 112.5 W");
	finish(s, 3, stopped, 5, &(struct gpu_usage){ 1, 100, 0, 1, 2 });
	is_query(s, sql, "17|725.0", "and five of 10 W");
	finish(s, 4, stopped, 5, &nothing);
	finish(s, 5, completed, 10, &(struct gpu_usage){ 1, 7, 0, 1, 2 });
	is_query(s, sql, "22|725.0", "what is not known saves nothing");
	is_query(s,
	    "SELECT sum(gpu_seconds), sum(energy), sum(energy_saved) "
	    "FROM t_total",
	    "58.0|1007.0|725.0", "sums of all trials");
	is_query(s, fixture_totals, "0", "totals are those of the trials");
	must(store_exec(s, "UPDATE t_trial SET energy_joules = NULL", &e), &e);
	is_query(s, fixture_totals, "0", "and follow");
	must(store_commit(s, false, &e), &e);
	store_close(s);
}

static void
test_gpus(void)
{
	struct store *s = fixture_create("gpus.db", true);
	struct gpu_status g = { .uuid = "GPU-b",
		.index = 1,
		.name = "Fast",
		.state = "held",
		.why = "",
		.trials = 2,
		.memory = 80,
		.used = 30,
		.temperature = 55,
		.utilization = 97,
		.power = 301.5 };

	ok(store_gpu_put(s, &g, T0, &e) < 0, "only in a transaction");
	must(store_begin(s, &e), &e);
	must(store_gpu_put(s, &g, T0, &e), &e);
	g = (struct gpu_status){ .uuid = "GPU-a",
		.state = "foreign",
		.why = "processes of others",
		.owner = "pid 7",
		.memory = -1,
		.used = -1,
		.temperature = -1,
		.utilization = -1,
		.power = -1 };
	must(store_gpu_put(s, &g, T0 + SECOND, &e), &e);
	is_query(s, "SELECT * FROM gpus",
	    "0|GPU-a|NULL|NULL|NULL|NULL|NULL|NULL|foreign|"
	    "processes of others|pid 7|0|2023-11-14T22:13:21.123Z\n"
	    "1|GPU-b|Fast|80|30|55|97|301.5|held|NULL|NULL|2|"
	    "2023-11-14T22:13:20.123Z",
	    "two GPUs, by their index");
	g.state = "free";
	g.why = g.owner = NULL;
	must(store_gpu_put(s, &g, T0 + SECOND, &e), &e);
	is_query(s, "SELECT count(*), min(state), max(owner) FROM gpus",
	    "2|free|NULL", "what is newer stands instead");
	must(store_gpu_clear(s, &e), &e);
	is_query(s, "SELECT count(*) FROM gpus", "0", "all forgotten");
	must(store_commit(s, false, &e), &e);
	store_close(s);
}

int
main(void)
{
	fixture_begin();
	test_usage();
	test_saved();
	test_gpus();
	return fixture_end();
}
