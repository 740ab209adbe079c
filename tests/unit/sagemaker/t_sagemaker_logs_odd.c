/*
 * The reader of training jobs' logs where something is odd: a restart, lines in
 * two, bytes that are no text, logs that are too long, broken or denied.
 */

#include <stdlib.h>

#include "src/base/loop.h"
#include "src/model/study/study.h"
#include "tests/support/cloudwatch/cw-logs.h"
#include "tests/support/tap.h"

/* ---- again --------------------------------------------------------------------------- */

static void
test_since(void)
{
	struct log_rig r;
	struct sm_log *log;
	char *copy;
	int i;

	log_rig_now(&r, NULL);
	for (i = 1; i <= 900; i++)
		log_rig_step(&r, i, 0);
	log = log_rig_follow(&r, 1, JOB, r.start_ms + 800 * 1000);
	ok(log_rig_hears(&r, 401),
	    "after a restart the last minutes are read again");
	is_int(r.heard[0].step, 500, "not more");
	copy = log_rig_copy(&r, 1);
	ok(strncmp(copy, "hpotune: step=801 ", 18) == 0,
	    "the copy goes on where it was");
	free(copy);
	log_rig_say(
	    &r, JOB, 1, r.start_ms + 990000, 0, "hpotune-end: status 0");
	sm_log_finish(log, true, log_rig_done, &r);
	ok(log_rig_hears(&r, 900), "everything at the end");
	log_rig_close(&r);
}

static void
say_patterns(struct sm_logs_env *env)
{
	env->pieces = true;
}

static void
test_pieces(void)
{
	struct log_rig r;

	log_rig_now(&r, say_patterns);
	log_rig_say(&r, JOB, 1, r.start_ms, 0, "hpotune: step=1 lo");
	log_rig_say(&r, JOB, 1, r.start_ms, 0, "ss=0.5");
	log_rig_say(&r, JOB, 1, r.start_ms + 1, 0, "hpotune: step=2 loss=0.5");
	log_rig_say(&r, JOB, 1, r.start_ms + 2, 0, "hpotune: step=3 loss=0.1");
	log_rig_say(&r, JOB, 1, r.start_ms + 3, 0, "25");
	log_rig_say(&r, JOB, 1, r.start_ms + 4, 0, "hpotune: step=4 loss=1,");
	log_rig_say(&r, JOB, 1, r.start_ms + 5, 0, "hpotune: step=5 loss=1");
	(void)log_rig_follow(&r, 1, JOB, 0);
	ok(log_rig_hears(&r, 3), "whole lines count, joined ones, too");
	is_int(r.heard[0].step, 1, "the first was two");
	is_int(r.heard[1].step, 2, "the second was whole");
	is_int(r.heard[2].step, 4, "a comma says so at once");
	ok(strstr(buf_str(&r.notes), "its other half") != NULL,
	    "what may be half a number is left out, and that is said");
	log_rig_say(
	    &r, JOB, 1, r.start_ms + 9, 0, "Reporting training SUCCESS");
	ok(log_rig_hears(&r, 4), "the last one with the line behind it");
	ok(log_rig_finish(&r, false) && r.n_heard == 4, "and that was all");
	log_rig_close(&r);
}

/* ---- odd things --------------------------------------------------------------------- */

static void
test_odd(void)
{
	struct log_rig r;

	log_rig_now(&r, NULL);
	log_rig_say(&r, JOB, 1, r.start_ms, 0, "a\\u0000b\\ud800c\\u001b[31m");
	log_rig_say(&r, JOB, 1, r.start_ms, 0, "\\udc00\\ud83d\\ude00\xff\xc3");
	log_rig_say(&r, JOB, 1, r.start_ms, 0, "hpotune: loss=\\u0000");
	log_rig_say(&r, JOB, 1, r.start_ms, 0, "hpotune: loss=1\\u0000");
	log_rig_say(&r, JOB, 1, r.start_ms, 0, "hpotune: loss=2\\r\\n");
	(void)log_rig_follow(&r, 1, JOB, 0);
	ok(log_rig_hears(&r, 1) && r.heard[0].value == 2,
	    "a page with odd bytes is read");
	is_str(r.notes.data,
	    "a line of its output was passed over: a value is not a number\n",
	    "and why a line counts for nothing is said once");
	log_rig_close(&r);
}

/* As much as one answer can hold. */
static void
test_large(void)
{
	struct log_rig r;
	struct buf text = { 0 };
	int i;

	log_rig_now(&r, NULL);
	for (i = 0; i < 75; i++)
		buf_puts(&text, "\\u0001");
	for (i = 0; i < SM_LOG_LIMIT - 1; i++)
		log_rig_say(&r, JOB, 1, r.start_ms, 0, buf_str(&text));
	log_rig_step(&r, 1, 0);
	(void)log_rig_follow(&r, 1, JOB, 0);
	ok(log_rig_hears(&r, 1), "a page of 10,000 events and 4 MB");
	is_int(r.gets, 1, "at once");
	buf_free(&text);
	log_rig_close(&r);
}

static void
test_cut(void)
{
	struct log_rig r;
	char *copy;
	int i;

	log_rig_now(&r, NULL);
	r.logs->file_most = 100;
	(void)log_rig_follow(&r, 1, JOB, 0);
	for (i = 1; i <= 50; i++)
		log_rig_step(&r, i, 2 * i);
	ok(log_rig_hears(&r, 50), "a log that is longer than its copy may be");
	copy = log_rig_copy(&r, 1);
	ok(strlen(copy) <= 250 && copy[strlen(copy) - 1] == '\n',
	    "the copy is cut while it grows");
	free(copy);
	ok(log_rig_finish(&r, false), "at its end");
	copy = log_rig_copy(&r, 1);
	ok(strncmp(copy, "[", 1) == 0 &&
		strstr(copy, " bytes are left out here]\n") != NULL &&
		strstr(copy, "\nhpotune: step=50 loss=0.5\n") != NULL &&
		strlen(copy) < 150,
	    "it says so and has the newest");
	free(copy);
	log_rig_close(&r);
}

static void
test_broken(void)
{
	struct log_rig r;

	log_rig_now(&r, NULL);
	log_rig_step(&r, 1, 0);
	(void)log_rig_follow(&r, 1, JOB, 0);
	ok(log_rig_hears(&r, 1), "it was read once");
	r.broken = true;
	ok(log_rig_run(&r, log_rig_noted) &&
		strstr(buf_str(&r.notes), "cannot be read") != NULL,
	    "trouble is told");
	r.broken = false;
	log_rig_step(&r, 2, 0);
	ok(log_rig_hears(&r, 2), "and passes");
	r.broken = true;
	ok(log_rig_finish(&r, true), "a log that cannot be read to its end");
	ok(strstr(buf_str(&r.notes), "last lines") != NULL, "says so");
	log_rig_close(&r);
}

/* ---- CloudWatch instead ------------------------------------------------------------ */

static void
test_denied(void)
{
	struct log_rig r;
	char *data;
	int64_t minute;

	log_rig_now(&r, NULL);
	minute = r.start_ms / 60000 * 60;
	data = xasprintf(
	    "{\"MetricDataResults\":["
	    "{\"Id\":\"v0_0\",\"Timestamps\":[%lld,%lld.0],\"Values\":[0.5,0."
	    "25]}"
	    ","
	    "{\"Id\":\"s0_0\",\"Timestamps\":[%lld,%lld],\"Values\":[7,1e306]},"
	    "{\"Id\":\"n0_0\",\"Timestamps\":[%lld,%lld],\"Values\":[1,3]}]}",
	    (long long)minute, (long long)minute + 60, (long long)minute,
	    (long long)minute + 60, (long long)minute, (long long)minute + 60);
	r.denied = true;
	r.metric_data = data;
	(void)log_rig_follow(&r, 1, JOB, 0);
	ok(log_rig_hears(&r, 2),
	    "where logs are denied, metrics are asked for");
	ok(r.heard[0].value == 0.5 && r.heard[0].has_step &&
		r.heard[0].step == 7,
	    "with their step");
	ok(r.heard[1].value == 0.25 && !r.heard[1].has_step,
	    "or without one that counts");
	ok(r.heard[0].time_us == minute * 1000000, "and their minute");
	ok(strstr(buf_str(&r.notes), "may not be read") != NULL &&
		strstr(buf_str(&r.notes), "are one average") != NULL,
	    "both are said");
	ok(log_rig_finish(&r, true) && r.n_heard == 2, "it ends");
	free(data);
	log_rig_close(&r);
}

static struct study_metric metrics[] = {
	{ .name = "loss", .regex = "l=([0-9.]+)" },
	{ .name = "acc", .regex = "a=([0-9.]+)" },
};
static struct study_trial patterns = { .metrics = metrics, .n_metrics = 2 };

static void
set_cloudwatch(struct sm_logs_env *env)
{
	env->cloudwatch = true;
	env->settings = &patterns;
}

static void
test_cloudwatch(void)
{
	struct log_rig r;

	log_rig_now(&r, set_cloudwatch);
	(void)log_rig_follow(&r, 1, JOB, 0);
	ok(log_rig_run(&r, log_rig_noted),
	    "metrics that are denied, too, are told");
	r.metric_data = "{\"MetricDataResults\":[{\"Id\":\"v0_0\"},[],1,"
			"{\"Id\":\"v0_0\",\"Timestamps\":[1,\"x\"],"
			"\"Values\":[]}]}";
	ok(log_rig_finish(&r, true) && r.n_heard == 0, "an odd answer is none");
	is_int(r.gets + r.filters + r.finds, 0, "no log was asked for");
	log_rig_close(&r);
}

/* A page may lack the steps of its values: fewer jobs are asked for. */
static void
test_cloudwatch_pages(void)
{
	struct log_rig r;
	char *page, *data;
	long long minute;

	log_rig_now(&r, set_cloudwatch);
	minute = r.start_ms / 60000 * 60;
	page = xasprintf(
	    "{\"NextToken\":\"t\",\"MetricDataResults\":[{\"Id\":\"v0_0\","
	    "\"Timestamps\":[%lld],\"Values\":[0.5]}]}",
	    minute);
	data = xasprintf(
	    "{\"MetricDataResults\":[{\"Id\":\"v0_0\",\"Timestamps\":[%lld],"
	    "\"Values\":[0.5]},{\"Id\":\"s0_0\",\"Timestamps\":[%lld],"
	    "\"Values\":[7]}]}",
	    minute, minute);
	r.metric_page = page;
	r.metric_data = data;
	(void)log_rig_follow(&r, 1, JOB, 0);
	(void)log_rig_follow(&r, 2, "hpt-x-other", 0);
	ok(log_rig_hears(&r, 2), "metrics that take several pages");
	ok(r.heard[0].has_step && r.heard[0].step == 7 && r.heard[1].has_step &&
		r.heard[0].trial != r.heard[1].trial,
	    "come for each job with their steps");
	free(page);
	free(data);
	log_rig_close(&r);
}

int
main(void)
{
	test_since();
	test_pieces();
	test_odd();
	test_large();
	test_cut();
	test_broken();
	test_denied();
	test_cloudwatch();
	test_cloudwatch_pages();
	return done_testing();
}
