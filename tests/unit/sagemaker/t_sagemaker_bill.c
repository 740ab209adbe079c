/* Billing of a job, and forecasts of its cost. */

#include <math.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "tests/support/tap.h"
#include "trials/sagemaker/sm-internal.h"

#define ENTRY(status, start, end)                              \
	"{\"Status\":\"" status "\",\"StartTime\":" #start "," \
	"\"EndTime\":" #end "}"
#define OPEN(status, start) \
	"{\"Status\":\"" status "\",\"StartTime\":" #start "}"
#define JOB(status, more, list)                                        \
	"{\"TrainingJobStatus\":\"" status "\",\"SecondaryStatus\":\"" \
	"Training\"," more "\"SecondaryStatusTransitions\":[" list "]}"

static struct sm_job
job(const char *text)
{
	struct json_doc *doc = NULL;
	struct err e = ERR_INIT;
	struct sm_job j;

	if (json_parse(&doc, text, strlen(text), NULL, false, &e) != 0)
		printf("Bail out! %s: %s\n", text, e.text);
	sm_job_status_read(&j, json_root(doc));
	json_free(doc);
	return j;
}

static void
test_history(void)
{
	struct sm_job j;

	j = job(JOB("Completed", "",
	    ENTRY("Starting", 100, 140) "," ENTRY(
		"Pending", 140, 150) "," ENTRY("Downloading", 150,
		210) "," ENTRY("Training", 210, 500) "," ENTRY("Uploading", 500,
		545) "," ENTRY("Completed", 545, 545)));
	is_near(j.meter.paid_s, 395, 1e-9, "from download to upload");
	is_near(j.meter.trained_s, 290, 1e-9, "seconds of training");
	is_near(j.meter.before_s, 60, 1e-9, "its download");
	is_near(j.meter.after_s, 45, 1e-9, "its upload");
	is_int(j.meter.phase, SM_PHASE_OVER, "it is over");
	is_near(j.since_s, 0, 0, "and nothing accrues");

	j = job(JOB("Completed",
	    "\"TrainingStartTime\":140,\"TrainingTimeInSeconds\":810,",
	    ENTRY("Starting", 100, 150) "," ENTRY(
		"Downloading", 150, 210) "," ENTRY("Training", 210,
		500) "," ENTRY("Uploading", 500, 545)));
	is_near(j.meter.paid_s, 810, 1e-9, "AWS's own count is what counts");
	is_near(j.meter.before_s, 140, 1e-9,
	    "a machine that was there before the download is billed");
	is_near(j.meter.after_s, 90, 1e-9, "each by its share");

	j = job(JOB("InProgress", "",
	    ENTRY("Downloading", 100, 130) "," ENTRY(
		"Training", 130, 200) "," ENTRY("Interrupted", 200,
		260) "," ENTRY("Starting", 260, 400) "," ENTRY("Downloading",
		400, 450) "," OPEN("Training", 450)));
	is_near(j.meter.paid_s, 150, 1e-9, "nothing between two machines");
	is_near(j.meter.trained_s, 70, 1e-9, "training of the first one");
	is_near(j.meter.before_s, 50, 1e-9, "the longest download");
	is_int(j.meter.phase, SM_PHASE_TRAIN, "it trains");
	is_near(j.since_s, 450, 0, "since then");

	j = job(JOB("InProgress", "",
	    "{\"Status\":\"Downloading\"},"
	    "{\"Status\":\"Made up\",\"StartTime\":7},{},5"));
	is_near(j.meter.paid_s, 0, 0, "no times, no seconds");
	is_int(j.meter.phase, SM_PHASE_DOWNLOAD,
	    "a word that is not known changes nothing");
}

static void
test_pool(void)
{
	struct sm_job j;

	j = job("{\"WarmPoolStatus\":{\"Status\":\"Available\"}}");
	ok(isnan(j.idle_s), "a pool that waits is not billed yet");
	j = job("{\"WarmPoolStatus\":{\"Status\":\"Reused\","
		"\"ResourceRetainedBillableTimeInSeconds\":42}}");
	is_near(j.idle_s, 42, 0, "one that was used again is");
	j = job("{\"WarmPoolStatus\":{\"Status\":\"Terminated\"}}");
	ok(isnan(j.idle_s), "no cost is reported");
}

/* Seconds at most, and at least, in one phase. */
static struct sm_estimate
at(enum sm_phase phase, double since_s, const struct launch_times *seen)
{
	struct sm_settings s = { .max_run_s = 1000,
		.download_s = 300,
		.upload_s = 200,
		.keep_alive_s = 50 };
	struct sm_bill_meter m = {
		.phase = phase, .paid_s = 10, .trained_s = 100
	};
	struct sm_estimate sum;

	sm_bill_estimate(&sum, &m, &s, seen, false, since_s, 5);
	return sum;
}

static void
test_reckoning(void)
{
	struct launch_times seen = { 0 };
	struct sm_estimate sum;

	sum = at(SM_PHASE_WAIT, 0, &seen);
	is_near(sum.most_s, 10 + 300 + 900 + 120 + 200 + 50, 1e-9,
	    "all that is left, with the assumed download and upload");
	is_near(sum.least_s, 15, 1e-9, "without a machine a stop is free");
	sum = at(SM_PHASE_DOWNLOAD, 100, &seen);
	is_near(sum.most_s, 10 + 300 + 900 + 120 + 200 + 50, 1e-9,
	    "a download within what is assumed");
	sum = at(SM_PHASE_DOWNLOAD, 400, &seen);
	is_near(
	    sum.most_s, 10 + 405 + 900 + 120 + 200 + 50, 1e-9, "one beyond it");
	is_near(sum.least_s, 10 + 405 + 120, 1e-9, "ended now");
	sum = at(SM_PHASE_TRAIN, 600, &seen);
	is_near(sum.most_s, 10 + 900 + 120 + 200 + 50, 1e-9,
	    "training up to max_run");
	is_near(sum.least_s, 10 + 605 + 120 + 200 + 50, 1e-9, "ended now");
	ok(sum.trains, "a stop saves something");
	sum = at(SM_PHASE_TRAIN, 2000, &seen);
	is_near(sum.most_s, 10 + 2005 + 120 + 200 + 50, 1e-9,
	    "max_run that AWS does not keep");
	sum = at(SM_PHASE_UPLOAD, 500, &seen);
	is_near(sum.most_s, 10 + 505 + 50, 1e-9, "an upload beyond it");
	is_near(sum.least_s, sum.most_s, 0, "cannot be ended");
	ok(!sum.trains, "a stop during the upload saves nothing");
	ok(sm_bill_times_learn(&seen, 400, 80), "both are longer than none");
	ok(!sm_bill_times_learn(&seen, 300, 80),
	    "a shorter download is not learnt");
	ok(sm_bill_times_learn(&seen, 300, 100), "but this upload is");
	sum = at(SM_PHASE_WAIT, 0, &seen);
	is_near(sum.most_s,
	    10 + (1.25 * 400 + 30) + 900 + 120 + (1.25 * 100 + 30) + 50, 1e-9,
	    "the longest seen and a quarter more");
}

int
main(void)
{
	test_history();
	test_pool();
	test_reckoning();
	return done_testing();
}
