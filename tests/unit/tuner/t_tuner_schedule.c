/* Placement of attempts: changing slots, two backends, a cost limit. */

#include <math.h>
#include <string.h>

#include "src/engine/tuner/tuner.h"
#include "tests/support/fake-backend/fake-backend.h"
#include "tests/support/fake-backend/fake-study.h"
#include "tests/support/tap.h"

#define TRIAL                                                    \
	"\"trial\": {\"command\": [\"a\"], \"max_steps\": 100, " \
	"\"retries\": 3}, \"stopping\": \"none\", "
#define BOTH                                                       \
	TRIAL "\"backend\": [{\"name\": \"near\", \"slots\": 1}, " \
	      "{\"name\": \"far\", \"slots\": 2, \"price\": 5}], "

static int
running(struct fake_study *s)
{
	return (int)fake_study_number(s, "SELECT running FROM study");
}

/* "near far far": the backends of the trials in order. */
static const char *
backends(struct fake_study *s)
{
	return fake_study_text(s,
	    "SELECT group_concat(backend, ' ') FROM (SELECT "
	    "coalesce(backend, '-') AS backend FROM trials ORDER BY trial)");
}

static void
slots(struct fake_study *s, int n)
{
	far.slots = n;
	fake_backend_queue(&far, (struct launch_event){ .kind = LAUNCH_SLOTS });
	fake_study_run(s, 1);
}

static void
completes(
    struct fake_study *s, struct fake_backend *f, int64_t trial, double cost)
{
	int attempt = fake_backend_started(f, trial)->attempt;

	fake_backend_report(f, trial, attempt, 1, 1, 2000000);
	fake_backend_exit(f, trial, attempt,
	    (struct launch_exit){ .ran = true,
		.billed = !isnan(cost),
		.priced = !isnan(cost),
		.billable_s = 1,
		.cost = isnan(cost) ? 0 : cost });
	fake_study_run(s, 1);
}

static void
test_slots(void)
{
	struct fake_study s;

	fake_study_open(&s,
	    TRIAL "\"backend\": {\"name\": \"far\", \"slots\": 3}, "
		  "\"limits\": {\"trials\": 9}");
	fake_study_server_up(&s);
	is_int(running(&s), 3, "as many as there are slots");
	slots(&s, 1);
	is_int(running(&s), 3, "fewer slots: running trials continue");
	completes(&s, &far, 1, NAN);
	completes(&s, &far, 2, NAN);
	is_int(running(&s), 1, "but no trial is started");
	completes(&s, &far, 3, NAN);
	is_int(running(&s), 1, "until there is room");
	slots(&s, 0);
	completes(&s, &far, 4, NAN);
	fake_study_run(&s, 100000);
	is_int(running(&s), 0, "no slot, no trial");
	ok(!s.done, "and no end");
	slots(&s, 5);
	is_int(running(&s), 5, "more slots, more trials");
	is_int((long long)fake_study_number(&s,
		   "SELECT count(*) FROM events WHERE area = 'slot' AND "
		   "text LIKE 'far: %'"),
	    3, "every change is recorded");
	fake_backend_queue(&far, (struct launch_event){ .kind = LAUNCH_NOTE,
				     .u.note = { .level = LAUNCH_WARNING,
					 .text = "the quota is small" } });
	fake_study_run(&s, 1);
	is_int((long long)fake_study_number(&s,
		   "SELECT count(*) FROM events WHERE level = 'warning' AND "
		   "trial IS NULL AND text = 'the quota is small'"),
	    1, "a note of the whole study is an event");
	fake_study_close(&s);
}

static void
test_overflow(void)
{
	struct fake_study s;

	fake_study_open(&s, BOTH "\"limits\": {\"trials\": 9}");
	fake_study_server_up(&s);
	is_str(backends(&s), "near far far", "the second takes the overflow");
	completes(&s, &near, 1, NAN);
	is_str(backends(&s), "near far far near", "the first comes first");
	fake_backend_exit(&near, 4, 1,
	    (struct launch_exit){ .ran = true,
		.exit_code = 1,
		.started_us = 1,
		.ended_us = 9000000 });
	fake_backend_exit(&far, 2, 1,
	    (struct launch_exit){ .ran = true,
		.exit_code = 1,
		.started_us = 1,
		.ended_us = 9000000 });
	fake_study_run(&s, 100);
	is_int(fake_backend_started(&near, 4)->attempt, 2, "a trial stays");
	is_int(fake_backend_started(&far, 2)->attempt, 2, "where it was");
	fake_study_server_down(&s);
	fake_study_close(&s);

	fake_study_open(
	    &s, BOTH "\"limits\": {\"trials\": 9, \"parallel\": 2}");
	fake_study_server_up(&s);
	is_str(backends(&s), "near far", "limits.parallel counts all backends");
	fake_backend_exit(
	    &far, 2, 1, (struct launch_exit){ .end = END_CAPACITY });
	fake_study_run(&s, 1);
	is_str(backends(&s), "near far far",
	    "another may try its luck beside one that waits for a machine");
	fake_backend_exit(
	    &far, 3, 1, (struct launch_exit){ .end = END_CAPACITY });
	fake_study_run(&s, 1);
	is_str(backends(&s), "near far far",
	    "but no more than there are slots wait for machines");
	fake_study_close(&s);
}

static void
test_gone(void)
{
	struct fake_study s;

	fake_study_open(&s, BOTH "\"limits\": {\"trials\": 3}");
	fake_study_server_up(&s);
	completes(&s, &far, 3, NAN);
	fake_backend_exit(
	    &far, 2, 1, (struct launch_exit){ .end = END_CAPACITY });
	fake_study_run(&s, 1);
	fake_study_server_down(&s);
	fake_study_change(&s,
	    TRIAL "\"backend\": {\"name\": \"near\", \"slots\": 2}, "
		  "\"limits\": {\"trials\": 3}");
	fake_study_server_up(&s);
	fake_study_run(&s, 2000);
	is_str(backends(&s), "near near far",
	    "where the backend is gone the next one takes its trials");
	is_int((long long)fake_study_number(&s,
		   "SELECT count(*) FROM events WHERE trial = 2 AND text = "
		   "'it continues on near: far is no longer in study.json; its "
		   "checkpoints cannot be moved there'"),
	    1, "and states what that means");
	fake_study_close(&s);
}

static int64_t
number(struct fake_study *s, const char *sql)
{
	return (int64_t)fake_study_number(s, sql);
}

#define PLACED                                              \
	"SELECT coalesce(min(trial), 0) FROM trials WHERE " \
	"state IN ('starting', 'running') AND backend = "

/* Each attempt near fails at once, each one far completes. */
static void
fails_near(struct fake_study *s, int turns)
{
	int64_t trial;

	while (turns-- > 0) {
		if ((trial = number(s, PLACED "'near'")) > 0)
			fake_backend_exit(&near, trial,
			    fake_backend_started(&near, trial)->attempt,
			    (struct launch_exit){
				.ran = true, .exit_code = 1 });
		else if ((trial = number(s, PLACED "'far'")) > 0)
			completes(s, &far, trial, NAN);
		fake_study_run(s, trial > 0 ? 1 : 1000);
	}
}

#define TWO                                                       \
	"\"trial\": {\"command\": [\"a\"], \"max_steps\": 100}, " \
	"\"stopping\": \"none\", "                                \
	"\"backend\": [{\"name\": \"near\", \"slots\": 1}, "      \
	"{\"name\": \"far\", \"slots\": 1}], "

static void
test_drained(void)
{
	struct fake_study s;
	int64_t before;

	fake_study_open(&s, TWO "\"limits\": {\"trials\": 60}");
	fake_study_server_up(&s);
	fails_near(&s, 300);
	is_int((long long)fake_study_number(&s,
		   "SELECT count(*) FROM events WHERE text LIKE '%near slot 0 "
		   "is drained: its last % trials failed at once, while % of "
		   "% worked elsewhere; the last, %'"),
	    1, "trial after trial fails near, and works far");
	is_int((long long)fake_study_number(&s,
		   "SELECT max(attempts) FROM trials WHERE backend = 'far'"),
	    2, "trials that wait on a drained backend continue elsewhere");
	ok(fake_study_number(
	       &s, "SELECT count(*) FROM trials WHERE state = 'failed'") < 20,
	    "most do not fail");
	is_int((long long)fake_study_number(&s,
		   "SELECT count(*) FROM trials WHERE state IN ('completed', "
		   "'failed')"),
	    60, "all have ended");
	fake_study_close(&s);

	fake_study_open(&s, TWO "\"limits\": {\"trials\": 60}");
	fake_study_server_up(&s);
	fails_near(&s, 90);
	before =
	    number(&s, "SELECT count(*) FROM attempts WHERE backend = 'near'");
	is_int((long long)fake_study_number(
		   &s, "SELECT sum(drained) FROM t_place"),
	    1, "drained in the database");
	fake_study_server_down(&s);
	fake_study_server_up(&s);
	fails_near(&s, 30);
	is_int((long long)fake_study_number(
		   &s, "SELECT count(*) FROM attempts WHERE backend = 'near'"),
	    (long long)before, "the next server does not use it either");
	fake_study_close(&s);

	fake_study_open(
	    &s, TWO "\"limits\": {\"trials\": 60, \"drain\": false}");
	fake_study_server_up(&s);
	fails_near(&s, 300);
	is_int((long long)fake_study_number(&s,
		   "SELECT count(*) FROM events WHERE text LIKE '%drained%'"),
	    0, "limits.drain false: it goes on");
	fake_study_close(&s);
}

#define DEAR \
	TRIAL "\"backend\": {\"name\": \"far\", \"slots\": 4, \"price\": 5}, "

static void
test_cost(void)
{
	struct fake_study s;

	fake_study_open(&s, DEAR "\"limits\": {\"cost\": 12}");
	fake_study_server_up(&s);
	is_int(running(&s), 2, "what might pass the limit is not begun");
	is_int((long long)fake_study_number(
		   &s, "SELECT count(*) FROM events WHERE area = 'cost'"),
	    1, "and the user gets one message");
	completes(&s, &far, 1, 1);
	is_int(running(&s), 2, "cheaper than feared: there is room for one");
	completes(&s, &far, 2, NAN);
	is_int(running(&s), 1, "unpriced counts as its worst");
	fake_backend_exit(&far, 3, 1,
	    (struct launch_exit){ .ran = true,
		.exit_code = 1,
		.priced = true,
		.billed = true,
		.cost = 3,
		.started_us = 1,
		.ended_us = 90000000 });
	fake_study_run(&s, 1);
	ok(s.done, "when nothing runs and nothing may, the study is over");
	is_str(tuner_end(s.tuner).why,
	    "limits.cost would be exceeded: $9.00 of $12.00 are spent or "
	    "committed",
	    "and gives the reason");
	is_str(fake_study_text(&s, "SELECT state FROM study"), "finished",
	    "finished");
	is_str(fake_study_text(&s, "SELECT state FROM trials WHERE trial = 3"),
	    "waiting", "what waits is not given up");
	fake_study_server_down(&s);
	fake_study_change(&s, DEAR "\"limits\": {\"cost\": 15}");
	fake_study_server_up(&s);
	is_int(fake_backend_started(&far, 3)->attempt, 2,
	    "with more money it continues");
	is_int(running(&s), 1, "as far as that reaches");
	fake_study_close(&s);
}

static void
test_cost_free(void)
{
	struct fake_study s;

	fake_study_open(&s,
	    TRIAL "\"backend\": [{\"name\": \"near\", \"slots\": 1}, "
		  "{\"name\": \"far\", \"slots\": 2, \"price\": 5}], "
		  "\"limits\": {\"trials\": 5, \"cost\": 5}");
	fake_study_server_up(&s);
	is_str(backends(&s), "near far", "one is all the money is for");
	completes(&s, &far, 2, 5);
	completes(&s, &near, 1, NAN);
	completes(&s, &near, 3, NAN);
	completes(&s, &near, 4, NAN);
	is_str(
	    backends(&s), "near far near near near", "what is free continues");
	completes(&s, &near, 5, NAN);
	ok(s.done, "to the end");
	is_str(
	    tuner_end(s.tuner).why, "all 5 trials are done", "of the trials");
	fake_study_close(&s);
}

int
main(void)
{
	test_slots();
	test_overflow();
	test_gone();
	test_drained();
	test_cost();
	test_cost_free();
	return done_testing();
}
