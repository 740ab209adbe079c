/*
 * Ends that only a remote backend can classify: no machine, spot, costs,
 * shutdown.
 */

#include "src/engine/tuner/tuner.h"
#include "tests/support/fake-backend/fake-backend.h"
#include "tests/support/fake-backend/fake-study.h"
#include "tests/support/tap.h"

#define STUDY                                                            \
	"\"trial\": {\"command\": [\"a\"], \"max_steps\": 100, "         \
	"\"retries\": 0}, \"stopping\": \"none\", "                      \
	"\"backend\": {\"name\": \"far\", \"slots\": 1, \"price\": 5}, " \
	"\"limits\": {\"trials\": 1}"

static void
ends(struct fake_study *s, enum end_class end)
{
	const struct fake_backend_call *c = fake_backend_started(&far, 1);

	fake_backend_exit(
	    &far, 1, c->attempt, (struct launch_exit){ .end = end });
	fake_study_run(s, 1);
}

static const char *
state(struct fake_study *s)
{
	return fake_study_text(s, "SELECT state FROM trials WHERE trial = 1");
}

static int
attempts(struct fake_study *s)
{
	return (int)fake_study_number(s, "SELECT attempts FROM trials");
}

/* The attempt that the backend was last told to start. */
static int
started(void)
{
	return (int)fake_backend_started(&far, 1)->attempt;
}

static void
test_capacity(void)
{
	struct fake_study s;
	int64_t hour = 3600000, ms;
	int i, n;

	fake_study_open(&s, STUDY);
	fake_study_server_up(&s);
	ends(&s, END_CAPACITY);
	is_str(state(&s), "waiting", "without a machine a trial waits");
	is_int((long long)fake_study_number(&s,
		   "SELECT count(*) FROM events WHERE text LIKE "
		   "'it waits for a machine (no machine of this type%'"),
	    1, "the user gets a message");
	fake_study_run(&s, 1500);
	is_int(attempts(&s), 2, "it is tried again soon");
	is_int(fake_backend_started(&far, 1)->past.capacity, 1,
	    "and the launcher reports that it is");
	for (i = 0; i < 20; i++) {
		ends(&s, i % 2 == 0 ? END_CAPACITY : END_QUOTA);
		for (ms = 0; ms < 600000 && started() == i + 2; ms += 1000)
			fake_study_run(&s, 1000);
	}
	is_int(attempts(&s), 22, "repeatedly, without limit");
	ok(ms > 280000 && ms < 320000, "every five minutes in the end");
	is_int((long long)fake_study_number(&s,
		   "SELECT count(*) FROM events WHERE text LIKE 'it waits%'"),
	    1, "the user gets one message");
	fake_study_server_down(&s);
	fake_study_server_up(&s);
	is_int((long long)far.n_looks, 1, "the next server finds it");
	is_int(far.looks[0].past.capacity, 11,
	    "and counts the lacks of capacity, without full quotas");
	ok(!far.looks[0].up && !far.looks[0].stopping,
	    "the launcher learns that it was never up");
	ends(&s, END_CAPACITY);
	fake_study_run(&s, 200000);
	is_int(attempts(&s), 22, "the pause is as long as before");
	for (n = 0; n < hour / 1000 && started() == 22; n++)
		fake_study_run(&s, 1000);
	fake_backend_up(&far, 1, 23, 1000);
	fake_backend_report(&far, 1, 23, 1, 1, 2000000);
	fake_study_run(&s, 1);
	is_str(state(&s), "running", "some day there is one");
	ends(&s, END_SPOT);
	fake_study_run(&s, 100);
	is_int(attempts(&s), 24, "one that is taken back continues at once");
	is_int((long long)fake_study_number(
		   &s, "SELECT failures FROM t_trial WHERE trial = 1"),
	    0, "nothing of this uses up a retry");
	is_str(fake_study_text(&s,
		   "SELECT group_concat(DISTINCT end_class) FROM attempts "
		   "WHERE end_class IS NOT NULL"),
	    "capacity,quota,spot", "and the classes are recorded");
	fake_study_close(&s);
}

/* Two trials on a quota for one. */
static void
test_quota(void)
{
	struct fake_study s;
	int i;

	fake_study_open(&s,
	    "\"trial\": {\"command\": [\"a\"], \"max_steps\": 100}, "
	    "\"stopping\": \"none\", \"backend\": {\"name\": \"far\", "
	    "\"slots\": 2}, \"limits\": {\"trials\": 2}");
	fake_study_server_up(&s);
	fake_backend_up(&far, 2, 1, 1000);
	for (i = 0; i < 10; i++) {
		ends(&s, END_QUOTA);
		fake_study_run(&s, i < 9 ? 310000 : 1000);
	}
	is_int((int)fake_backend_started(&far, 1)->attempt, 10,
	    "one waits for minutes");
	fake_backend_report(&far, 2, 1, 1, 1, 2000000);
	fake_backend_exit(&far, 2, 1, (struct launch_exit){ .ran = true });
	fake_study_run(&s, 100);
	is_int((int)fake_backend_started(&far, 1)->attempt, 11,
	    "when the other has ended it need not wait on");
	fake_study_close(&s);
}

/* The newest attempt: accepted by its backend, or one that could not run there. */
static void
accepted(struct fake_study *s)
{
	fake_backend_queue(&far,
	    (struct launch_event){
		.kind = LAUNCH_ACCEPTED, .trial = 1, .attempt = started() });
	fake_study_run(s, 1);
}

static bool
is_starting(struct fake_study *s)
{
	return strcmp(state(s), "starting") == 0;
}

static void
ends_unrun(struct fake_study *s, bool not_yet, enum end_class end)
{
	fake_backend_exit(&far, 1, started(),
	    (struct launch_exit){
		.not_yet = not_yet, .end = end, .why = "it lacks space" });
	fake_study_run(s, 1);
}

/* Jobs are accepted, and lack something where they run. */
static void
test_accepted(void)
{
	struct fake_study s;
	int64_t ms;

	fake_study_open(&s, STUDY);
	fake_study_server_up(&s);
	for (ms = 0; ms < 300000; ms += 1000) {
		if (is_starting(&s)) {
			accepted(&s);
			ends_unrun(&s, true, END_NONE);
		}
		fake_study_run(&s, 1000);
	}
	ok(attempts(&s) >= 10 && attempts(&s) <= 25,
	    "what is accepted and cannot run is tried seldom: %d in 5 minutes",
	    attempts(&s));
	is_int((long long)fake_study_number(&s,
		   "SELECT count(*) FROM events "
		   "WHERE text LIKE '%can be started again'"),
	    0, "that it is accepted proves nothing");
	for (ms = 0; ms < 60000 && !is_starting(&s); ms += 1000)
		fake_study_run(&s, 1000);
	fake_backend_up(&far, 1, started(), 1000);
	fake_study_run(&s, 100);
	is_int((long long)fake_study_number(&s,
		   "SELECT count(*) FROM events "
		   "WHERE text LIKE '%can be started again'"),
	    1, "one that runs does");
	fake_study_close(&s);

	/* Before they are accepted, a limit: the next one that is proves it. */
	fake_study_open(&s, STUDY);
	fake_study_server_up(&s);
	ends_unrun(&s, true, END_NONE);
	fake_study_run(&s, 2000);
	accepted(&s);
	is_int((long long)fake_study_number(&s,
		   "SELECT count(*) FROM events "
		   "WHERE text LIKE '%can be started again'"),
	    1, "where none had been accepted it does");
	fake_study_close(&s);
}

/* A program that is not there: for ever here, perhaps not elsewhere. */
static void
test_unrun(void)
{
	static const char study[] =
	    "\"trial\": {\"command\": [\"a\"], \"retries\": 2}, "
	    "\"stopping\": \"none\", \"backend\": {\"name\": \"far\"}, "
	    "\"limits\": {\"trials\": 1}";
	struct fake_study s;
	int i;

	fake_study_open(&s, study);
	fake_study_server_up(&s);
	ends_unrun(&s, false, END_NONE);
	is_str(state(&s), "failed", "what cannot be executed is not retried");
	fake_study_close(&s);
	fake_study_open(&s, study);
	fake_study_server_up(&s);
	for (i = 0; i < 3; i++) {
		ends_unrun(&s, false, END_ERROR);
		fake_study_run(&s, 10000);
	}
	is_int(attempts(&s), 3,
	    "where its launcher says that another place may have it, it is");
	is_str(state(&s), "failed", "not without end");
	fake_study_close(&s);
}

/* Lost or taken back without a step is not for ever: it costs. */
static void
test_spot_ends(void)
{
	struct fake_study s;
	int i;

	fake_study_open(&s, STUDY);
	fake_study_server_up(&s);
	for (i = 0; i < 11; i++) {
		ends(&s, END_SPOT);
		fake_study_run(&s, 100000);
	}
	is_str(state(&s), "failed", "without a step in eleven it has failed");
	fake_study_close(&s);
}

static void
test_user(void)
{
	struct fake_study s;

	fake_study_open(&s, STUDY);
	fake_study_server_up(&s);
	ends(&s, END_CAPACITY);
	fake_study_run(&s, 1500);
	fake_study_ask(&s, TUNER_STOP_TRIAL, 1);
	ok(s.good && far.stops == 1, "an attempt without a machine is stopped");
	is_str(state(&s), "stopping", "when the job reports it");
	ends(&s, END_CAPACITY);
	is_str(state(&s), "cancelled", "and not tried again");
	is_str(fake_study_text(
		   &s, "SELECT end_class FROM attempts WHERE attempt = 2"),
	    "capacity", "its attempt has the observed cause");
	ok(s.done, "the study is done");
	fake_study_close(&s);

	fake_study_open(&s, STUDY);
	fake_study_server_up(&s);
	ends(&s, END_QUOTA);
	fake_study_ask(&s, TUNER_STOP_TRIAL, 1);
	is_str(state(&s), "cancelled", "one that waits is stopped at once");
	fake_study_close(&s);
}

static void
test_costs(void)
{
	struct fake_study s;

	fake_study_open(&s, STUDY);
	fake_study_server_up(&s);
	is_near(fake_study_number(&s, "SELECT committed FROM costs"), 5, 1e-9,
	    "what begins is committed at its worst");
	fake_backend_up(&far, 1, 1, 1000000);
	fake_backend_report(&far, 1, 1, 1, 1, 2000000);
	fake_backend_exit(&far, 1, 1,
	    (struct launch_exit){ .ran = true,
		.started_us = 1000000,
		.ended_us = 101000000,
		.end = END_SPOT,
		.billed = true,
		.priced = true,
		.billable_s = 40,
		.cost = 2 });
	fake_study_run(&s, 100);
	is_near(fake_study_number(
		    &s, "SELECT cost FROM attempts WHERE attempt = 1"),
	    2, 1e-9, "an attempt has its cost");
	is_near(fake_study_number(&s,
		    "SELECT billable_seconds FROM attempts WHERE attempt = 1"),
	    40, 1e-9, "and the seconds that are paid for");
	is_near(fake_study_number(&s, "SELECT committed FROM costs"), 7, 1e-9,
	    "its cost counts, and the worst of the next");
	fake_backend_exit(
	    &far, 1, 2, (struct launch_exit){ .ran = true, .exit_code = 0 });
	fake_study_run(&s, 1);
	is_str(state(&s), "completed", "a trial ends");
	is_near(fake_study_number(&s, "SELECT cost FROM trials"), 2, 1e-9,
	    "with the costs that are known");
	is_near(fake_study_number(&s, "SELECT committed FROM costs"), 7, 1e-9,
	    "unpriced is as dear as it may be");
	is_near(fake_study_number(&s, "SELECT spot_saved FROM savings"), 3,
	    1e-9, "spot saved the part that was not paid for");
	is_near(fake_study_number(&s, "SELECT spot_share FROM costs"), 0.6,
	    1e-9, "in parts of the whole");
	fake_study_close(&s);

	/* The other side knows what the full price would count. */
	fake_study_open(&s, STUDY);
	fake_study_server_up(&s);
	fake_backend_exit(&far, 1, 1,
	    (struct launch_exit){ .ran = true,
		.started_us = 1000000,
		.ended_us = 101000000,
		.end = END_SPOT,
		.billed = true,
		.priced = true,
		.billable_s = 40,
		.trained_s = 80,
		.cost = 2 });
	fake_study_run(&s, 1);
	is_near(fake_study_number(&s, "SELECT spot_saved FROM savings"), 2,
	    1e-9, "waiting between interruptions is not saved");
	is_near(fake_study_number(&s, "SELECT spot_share FROM costs"), 0.5,
	    1e-9, "waiting is not part of spot_share");
	fake_study_close(&s);
}

static void
test_leave(void)
{
	struct fake_study s;

	fake_study_open(&s, STUDY);
	fake_study_server_up(&s);
	fake_backend_up(&far, 1, 1, 1000);
	fake_study_run(&s, 1);
	far.pending = 1;
	tuner_shutdown(s.tuner, false);
	fake_study_run(&s, 1);
	is_int(far.stops, 1, "a server that is told to exit stops its jobs");
	far.pending = 0;
	fake_study_run(&s, 60000);
	ok(!s.done, "and waits for them");
	far.pending = 1;
	tuner_shutdown(s.tuner, true);
	fake_study_run(&s, 60000);
	ok(!s.done, "stop requested again, where it was not delivered");
	far.pending = 0;
	fake_study_run(&s, 2000);
	ok(s.done, "then leaves at once");
	is_str(state(&s), "stopping", "stops that were requested continue");
	is_str(fake_study_text(&s, "SELECT state FROM study"), "interrupted",
	    "the study is interrupted");
	fake_study_server_down(&s);
	far.stops = 0;
	fake_study_server_up(&s);
	ok(far.n_looks == 1 && far.looks[0].stopping && far.looks[0].up,
	    "the next server finds it stopping");
	is_int(far.stops, 1, "and requests the stop again");
	fake_backend_exit(&far, 1, 1,
	    (struct launch_exit){ .ran = true, .stopped = true, .signal = 15 });
	fake_study_run(&s, 1);
	is_int(attempts(&s), 2, "then the trial continues");
	fake_study_close(&s);
}

/* What a trial that failed wrote last. */
static void
test_last_words(void)
{
	static const struct {
		struct launch_exit x;
		const char *want;
	} rows[] = {
		{ { .ran = true, .exit_code = 1, .said = "ValueError: bad" },
		    "exit status 1: ValueError: bad" },
		{ { .ran = true, .exit_code = 2 }, "exit status 2" },
		{ { .ran = true, .signal = 9, .said = "Epoch 3" },
		    "ended by signal 9 (Killed): Epoch 3" },
		{ { .ran = true, .exit_code = 1, .said = "x", .why = "rank 3" },
		    "rank 3" },
		{ { .ran = true, .said = "done" },
		    "it ended without a report: it printed no line such as "
		    "\"hpotune: step=1 m=0.5\" (hpotune try suggests a pattern "
		    "for what it prints); its last line: done" },
	};
	struct fake_study s;
	size_t i;

	for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		fake_study_open(&s, STUDY);
		fake_study_server_up(&s);
		fake_backend_up(&far, 1, 1, 1000);
		fake_backend_exit(&far, 1, 1, rows[i].x);
		fake_study_run(&s, 1);
		is_str(fake_study_text(
			   &s, "SELECT why FROM trials WHERE trial = 1"),
		    rows[i].want, "why a trial failed has its last line");
		fake_study_close(&s);
	}
}

/* Metrics that were looked for in vain. */
static void
test_missing(void)
{
	static const char patterns[] =
	    "\"trial\": {\"command\": [\"a\"], \"retries\": 0, "
	    "\"metrics\": [{\"name\": \"m\", \"regex\": \"(x)\"}, "
	    "{\"name\": \"acc\", \"regex\": \"(y)\"}]}, "
	    "\"backend\": {\"name\": \"far\", \"slots\": 1, "
	    "\"price\": 5}, \"limits\": {\"trials\": 1}";
	struct launch_event ev = { .kind = LAUNCH_REPORT,
		.trial = 1,
		.attempt = 1,
		.u.report = { .name = "val", .value = 1 } };
	struct fake_study s;

	fake_study_open(&s, patterns);
	fake_study_server_up(&s);
	fake_backend_up(&far, 1, 1, 1000);
	fake_backend_exit(&far, 1, 1, (struct launch_exit){ .ran = true });
	fake_study_run(&s, 1);
	is_str(fake_study_text(&s, "SELECT why FROM trials"),
	    "it ended without a report: the pattern of m in trial.metrics "
	    "has read nothing (hpotune try suggests one)",
	    "the pattern of the objective that has read nothing is named");
	fake_study_close(&s);
	fake_study_open(&s, patterns);
	fake_study_server_up(&s);
	fake_backend_up(&far, 1, 1, 1000);
	fake_backend_queue(&far, ev);
	fake_backend_exit(&far, 1, 1, (struct launch_exit){ .ran = true });
	fake_study_run(&s, 1);
	is_str(fake_study_text(&s, "SELECT why FROM trials"),
	    "it ended without a report of m; it reported val",
	    "other metrics that were reported are named");
	fake_study_close(&s);
	fake_study_open(&s, patterns);
	fake_study_server_up(&s);
	fake_backend_up(&far, 1, 1, 1000);
	fake_backend_report(&far, 1, 1, 1, 0.5, 0);
	fake_backend_exit(&far, 1, 1,
	    (struct launch_exit){ .ran = true, .said = "accuracy 3" });
	fake_study_run(&s, 1);
	is_str(fake_study_text(&s, "SELECT text FROM events WHERE "
				   "text LIKE 'the pattern%'"),
	    "the pattern of acc in trial.metrics has read nothing; its last "
	    "line: accuracy 3",
	    "a second pattern that has read nothing is reported");
	fake_study_close(&s);
}

/* All reports when it ends, and not before: so many seconds of silence. */
static void
check_buffered(int64_t silent_ms, int64_t tail_ms, int want, const char *what)
{
	struct fake_study s;
	int64_t step;

	fake_study_open(&s, STUDY);
	fake_study_server_up(&s);
	fake_backend_up(&far, 1, 1, 1000);
	fake_study_run(&s, silent_ms);
	for (step = 1; step <= 3; step++)
		fake_backend_report(&far, 1, 1, step, 0.5, 0);
	fake_study_run(&s, tail_ms);
	fake_backend_exit(&far, 1, 1, (struct launch_exit){ .ran = true });
	fake_study_run(&s, 1);
	is_int((long long)fake_study_number(&s,
		   "SELECT count(*) FROM events WHERE text LIKE "
		   "'reports come at the end: all its 3 reports came at its "
		   "end, after%buffered%'"),
	    want, what);
	fake_study_close(&s);
}

/* The stop of a rule that meets a trial after its last step. */
static void
test_all_steps(void)
{
	struct fake_study s;

	fake_study_open(&s,
	    "\"trial\": {\"command\": [\"a\"], \"max_steps\": 2}, "
	    "\"stopping\": {\"rule\": \"threshold\", \"upper\": 1, "
	    "\"warmup_steps\": 0}, \"backend\": {\"name\": \"far\", "
	    "\"slots\": 1, \"price\": 5}, \"limits\": {\"trials\": 1}");
	fake_study_server_up(&s);
	fake_backend_up(&far, 1, 1, 1000);
	fake_backend_report(&far, 1, 1, 1, 5, 0);
	fake_study_run(&s, 1);
	is_str(state(&s), "stopping", "a rule stops a trial");
	fake_backend_report(&far, 1, 1, 2, 4, 0);
	fake_backend_exit(&far, 1, 1,
	    (struct launch_exit){ .ran = true, .stopped = true, .signal = 15 });
	fake_study_run(&s, 1);
	is_str(state(&s), "completed",
	    "with all its steps it is completed, though the signal ended it");
	fake_study_close(&s);
}

/* An end after the last step, in one way; how many attempts it makes. */
static void
check_after_all(const char *more, int steps, struct launch_exit x,
    const char *want, const char *what)
{
	struct fake_study s;
	char text[512];
	int i;

	(void)snprintf(text, sizeof text,
	    "\"trial\": {\"command\": [\"a\"], \"max_steps\": 2%s}, "
	    "\"stopping\": \"none\", \"backend\": {\"name\": \"far\", "
	    "\"slots\": 1}, \"limits\": {\"trials\": 1}",
	    more);
	fake_study_open(&s, text);
	fake_study_server_up(&s);
	fake_backend_up(&far, 1, 1, 1000);
	for (i = 1; i <= steps; i++)
		fake_backend_report(&far, 1, 1, i, 5, 0);
	fake_backend_exit(&far, 1, 1, x);
	fake_study_run(&s, 1);
	is_str(fake_study_text(&s,
		   "SELECT trials.state || ' ' || end_class || ' ' || "
		   "(SELECT count(*) FROM events WHERE text LIKE 'it reported "
		   "all of its steps before it ended badly (%') "
		   "FROM trials JOIN attempts USING (trial) "
		   "WHERE attempt = 1"),
	    want, what);
	fake_study_close(&s);
}

static void
test_after_all(void)
{
	struct launch_exit crash = {
		.ran = true, .signal = 11, .exit_code = -1
	};
	struct launch_exit fails = { .ran = true, .exit_code = 1 };
	struct launch_exit far_fails = { .end = END_ERROR };
	struct launch_exit memory = { .ran = true, .oom = true, .signal = 9 };
	struct launch_exit late = {
		.ran = true, .timeout = true, .stopped = true, .signal = 15
	};
	struct launch_exit outside = {
		.ran = true, .stopped = true, .signal = 15
	};
	struct launch_exit spot = { .end = END_SPOT };

	check_after_all("", 2, crash, "completed ok 1",
	    "a crash after the last step: completed, with a warning");
	check_after_all(
	    "", 1, crash, "starting error 0", "one before is retried");
	check_after_all("", 2, fails, "completed ok 1", "an exit status");
	check_after_all(
	    "", 2, far_fails, "completed ok 1", "a job that failed");
	check_after_all("", 2, memory, "completed ok 1", "lack of memory");
	check_after_all("", 2, outside, "completed ok 1", "another's SIGTERM");
	check_after_all("", 2, spot, "starting spot 0",
	    "one whose machine is taken away is run again");
	check_after_all("", 2, late, "completed timeout 1", "max_run");
	check_after_all(", \"on_max_run\": \"failed\"", 2, late,
	    "failed timeout 0", "which the study may call a failure");
}

/* Steps 0, 10 … 90 and 99 of 100: counted from 0, the last is the hundredth. */
static void
test_from_zero(void)
{
	int from;

	for (from = 0; from <= 10; from += 10) {
		struct fake_study s;
		int i;

		fake_study_open(&s, STUDY);
		fake_study_server_up(&s);
		fake_backend_up(&far, 1, 1, 1000);
		for (i = from; i < 100; i += 10)
			fake_backend_report(&far, 1, 1, i, 5, 0);
		fake_backend_report(&far, 1, 1, 99, 5, 0);
		ends(&s, END_ERROR);
		is_str(state(&s), from == 0 ? "completed" : "failed",
		    from == 0 ? "all steps from 0, some of them reported"
			      : "one step is missing where they begin later");
		fake_study_close(&s);
	}
}

static void
test_hangs(void)
{
	struct fake_study s;

	fake_study_open(&s,
	    "\"trial\": {\"command\": [\"a\"], \"max_steps\": 2, "
	    "\"grace\": 60}, \"stopping\": \"none\", \"backend\": "
	    "{\"name\": \"far\", \"slots\": 1}, \"limits\": {\"trials\": 1}");
	fake_study_server_up(&s);
	fake_backend_up(&far, 1, 1, 1000);
	fake_backend_report(&far, 1, 1, 1, 5, 0);
	far.still_ms = 1000000;
	fake_study_run(&s, 5000);
	is_int(far.stops, 0, "before its last step a trial may be still");
	fake_backend_report(&far, 1, 1, 2, 5, 0);
	far.still_ms = 59999;
	fake_study_run(&s, 5000);
	is_int(far.stops, 0, "after it as long as its grace");
	far.still_ms = 60000;
	fake_study_run(&s, 5000);
	is_int(far.stops, 1, "then it is stopped, once");
	is_str(state(&s), "running", "which is no stop of the study");
	fake_study_server_down(&s);
	far.still_ms = 0;
	fake_study_server_up(&s);
	fake_study_run(&s, 5000);
	fake_backend_exit(&far, 1, 1,
	    (struct launch_exit){ .ran = true, .stopped = true, .signal = 9 });
	fake_study_run(&s, 1);
	is_str(state(&s), "completed", "the next server knows what to do");
	is_int((long long)fake_study_number(&s, "SELECT attempts FROM trials"),
	    1, "and needs no other attempt");
	fake_study_close(&s);
	far.still_ms = 0;
}

int
main(void)
{
	test_after_all();
	test_from_zero();
	test_hangs();
	test_last_words();
	test_missing();
	check_buffered(15000, 100, 1, "reports held back by a buffer are said");
	check_buffered(5000, 100, 0, "not of a short trial");
	check_buffered(15000, 5000, 0, "nor when the trial goes on after them");
	test_all_steps();
	test_capacity();
	test_quota();
	test_accepted();
	test_unrun();
	test_spot_ends();
	test_user();
	test_costs();
	test_leave();
	return done_testing();
}
