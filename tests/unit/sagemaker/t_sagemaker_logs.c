/*
 * The reader of training jobs' logs against simulated logs with late lines,
 * empty pages, duplicates, and tokens that expire.
 */

#include <stdlib.h>

#include "src/base/loop.h"
#include "tests/support/cloudwatch/cw-logs.h"
#include "tests/support/tap.h"

static void
test_plain(void)
{
	struct cw_logs r;
	char *copy;

	cw_logs_now(&r, NULL);
	cw_logs_add(&r, JOB, 1, r.start_ms, 0, "begin");
	cw_logs_step(&r, 1, 0);
	cw_logs_step(&r, 2, 0);
	cw_logs_add(&r, JOB, 1, r.start_ms + 2500, 0,
	    "hpotune-json: {\\\"loss\\\": 2, \\\"step\\\": 3}");
	(void)cw_logs_follow(&r, 1, JOB, 0);
	copy = cw_logs_copy(&r, 1);
	is_str(copy, "", "the copy is there at once");
	free(copy);
	ok(cw_logs_reports(&r, 3), "all reports are read");
	is_int(r.cursor_ms, r.start_ms + 2500, "and how far it was read");
	is_int(r.heard[2].step, 3, "a line of the metrics file is one");
	is_int(r.heard[0].time_us, (r.start_ms + 1000) * 1000,
	    "a report has the time of its line");
	cw_logs_step(&r, 4, 0);
	ok(cw_logs_reports(&r, 4), "a line more");
	cw_logs_add(&r, JOB, 1, r.start_ms + 9000, 0, "hpotune-end: status 0");
	ok(cw_logs_finish(&r, true) && r.n_heard == 4, "it is over");
	copy = cw_logs_copy(&r, 1);
	is_str(copy,
	    "begin\nhpotune: step=1 loss=0.5\nhpotune: step=2 loss=0.5\n"
	    "hpotune-json: {\"loss\": 2, \"step\": 3}\n"
	    "hpotune: step=4 loss=0.5\n",
	    "the copy is the trial's output");
	free(copy);
	is_str(r.notes.data, NULL, "and no warning was given");
	cw_logs_close(&r);
}

/* Lines come while it is read; some of one millisecond, some equal. */
static void
test_faults(int empty, int twice, int expire, size_t page)
{
	struct cw_logs r;
	char text[64];
	int i;

	cw_logs_now(&r, NULL);
	r.page = page;
	r.empty_every = empty;
	r.twice_every = twice;
	r.expire_every = expire;
	(void)cw_logs_follow(&r, 1, JOB, 0);
	for (i = 0; i < 300; i++) {
		(void)snprintf(text, sizeof text, "hpotune: loss=%d%s", i / 9,
		    i % 2 == 0 ? ".5" : "");
		cw_logs_add(&r, JOB, 1, r.start_ms + i / 7, i, text);
	}
	ok(cw_logs_reports(&r, 300), "%d %d %d: all is read", empty, twice,
	    expire);
	cw_logs_add(&r, JOB, 1, r.start_ms + 300, 0, "hpotune-end: status 1");
	ok(cw_logs_finish(&r, true), "it is over");
	if (!ok(r.n_heard == 300, "and no report became two"))
		printf("# %zu\n", r.n_heard);
	cw_logs_close(&r);
}

static void
test_late(void)
{
	struct cw_logs r;
	char *copy;

	cw_logs_now(&r, NULL);
	cw_logs_step(&r, 1, 0);
	cw_logs_step(&r, 2, 200);
	cw_logs_step(&r, 3, 0);
	(void)cw_logs_follow(&r, 1, JOB, 0);
	ok(cw_logs_reports(&r, 2), "what is there is read");
	cw_logs_step(&r, 4, 900);
	cw_logs_add(
	    &r, JOB, 1, r.start_ms + 5000, 1000, "hpotune-end: status 0");
	ok(cw_logs_finish(&r, true) && r.n_heard == 4,
	    "late lines, in between and at the end, are read");
	copy = cw_logs_copy(&r, 1);
	is_str(copy,
	    "hpotune: step=1 loss=0.5\nhpotune: step=2 loss=0.5\n"
	    "hpotune: step=3 loss=0.5\nhpotune: step=4 loss=0.5\n",
	    "and stand in the copy in their order");
	free(copy);
	cw_logs_close(&r);
}

static void
test_killed(void)
{
	struct cw_logs r;
	int64_t began;

	cw_logs_now(&r, NULL);
	cw_logs_step(&r, 1, 0);
	cw_logs_step(&r, 2, 150);
	cw_logs_step(&r, 3, 400);
	(void)cw_logs_follow(&r, 1, JOB, 0);
	ok(cw_logs_reports(&r, 1), "its first report");
	began = loop_now_ms(r.rig.loop);
	ok(cw_logs_finish(&r, false) && r.n_heard == 3,
	    "without a last line it is waited for quiet");
	ok(loop_now_ms(r.rig.loop) - began >= 600, "of half a minute");
	ok(loop_now_ms(r.rig.loop) - began < 10000, "and not for minutes");
	cw_logs_close(&r);
}

/* The last line never comes, and lines never end. */
static void
test_endless(void)
{
	struct cw_logs r;
	int64_t began;
	int i;

	cw_logs_now(&r, NULL);
	for (i = 0; i < 1000; i++)
		cw_logs_step(&r, i, i * 10);
	(void)cw_logs_follow(&r, 1, JOB, 0);
	began = loop_now_ms(r.rig.loop);
	ok(cw_logs_finish(&r, false), "endless output is left behind");
	ok(loop_now_ms(r.rig.loop) - began < 20000, "in time");
	cw_logs_close(&r);
}

static void
test_no_group(void)
{
	struct cw_logs r;

	cw_logs_now(&r, NULL);
	r.no_group = true;
	(void)cw_logs_follow(&r, 1, JOB, 0);
	ok(cw_logs_finish(&r, false), "a job without any log is over, too");
	sm_log_free(r.logs->all[0]);
	(void)cw_logs_follow(&r, 1, JOB, 0);
	(void)loop_now_ms(r.rig.loop);
	cw_logs_step(&r, 1, 0);
	r.no_group = false;
	ok(cw_logs_reports(&r, 1), "the group comes with the first line");
	cw_logs_close(&r);
}

static void
test_interrupted(void)
{
	struct cw_logs r;
	struct sm_log *log;

	cw_logs_now(&r, NULL);
	cw_logs_step(&r, 1, 0);
	cw_logs_step(&r, 2, 0);
	log = cw_logs_follow(&r, 1, JOB, 0);
	ok(cw_logs_reports(&r, 2), "the first start");
	cw_logs_add(
	    &r, JOB, 2, r.start_ms + 10000, 0, "hpotune: step=2 loss=1");
	cw_logs_add(
	    &r, JOB, 2, r.start_ms + 10001, 0, "hpotune: step=3 loss=1");
	cw_logs_add(&r, "hpt-x-1-00001-01-abcdef0", 3, r.start_ms + 10002, 0,
	    "hpotune: step=4 loss=1");
	cw_logs_step(&r, 3, 0); /* late, of the first start */
	sm_log_restarted(log);
	ok(cw_logs_reports(&r, 5), "the second start is found");
	cw_logs_step(&r, 4, 0);
	cw_logs_add(
	    &r, JOB, 3, r.start_ms + 20000, 0, "hpotune: step=5 loss=1");
	cw_logs_add(&r, JOB, 3, r.start_ms + 20001, 0, "hpotune-end: status 0");
	ok(cw_logs_finish(&r, true) && r.n_heard == 7,
	    "a third one without announcement, and late lines of the first");
	cw_logs_close(&r);
}

/* ---- many -------------------------------------------------------------------------- */

enum { MANY = 25 };

static void
say_all(struct cw_logs *r, int step, int late)
{
	char job[64], text[64];
	int i;

	for (i = 0; i < MANY; i++) {
		(void)snprintf(job, sizeof job, "hpt-x-1-%05d-01-abcdef", i);
		(void)snprintf(
		    text, sizeof text, "hpotune: loss=%d acc=1", step);
		cw_logs_add(
		    r, job, 1, r->start_ms + step * 40 + i, i % late, text);
		cw_logs_add(
		    r, job, 1, r->start_ms + step * 40 + i, i % late, text);
		cw_logs_add(r, job, 1, r->start_ms + step * 40 + i, 0, "x");
	}
}

static void
test_sweep(int empty, int twice, int expire)
{
	struct cw_logs r;
	char job[64];
	int i, step;

	cw_logs_now(&r, NULL);
	r.empty_every = empty;
	r.twice_every = twice;
	r.expire_every = expire;
	r.page = 31;
	for (i = 0; i < MANY; i++) {
		(void)snprintf(job, sizeof job, "hpt-x-1-%05d-01-abcdef", i);
		(void)cw_logs_follow(&r, i, job, 0);
	}
	ok(r.logs->sweep.on, "many are swept");
	/* Nobody's, and another host's. */
	cw_logs_add(
	    &r, "hpt-x-1-99999-01-abcdef", 1, r.start_ms, 0, "hpotune: loss=9");
	for (step = 1; step <= 5; step++) {
		say_all(&r, step, 5);
		if (!cw_logs_reports(&r, (size_t)step * MANY * 4))
			break;
	}
	is_int((long long)r.n_heard, 5 * MANY * 4, "all is read");
	is_int(r.gets, 0, "and no stream was read");
	(void)snprintf(job, sizeof job, "hpt-x-1-%05d-01-abcdef", 900);
	for (i = 0; i < 10; i++)
		cw_logs_add(
		    &r, job, 1, r.start_ms - 590000 + i, 0, "hpotune: loss=1");
	(void)cw_logs_follow(&r, 900, job, r.start_ms - 600000);
	ok(cw_logs_reports(&r, 5 * MANY * 4 + 10),
	    "one that comes later is read from where it was");
	sm_log_free(r.logs->all[r.logs->n - 1]);
	while (r.logs->n > 10)
		sm_log_free(r.logs->all[0]);
	ok(!r.logs->sweep.on, "few are not swept");
	say_all(&r, 6, 1);
	ok(cw_logs_reports(&r, 5 * MANY * 4 + 10 + 10 * 4),
	    "the remaining jobs are read");
	ok(cw_logs_finish(&r, false), "to their end");
	if (!ok(r.n_heard == 5 * MANY * 4 + 10 + 10 * 4,
		"no report became two"))
		printf("# %zu\n", r.n_heard);
	cw_logs_close(&r);
}

/* ---- coming and going ----------------------------------------------------------------- */

static int turns;

static bool
turns_over(struct cw_logs *r)
{
	(void)r;
	return turns-- <= 0;
}

static void
test_close(bool sweep, bool finish, bool denied)
{
	struct cw_logs r;
	char job[64];
	int i, k;

	for (k = 0; k < 24; k++) {
		cw_logs_now(&r, NULL);
		r.denied = denied;
		for (i = 0; i < (sweep ? MANY : 3); i++) {
			(void)snprintf(
			    job, sizeof job, "hpt-x-1-%05d-01-abcdef", i);
			(void)cw_logs_follow(&r, i, job, 0);
		}
		say_all(&r, 1, 3);
		turns = k;
		(void)cw_logs_run(&r, turns_over);
		if (finish)
			sm_log_finish(r.logs->all[0], true, cw_logs_done, &r);
		if (k % 3 == 0)
			sm_log_free(r.logs->all[1]);
		turns = k;
		(void)cw_logs_run(&r, turns_over);
		cw_logs_close(&r);
	}
	ok(true, "closed at any moment: %s%s%s", sweep ? "swept " : "",
	    finish ? "ending " : "", denied ? "denied" : "");
}

static struct sm_log *freed;

static void
free_it(void *arg)
{
	sm_log_free(freed);
	cw_logs_done(arg);
}

static bool
one_done(struct cw_logs *r)
{
	return r->done == 1;
}

static void
test_freed(void)
{
	struct cw_logs r;

	cw_logs_now(&r, NULL);
	cw_logs_step(&r, 1, 0);
	cw_logs_add(&r, JOB, 1, r.start_ms + 9000, 0, "hpotune-end: status 0");
	freed = cw_logs_follow(&r, 1, JOB, 0);
	sm_log_finish(freed, true, free_it, &r);
	ok(cw_logs_run(&r, one_done) && r.logs->n == 0 && r.n_heard == 1,
	    "a log may be freed in its last callback");
	r.denied = true;
	r.metric_data = "{}";
	r.done = 0;
	freed = cw_logs_follow(&r, 1, JOB, 0);
	sm_log_finish(freed, true, free_it, &r);
	ok(cw_logs_run(&r, one_done) && r.logs->n == 0, "without logs, too");
	cw_logs_close(&r);
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
