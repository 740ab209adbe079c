/*
 * The reader of training jobs' logs against a place of logs where lines come
 * late, pages are empty or say a line twice, and tokens expire.
 */

#include <stdlib.h>

#include "src/base/loop.h"
#include "tests/support/cloudwatch/cw-logs.h"
#include "tests/support/tap.h"

static void
test_plain(void)
{
	struct log_rig r;
	char *copy;

	log_rig_now(&r, NULL);
	log_rig_say(&r, JOB, 1, r.start_ms, 0, "begin");
	log_rig_step(&r, 1, 0);
	log_rig_step(&r, 2, 0);
	log_rig_say(&r, JOB, 1, r.start_ms + 2500, 0,
	    "hpotune-json: {\\\"loss\\\": 2, \\\"step\\\": 3}");
	(void)log_rig_follow(&r, 1, JOB, 0);
	copy = log_rig_copy(&r, 1);
	is_str(copy, "", "the copy is there at once");
	free(copy);
	ok(log_rig_hears(&r, 3), "all reports are heard");
	is_int(r.cursor_ms, r.start_ms + 2500, "and how far it was read");
	is_int(r.heard[2].step, 3, "a line of the metrics file is one");
	is_int(r.heard[0].time_us, (r.start_ms + 1000) * 1000,
	    "a report has the time of its line");
	log_rig_step(&r, 4, 0);
	ok(log_rig_hears(&r, 4), "a line more");
	log_rig_say(&r, JOB, 1, r.start_ms + 9000, 0, "hpotune-end: status 0");
	ok(log_rig_finish(&r, true) && r.n_heard == 4, "it is over");
	copy = log_rig_copy(&r, 1);
	is_str(copy,
	    "begin\nhpotune: step=1 loss=0.5\nhpotune: step=2 loss=0.5\n"
	    "hpotune-json: {\"loss\": 2, \"step\": 3}\n"
	    "hpotune: step=4 loss=0.5\n",
	    "the copy is the trial's output");
	free(copy);
	is_str(r.notes.data, NULL, "and nothing was to be said");
	log_rig_close(&r);
}

/* Lines come while it is read; some of one millisecond, some equal. */
static void
test_faults(int empty, int twice, int expire, size_t page)
{
	struct log_rig r;
	char text[64];
	int i;

	log_rig_now(&r, NULL);
	r.page = page;
	r.empty_every = empty;
	r.twice_every = twice;
	r.expire_every = expire;
	(void)log_rig_follow(&r, 1, JOB, 0);
	for (i = 0; i < 300; i++) {
		(void)snprintf(text, sizeof text, "hpotune: loss=%d%s", i / 9,
		    i % 2 == 0 ? ".5" : "");
		log_rig_say(&r, JOB, 1, r.start_ms + i / 7, i, text);
	}
	ok(log_rig_hears(&r, 300), "%d %d %d: all is heard", empty, twice,
	    expire);
	log_rig_say(&r, JOB, 1, r.start_ms + 300, 0, "hpotune-end: status 1");
	ok(log_rig_finish(&r, true), "it is over");
	if (!ok(r.n_heard == 300, "and no report became two"))
		printf("# %zu\n", r.n_heard);
	log_rig_close(&r);
}

static void
test_late(void)
{
	struct log_rig r;
	char *copy;

	log_rig_now(&r, NULL);
	log_rig_step(&r, 1, 0);
	log_rig_step(&r, 2, 200);
	log_rig_step(&r, 3, 0);
	(void)log_rig_follow(&r, 1, JOB, 0);
	ok(log_rig_hears(&r, 2), "what is there is heard");
	log_rig_step(&r, 4, 900);
	log_rig_say(
	    &r, JOB, 1, r.start_ms + 5000, 1000, "hpotune-end: status 0");
	ok(log_rig_finish(&r, true) && r.n_heard == 4,
	    "late lines, in between and at the end, are heard");
	copy = log_rig_copy(&r, 1);
	is_str(copy,
	    "hpotune: step=1 loss=0.5\nhpotune: step=2 loss=0.5\n"
	    "hpotune: step=3 loss=0.5\nhpotune: step=4 loss=0.5\n",
	    "and stand in the copy in their order");
	free(copy);
	log_rig_close(&r);
}

static void
test_killed(void)
{
	struct log_rig r;
	int64_t began;

	log_rig_now(&r, NULL);
	log_rig_step(&r, 1, 0);
	log_rig_step(&r, 2, 150);
	log_rig_step(&r, 3, 400);
	(void)log_rig_follow(&r, 1, JOB, 0);
	ok(log_rig_hears(&r, 1), "its first report");
	began = loop_now_ms(r.rig.loop);
	ok(log_rig_finish(&r, false) && r.n_heard == 3,
	    "without a last line it is waited for quiet");
	ok(loop_now_ms(r.rig.loop) - began >= 600, "of half a minute");
	ok(loop_now_ms(r.rig.loop) - began < 10000, "and not for minutes");
	log_rig_close(&r);
}

/* The last line never comes, and lines never end. */
static void
test_endless(void)
{
	struct log_rig r;
	int64_t began;
	int i;

	log_rig_now(&r, NULL);
	for (i = 0; i < 1000; i++)
		log_rig_step(&r, i, i * 10);
	(void)log_rig_follow(&r, 1, JOB, 0);
	began = loop_now_ms(r.rig.loop);
	ok(log_rig_finish(&r, false), "endless output is left behind");
	ok(loop_now_ms(r.rig.loop) - began < 20000, "in time");
	log_rig_close(&r);
}

static void
test_no_group(void)
{
	struct log_rig r;

	log_rig_now(&r, NULL);
	r.no_group = true;
	(void)log_rig_follow(&r, 1, JOB, 0);
	ok(log_rig_finish(&r, false), "a job without any log is over, too");
	sm_log_free(r.logs->all[0]);
	(void)log_rig_follow(&r, 1, JOB, 0);
	(void)loop_now_ms(r.rig.loop);
	log_rig_step(&r, 1, 0);
	r.no_group = false;
	ok(log_rig_hears(&r, 1), "the group comes with the first line");
	log_rig_close(&r);
}

static void
test_interrupted(void)
{
	struct log_rig r;
	struct sm_log *log;

	log_rig_now(&r, NULL);
	log_rig_step(&r, 1, 0);
	log_rig_step(&r, 2, 0);
	log = log_rig_follow(&r, 1, JOB, 0);
	ok(log_rig_hears(&r, 2), "the first start");
	log_rig_say(
	    &r, JOB, 2, r.start_ms + 10000, 0, "hpotune: step=2 loss=1");
	log_rig_say(
	    &r, JOB, 2, r.start_ms + 10001, 0, "hpotune: step=3 loss=1");
	log_rig_say(&r, "hpt-x-1-00001-01-abcdef0", 3, r.start_ms + 10002, 0,
	    "hpotune: step=4 loss=1");
	log_rig_step(&r, 3, 0); /* late, of the first start */
	sm_log_restarted(log);
	ok(log_rig_hears(&r, 5), "the second start is found");
	log_rig_step(&r, 4, 0);
	log_rig_say(
	    &r, JOB, 3, r.start_ms + 20000, 0, "hpotune: step=5 loss=1");
	log_rig_say(&r, JOB, 3, r.start_ms + 20001, 0, "hpotune-end: status 0");
	ok(log_rig_finish(&r, true) && r.n_heard == 7,
	    "a third one that nobody announced, and late lines of the first");
	log_rig_close(&r);
}

/* ---- many -------------------------------------------------------------------------- */

enum { MANY = 25 };

static void
say_all(struct log_rig *r, int step, int late)
{
	char job[64], text[64];
	int i;

	for (i = 0; i < MANY; i++) {
		(void)snprintf(job, sizeof job, "hpt-x-1-%05d-01-abcdef", i);
		(void)snprintf(
		    text, sizeof text, "hpotune: loss=%d acc=1", step);
		log_rig_say(
		    r, job, 1, r->start_ms + step * 40 + i, i % late, text);
		log_rig_say(
		    r, job, 1, r->start_ms + step * 40 + i, i % late, text);
		log_rig_say(r, job, 1, r->start_ms + step * 40 + i, 0, "x");
	}
}

static void
test_sweep(int empty, int twice, int expire)
{
	struct log_rig r;
	char job[64];
	int i, step;

	log_rig_now(&r, NULL);
	r.empty_every = empty;
	r.twice_every = twice;
	r.expire_every = expire;
	r.page = 31;
	for (i = 0; i < MANY; i++) {
		(void)snprintf(job, sizeof job, "hpt-x-1-%05d-01-abcdef", i);
		(void)log_rig_follow(&r, i, job, 0);
	}
	ok(r.logs->sweep.on, "many are swept");
	/* Nobody's, and another host's. */
	log_rig_say(
	    &r, "hpt-x-1-99999-01-abcdef", 1, r.start_ms, 0, "hpotune: loss=9");
	for (step = 1; step <= 5; step++) {
		say_all(&r, step, 5);
		if (!log_rig_hears(&r, (size_t)step * MANY * 4))
			break;
	}
	is_int((long long)r.n_heard, 5 * MANY * 4, "all is heard");
	is_int(r.gets, 0, "and no stream was read");
	(void)snprintf(job, sizeof job, "hpt-x-1-%05d-01-abcdef", 900);
	for (i = 0; i < 10; i++)
		log_rig_say(
		    &r, job, 1, r.start_ms - 590000 + i, 0, "hpotune: loss=1");
	(void)log_rig_follow(&r, 900, job, r.start_ms - 600000);
	ok(log_rig_hears(&r, 5 * MANY * 4 + 10),
	    "one that comes later is read from where it was");
	sm_log_free(r.logs->all[r.logs->n - 1]);
	while (r.logs->n > 10)
		sm_log_free(r.logs->all[0]);
	ok(!r.logs->sweep.on, "few are not swept");
	say_all(&r, 6, 1);
	ok(log_rig_hears(&r, 5 * MANY * 4 + 10 + 10 * 4),
	    "those that are left are read");
	ok(log_rig_finish(&r, false), "to their end");
	if (!ok(r.n_heard == 5 * MANY * 4 + 10 + 10 * 4,
		"no report became two"))
		printf("# %zu\n", r.n_heard);
	log_rig_close(&r);
}

/* ---- coming and going ----------------------------------------------------------------- */

static int turns;

static bool
turns_over(struct log_rig *r)
{
	(void)r;
	return turns-- <= 0;
}

static void
test_close(bool sweep, bool finish, bool denied)
{
	struct log_rig r;
	char job[64];
	int i, k;

	for (k = 0; k < 24; k++) {
		log_rig_now(&r, NULL);
		r.denied = denied;
		for (i = 0; i < (sweep ? MANY : 3); i++) {
			(void)snprintf(
			    job, sizeof job, "hpt-x-1-%05d-01-abcdef", i);
			(void)log_rig_follow(&r, i, job, 0);
		}
		say_all(&r, 1, 3);
		turns = k;
		(void)log_rig_run(&r, turns_over);
		if (finish)
			sm_log_finish(r.logs->all[0], true, log_rig_done, &r);
		if (k % 3 == 0)
			sm_log_free(r.logs->all[1]);
		turns = k;
		(void)log_rig_run(&r, turns_over);
		log_rig_close(&r);
	}
	ok(true, "closed at any moment: %s%s%s", sweep ? "swept " : "",
	    finish ? "ending " : "", denied ? "denied" : "");
}

static struct sm_log *freed;

static void
free_it(void *arg)
{
	sm_log_free(freed);
	log_rig_done(arg);
}

static bool
one_done(struct log_rig *r)
{
	return r->done == 1;
}

static void
test_freed(void)
{
	struct log_rig r;

	log_rig_now(&r, NULL);
	log_rig_step(&r, 1, 0);
	log_rig_say(&r, JOB, 1, r.start_ms + 9000, 0, "hpotune-end: status 0");
	freed = log_rig_follow(&r, 1, JOB, 0);
	sm_log_finish(freed, true, free_it, &r);
	ok(log_rig_run(&r, one_done) && r.logs->n == 0 && r.n_heard == 1,
	    "a log may be freed when it is told that it is over");
	r.denied = true;
	r.metric_data = "{}";
	r.done = 0;
	freed = log_rig_follow(&r, 1, JOB, 0);
	sm_log_finish(freed, true, free_it, &r);
	ok(log_rig_run(&r, one_done) && r.logs->n == 0, "without logs, too");
	log_rig_close(&r);
}

int
main(void)
{
	test_plain();
	test_faults(0, 0, 0, 7);
	test_faults(3, 0, 0, 7);
	test_faults(0, 2, 0, 3);
	test_faults(0, 0, 40, 10);
	test_faults(5, 3, 70, 10);
	test_late();
	test_killed();
	test_endless();
	test_no_group();
	test_interrupted();
	test_sweep(0, 0, 0);
	test_sweep(5, 3, 70);
	test_close(false, false, false);
	test_close(false, true, false);
	test_close(true, true, false);
	test_close(false, true, true);
	test_freed();
	return done_testing();
}
