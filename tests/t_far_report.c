/* Reports that come twice, late, or in a different order than they were said. */

#include <math.h>

#include "src/server/tuner.h"
#include "tests/far-study.h"
#include "tests/far.h"
#include "tests/tap.h"

#define STUDY                                                      \
	"\"trial\": {\"command\": [\"a\"], \"max_steps\": 100}, "  \
	"\"stopping\": {\"rule\": \"threshold\", \"upper\": 50}, " \
	"\"backend\": {\"name\": \"far\", \"slots\": 2}, "         \
	"\"limits\": {\"trials\": 2}"

#define COUNT "SELECT count(*) FROM metrics"

static void
test_again(void)
{
	struct far_study s;
	int i;

	far_study_open(&s, STUDY);
	far_server_up(&s);
	far_up(&far, 1, 1, 1000);
	far_report(&far, 1, 1, 1, 3, 5000000);
	far_report(&far, 1, 1, 2, 2, 6000000);
	far_run(&s, 1);
	is_int((long long)far_number(&s, COUNT), 2, "two reports");
	is_str(far_text(&s, "SELECT time FROM metrics WHERE step = 2"),
	    "1970-01-01T00:00:06.000Z", "at the time they were said");
	for (i = 0; i < 2; i++) {
		far_report(&far, 1, 1, 1, 3, 5000000);
		far_report(&far, 1, 1, 2, 2, 6000000);
		far_run(&s, 1);
		is_int((long long)far_number(&s, COUNT), 2,
		    i == 0 ? "said again they are passed over"
			   : "by the next server too");
		far_server_down(&s);
		far_server_up(&s);
	}
	/* The newer value of a step wins over an old one that comes again. */
	far_report(&far, 1, 1, 2, 1, 7000000);
	far_report(&far, 1, 1, 2, 2, 6000000);
	far_report(&far, 1, 1, 2, 2, 6500000);
	far_report(&far, 1, 1, 3, NAN, 7000000);
	far_report(&far, 1, 1, 3, NAN, 7000000);
	far_run(&s, 1);
	is_int((long long)far_number(&s, COUNT), 5,
	    "another value, time or step is another report");
	is_near(far_number(&s, "SELECT objective FROM trials WHERE trial = 1"),
	    1, 0, "the best counts");
	is_int((long long)far_number(
		   &s, "SELECT reports FROM trials WHERE trial = 1"),
	    3, "steps are counted once");
	far_study_close(&s);
}

static void
test_stepless(void)
{
	struct far_study s;
	int i;

	far_study_open(&s, STUDY);
	far_server_up(&s);
	far_up(&far, 1, 1, 1000);
	for (i = 1; i <= 40; i++)
		far_report(&far, 1, 1, -1, i % 3, 1000000 * i);
	far_run(&s, 1);
	is_int((long long)far_number(&s, COUNT), 40, "reports without steps");
	far_server_down(&s);
	far_server_up(&s);
	/* The window overlaps; one line was late; the next is new. */
	for (i = 20; i <= 40; i++)
		far_report(&far, 1, 1, -1, i % 3, 1000000 * i);
	far_report(&far, 1, 1, -1, 9, 30500000);
	far_report(&far, 1, 1, -1, 8, 41000000);
	far_report(&far, 1, 1, -1, 9, 30500000);
	far_report(&far, 1, 1, -1, 8, 41000000);
	far_run(&s, 1);
	is_int((long long)far_number(&s, COUNT), 42, "only new ones count");
	is_int((long long)far_number(&s, "SELECT max(step) FROM metrics"), 42,
	    "and the count goes on where it was");
	is_int((long long)far_number(
		   &s, "SELECT count(DISTINCT step) FROM metrics"),
	    42, "no number is given twice");
	is_int((long long)far_number(
		   &s, "SELECT step FROM metrics WHERE value = 9"),
	    41, "a late one gets the next");
	far_study_close(&s);
}

static void
test_late(void)
{
	struct far_study s;

	far_study_open(&s, STUDY);
	far_server_up(&s);
	far_up(&far, 1, 1, 1000);
	far_report(&far, 1, 1, 5, 3, 5000000);
	far_run(&s, 1);
	far_report(&far, 1, 1, 4, 99, 4000000);
	far_run(&s, 1);
	is_str(far_text(&s, "SELECT state FROM trials WHERE trial = 1"),
	    "running", "a step before the last is recorded, not judged");
	far_report(&far, 1, 1, 6, 99, 6000000);
	far_run(&s, 1);
	is_str(far_text(&s, "SELECT state FROM trials WHERE trial = 1"),
	    "stopping", "a bad report condemns");
	is_int(far.stops, 1, "and the job is told");
	far_report(&far, 1, 1, 7, 99, 7000000);
	far_report(&far, 1, 1, 8, 1, 8000000);
	far_run(&s, 1);
	is_int((long long)far_number(&s, "SELECT count(*) FROM stops"), 1,
	    "what comes after the verdict is not judged");
	is_int((long long)far_number(
		   &s, "SELECT max(step) FROM metrics WHERE trial = 1"),
	    8, "but recorded");
	is_int(far.stops, 1, "one stop is enough");
	is_int((long long)far_number(&s, "SELECT running FROM study"), 2,
	    "a trial that stops still holds its slot");
	far_exit(&far, 1, 1,
	    (struct launch_exit){ .ran = true, .stopped = true, .signal = 15 });
	far_run(&s, 1);
	is_str(far_text(&s, "SELECT state FROM trials WHERE trial = 1"),
	    "stopped", "until the job is over");
	far_study_close(&s);
}

int
main(void)
{
	test_again();
	test_stepless();
	test_late();
	return done_testing();
}
