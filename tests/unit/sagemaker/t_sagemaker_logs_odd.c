/*
 * The reader of training jobs' logs in odd cases: a restart, split lines,
 * binary data, logs that are too long, broken or denied.
 */

#include <stdlib.h>

#include "src/model/study/study.h"
#include "tests/support/cloudwatch/cw-logs.h"
#include "tests/support/tap.h"

/* ---- again --------------------------------------------------------------------------- */

static void
test_since(void)
{
	struct cw_logs r;
	struct sm_log *log;
	char *copy;
	int i;

	cw_logs_now(&r, NULL);
	for (i = 1; i <= 900; i++)
		cw_logs_step(&r, i, 0);
	log = cw_logs_follow(&r, 1, JOB, r.start_ms + 800 * 1000);
	ok(cw_logs_reports(&r, 401),
	    "after a restart the last minutes are read again");
	is_int(r.heard[0].step, 500, "not more");
	copy = cw_logs_copy(&r, 1);
	ok(strncmp(copy, "hpotune: step=801 ", 18) == 0,
	    "the copy continues where it was");
	free(copy);
	cw_logs_add(
	    &r, JOB, 1, r.start_ms + 990000, 0, "hpotune-end: status 0");
	sm_log_finish(log, true, cw_logs_done, &r);
	ok(cw_logs_reports(&r, 900), "everything at the end");
	cw_logs_close(&r);
}

static void
say_patterns(struct sm_logs_env *env)
{
	env->pieces = true;
}

static void
test_pieces(void)
{
	struct cw_logs r;

	cw_logs_now(&r, say_patterns);
	cw_logs_add(&r, JOB, 1, r.start_ms, 0, "hpotune: step=1 lo");
	cw_logs_add(&r, JOB, 1, r.start_ms, 0, "ss=0.5");
	cw_logs_add(&r, JOB, 1, r.start_ms + 1, 0, "hpotune: step=2 loss=0.5");
	cw_logs_add(&r, JOB, 1, r.start_ms + 2, 0, "hpotune: step=3 loss=0.1");
	cw_logs_add(&r, JOB, 1, r.start_ms + 3, 0, "25");
	cw_logs_add(&r, JOB, 1, r.start_ms + 4, 0, "hpotune: step=4 loss=1,");
	cw_logs_add(&r, JOB, 1, r.start_ms + 5, 0, "hpotune: step=5 loss=1");
	(void)cw_logs_follow(&r, 1, JOB, 0);
	ok(cw_logs_reports(&r, 3), "whole lines count, joined ones, too");
	is_int(r.heard[0].step, 1, "the first was two");
	is_int(r.heard[1].step, 2, "the second was whole");
	is_int(r.heard[2].step, 4, "a trailing comma is recognised at once");
	ok(strstr(buf_str(&r.notes), "its second half") != NULL,
	    "what may be half a number is left out, and that is reported");
	cw_logs_add(
	    &r, JOB, 1, r.start_ms + 9, 0, "Reporting training SUCCESS");
	ok(cw_logs_reports(&r, 4), "the last one with the line behind it");
	ok(cw_logs_finish(&r, false) && r.n_heard == 4, "and that was all");
	cw_logs_close(&r);
}

/* ---- odd things --------------------------------------------------------------------- */

static void
test_odd(void)
{
	struct cw_logs r;

	cw_logs_now(&r, NULL);
	cw_logs_add(&r, JOB, 1, r.start_ms, 0, "a\\u0000b\\ud800c\\u001b[31m");
	cw_logs_add(&r, JOB, 1, r.start_ms, 0, "\\udc00\\ud83d\\ude00\xff\xc3");
	cw_logs_add(&r, JOB, 1, r.start_ms, 0, "hpotune: loss=\\u0000");
	cw_logs_add(&r, JOB, 1, r.start_ms, 0, "hpotune: loss=1\\u0000");
	cw_logs_add(&r, JOB, 1, r.start_ms, 0, "hpotune: loss=2\\r\\n");
	(void)cw_logs_follow(&r, 1, JOB, 0);
	ok(cw_logs_reports(&r, 1) && r.heard[0].value == 2,
	    "a page with odd bytes is read");
	is_str(r.notes.data,
	    "a line of its output was skipped: a value is not a number\n",
	    "and the reason why a line is ignored is reported once");
	cw_logs_close(&r);
}

/* As much as one answer can hold. */
static void
test_large(void)
{
	struct cw_logs r;
	struct buf text = { 0 };
	int i;

	cw_logs_now(&r, NULL);
	for (i = 0; i < 75; i++)
		buf_puts(&text, "\\u0001");
	for (i = 0; i < SM_LOG_LIMIT - 1; i++)
		cw_logs_add(&r, JOB, 1, r.start_ms, 0, buf_str(&text));
	cw_logs_step(&r, 1, 0);
	(void)cw_logs_follow(&r, 1, JOB, 0);
	ok(cw_logs_reports(&r, 1), "a page of 10,000 events and 4 MB");
	is_int(r.gets, 1, "at once");
	buf_free(&text);
	cw_logs_close(&r);
}

static void
test_cut(void)
{
	struct cw_logs r;
	char *copy;
	int i;

	cw_logs_now(&r, NULL);
	r.logs->file_most = 100;
	(void)cw_logs_follow(&r, 1, JOB, 0);
	for (i = 1; i <= 50; i++)
		cw_logs_step(&r, i, 2 * i);
	ok(cw_logs_reports(&r, 50),
	    "a log that is longer than its copy may be");
	copy = cw_logs_copy(&r, 1);
	ok(strlen(copy) <= 250 && copy[strlen(copy) - 1] == '\n',
	    "the copy is cut while it grows");
	free(copy);
	ok(cw_logs_finish(&r, false), "at its end");
	copy = cw_logs_copy(&r, 1);
	ok(strncmp(copy, "[", 1) == 0 &&
		strstr(copy, " bytes are left out here]\n") != NULL &&
		strstr(copy, "\nhpotune: step=50 loss=0.5\n") != NULL &&
		strlen(copy) < 150,
	    "it reports it and has the newest");
	free(copy);
	cw_logs_close(&r);
}

static void
test_broken(void)
{
	struct cw_logs r;

	cw_logs_now(&r, NULL);
	cw_logs_step(&r, 1, 0);
	(void)cw_logs_follow(&r, 1, JOB, 0);
	ok(cw_logs_reports(&r, 1), "it was read once");
	r.broken = true;
	ok(cw_logs_run(&r, cw_logs_noted) &&
		strstr(buf_str(&r.notes), "cannot be read") != NULL,
	    "trouble is reported");
	r.broken = false;
	cw_logs_step(&r, 2, 0);
	ok(cw_logs_reports(&r, 2), "and passes");
	r.broken = true;
	ok(cw_logs_finish(&r, true), "a log that cannot be read to its end");
	ok(strstr(buf_str(&r.notes), "last lines") != NULL, "reports it");
	cw_logs_close(&r);
}

/* ---- CloudWatch instead ------------------------------------------------------------ */

static void
test_denied(void)
{
	struct cw_logs r;
	char *data;
	int64_t minute;

	cw_logs_now(&r, NULL);
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
	(void)cw_logs_follow(&r, 1, JOB, 0);
	ok(cw_logs_reports(&r, 2),
	    "where logs are denied, metrics are asked for");
	ok(r.heard[0].value == 0.5 && r.heard[0].has_step &&
		r.heard[0].step == 7,
	    "with their step");
	ok(r.heard[1].value == 0.25 && !r.heard[1].has_step,
	    "or without one that counts");
	ok(r.heard[0].time_us == minute * 1000000, "and their minute");
	ok(strstr(buf_str(&r.notes), "may not be read") != NULL &&
		strstr(buf_str(&r.notes), "CloudWatch averages") != NULL,
	    "both are reported");
	ok(cw_logs_finish(&r, true) && r.n_heard == 2, "it ends");
	free(data);
	cw_logs_close(&r);
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
	struct cw_logs r;

	cw_logs_now(&r, set_cloudwatch);
	(void)cw_logs_follow(&r, 1, JOB, 0);
	ok(cw_logs_run(&r, cw_logs_noted),
	    "metrics that are denied, too, are reported");
	r.metric_data = "{\"MetricDataResults\":[{\"Id\":\"v0_0\"},[],1,"
			"{\"Id\":\"v0_0\",\"Timestamps\":[1,\"x\"],"
			"\"Values\":[]}]}";
	ok(cw_logs_finish(&r, true) && r.n_heard == 0, "an odd answer is none");
	is_int(r.gets + r.filters + r.finds, 0, "no log was asked for");
	cw_logs_close(&r);
}

/* A page may lack the steps of its values: fewer jobs are asked for. */
static void
test_cloudwatch_pages(void)
{
	struct cw_logs r;
	char *page, *data;
	long long minute;

	cw_logs_now(&r, set_cloudwatch);
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
	(void)cw_logs_follow(&r, 1, JOB, 0);
	(void)cw_logs_follow(&r, 2, "hpt-x-other", 0);
	ok(cw_logs_reports(&r, 2), "metrics that take several pages");
	ok(r.heard[0].has_step && r.heard[0].step == 7 && r.heard[1].has_step &&
		r.heard[0].trial != r.heard[1].trial,
	    "come for each job with their steps");
	free(page);
	free(data);
	cw_logs_close(&r);
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
