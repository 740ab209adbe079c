/* One training job at a time: all courses of an attempt. */

#include <stdlib.h>
#include <string.h>

#include "src/base/loop.h"
#include "tests/support/sagemaker-world/sm-rows.h"
#include "tests/support/tap.h"

static void
rows_end(struct sm_rows *r)
{
	is_int(r->broken, 0, "nothing is broken");
	sm_rows_close(r);
}

static void
test_good(void)
{
	struct sm_rows r;
	struct row *row;

	sm_rows_open(&r, 1, 1, NULL);
	ok(sm_rows_run(&r, NULL), "a job comes and goes");
	row = sm_rows_of(&r, 1);
	ok(row->up && !row->open && row->exit.exit_code == 0,
	    "the attempt has exit status 0");
	ok(row->reports > 1, "its reports are delivered");
	ok(row->exit.billed && row->exit.billable_s > 0,
	    "the exit has the billed seconds");
	ok(row->exit.started_us > 0 &&
		row->exit.ended_us > row->exit.started_us,
	    "the exit has the times of start and end");
	is_int(r.world.creates, 1, "one Create is sent for a job");
	ok(r.world.describes <= 4, "few descriptions");
	is_int(r.world.puts, 1, "the entry script went to S3 once");
	rows_end(&r);
}

static void
test_many(void)
{
	struct sm_rows r;

	sm_rows_open(&r, 2, ROWS_TRIALS, NULL);
	ok(sm_rows_run(&r, NULL), "eight jobs, three at a time");
	is_int(r.world.creates, ROWS_TRIALS, "eight Creates");
	is_int(r.world.puts, 1, "the entry script went to S3 once");
	rows_end(&r);
}

static bool
is_created(struct sm_rows *r)
{
	return r->world.n > 0;
}

static bool
is_second(struct sm_rows *r)
{
	return r->n >= 2;
}

static bool
is_third(struct sm_rows *r)
{
	return r->n >= 3;
}

static bool
is_fourth(struct sm_rows *r)
{
	return r->n >= 4;
}

static bool
is_up(struct sm_rows *r)
{
	return sm_rows_of(r, 1)->up;
}

static bool
is_sent(struct sm_rows *r)
{
	return sm_rows_of(r, 1)->sent;
}

/* The client has answered a Create, or given up on it. */
static bool
is_tried(struct sm_rows *r)
{
	return r->world.tried > 0;
}

static void
test_stop(void)
{
	struct sm_rows r;
	struct row *row;

	sm_rows_open(&r, 3, 1, NULL);
	ok(sm_rows_run(&r, is_up), "the job to be stopped trains");
	sm_rows_stop(&r, 1);
	ok(sm_rows_run(&r, NULL), "a training job is stopped");
	row = sm_rows_of(&r, 1);
	ok(row->exit.stopped && row->exit.ran,
	    "the exit says that it was stopped");
	is_int(r.world.stops, 1, "one StopTrainingJob");
	rows_end(&r);
}

static bool
is_asked(struct sm_rows *r)
{
	return r->world.stops > 0;
}

/* AWS says yes to a stop, and the job goes on. */
static void
test_stop_forgotten(void)
{
	struct sm_rows r;

	sm_rows_open(&r, 21, 1, NULL);
	r.world.bad.train_ms = 20 * 3600 * 1000;
	r.world.bad.deaf = 1;
	ok(sm_rows_run(&r, is_up), "it trains");
	sm_rows_stop(&r, 1);
	ok(sm_rows_run(&r, is_asked), "its end is asked for");
	r.world.bad.deaf = 0;
	ok(sm_rows_run(&r, NULL), "and again, when nothing comes of it");
	is_int(r.world.stops, 2, "two StopTrainingJob");
	ok(loop_now_ms(r.loop) < 3600 * 1000, "soon");
	rows_end(&r);
}

/* The Create is with the client when the stop comes. */
static void
test_stop_sent(void)
{
	struct sm_rows r;

	sm_rows_open(&r, 4, 1, NULL);
	ok(sm_rows_run(&r, is_sent), "the Create is sent");
	sm_rows_stop(&r, 1);
	ok(sm_rows_run(&r, NULL),
	    "a stop right after the Create ends the attempt");
	ok(sm_rows_of(&r, 1)->exit.stopped, "and the exit says so");
	ok(r.world.n == 0 || r.world.jobs[0]->stop >= 0,
	    "no job continues without an attempt");
	rows_end(&r);
}

/* A Create that nobody answers, and that acts minutes later. */
static void
test_quarantine(void)
{
	struct sm_rows r;
	int64_t then;

	sm_rows_open(&r, 5, 1, NULL);
	r.world.bad.only = "CreateTrainingJob";
	r.world.bad.late = 1;
	(void)sm_rows_run(&r, is_tried);
	sm_rows_stop(&r, 1);
	then = loop_now_ms(r.loop);
	(void)sm_rows_run(&r, is_created);
	r.world.bad.late = 0;
	ok(sm_rows_of(&r, 1)->open, "its slot is held while it may come");
	ok(sm_rows_run(&r, NULL), "it is over at last");
	ok(r.world.jobs[0]->stop >= 0, "what came late was stopped");
	ok(loop_now_ms(r.loop) - then < 40 * 60000,
	    "a late job is stopped within 40 minutes");
	rows_end(&r);
}

/* A Create that nobody answers, and that never acts. */
static void
test_quarantine_ends(void)
{
	struct sm_rows r;
	int64_t took;

	sm_rows_open(&r, 6, 1, NULL);
	r.world.bad.only = "CreateTrainingJob";
	r.world.bad.lose_before = 1;
	(void)sm_rows_run(&r, is_tried);
	took = loop_now_ms(r.loop);
	sm_rows_stop(&r, 1);
	(void)sm_rows_run(&r, is_sent);
	r.world.bad.lose_before = 0;
	ok(sm_rows_run(&r, NULL), "it is over");
	took = loop_now_ms(r.loop) - took;
	ok(took > 14 * 60000 && took < 17 * 60000,
	    "after a quarter of an hour");
	is_int((long long)r.world.n, 0, "there never was a job");
	ok(sm_rows_of(&r, 1)->exit.stopped && !sm_rows_of(&r, 1)->exit.ran,
	    "the exit says: stopped, never ran");
	rows_end(&r);
}

static bool
heard_slots(struct sm_rows *r)
{
	return r->slot_events > 0;
}

static void
look_untouched(struct sm_rows *r)
{
	ok(r->world.jobs[0]->stop < 0, "what another owns is untouched");
}

static void
look_cap(struct sm_rows *r)
{
	is_int(r->slots, 2, "what AWS allows is the cap");
}

static void
look_on_demand(struct sm_rows *r)
{
	ok(r->world.jobs[0]->spot_asked && r->world.jobs[1]->spot_asked &&
		!r->world.jobs[2]->spot_asked,
	    "on-demand after two failures");
}

/* What AWS does until something has come of it; then it does it no more. */
static const struct course {
	const char *what;
	uint64_t seed;
	int trials;
	const char *block; /* as in sm_rows_open */
	struct sm_world_faults bad; /* without its times */
	bool (*until)(struct sm_rows *);
	void (*look)(struct sm_rows *); /* then; may be NULL */
	/* When all is over; 0 = anything. */
	int jobs, creates, attempt;
	void (*look_last)(struct sm_rows *); /* may be NULL */
} courses[] = {
	{ .what = "an answer is lost: the same Create again",
	    .seed = 7,
	    .trials = 1,
	    .bad = { .only = "CreateTrainingJob", .lose_after = 1 },
	    .until = is_created,
	    .jobs = 1,
	    .creates = 2,
	    .attempt = 1 },
	{ .what = "the name was taken: the next attempt has another",
	    .seed = 8,
	    .trials = 1,
	    .bad = { .stolen = 1 },
	    .until = is_created,
	    .jobs = 2,
	    .attempt = 2,
	    .look_last = look_untouched },
	{ .what = "a quota is met: all trials get their turn",
	    .seed = 9,
	    .trials = 6,
	    .block = "\"instance_type\":\"ml.g5.xlarge\",\"max_run\":3600",
	    .bad = { .quota = 2 },
	    .until = heard_slots,
	    .look = look_cap },
	{ .what = "a type that may not be used is passed over",
	    .seed = 10,
	    .trials = 1,
	    .bad = { .quota = -1 },
	    .until = is_third },
	{ .what = "there is a machine at last",
	    .seed = 12,
	    .trials = 1,
	    .bad = { .capacity = 1 },
	    .until = is_fourth,
	    .look = look_on_demand },
};

static void
test_course(const struct course *c)
{
	struct sm_rows r;
	struct sm_world_faults good;

	printf("# %s\n", c->what);
	sm_rows_open(&r, c->seed, c->trials, c->block);
	good = r.world.bad;
	r.world.bad = c->bad;
	r.world.bad.start_ms = good.start_ms;
	r.world.bad.train_ms = good.train_ms;
	r.world.bad.stop_ms = good.stop_ms;
	ok(sm_rows_run(&r, c->until), "something comes of it");
	if (c->look != NULL)
		c->look(&r);
	r.world.bad = good;
	ok(sm_rows_run(&r, NULL), "%s", c->what);
	if (c->jobs > 0)
		is_int((long long)r.world.n, c->jobs, "so many jobs");
	if (c->creates > 0)
		is_int(r.world.creates, c->creates, "so many Creates");
	if (c->attempt > 0)
		is_int(sm_rows_of(&r, 1)->attempt, c->attempt,
		    "so many attempts are used up");
	if (c->look_last != NULL)
		c->look_last(&r);
	rows_end(&r);
}

static void
test_spot(void)
{
	struct sm_rows r;

	sm_rows_open(&r, 11, 1, NULL);
	r.world.bad.no_spot = 1;
	r.world.bad.interrupt = 1;
	ok(sm_rows_run(&r, NULL), "a spot job");
	ok(sm_rows_noted(&r, "runs on-demand"),
	    "spot that was not given is reported");
	ok(sm_rows_noted(&r, "spot interruption 1"),
	    "a spot interruption is reported");
	rows_end(&r);
}

static void
test_deleted(void)
{
	struct sm_rows r;

	sm_rows_open(&r, 13, 1, NULL);
	ok(sm_rows_run(&r, is_up), "it trains");
	r.world.jobs[0]->gone = true;
	r.world.jobs[0]->end = loop_now_ms(r.loop);
	(void)sm_rows_run(&r, is_second);
	ok(r.rows[0].lost, "who is gone is lost");
	ok(sm_rows_run(&r, NULL), "another attempt follows");
	rows_end(&r);
}

/* The server is dead while the job trains, ends, or is stopped. */
static void
test_adopt(bool stop, bool pass)
{
	struct sm_rows r;

	sm_rows_open(&r, 14, 1, NULL);
	ok(sm_rows_run(&r, is_up), "it trains, and the server dies");
	if (stop)
		sm_rows_stop(&r, 1);
	sm_rows_kill(&r);
	if (pass) {
		r.world.jobs[0]->end = loop_now_ms(r.loop);
		r.world.jobs[0]->kind = SM_WORLD_OK;
	}
	ok(sm_rows_run(&r, NULL), "the next one takes it up");
	is_int(
	    (long long)r.world.n, 1, "the next server creates no second job");
	is_int(sm_rows_of(&r, 1)->attempt, 1,
	    "the next server adopts the attempt");
	ok(sm_rows_of(&r, 1)->exit.stopped == (stop && !pass),
	    "the adopted attempt ends as it was requested");
	rows_end(&r);
}

/* A note that a Create went out long ago, and no job. */
static void
test_old_note(void)
{
	struct sm_rows r;

	sm_rows_open(&r, 15, 1, NULL);
	r.world.bad.only = "CreateTrainingJob";
	r.world.bad.late = 1;
	(void)sm_rows_run(&r, is_tried);
	sm_rows_kill(&r);
	r.dead_ms = loop_now_ms(r.loop) + 3600 * 1000;
	(void)sm_rows_run(&r, is_created);
	r.world.bad.late = 0;
	r.world.jobs[0]->gone = true;
	r.world.jobs[0]->end = loop_now_ms(r.loop);
	ok(sm_rows_run(&r, NULL), "created, and deleted before anybody looked");
	is_int(r.rows[0].exit.end, END_LOST, "its attempt is lost");
	is_int(sm_rows_of(&r, 1)->attempt, 2, "and another one follows");
	rows_end(&r);
}

static bool
is_code_late(struct sm_rows *r)
{
	return sm_rows_noted(r, "the code is not in S3 yet");
}

/* S3 does not answer for a while. */
static void
test_code_late(void)
{
	struct sm_rows r;

	sm_rows_open(&r, 18, 2, NULL);
	r.world.bad.only = "PUT";
	r.world.bad.lose_before = 1;
	ok(sm_rows_run(&r, is_code_late),
	    "S3 does not answer, and that is reported");
	is_int(r.world.creates, 0, "no job without its code");
	r.world.bad.lose_before = 0;
	ok(sm_rows_run(&r, NULL), "it answers again");
	is_int((long long)r.n, 2, "no attempt was used up");
	rows_end(&r);
}

static bool
is_unseen(struct sm_rows *r)
{
	return sm_rows_noted(r, "cannot be described");
}

/*
 * The server dies before the code is in S3; the next one's first question
 * about the attempt has no answer, the second one does.
 */
static void
test_code_unseen(void)
{
	struct sm_rows r;
	size_t i;

	sm_rows_open(&r, 22, 1, NULL);
	r.world.bad.only = "PUT";
	r.world.bad.lose_before = 1;
	(void)sm_rows_run(&r, is_code_late);
	sm_rows_kill(&r);
	r.world.bad.only = "DescribeTrainingJob";
	ok(sm_rows_run(&r, is_unseen), "an attempt cannot be looked at");
	r.world.bad.lose_before = 0;
	ok(sm_rows_run(&r, NULL), "then it can, and is begun");
	is_int((long long)r.n, 1, "no attempt was used up");
	for (i = 0; i < r.world.n; i++)
		ok(!r.world.jobs[i]->codeless,
		    "a job has the address of its code");
	rows_end(&r);
}

static bool
is_waited_for(struct sm_rows *r)
{
	return loop_now_ms(r->loop) > 3600 * 1000;
}

/* A command without a server finds an attempt that was never begun. */
static void
test_hold(void)
{
	struct sm_rows r;

	sm_rows_open(&r, 19, 1, NULL);
	r.world.bad.only = "PUT";
	r.world.bad.lose_before = 1;
	(void)sm_rows_run(&r, is_code_late);
	sm_rows_kill(&r);
	r.world.bad.lose_before = 0;
	r.hold = true;
	(void)sm_rows_run(&r, is_waited_for);
	is_int(r.world.creates, 0, "a command creates nothing");
	ok(sm_rows_of(&r, 1)->open,
	    "a command without a server ends no attempt");
	sm_rows_kill(&r);
	r.hold = false;
	ok(sm_rows_run(&r, NULL), "the next server does");
	is_int(r.world.creates, 1, "the next server sends one Create");
	rows_end(&r);
}

static bool
is_stopped(struct sm_rows *r)
{
	return !sm_rows_of(r, 1)->open;
}

/* Nothing was ever sent, so nothing has to be waited for. */
static void
test_stop_unsent(void)
{
	struct sm_rows r;
	int64_t then;

	sm_rows_open(&r, 20, 1, NULL);
	r.world.bad.only = "PUT";
	r.world.bad.lose_before = 1;
	(void)sm_rows_run(&r, is_code_late);
	then = loop_now_ms(r.loop);
	sm_rows_stop(&r, 1);
	ok(sm_rows_run(&r, is_stopped), "an attempt that was never sent");
	ok(loop_now_ms(r.loop) - then < 30000, "is stopped at once");
	ok(sm_rows_of(&r, 1)->exit.stopped && !sm_rows_of(&r, 1)->exit.ran,
	    "and never ran");
	sm_rows_close(&r);
}

static bool
is_warned(struct sm_rows *r)
{
	return sm_rows_noted(r, "checkpoint") ||
	       sm_rows_of(r, 1)->open == false;
}

/* A trial reports for an hour, and its checkpoints come, or do not. */
static void
test_sync(int64_t checkpoint_s, const char *want)
{
	struct sm_rows r;

	sm_rows_open(&r, 16, 1, NULL);
	r.world.bad.train_ms = 4 * 3600 * 1000;
	r.world.checkpoint_s = checkpoint_s;
	ok(sm_rows_run(&r, is_warned), "it reports for an hour");
	ok(sm_rows_noted(&r, want) && sm_rows_of(&r, 1)->open, "%s", want);
	ok(sm_rows_run(&r, NULL), "and ends");
	rows_end(&r);
}

static void
test_sync_good(void)
{
	struct sm_rows r;

	sm_rows_open(&r, 17, 1, NULL);
	r.world.bad.train_ms = 4 * 3600 * 1000;
	r.world.checkpoints = true;
	ok(sm_rows_run(&r, NULL), "checkpoints come");
	ok(!sm_rows_noted(&r, "checkpoint"), "no warning is given");
	sm_rows_close(&r);
}

int
main(void)
{
	size_t i;

	test_good();
	test_many();
	test_stop();
	test_stop_forgotten();
	test_stop_sent();
	test_quarantine();
	test_quarantine_ends();
	for (i = 0; i < sizeof courses / sizeof *courses; i++)
		test_course(&courses[i]);
	test_spot();
	test_deleted();
	for (i = 0; i < 4; i++)
		test_adopt((i & 1) != 0, (i & 2) != 0);
	test_old_note();
	test_code_late();
	test_code_unseen();
	test_hold();
	test_stop_unsent();
	test_sync(0, "no checkpoint reached S3");
	test_sync(1700000000, "no new checkpoint reached S3");
	test_sync_good();
	return done_testing();
}
