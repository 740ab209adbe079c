/* Trials of different lengths: what study.json says, and the common axis. */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "tests/support/tap.h"

static struct study *
read_study(const char *max_steps)
{
	struct err e = ERR_INIT;
	struct study *s = NULL;
	char text[1024];

	(void)snprintf(text, sizeof text,
	    "{\"study\":\"s\",\"objective\":{\"metric\":\"loss\","
	    "\"goal\":\"minimize\"},\"parameters\":{\"epochs\":{\"type\":"
	    "\"int\",\"min\":20,\"max\":100},\"f\":{\"type\":\"float\","
	    "\"min\":0.1,\"max\":1}},\"trial\":{\"command\":[\"a\"],"
	    "\"max_steps\":%s},\"limits\":{\"trials\":1}}",
	    max_steps);
	if (study_parse(&s, text, strlen(text), "/some/study.json", &e) != 0)
		printf("# %s\n", e.text);
	return s;
}

static int64_t
own(const struct study *s, int64_t epochs, double f)
{
	struct value values[2] = { { .kind = VALUE_INT,
				       .integer = epochs,
				       .real = (double)epochs },
		{ .kind = VALUE_REAL, .real = f } };

	return study_own_steps(s, values);
}

static void
check_study(void)
{
	struct study *s = read_study("30");

	is_int(s->trial.max_steps, 30, "a number");
	ok(!study_has_own_steps(&s->trial), "is that of all trials");
	is_int(own(s, 20, 1), 0, "of each, too");
	study_free(s);
	s = read_study("\"epochs\"");
	is_int(s->trial.max_steps, 100, "a parameter: the greatest value");
	ok(study_has_own_steps(&s->trial), "trials have their own");
	is_int(own(s, 37, 1), 37, "that of the setting");
	study_free(s);
	s = read_study("\"10 * epochs * f\"");
	is_int(s->trial.max_steps, 1000, "an expression");
	is_int(own(s, 30, 0.1), 30, "0.1 * 30 * 10 are 30");
	is_int(own(s, 33, 0.11), 37, "rounded up");
	study_free(s);
	s = read_study("{\"metric\":\"total\",\"most\":50}");
	is_int(s->trial.max_steps, 50, "a metric");
	is_str(s->trial.own_metric, "total", "by its name");
	is_int(own(s, 20, 1), 0, "no setting says it");
	study_free(s);
}

static void
check_axis(void)
{
	int64_t step, last = -1, at, bad = 0;

	is_int(study_axis_step(100, 20, 5), 25, "a quarter is a quarter");
	is_int(study_axis_step(100, 20, 0), 0, "nothing is nothing");
	is_int(study_axis_step(100, 20, 20), 100, "the end is the end");
	is_int(study_axis_step(100, 20, 23), 103, "and 3 steps beyond");
	is_int(study_axis_step(100, 0, 7), 7, "of a whole trial the step");
	is_int(study_axis_step(0, 0, 7), 7, "also where nothing is known");
	is_int(
	    study_axis_step(100, 300, 4), 1, "a longer one than the longest");
	is_int(study_axis_step(1000000000, 999999999, 999999998), 999999998,
	    "the greatest product");
	for (step = 0; step < 100; step++) {
		at = study_axis_step(97, 31, step);
		bad += at <= last;
		last = at;
	}
	is_int(bad, 0, "steps ascend");
	is_int(study_own_steps_of(0.5), 1, "half a step is one");
	is_int(study_own_steps_of(-1), 0, "none");
	is_int(study_own_steps_of(NAN), 0, "none either");
	is_int(study_own_steps_of(INFINITY), 1000000000, "at most 10^9");
}

int
main(void)
{
	check_study();
	check_axis();
	return done_testing();
}
