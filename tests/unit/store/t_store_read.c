/* Reports, and iterating over records. */

#include "tests/support/store-fixture.h"

static struct err e;

static const enum trial_state running[] = { TRIAL_STARTING, TRIAL_RUNNING,
	TRIAL_STATES };

static void
report(struct store *s, int64_t trial, int attempt, const char *name,
    int64_t step, double value)
{
	must(store_metric_add(
		 s, trial, attempt, name, step, value, T0 + step * SECOND, &e),
	    &e);
}

static int
put_record(void *arg, const struct store_record *r)
{
	buf_printf(arg, "%lld/%lld/%g/%s ", (long long)r->trial,
	    (long long)r->step, r->value, trial_state_name(r->state));
	return 0;
}

/* The reports of several metrics, with what was used up. */
static int
put_series(void *arg, const struct store_record *r)
{
	if (r->state == TRIAL_RUNNING)
		buf_printf(arg, "%lld/%lld/%s=%g@%.6g/%.6g ",
		    (long long)r->trial, (long long)r->step,
		    r->metric != NULL ? r->metric : "-", r->value, r->seconds,
		    r->dollars);
	return 0;
}

static int
put_curve_row(void *arg, int64_t trial, int64_t step, double value)
{
	buf_printf(
	    arg, "%lld/%lld/%g ", (long long)trial, (long long)step, value);
	return 0;
}

static int
put_last_step(void *arg, const char *name, int64_t step, int64_t reports)
{
	buf_printf(
	    arg, "%s/%lld/%lld ", name, (long long)step, (long long)reports);
	return 0;
}

static int
put_trial(void *arg, const struct store_trial *t)
{
	buf_printf(arg, "%lld/%s/%s ", (long long)t->number,
	    trial_state_name(t->state), t->params);
	return t->number == 2 ? 42 : 0;
}

static int
put_attempt(void *arg, const struct store_attempt *a)
{
	buf_printf(arg, "%lld/%d/%s ", (long long)a->trial, a->attempt,
	    trial_state_name(a->state));
	return 0;
}

static void
test_reports(void)
{
	struct store *s = fixture_create("reports.db", true);
	struct store_trial one = fixture_trial(1, TRIAL_WAITING);
	struct store_trial two = fixture_trial(2, TRIAL_WAITING);
	struct store_attempt attempt = fixture_attempt(2, 1);
	struct buf b = { 0 };

	must(store_begin(s, &e), &e);
	must(store_trial_add(s, &one, &e), &e);
	must(store_trial_add(s, &two, &e), &e);
	fixture_walk(s, &one, running);
	fixture_walk(s, &two, running);
	attempt.started_us = T0 - 3 * SECOND;
	must(store_attempt_add(s, &attempt, &e), &e);
	report(s, 2, 1, "acc", 0, 0.5);
	report(s, 1, 1, "acc", 1, NAN);
	report(s, 1, 1, "loss", 7, 3);
	report(s, 1, 1, "acc", 2, INFINITY);
	report(s, 1, 1, "acc", 3, -INFINITY);
	report(s, 1, 1, "l\xf8ss", 3, 1);
	two.state = TRIAL_COMPLETED;
	two.objective = 0.5;
	must(store_trial_put(s, &two, &e), &e);
	report(s, 1, 2, "acc", 2, 0.25);
	must(store_spent_add(s, 22.5, 1.25, &e), &e);
	one.state = TRIAL_FAILED;
	must(store_trial_put(s, &one, &e), &e);
	must(store_commit(s, false, &e), &e);

	is_query(s, "SELECT * FROM curves",
	    "1|1|NULL\n1|2|0.25\n1|3|-Inf\n2|0|0.5",
	    "curves: the later report of a step, NaN as NULL");
	is_query(s,
	    "SELECT * FROM metrics WHERE trial = 1 AND name = 'acc' "
	    "ORDER BY step, attempt",
	    "1|1|1|acc|NULL|2023-11-14T22:13:21.123Z\n"
	    "1|1|2|acc|Inf|2023-11-14T22:13:22.123Z\n"
	    "1|2|2|acc|0.25|2023-11-14T22:13:22.123Z\n"
	    "1|1|3|acc|-Inf|2023-11-14T22:13:23.123Z",
	    "metrics: everything");
	is_query(s,
	    "SELECT name FROM metrics WHERE attempt = 1 AND step = 3 "
	    "ORDER BY name",
	    "acc\nl\xef\xbf\xbdss", "names are made valid UTF-8");
	must(store_walk_records(s, NULL, put_record, &b, &e), &e);
	is_str(buf_str(&b),
	    "2/0/0.5/running 1/1/nan/running 1/2/inf/running "
	    "1/3/-inf/running 2/-1/0.5/completed 1/2/0.25/running "
	    "1/-1/nan/failed ",
	    "records in the order they were recorded");
	buf_clear(&b);
	must(store_walk_records(
		 s, (const char *const[]){ "loss", NULL }, put_series, &b, &e),
	    &e);
	is_str(buf_str(&b),
	    "2/0/-=0.5@3/nan 1/1/-=nan@nan/nan 1/7/loss=3@nan/nan "
	    "1/2/-=inf@nan/nan 1/3/-=-inf@nan/nan 1/2/-=0.25@22.5/1.25 ",
	    "records of two metrics, with what the trials had used up: as "
	    "recorded, or by the attempt");
	buf_clear(&b);
	must(store_begin(s, &e), &e);
	must(store_trial_forget(s, 1, true, &e), &e);
	must(store_commit(s, false, &e), &e);
	must(store_walk_records(
		 s, (const char *const[]){ "loss", NULL }, put_series, &b, &e),
	    &e);
	is_str(buf_str(&b), "2/0/-=0.5@3/nan ",
	    "without those of a trial that is forgotten");
	must(store_begin(s, &e), &e);
	must(store_trial_forget(s, 1, false, &e), &e);
	must(store_commit(s, false, &e), &e);
	buf_clear(&b);
	must(store_walk_curves(s, put_curve_row, &b, &e), &e);
	is_str(buf_str(&b), "1/1/nan 1/2/0.25 1/3/-inf 2/0/0.5 ",
	    "curve rows are those of the view");
	buf_clear(&b);
	must(store_walk_last_steps(s, 1, 1, put_last_step, &b, &e), &e);
	is_str(buf_str(&b), "acc/3/3 loss/7/1 l\xef\xbf\xbdss/3/1 ",
	    "last steps of an attempt");
	buf_free(&b);
	store_close(s);
}

static void
test_walks(void)
{
	struct store *s = fixture_create("walks.db", true);
	struct store_attempt a;
	struct store_trial t;
	struct buf b = { 0 };
	int64_t i;

	must(store_begin(s, &e), &e);
	for (i = 1; i <= 3; i++) {
		t = fixture_trial(i, TRIAL_STARTING);
		must(store_trial_add(s, &t, &e), &e);
		a = fixture_attempt(i, 1);
		must(store_attempt_add(s, &a, &e), &e);
		if (i == 2) {
			a.state = TRIAL_WAITING;
			a.end_class = END_LOST;
			must(store_attempt_put(s, &a, &e), &e);
		}
	}
	must(store_commit(s, false, &e), &e);
	is_int(store_walk_trials(s, put_trial, &b, &e), 42,
	    "a walk ends when its callback returns false");
	is_str(buf_str(&b),
	    "1/starting/{\"lr\":0.5,\"optimizer\":\"adam\"} "
	    "2/starting/{\"lr\":0.5,\"optimizer\":\"adam\"} ",
	    "having seen two trials");
	buf_clear(&b);
	must(store_walk_open_attempts(s, put_attempt, &b, &e), &e);
	is_str(buf_str(&b), "1/1/starting 3/1/starting ",
	    "attempts that have not ended");
	buf_free(&b);
	store_close(s);
}

/* Records of many trials that overlap come out by their numbers. */
struct order {
	int64_t reports, ends, last[64];
	double previous;
	bool good;
};

static int
check_order(void *arg, const struct store_record *r)
{
	struct order *o = arg;

	if (r->state == TRIAL_RUNNING) {
		o->good = o->good && r->value > o->previous &&
			  r->step > o->last[r->trial];
		o->previous = r->value;
		o->last[r->trial] = r->step;
		o->reports++;
	} else {
		o->ends++;
	}
	return 0;
}

static void
test_order(void)
{
	struct store *s = fixture_create("order.db", true);
	struct store_trial t[64];
	struct order o = { .good = true, .previous = -1 };
	unsigned random = 12345, done = 0, n = 0, i;
	int64_t steps[64] = { 0 };
	double clock = 0;

	must(store_begin(s, &e), &e);
	while (done < 63) {
		random = random * 1664525 + 1013904223;
		i = 1 + (random >> 16) % 8;
		/* Eight run at once: trials done + 1 to done + 8. */
		if (n < 63 && n < done + 8) {
			n++;
			t[n] = fixture_trial(n, TRIAL_WAITING);
			must(store_trial_add(s, &t[n], &e), &e);
			fixture_walk(s, &t[n], running);
		} else if (done + i <= n && steps[done + i] < 30) {
			report(
			    s, done + i, 1, "acc", ++steps[done + i], clock++);
		} else if (i == 1 || steps[done + 1] == 30) {
			done++;
			t[done].state = TRIAL_COMPLETED;
			must(store_trial_put(s, &t[done], &e), &e);
		}
	}
	must(store_commit(s, false, &e), &e);
	must(store_walk_records(s, NULL, check_order, &o, &e), &e);
	ok(o.good, "reports of overlapping trials keep their order");
	is_int(o.reports, (long long)clock, "none is missing");
	is_int(o.ends, 63, "no end is missing");
	store_close(s);
}

struct warms {
	size_t n;
	bool good;
};

static int
check_warm(void *arg, const struct store_warm *w)
{
	static const struct store_warm want[] = {
		{ "../a.db", 7, TRIAL_COMPLETED, 0.5, 12, 0.25, "{\"x\":1}",
		    NULL },
		{ "../a.db", 3, TRIAL_FAILED, NAN, -1, NAN, "{}", "{\"y\":2}" },
	};
	struct warms *o = arg;
	const struct store_warm *v = &want[o->n++ % 2];

	o->good = o->good && strcmp(w->source, v->source) == 0 &&
		  w->trial == v->trial && w->state == v->state &&
		  (w->objective == v->objective ||
		      (isnan(w->objective) && isnan(v->objective))) &&
		  w->last_step == v->last_step &&
		  (w->last_value == v->last_value ||
		      (isnan(w->last_value) && isnan(v->last_value))) &&
		  strcmp(w->params, v->params) == 0 &&
		  (v->metrics == NULL ? w->metrics == NULL
				      : strcmp(w->metrics, v->metrics) == 0);
	return 0;
}

/* Trials of other studies are beside our own, in the order they were added. */
static void
test_warm(void)
{
	struct store *s = fixture_create("warm.db", true);
	struct warms o = { .good = true };
	struct store_warm w = { "../a.db", 7, TRIAL_COMPLETED, 0.5, 12, 0.25,
		"{\"x\":1}", NULL };
	int64_t n = -1;

	must(store_warm_count(s, &n, &e), &e);
	is_int(n, 0, "no trials of other studies");
	ok(store_warm_add(s, &w, &e) < 0, "outside a transaction: %s", e.text);
	must(store_begin(s, &e), &e);
	must(store_warm_add(s, &w, &e), &e);
	w = (struct store_warm){ "../a.db", 3, TRIAL_FAILED, NAN, -1, NAN, "{}",
		"{\"y\":2}" };
	must(store_warm_add(s, &w, &e), &e);
	must(store_commit(s, true, &e), &e);
	must(store_begin(s, &e), &e);
	w.state = TRIAL_RUNNING;
	ok(store_warm_add(s, &w, &e) < 0, "one that runs: %s", e.text);
	store_rollback(s);
	must(store_warm_count(s, &n, &e), &e);
	is_int(n, 2, "two");
	must(store_walk_warm(s, check_warm, &o, &e), &e);
	ok(o.good && o.n == 2, "read back in their order");
	store_close(s);
}

int
main(void)
{
	fixture_begin();
	test_reports();
	test_walks();
	test_order();
	test_warm();
	return fixture_end();
}
