/*
 * The views: their definitions, their numbers, and their running time.  Their
 * columns: tests/repo/manual-db.t.
 */

#include <time.h>

#include "src/store/store-internal.h"
#include "tests/support/store-fixture.h"

static struct err e;

static const enum trial_state completed[] = { TRIAL_STARTING, TRIAL_RUNNING,
	TRIAL_COMPLETED, TRIAL_STATES };
static const enum trial_state stopped[] = { TRIAL_STARTING, TRIAL_RUNNING,
	TRIAL_STOPPING, TRIAL_STOPPED, TRIAL_STATES };
static const enum trial_state running[] = { TRIAL_STARTING, TRIAL_RUNNING,
	TRIAL_STATES };

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void
test_empty(void)
{
	struct store *s = fixture_create("empty.db", true);
	char want[96];

	(void)snprintf(want, sizeof want,
	    "0|NULL|NULL|NULL|NULL|7|median|2023-11-14T22:13:20.123Z|%lld|%s",
	    (long long)schema_version(), PACKAGE_VERSION);
	is_query(s, "SELECT count(*) FROM study", "1", "one study");
	is_query(s,
	    "SELECT trials, best_trial, best, cost, ended, seed, rule, "
	    "created, schema_version, program_version FROM study",
	    want, "an empty study");
	is_query(s, "SELECT count(*) FROM best", "0", "no best of nothing");
	is_query(s, "SELECT * FROM savings", "0|0|NULL|0.0|NULL|NULL|NULL",
	    "nothing is saved");
	is_query(s,
	    "SELECT count(*) FROM sqlite_schema WHERE type = 'table' "
	    "AND name NOT LIKE 't\\_%' ESCAPE '\\'",
	    "0", "base tables are called t_something");
	is_query(s,
	    "SELECT count(*) FROM sqlite_schema WHERE type = 'table' "
	    "AND sql NOT LIKE '%STRICT%'",
	    "0", "and are strict");
	store_close(s);
}

static void
report(struct store *s, int64_t trial, int attempt, const char *name,
    int64_t step, double value)
{
	must(store_metric_add(
		 s, trial, attempt, name, step, value, T0 + step * SECOND, &e),
	    &e);
}

/* Steps first to last, so many seconds apart. */
static void
reports(
    struct store *s, int64_t trial, int64_t first, int64_t last, int seconds)
{
	int64_t step;

	for (step = first; step <= last; step++)
		must(store_metric_add(s, trial, 1, "acc", step, 1,
			 T0 + step * seconds * SECOND, &e),
		    &e);
}

static void
finish(struct store *s, int64_t number, const enum trial_state *states,
    double objective, int64_t last_step)
{
	struct store_trial t = fixture_trial(number, TRIAL_WAITING);
	struct store_attempt a = fixture_attempt(number, 1);

	must(store_trial_add(s, &t, &e), &e);
	must(store_attempt_add(s, &a, &e), &e);
	t.objective = objective;
	t.last_step = last_step;
	t.reports = last_step;
	t.attempts = 1;
	a.state = TRIAL_RUNNING;
	a.started_us = T0;
	must(store_attempt_put(s, &a, &e), &e);
	if (states[2] != TRIAL_STATES) {
		a.state = TRIAL_COMPLETED;
		a.end_class = END_OK;
		a.ended_us = T0 + last_step * 2 * SECOND;
		must(store_attempt_put(s, &a, &e), &e);
	}
	fixture_walk(s, &t, states);
}

static void
test_best(bool maximize)
{
	const char *path = maximize ? "max.db" : "min.db";
	struct store *s = fixture_create(path, maximize);
	const char *sql = "SELECT (SELECT trial FROM best), best_trial, best "
			  "FROM study";
	double sign = maximize ? 1 : -1;

	must(store_begin(s, &e), &e);
	finish(s, 1, stopped, NAN, 1);
	is_query(s, sql, "NULL|NULL|NULL", "a trial without result is none");
	finish(s, 2, running, sign * 0.75, 1);
	finish(s, 3, stopped, sign * 0.5, 1);
	is_query(s, sql, maximize ? "2|2|0.75" : "2|2|-0.75",
	    "none completed: the best of all");
	finish(s, 4, completed, sign * 0.25, 1);
	is_query(s, sql, maximize ? "4|4|0.25" : "4|4|-0.25",
	    "a completed one goes before");
	finish(s, 5, completed, sign * INFINITY, 1);
	finish(s, 6, completed, sign * 0.25, 1);
	is_query(s, sql, maximize ? "4|4|0.25" : "4|4|-0.25",
	    "infinity never wins, the first of equals does");
	finish(s, 7, completed, sign * 0.5, 1);
	is_query(s, sql, maximize ? "7|7|0.5" : "7|7|-0.5", "a better one");
	is_query(s, "SELECT count(*) FROM best", "1", "one row");
	is_query(s,
	    "SELECT trials, running, completed, stopped, failed FROM study",
	    "7|1|4|2|0", "counts");
	must(store_commit(s, false, &e), &e);
	store_close(s);
}

static void
test_savings(void)
{
	struct store *s = fixture_create("savings.db", true);

	must(store_begin(s, &e), &e);
	reports(s, 1, 1, 10, 2);
	finish(s, 1, completed, 1, 10); /* steps 1 to 10, 2 s each, 20 s */
	reports(s, 2, 1, 4, 3);
	finish(s, 2, stopped, 1, 4); /* 1 to 4, 3 s each, 8 s: 6 skipped */
	report(s, 3, 1, "acc", 0, 1);
	finish(s, 3, stopped, 1, 4); /* steps 0 to 4: 5 skipped, 2 s each */
	finish(s, 4, running, 1, 2);
	report(s, 5, 1, "acc", 0, 1);
	finish(s, 5, running, 1, 2);
	must(store_commit(s, false, &e), &e);
	is_query(s,
	    "SELECT steps_run, steps_skipped, round(share, 6), "
	    "seconds_saved, cost_saved FROM savings",
	    "24|11|0.314286|28.0|NULL", "steps run, skipped, seconds saved");
	is_query(s, fixture_totals, "0", "totals are those of the trials");
	must(store_begin(s, &e), &e);
	must(store_exec(s, "UPDATE t_attempt SET cost = trial", &e), &e);
	/* 6 steps of 3 s at 2 dollars in 8 s, 5 of 2 s at 3 dollars in 8. */
	is_query(s, "SELECT cost, cost_saved FROM study, savings", "15.0|8.25",
	    "dollars spent and saved");
	is_query(s, fixture_totals, "0", "totals follow");
	must(store_exec(s, "UPDATE t_attempt SET cost = NULL", &e), &e);
	is_query(s, fixture_totals, "0", "and back");
	finish(s, 6, running, 1, 3);
	must(store_exec(s,
		 "UPDATE t_trial SET last_step = 1 << 53 "
		 "WHERE trial > 4",
		 &e),
	    &e);
	is_query(s, "SELECT steps_run FROM savings", "2000000000021",
	    "steps that are clocks can be added up");
	must(store_commit(s, false, &e), &e);
	store_close(s);
}

static void
test_other_rows(void)
{
	struct store *s = fixture_create("other.db", true);
	struct store_trial t = fixture_trial(1, TRIAL_STARTING);
	struct store_stop stop = { .trial = 1,
		.step = 5,
		.rule = "median",
		.value = 0.5,
		.threshold = 0.75,
		.pool = 8,
		.verdict = STORE_STOP,
		.why = "worse",
		.time_us = T0 };

	must(store_begin(s, &e), &e);
	must(store_trial_add(s, &t, &e), &e);
	must(store_stop_add(s, &stop, &e), &e);
	stop.threshold = NAN;
	stop.verdict = STORE_SUSPENDED;
	must(store_stop_add(s, &stop, &e), &e);
	must(store_commit(s, true, &e), &e);
	must(store_begin(s, &e), &e);
	ok(store_exec(s, "UPDATE t_stop SET verdict = 'perhaps'", &e) < 0,
	    "an unknown verdict is refused");
	store_rollback(s);
	must(store_begin(s, &e), &e);
	must(store_event_add(s, T0, LOG_LEVEL_INFO, "trial", 1, 2, "up", &e),
	    &e);
	must(
	    store_event_add(s, T0, LOG_LEVEL_ERROR, "study", 0, 0, "b\xe9", &e),
	    &e);
	must(store_commit(s, true, &e), &e);
	must(store_begin(s, &e), &e);
	ok(store_exec(s, "UPDATE t_event SET level = 'loud'", &e) < 0,
	    "an unknown level is refused");
	store_rollback(s);
	must(store_begin(s, &e), &e);
	must(store_median_put(s, 3, 5, 0.5, &e), &e);
	must(store_median_put(s, 3, 6, 0.25, &e), &e);
	must(store_commit(s, true, &e), &e);
	is_query(s, "SELECT * FROM stops",
	    "1|5|median|0.5|0.75|8|stop|2023-11-14T22:13:20.123Z|worse|"
	    "NULL|NULL|NULL|NULL|NULL|acc|step|5\n"
	    "1|5|median|0.5|NULL|8|suspended|2023-11-14T22:13:20.123Z|worse|"
	    "NULL|NULL|NULL|NULL|NULL|acc|step|5",
	    "stops");
	is_query(s, "SELECT * FROM events",
	    "2023-11-14T22:13:20.123Z|info|trial|1|2|up\n"
	    "2023-11-14T22:13:20.123Z|error|study|NULL|NULL|b\\xe9",
	    "events, with what is no UTF-8 shown");
	is_query(s, "SELECT * FROM medians", "3|6|0.25|reached",
	    "a median is replaced");
	store_close(s);
}

static void
test_results(void)
{
	static const char *const names[] = { "lr", "LR", "a.b", "c-d", "it's",
		"say \"so\"", "with space", "select", "_", "State",
		"objective" };
	struct param params[COUNT(names)] = { 0 };
	struct space space = { .params = params, .n = COUNT(names) };
	struct store_study study = fixture_study(true);
	struct store_trial t = fixture_trial(1, TRIAL_WAITING);
	char *path = fixture_path("results.db");
	struct store *s;
	size_t i;

	for (i = 0; i < COUNT(names); i++)
		params[i].name = (char *)(uintptr_t)names[i];
	t.params = (char *)(uintptr_t) "{\"lr\":0.001,\"LR\":2,\"a.b\":\"x\","
				       "\"c-d\":true,"
				       "\"it's\":null,\"say "
				       "\\\"so\\\"\":7,\"_\":9007199254740993,"
				       "\"objective\":\"mse\"}";
	must(store_create(&s, path, &study, &space, false, &e), &e);
	must(store_begin(s, &e), &e);
	must(store_trial_add(s, &t, &e), &e);
	must(store_commit(s, false, &e), &e);
	for (i = 0; i < 2; i++) {
		is_query(s, "SELECT * FROM results",
		    "1|waiting|NULL|0.001|2|x|1|NULL|7|NULL|NULL|"
		    "9007199254740993|NULL|mse|NULL",
		    i == 0 ? "one column per parameter, inactive ones NULL"
			   : "the same after a restart");
		is_query(s,
		    "SELECT \"a.b\", \"c-d\", \"it's\", "
		    "\"say \"\"so\"\"\" FROM results WHERE lr < 0.01",
		    "x|1|NULL|7", "under their own names");
		is_query(s,
		    "SELECT objective, \"params.objective\", "
		    "\"params.State\" FROM results",
		    "NULL|mse|NULL",
		    "parameters named like other columns are prefixed");
		store_close(s);
		must(store_open(&s, path, STORE_WRITE, &e), &e);
	}
	store_close(s);
	free(path);
}

/* The user's own views and what is not ours stay when views are made anew. */
static void
test_user_views(void)
{
	struct store *s = fixture_create("user.db", true);
	char *path = fixture_path("user.db");

	must(store_begin(s, &e), &e);
	must(store_exec(s,
		 "CREATE VIEW mine AS SELECT trial FROM trials;"
		 "DROP VIEW best; DELETE FROM t_move;"
		 "CREATE VIEW best AS SELECT 1 AS old",
		 &e),
	    &e);
	must(store_commit(s, false, &e), &e);
	store_close(s);
	must(store_open(&s, path, STORE_WRITE, &e), &e);
	is_query(s, "SELECT count(*) FROM mine", "0", "the user's view stays");
	is_query(s, "SELECT count(*) FROM best", "0", "ours is created again");
	is_query(s, "SELECT count(*) > 10 FROM t_move", "1", "moves too");
	store_close(s);
	free(path);
}

/* What the planner says about a query, rows joined. */
static void
plan(struct store *s, const char *sql, const char *must_have,
    const char *must_not)
{
	char *explain = xasprintf("EXPLAIN QUERY PLAN %s", sql);
	char *got = fixture_query(s, explain);

	if (!ok((must_have == NULL || strstr(got, must_have) != NULL) &&
		    strstr(got, must_not) == NULL,
		"plan of %s", sql))
		printf("# %s\n", got);
	free(got);
	free(explain);
}

static void
test_plans(void)
{
	struct store *s = fixture_create("plans.db", true);
	const char *sort = "TEMP B-TREE";

	plan(s, "SELECT * FROM curves", "SEARCH t_block USING PRIMARY KEY",
	    sort);
	/*
	 * The reports of one trial at a time are sorted, never all.  SQLite has
	 * called that the right part, since 3.44 the last term of ORDER BY.
	 */
	plan(s, "SELECT * FROM curves ORDER BY trial, step",
	    sqlite3_libversion_number() < 3044000 ? "RIGHT PART OF ORDER BY"
						  : "LAST TERM OF ORDER BY",
	    "SCAN");
	plan(s, "SELECT * FROM curves WHERE trial = 7 ORDER BY step",
	    "SEARCH t_block USING PRIMARY KEY (name_id=? AND trial=?", "SCAN");
	plan(s, "SELECT * FROM metrics", NULL, sort);
	plan(s, "SELECT * FROM metrics WHERE trial = 7",
	    "SEARCH t_block USING PRIMARY KEY (name_id=? AND trial=?)", sort);
	plan(s, "SELECT * FROM metrics WHERE trial = 7 AND name = 'acc'",
	    "SEARCH n USING COVERING INDEX", sort);
	plan(s, "SELECT * FROM trials ORDER BY objective DESC LIMIT 5",
	    "t_trial_objective", sort);
	plan(s, "SELECT * FROM trials WHERE state = 'running'",
	    "SEARCH t_trial", sort);
	plan(s, "SELECT * FROM best", "t_trial_completed", "SCAN t_trial");
	plan(s, "SELECT * FROM front", "t_trial_completed", "SCAN t_trial");
	plan(s, "SELECT * FROM stops WHERE trial = 7", "SEARCH", sort);
	plan(s, "SELECT * FROM events WHERE trial = 7", "SEARCH", sort);
	plan(s, "SELECT * FROM attempts WHERE trial = 7", "SEARCH", "SCAN");
	/* The study's row comes first: without a population nothing is read. */
	plan(s, "SELECT * FROM population LIMIT 20", "SCAN s", sort);
	store_close(s);
}

int
main(void)
{
	fixture_begin();
	test_empty();
	test_best(true);
	test_best(false);
	test_savings();
	test_other_rows();
	test_results();
	test_user_views();
	test_plans();
	return fixture_end();
}
