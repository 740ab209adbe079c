/* Several objectives and constraints in the store: outcomes, front and best. */

#include <math.h>

#include "src/store/store-internal.h"
#include "tests/support/store-fixture.h"

static struct err e;

static const enum trial_state completed[] = { TRIAL_STARTING, TRIAL_RUNNING,
	TRIAL_COMPLETED, TRIAL_STATES };
static const enum trial_state stopped[] = { TRIAL_STARTING, TRIAL_RUNNING,
	TRIAL_STOPPING, TRIAL_STOPPED, TRIAL_STATES };
static const enum trial_state failed[] = { TRIAL_STARTING, TRIAL_RUNNING,
	TRIAL_FAILED, TRIAL_STATES };

static struct store *
create(const char *name, bool maximize, const struct store_aim *aims, size_t n)
{
	struct param params[2] = { { .name = (char *)(uintptr_t) "lr" },
		{ .name = (char *)(uintptr_t) "acc" } };
	struct space space = { .params = params, .n = 2 };
	struct store_study study = fixture_study(maximize);
	char *path = fixture_path(name);
	struct store *s;

	study.aims = aims;
	study.n_aims = n;
	must(store_create(&s, path, &study, &space, false, &e), &e);
	free(path);
	return s;
}

static void
finish(struct store *s, int64_t number, const enum trial_state *states,
    double objective, double violation)
{
	struct store_trial t = fixture_trial(number, TRIAL_WAITING);

	must(store_trial_add(s, &t, &e), &e);
	t.objective = objective;
	t.violation = violation;
	fixture_walk(s, &t, states);
}

static void
test_best(bool maximize)
{
	const struct store_aim aims[] = {
		{ .metric = "acc", .maximize = maximize },
		{ .metric = "ms",
		    .constraint = true,
		    .min = -INFINITY,
		    .max = 50 },
	};
	struct store *s =
	    create(maximize ? "max.db" : "min.db", maximize, aims, 2);
	const char *best = "SELECT trial, best_trial FROM study, best";
	const char *front = "SELECT trial, acc FROM front";
	double sign = maximize ? 1 : -1;

	must(store_begin(s, &e), &e);
	is_query(s, "SELECT metric, goal FROM study",
	    maximize ? "acc|maximize" : "acc|minimize", "one objective");
	finish(s, 1, stopped, sign * 9, 0);
	is_query(s, best, "1|1", "none completed");
	finish(s, 2, completed, sign * 1, INFINITY);
	finish(s, 3, completed, sign * 2, INFINITY);
	is_query(s, best, "3|3", "of those that break all, the better one");
	finish(s, 4, completed, sign * 1, 3);
	finish(s, 5, completed, sign * 8, 4);
	is_query(s, best, "4|4", "the one that breaks least");
	finish(s, 6, completed, sign * 2, 3);
	finish(s, 7, completed, sign * 2, 3);
	is_query(s, best, "6|6", "of equals in that the better one");
	is_query(s, front, "", "none of them is on the front");
	finish(s, 8, completed, sign * -5, 0);
	is_query(s, best, "8|8", "one that breaks nothing goes before");
	finish(s, 9, completed, sign * -4, 0);
	finish(s, 10, completed, sign * -4, 0);
	finish(s, 11, completed, sign * 7, 0.001);
	is_query(s, best, "9|9", "and a better one of these");
	is_query(s, front, maximize ? "9|-4.0\n10|-4.0" : "9|4.0\n10|4.0",
	    "the front: all as good as the best");
	must(store_commit(s, false, &e), &e);
	store_close(s);
}

static int
put_outcome(void *arg, int64_t trial, size_t i, double value)
{
	buf_printf(arg, "%lld/%zu/%g ", (long long)trial, i, value);
	return 0;
}

static int
put_front(void *arg, int64_t trial, bool inside, bool better)
{
	buf_printf(arg, "%lld/%d/%d ", (long long)trial, inside, better);
	return 0;
}

static const struct store_aim three[] = {
	{ .metric = "acc", .maximize = true },
	{ .metric = "it's \"ms\"" },
	{ .metric = "recall", .constraint = true, .min = 0.5, .max = INFINITY },
};

static void
test_front(void)
{
	struct store *s = create("front.db", true, three, 3);
	char *path = fixture_path("front.db");
	struct buf b = { 0 };
	double back[3];
	int i;

	is_query(s, "SELECT metric, goal FROM study",
	    "acc, it's \"ms\"|maximize, minimize", "two objectives");
	must(store_begin(s, &e), &e);
	for (i = 1; i <= 3; i++) {
		finish(s, i, completed, i, i == 3 ? 0.25 : 0);
		must(store_outcome_put(s, i, 3, (double[]){ i, 10 * i, 0.75 },
			 (double[]){ NAN, NAN, -0.25 }, &e),
		    &e);
	}
	must(store_outcome_put(s, 3, 3, (double[]){ 3, NAN, 0.25 },
		 (double[]){ NAN, NAN, 0.25 }, &e),
	    &e);
	must(store_front_add(s, 1, true, &e), &e);
	must(store_front_drop(s, 1, &e), &e);
	must(store_front_add(s, 2, false, &e), &e);
	must(store_commit(s, false, &e), &e);
	for (i = 0; i < 2; i++) {
		is_query(s, "SELECT * FROM front", "2|2.0|20.0|0.5|NULL",
		    i == 0 ? "the front: metrics, then parameters"
			   : "the same after a restart");
		is_query(s, "SELECT \"acc:1\", \"it's \"\"ms\"\"\" FROM front",
		    "NULL|20.0", "a name that stands there twice");
		store_close(s);
		must(store_open(&s, path, STORE_WRITE, &e), &e);
	}
	is_query(s, "SELECT count(*) FROM best", "0", "there is no best");
	is_query(s, "SELECT best_trial, best FROM study", "NULL|NULL",
	    "for the study neither");
	is_query(s, "SELECT * FROM outcomes WHERE trial = 3",
	    "3|acc|maximize|NULL|NULL|3.0|NULL\n"
	    "3|it's \"ms\"|minimize|NULL|NULL|NULL|NULL\n"
	    "3|recall|NULL|0.5|NULL|0.25|0.25",
	    "outcomes");
	must(store_walk_outcomes(s, put_outcome, &b, &e), &e);
	is_str(buf_str(&b),
	    "1/0/1 1/1/10 1/2/0.75 2/0/2 2/1/20 2/2/0.75 3/0/3 3/1/nan "
	    "3/2/0.25 ",
	    "outcomes read back");
	buf_clear(&b);
	must(store_walk_front(s, put_front, &b, &e), &e);
	is_str(buf_str(&b), "1/0/1 2/1/0 ", "the front read back");
	must(store_outcome_get(s, 3, 3, back, &e), &e);
	ok(back[0] == 3 && isnan(back[1]) && back[2] == 0.25,
	    "one trial's outcome");
	must(store_outcome_get(s, 9, 3, back, &e), &e);
	ok(isnan(back[0]) && isnan(back[2]), "of none: nothing");
	buf_free(&b);
	free(path);
	store_close(s);
}

static void
test_last(void)
{
	struct store *s = create("last.db", true, three, 3);
	double value = 0;
	int64_t step = 0;

	must(store_begin(s, &e), &e);
	finish(s, 1, completed, 1, 0);
	is_int(store_metric_last(s, 1, "recall", &step, &value, &e), 0,
	    "an unknown metric");
	must(store_metric_add(s, 1, 1, "recall", 3, 0.5, T0, &e), &e);
	must(store_metric_add(s, 1, 1, "recall", 4, 0.25, T0, &e), &e);
	must(store_metric_add(s, 1, 2, "recall", 4, NAN, T0, &e), &e);
	must(store_metric_add(s, 1, 2, "recall", 2, 0.75, T0, &e), &e);
	must(store_metric_add(s, 2, 1, "recall", 9, 9, T0, &e), &e);
	is_int(store_metric_last(s, 1, "recall", &step, &value, &e), 1,
	    "the last report");
	ok(step == 4 && isnan(value), "is the newest of the greatest step");
	must(store_commit(s, false, &e), &e);
	store_close(s);
}

static int
put_failed(void *arg, int64_t trial, enum end_class last)
{
	buf_printf(arg, "%lld/%s ", (long long)trial, end_class_name(last));
	return 0;
}

static void
attempt(struct store *s, int64_t trial, int number, enum end_class end)
{
	struct store_attempt a = fixture_attempt(trial, number);

	must(store_attempt_add(s, &a, &e), &e);
	a.state = TRIAL_COMPLETED;
	a.end_class = end;
	must(store_attempt_put(s, &a, &e), &e);
}

static void
test_failed(void)
{
	struct store *s = create("failed.db", true, three, 3);
	struct buf b = { 0 };

	must(store_begin(s, &e), &e);
	finish(s, 1, failed, NAN, 0);
	finish(s, 2, completed, 1, 0);
	finish(s, 3, failed, NAN, 0);
	finish(s, 4, failed, NAN, 0);
	attempt(s, 2, 1, END_LOST);
	attempt(s, 3, 1, END_LOST);
	attempt(s, 3, 2, END_OOM);
	attempt(s, 4, 1, END_ERROR);
	attempt(s, 4, 2, END_SPOT);
	must(store_commit(s, false, &e), &e);
	must(store_walk_failed(s, put_failed, &b, &e), &e);
	is_str(buf_str(&b), "1/none 3/oom 4/spot ",
	    "failed trials, with the end of their last attempt");
	buf_free(&b);
	store_close(s);
}

int
main(void)
{
	fixture_begin();
	test_best(true);
	test_best(false);
	test_front();
	test_last();
	test_failed();
	return fixture_end();
}
