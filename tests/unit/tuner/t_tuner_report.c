/* Reports that arrive twice, late, or out of order. */

#include <math.h>
#include <string.h>

#include "src/engine/tuner/tuner.h"
#include "tests/support/fake-backend/fake-backend.h"
#include "tests/support/fake-backend/fake-study.h"
#include "tests/support/tap.h"

#define STUDY                                                      \
	"\"trial\": {\"command\": [\"a\"], \"max_steps\": 100}, "  \
	"\"stopping\": {\"rule\": \"threshold\", \"upper\": 50}, " \
	"\"backend\": {\"name\": \"far\", \"slots\": 2}, "         \
	"\"limits\": {\"trials\": 2}"

#define COUNT "SELECT count(*) FROM metrics"

static void
test_again(void)
{
	struct fake_study s;
	int i;

	fake_study_open(&s, STUDY);
	fake_study_server_up(&s);
	fake_backend_up(&far, 1, 1, 1000);
	fake_backend_report(&far, 1, 1, 1, 3, 5000000);
	fake_backend_report(&far, 1, 1, 2, 2, 6000000);
	fake_study_run(&s, 1);
	is_int((long long)fake_study_number(&s, COUNT), 2, "two reports");
	is_str(fake_study_text(&s, "SELECT time FROM metrics WHERE step = 2"),
	    "1970-01-01T00:00:06.000Z", "with the time of the report");
	for (i = 0; i < 2; i++) {
		fake_backend_report(&far, 1, 1, 1, 3, 5000000);
		fake_backend_report(&far, 1, 1, 2, 2, 6000000);
		fake_study_run(&s, 1);
		is_int((long long)fake_study_number(&s, COUNT), 2,
		    i == 0 ? "said again they are passed over"
			   : "by the next server too");
		fake_study_server_down(&s);
		fake_study_server_up(&s);
	}
	/* The newer value of a step wins over an old one that comes again. */
	fake_backend_report(&far, 1, 1, 2, 1, 7000000);
	fake_backend_report(&far, 1, 1, 2, 2, 6000000);
	fake_backend_report(&far, 1, 1, 2, 2, 6500000);
	fake_backend_report(&far, 1, 1, 3, NAN, 7000000);
	fake_backend_report(&far, 1, 1, 3, NAN, 7000000);
	fake_study_run(&s, 1);
	is_int((long long)fake_study_number(&s, COUNT), 5,
	    "another value, time or step is another report");
	is_near(fake_study_number(
		    &s, "SELECT objective FROM trials WHERE trial = 1"),
	    1, 0, "the best counts");
	is_int((long long)fake_study_number(
		   &s, "SELECT reports FROM trials WHERE trial = 1"),
	    3, "steps are counted once");
	fake_study_close(&s);
}

static void
test_stepless(void)
{
	struct fake_study s;
	int i;

	fake_study_open(&s, STUDY);
	fake_study_server_up(&s);
	fake_backend_up(&far, 1, 1, 1000);
	for (i = 1; i <= 40; i++)
		fake_backend_report(&far, 1, 1, -1, i % 3, 1000000 * i);
	fake_study_run(&s, 1);
	is_int((long long)fake_study_number(&s, COUNT), 40,
	    "reports without steps");
	fake_study_server_down(&s);
	fake_study_server_up(&s);
	/* The window overlaps; one line was late; the next is new. */
	for (i = 20; i <= 40; i++)
		fake_backend_report(&far, 1, 1, -1, i % 3, 1000000 * i);
	fake_backend_report(&far, 1, 1, -1, 9, 30500000);
	fake_backend_report(&far, 1, 1, -1, 8, 41000000);
	fake_backend_report(&far, 1, 1, -1, 9, 30500000);
	fake_backend_report(&far, 1, 1, -1, 8, 41000000);
	fake_study_run(&s, 1);
	is_int(
	    (long long)fake_study_number(&s, COUNT), 42, "only new ones count");
	is_int(
	    (long long)fake_study_number(&s, "SELECT max(step) FROM metrics"),
	    42, "and the count continues where it was");
	is_int((long long)fake_study_number(
		   &s, "SELECT count(DISTINCT step) FROM metrics"),
	    42, "no number is given twice");
	is_int((long long)fake_study_number(
		   &s, "SELECT step FROM metrics WHERE value = 9"),
	    41, "a late one gets the next");
	fake_study_close(&s);
}

static void
test_late(void)
{
	struct fake_study s;

	fake_study_open(&s, STUDY);
	fake_study_server_up(&s);
	fake_backend_up(&far, 1, 1, 1000);
	fake_backend_report(&far, 1, 1, 5, 3, 5000000);
	fake_study_run(&s, 1);
	fake_backend_report(&far, 1, 1, 4, 99, 4000000);
	fake_study_run(&s, 1);
	is_str(fake_study_text(&s, "SELECT state FROM trials WHERE trial = 1"),
	    "running", "a step before the last is recorded, not judged");
	fake_backend_report(&far, 1, 1, 6, 99, 6000000);
	fake_study_run(&s, 1);
	is_str(fake_study_text(&s, "SELECT state FROM trials WHERE trial = 1"),
	    "stopping", "a bad report condemns");
	is_int(far.stops, 1, "and the job is stopped");
	fake_backend_report(&far, 1, 1, 7, 99, 7000000);
	fake_backend_report(&far, 1, 1, 8, 1, 8000000);
	fake_study_run(&s, 1);
	is_int((long long)fake_study_number(&s, "SELECT count(*) FROM stops"),
	    1, "what comes after the verdict is not judged");
	is_int((long long)fake_study_number(
		   &s, "SELECT max(step) FROM metrics WHERE trial = 1"),
	    8, "but recorded");
	is_int(far.stops, 1, "one stop is enough");
	is_int((long long)fake_study_number(&s, "SELECT running FROM study"), 2,
	    "a trial that stops still holds its slot");
	fake_backend_exit(&far, 1, 1,
	    (struct launch_exit){ .ran = true, .stopped = true, .signal = 15 });
	fake_study_run(&s, 1);
	is_str(fake_study_text(&s, "SELECT state FROM trials WHERE trial = 1"),
	    "stopped", "until the job is over");
	fake_study_close(&s);
}

/* All that was there is read before a verdict takes effect. */
static void
test_burst(void)
{
	const struct launch_exit good = { .ran = true, .exit_code = 0 };
	struct fake_study s;
	int i;

	fake_study_open(&s, STUDY);
	fake_study_server_up(&s);
	/* All steps in one reading, bad ones among them; it goes on. */
	fake_backend_up(&far, 1, 1, 1000);
	for (i = 1; i <= 100; i++)
		fake_backend_report(
		    &far, 1, 1, i, i == 3 ? 99 : i, 1000000 * i);
	fake_study_run(&s, 1);
	is_int(far.stops, 0, "after all steps no trial is stopped");
	is_str(fake_study_text(&s, "SELECT state FROM trials WHERE trial = 1"),
	    "running", "and the trial continues");
	is_str(fake_study_text(&s, "SELECT step || verdict FROM stops"),
	    "3late", "the verdict came too late");
	fake_backend_exit(&far, 1, 1, good);
	fake_study_run(&s, 1);
	is_str(fake_study_text(&s, "SELECT state || why IS NULL FROM trials "
				   "WHERE trial = 1"),
	    "1", "it ends without a reason");
	is_str(fake_study_text(&s, "SELECT state FROM trials WHERE trial = 1"),
	    "completed", "by itself, completed");
	/* Not all, and its end is in the same reading. */
	fake_backend_up(&far, 2, 1, 1000);
	for (i = 1; i <= 20; i++)
		fake_backend_report(
		    &far, 2, 1, i, i == 3 ? 99 : i, 1000000 * i);
	fake_backend_exit(&far, 2, 1, good);
	fake_study_run(&s, 1);
	is_str(fake_study_text(&s, "SELECT state FROM trials WHERE trial = 2"),
	    "completed", "a trial that ended before its verdict is completed");
	is_int((long long)fake_study_number(
		   &s, "SELECT count(*) FROM stops WHERE verdict = 'late'"),
	    2, "which is late, too");
	is_int((long long)fake_study_number(
		   &s, "SELECT steps_skipped FROM savings"),
	    0, "and nothing was saved");
	is_int(far.stops, 0, "no warning was given");
	fake_study_close(&s);
}

/* The stop was sent when the trial, which did not hear it, had ended. */
static void
test_crossed(void)
{
	static const struct {
		const char *what, *state;
		struct launch_exit exit;
		int last; /* step */
	} cases[] = {
		{ "one that ended before it could be told", "completed",
		    { .ran = true }, 20 },
		{ "one that was told, with all steps", "completed",
		    { .ran = true, .stopped = true }, 100 },
		{ "one that was told and ended well", "stopped",
		    { .ran = true, .stopped = true }, 20 },
		{ "one that was told, and failed after all steps", "completed",
		    { .ran = true, .stopped = true, .exit_code = 1 }, 100 },
		{ "one that failed before it could be told", "stopped",
		    { .ran = true, .exit_code = 1 }, 20 },
	};
	struct fake_study s;
	size_t k;
	int i;

	for (k = 0; k < sizeof cases / sizeof *cases; k++) {
		fake_study_open(&s, STUDY);
		fake_study_server_up(&s);
		fake_backend_up(&far, 1, 1, 1000);
		fake_backend_report(&far, 1, 1, 1, 99, 1000000);
		fake_study_run(&s, 1);
		is_int(far.stops, 1, "a bad report: it is stopped");
		fake_study_server_down(&s);
		fake_study_server_up(&s);
		for (i = 2; i <= cases[k].last; i++)
			fake_backend_report(&far, 1, 1, i, 1, 1000000 * i);
		fake_backend_exit(&far, 1, 1, cases[k].exit);
		fake_study_run(&s, 1);
		is_str(fake_study_text(
			   &s, "SELECT state FROM trials WHERE trial = 1"),
		    cases[k].state, cases[k].what);
		is_str(fake_study_text(&s, "SELECT verdict FROM stops"),
		    strcmp(cases[k].state, "stopped") == 0 ? "stop" : "late",
		    "and its verdict reports it");
		fake_study_close(&s);
	}
}

#define PACED                                                      \
	"\"trial\": {\"command\": [\"a\"], \"max_steps\": 100}, "  \
	"\"stopping\": {\"rule\": \"threshold\", \"upper\": 50}, " \
	"\"backend\": {\"name\": \"far\", \"slots\": 8}, "         \
	"\"limits\": {\"trials\": 8, \"parallel\": 8}"

/* Of a trial: steps until it stops, seconds to its first one, of each. */
struct paced {
	int steps;
	double start, each;
	bool burst; /* read at once */
};

static void
paced_run(struct fake_study *s, int64_t trial, const struct paced *p)
{
	bool all = p->steps == 100;
	double at = 0;
	int i;

	fake_backend_up(&far, trial, 1, 1000000);
	for (i = 1; i <= p->steps; i++) {
		at = 1 + p->start + p->each * (p->burst ? p->steps : i - 1);
		fake_backend_report(&far, trial, 1, i,
		    i < p->steps || all ? 1 : 99, (int64_t)(1e6 * at));
	}
	fake_study_run(s, 1);
	/* A dollar an hour, while it starts and while it trains. */
	fake_backend_exit(&far, trial, 1,
	    (struct launch_exit){ .ran = true,
		.stopped = !all,
		.signal = all ? 0 : 15,
		.priced = true,
		.cost = (at - 1) / 3600,
		.started_us = 1000000,
		.ended_us = (int64_t)(1e6 * at) });
	fake_study_run(s, 1);
}

/* What was saved is the steps that were not run, without another start. */
static void
test_pace(void)
{
	static const struct paced trials[] = {
		{ 100, 3000, 10, false },
		{ 20, 2000, 12, false },
		{ 50, 9000, 9, false },
		/*
		 * Trials whose reports tell nothing of the pace are as the
		 * others.
		 */
		{ 1, 5000, 10, false },
		{ 30, 1000, 10, true },
	};
	struct fake_study s;
	double truth = 0, dollars;
	int64_t i;

	fake_study_open(&s, PACED);
	fake_study_server_up(&s);
	for (i = 0; i < 5; i++) {
		paced_run(&s, i + 1, &trials[i]);
		truth += (100 - trials[i].steps) * trials[i].each;
	}
	is_int((long long)fake_study_number(
		   &s, "SELECT count(*) FROM trials WHERE state = 'stopped'"),
	    4, "four trials are stopped");
	is_near(
	    fake_study_number(&s, "SELECT seconds_saved FROM savings") / truth,
	    1, 0.01, "seconds that they would have run on");
	dollars = fake_study_number(&s, "SELECT cost_saved FROM savings");
	is_near(dollars / (truth / 3600), 1, 0.01, "dollars likewise");
	fake_study_close(&s);
	/* Nobody tells. */
	fake_study_open(&s, PACED);
	fake_study_server_up(&s);
	paced_run(&s, 1, &trials[3]);
	is_str(fake_study_text(&s,
		   "SELECT steps_skipped || ' ' || (seconds_saved IS "
		   "NULL) || (cost_saved IS NULL) FROM savings"),
	    "99 11", "a single report gives no step rate");
	paced_run(&s, 2, &trials[2]);
	is_near(fake_study_number(&s, "SELECT seconds_saved FROM savings"),
	    9 * (99 + 50), 1, "a stopped one is used when there is no other");
	fake_study_close(&s);
}

int
main(void)
{
	test_pace();
	test_burst();
	test_crossed();
	test_again();
	test_stepless();
	test_late();
	return done_testing();
}
