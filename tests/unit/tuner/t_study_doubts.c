/*
 * Doubts: each of a study that shows its sign, said once, and none of studies
 * that are like it and measure what they mean to.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/engine/tuner/tuner.h"
#include "tests/support/fake-backend/fake-backend.h"
#include "tests/support/fake-backend/fake-study.h"
#include "tests/support/tap.h"

enum { REPORTS = 8 };

/* What the trials of a study report: value i of trial k. */
typedef double value_of(int64_t trial, int64_t i);

/* A study, and the doubts that it has at its end. */
struct row {
	const char *trial, *stopping; /* keys of study.json */
	int64_t trials, reports, stride; /* steps between two reports */
	value_of *value;
	const char *want; /* first words, joined by commas */
	const char *what;
};

static double
own(int64_t trial, int64_t i)
{
	return 1.0 / (double)(i + 1) + 0.001 * (double)trial;
}

static double
same(int64_t trial, int64_t i)
{
	(void)trial;
	return 1.0 / (double)(i + 1);
}

/* All alike but for one trial, by the last bit of one value. */
static double
nearly_same(int64_t trial, int64_t i)
{
	return trial == 3 && i == 2 ? nextafter(1.0 / 3, 1)
				    : 1.0 / (double)(i + 1);
}

/* An error of 0, which all trials may well reach. */
static double
solved(int64_t trial, int64_t i)
{
	(void)trial;
	return i == 0 ? 0.5 : 0;
}

static double
flat(int64_t trial, int64_t i)
{
	(void)i;
	return (double)trial;
}

/* Flat but for one report of one trial. */
static double
nearly_flat(int64_t trial, int64_t i)
{
	return trial == 2 && i == 4 ? 0 : (double)trial;
}

static double
no_number(int64_t trial, int64_t i)
{
	(void)trial;
	return i % 2 == 0 ? NAN : INFINITY;
}

static double
one_number(int64_t trial, int64_t i)
{
	return trial == 1 && i == 1 ? 1 : NAN;
}

#define SAME "all results are equal"
#define ONE "one report for each trial"
#define FEW "few of max_steps"
#define MANY "more steps than max_steps"
#define NAN_ "no result is a number"
#define FLAT "the metric does not change"
#define ALONE "no trial is compared"
#define REGEX "no step is read"

#define STEPS_8 "\"max_steps\": 8"
#define STEPS_20 "\"max_steps\": 20"

static const struct row rows[] = {
	{ STEPS_8, "\"none\"", 12, 8, 1, own, "", "curves that differ" },
	{ STEPS_8, "\"none\"", 5, 8, 1, same, SAME, "five equal curves" },
	{ STEPS_8, "\"none\"", 4, 8, 1, same, "", "four are not enough" },
	{ STEPS_8, "\"none\"", 12, 8, 1, nearly_same, "", "one other bit" },
	{ STEPS_8, "\"none\"", 19, 8, 1, solved, "",
	    "curves of two values may be equal by chance" },
	{ STEPS_8, "\"none\"", 20, 8, 1, solved, SAME, "twenty of them" },
	{ "\"retries\": 0", "\"none\"", 12, 1, 1, own, "",
	    "one report, and max_steps is not known" },
	{ STEPS_20, "\"none\"", 2, 1, 1, own, ONE, "one report of twenty" },
	{ STEPS_20, "\"none\"", 2, 2, 10, own, "", "two reports of twenty" },
	{ "\"max_steps\": 3", "\"none\"", 5, 1, 1, own, "", "one of three" },
	{ "\"max_steps\": 100", "\"none\"", 5, 8, 2, own, FEW,
	    "16 steps of 100" },
	{ "\"max_steps\": 100", "\"none\"", 4, 8, 2, own, "",
	    "in four trials only" },
	{ "\"max_steps\": 100", "\"none\"", 5, 8, 4, own, "",
	    "32 steps of 100: they may end early" },
	{ STEPS_8, "\"none\"", 1, 8, 2, own, MANY, "step 16 of 8" },
	{ "\"max_steps\": 9", "\"none\"", 1, 8, 2, own, "",
	    "step 16 of 9 may be another unit of the last report" },
	{ STEPS_8, "\"none\"", 5, 8, 1, flat, FLAT, "flat curves" },
	{ STEPS_8, "\"none\"", 12, 8, 1, nearly_flat, "",
	    "one that is not flat" },
	{ STEPS_8, "\"none\"", 12, 4, 2, flat, "", "flat ones of 4 reports" },
	{ STEPS_8 ", \"retries\": 0", "\"none\"", 3, 8, 1, no_number, NAN_,
	    "no number at all" },
	{ STEPS_8 ", \"retries\": 0", "\"none\"", 6, 8, 1, one_number, "",
	    "one number" },
	{ STEPS_20,
	    "{\"rule\": \"median\", \"warmup_steps\": 15, \"guard\": 0}", 10, 8,
	    1, own, ALONE, "a warm-up behind the last report" },
	{ STEPS_20,
	    "{\"rule\": \"median\", \"warmup_steps\": 15, \"guard\": 0}", 9, 8,
	    1, own, "", "in nine trials only" },
	{ "\"retries\": 0", "{\"rule\": \"median\", \"guard\": 0}", 12, 1, 1,
	    own, "", "a rule, and trials that report once" },
	{ STEPS_8, "{\"rule\": \"median\", \"guard\": 0}", 14, 8, 1, flat, FLAT,
	    "a rule that compares" },
	{ STEPS_8, "{\"rule\": \"patience\", \"steps\": 20}", 12, 8, 1, own, "",
	    "a rule that compares nothing" },
	{ STEPS_8 ", \"step_regex\": \"step ([0-9]+)\", \"metrics\": "
		  "[{\"name\": \"m\", \"regex\": \"(x)\"}]",
	    "\"none\"", 2, 8, 0, own, REGEX, "steps that are counted" },
	{ STEPS_8 ", \"step_regex\": \"step ([0-9]+)\", \"metrics\": "
		  "[{\"name\": \"m\", \"regex\": \"(x)\"}]",
	    "\"none\"", 3, 8, 1, own, "", "steps that are read" },
};

static void
report(int64_t trial, int64_t step, double value)
{
	struct launch_event ev = { .kind = LAUNCH_REPORT,
		.trial = trial,
		.attempt = 1,
		.u.report = { .name = "m",
		    .has_step = step > 0,
		    .step = step,
		    .value = value } };

	fake_backend_queue(&far, ev);
}

/* One trial from its start to its end. */
static void
trial_run(struct fake_study *s, const struct row *row, int64_t trial)
{
	int64_t i;

	fake_backend_up(&far, trial, 1, 1000);
	for (i = 0; i < row->reports; i++)
		report(trial, row->stride * (i + 1), row->value(trial, i));
	fake_study_run(s, 1);
	fake_backend_exit(&far, trial, 1, (struct launch_exit){ .ran = true });
	fake_study_run(s, 1);
}

static void
study_open(struct fake_study *s, const struct row *row)
{
	char *keys = xasprintf("\"trial\": {\"command\": [\"a\"], %s}, "
			       "\"stopping\": %s, \"backend\": {\"name\": "
			       "\"far\", \"slots\": 1}, \"limits\": "
			       "{\"trials\": 60}",
	    row->trial, row->stopping);

	fake_study_open(s, keys);
	free(keys);
	fake_study_server_up(s);
}

#define DOUBTS                                                            \
	"SELECT coalesce(group_concat(substr(text, 1, instr(text, ': ') " \
	"- 1), ','), '') FROM events WHERE area = 'doubt'"

static void
test_each(void)
{
	struct fake_study s;
	const struct row *row;
	int64_t trial;

	for (row = rows; row < rows + sizeof rows / sizeof *rows; row++) {
		study_open(&s, row);
		for (trial = 1; trial <= row->trials; trial++)
			trial_run(&s, row, trial);
		is_str(fake_study_text(&s, DOUBTS), row->want, row->what);
		fake_study_close(&s);
	}
}

/* Trials of several servers count together, and nothing is said again. */
static void
test_restart(void)
{
	struct row row = { STEPS_8, "\"none\"", 5, 8, 1, same, "", "" };
	struct fake_study s;
	int64_t trial;

	study_open(&s, &row);
	for (trial = 1; trial <= 9; trial++) {
		trial_run(&s, &row, trial);
		is_int((long long)fake_study_number(&s,
			   "SELECT count(*) FROM events WHERE area = 'doubt'"),
		    trial >= 5, "said at the fifth trial, and once");
		fake_study_server_down(&s);
		fake_study_server_up(&s);
	}
	is_str(
	    fake_study_text(&s, "SELECT text FROM events WHERE area = 'doubt'"),
	    "all results are equal: 5 trials with different settings have "
	    "completed, and the reports of m are the same in all of them, to "
	    "the last bit: does the program read its parameters?",
	    "with what was seen");
	fake_study_close(&s);
}

/* Replicates of one setting are no different settings. */
static void
test_replicates(void)
{
	static const struct row row = { STEPS_8, "\"none\"", 8, 8, 1, same, "",
		"" };
	struct fake_study s;
	int64_t trial;

	fake_study_open(&s,
	    "\"replicates\": {\"parameter\": \"seed\", \"count\": 4, "
	    "\"racing\": false}, \"trial\": {\"command\": [\"a\"], "
	    "\"max_steps\": 8}, \"stopping\": \"none\", \"backend\": "
	    "{\"name\": \"far\", \"slots\": 1}, \"limits\": {\"trials\": 60}");
	fake_study_server_up(&s);
	for (trial = 1; trial <= 8; trial++)
		trial_run(&s, &row, trial);
	is_str(fake_study_text(&s, DOUBTS), "", "eight trials of two settings");
	fake_study_close(&s);
}

int
main(void)
{
	test_each();
	test_restart();
	test_replicates();
	return done_testing();
}
