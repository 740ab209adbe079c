/*
 * When second looks begin, on a virtual clock: while the strategy computes, and
 * when the search has ended; what they do to the count of trials in a row.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/engine/suggest/suggest-internal.h"
#include "src/engine/tuner/tuner.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "strategies/strategy.h"
#include "tests/support/fake-backend/fake-backend.h"
#include "tests/support/fake-backend/fake-study.h"
#include "tests/support/tap.h"

enum {
	STEPS = 100,
	TRIAL_MS = 100000, /* what each trial takes */
	IDLE_MS = 10000 /* a tenth of it */
};

/*
 * The median stops a trial at step 90, behind three of five others; the budget
 * of 2 % has 12 steps, of which 10 are saved.
 */
#define STUDY                                                     \
	"\"trial\": {\"command\": [\"a\"], \"max_steps\": 100}, " \
	"\"stopping\": {\"rule\": \"median\", \"guard\": false, " \
	"\"warmup_steps\": 90, \"min_trials\": 4, "               \
	"\"second_look\": \"25%%\"}, "                            \
	"\"backend\": {\"name\": \"%s\", \"slots\": %d, "         \
	"\"price\": %d}, \"limits\": {\"trials\": 20%s}"

/* ---- a strategy that answers up to a trial ------------------------------- */

extern const struct strategy strategy_random;
static struct strategy slow;
const struct strategy *const strategies[] = { &slow, NULL };

static int64_t answered; /* the last trial for which it has an answer */
static int asked, cancelled; /* questions, and those taken back */

const struct strategy *
strategy_find(const char *name)
{
	slow = strategy_random;
	slow.slow = true;
	return strcmp(name, slow.name) == 0 ? &slow : NULL;
}

struct suggest_worker {
	const struct suggest_env *env;
	bool asked;
	struct suggest_question q;
};

static int
worker_check(
    const struct plugins *plugins, const struct study *study, struct err *e)
{
	(void)plugins;
	(void)study;
	(void)e;
	return 0;
}

static int
worker_open(void **out, const struct suggest_env *env, struct err *e)
{
	struct suggest_worker *w = xcalloc(1, sizeof *w);

	(void)e;
	w->env = env;
	*out = w;
	return 0;
}

static void
worker_close(void *arg)
{
	struct suggest_worker *w = arg;

	free(w);
}

static enum suggest_result
worker_ask(void *arg, const struct suggest_question *q,
    const struct strategy *strategy, struct suggest_answer *out, struct err *e)
{
	struct suggest_worker *w = arg;
	double x;

	(void)strategy;
	(void)e;
	asked += !w->asked || !suggest_question_same(q, &w->q);
	w->asked = true;
	w->q = *q;
	if (q->trial > answered)
		return SUGGEST_LATER;
	w->asked = false;
	x = (double)q->trial / 64;
	suggest_answer_decode(out, w->env, &x);
	return SUGGEST_POINT;
}

static void
worker_cancel(void *arg)
{
	struct suggest_worker *w = arg;

	cancelled += w->asked;
	w->asked = false;
}

const struct suggest_way suggest_worker = {
	.check = worker_check,
	.open = worker_open,
	.close = worker_close,
	.ask = worker_ask,
	.cancel = worker_cancel,
};

/* ---- trials --------------------------------------------------------------- */

static struct fake_backend *place; /* where all of them run */

/* Where a trial costs something, it runs at the backend far. */
static void
study_open(struct fake_study *s, int slots, int price, const char *limits)
{
	char *text =
	    xasprintf(STUDY, price > 0 ? "far" : "near", slots, price, limits);

	place = price > 0 ? &far : &near;

	answered = 1000;
	asked = cancelled = 0;
	fake_study_open(s, text);
	free(text);
	fake_study_server_up(s);
}

/* One number for every tenth step until the last one, and the end. */
static void
runs(struct fake_study *s, int64_t trial, double value, int first, int last)
{
	int attempt = fake_backend_started(place, trial)->attempt, step;

	fake_backend_up(place, trial, attempt, 1);
	fake_study_run(s, TRIAL_MS);
	for (step = first; step <= last; step += 10)
		fake_backend_report(place, trial, attempt, step, value, 1);
	fake_study_run(s, 1);
	fake_backend_exit(place, trial, attempt,
	    (struct launch_exit){ .ran = true,
		.stopped = last < STEPS,
		.started_us = 1,
		.ended_us = 1 + INT64_C(1000) * TRIAL_MS });
	fake_study_run(s, 1);
}

/* Five complete, 5, 4, 3, 2 and 1, and the sixth is stopped. */
static void
six(struct fake_study *s)
{
	int64_t trial;

	for (trial = 1; trial <= 5; trial++)
		runs(s, trial, 6 - (double)trial, 10, STEPS);
	runs(s, 6, 4.5, 10, 90);
	is_str(fake_study_text(s,
		   "SELECT group_concat(trial || ' ' || step) FROM stops "
		   "WHERE verdict = 'stop'"),
	    "6 90", "the sixth is stopped");
}

static int
looks(struct fake_study *s)
{
	return (int)fake_study_number(
	    s, "SELECT count(*) FROM stops WHERE verdict = 'resume'");
}

static int
running(struct fake_study *s)
{
	return (int)fake_study_number(s, "SELECT running FROM study");
}

/* ---- tests ---------------------------------------------------------------- */

static void
test_thinks(void)
{
	struct fake_study s;

	study_open(&s, 1, 0, "");
	answered = 6;
	six(&s);
	fake_study_run(&s, IDLE_MS - 1000);
	is_int(running(&s), 0, "a strategy that computes: the slot waits");
	fake_study_run(&s, 2000);
	is_int(looks(&s), 1, "a tenth of a trial, then it has a second look");
	is_str(fake_study_text(&s, "SELECT trial || ' ' || price || ' ' || "
				   "budget FROM stops WHERE rank IS NOT NULL"),
	    "6 10 10", "within the budget of so far");
	is_int(asked, 7, "the strategy is asked once for each trial");
	answered = 7;
	fake_study_run(&s, 1000);
	is_int(running(&s), 1, "its answer waits for the slot");
	is_int(cancelled, 0, "its computation goes on");
	runs(&s, 6, 4.5, STEPS, STEPS);
	is_str(fake_study_text(&s,
		   "SELECT group_concat(trial || ' ' || state, ', ') FROM "
		   "trials WHERE trial > 5"),
	    "6 completed, 7 starting", "and is placed at its end");
	answered = 1000;
	runs(&s, 7, 3, 10, STEPS);
	is_int(looks(&s), 1, "there is one second look");
	fake_study_close(&s);

	study_open(&s, 2, 0, "");
	runs(&s, 1, 5, 10, STEPS);
	answered = 4;
	runs(&s, 2, 4, 10, STEPS);
	fake_study_run(&s, 100 * IDLE_MS);
	is_int(looks(&s), 0, "none, when none was stopped");
	fake_study_close(&s);
}

/* The first to complete are the best only for lack of others. */
static void
test_waits_for_five(void)
{
	struct fake_study s;
	int64_t trial;

	study_open(&s, 1, 0, "");
	answered = 5;
	for (trial = 1; trial <= 4; trial++)
		runs(&s, trial, 6 - (double)trial, 10, STEPS);
	runs(&s, 5, 4.5, 10, 90);
	fake_study_run(&s, 100 * IDLE_MS);
	is_int(looks(&s), 0, "none before five have completed");
	answered = 6;
	fake_study_run(&s, 1000);
	runs(&s, 6, 1, 10, STEPS);
	fake_study_run(&s, 2 * IDLE_MS);
	is_int(looks(&s), 1, "then there is one");
	fake_study_close(&s);
}

/* What second looks would take from new trials. */
static void
test_bought(void)
{
	struct fake_study s;

	study_open(&s, 1, 5, ", \"cost\": 1000");
	answered = 6;
	six(&s);
	fake_study_run(&s, 100 * IDLE_MS);
	is_int(looks(&s), 0, "with limits.cost none until the end");
	fake_study_close(&s);
}

/* The search has ended; a better one lets it go on. */
static void
test_search_ended(double value, const char *states, const char *what)
{
	struct fake_study s;

	study_open(&s, 1, 0, ", \"no_improvement\": 1");
	six(&s);
	is_int(looks(&s), 1, "limits.no_improvement: second looks follow");
	is_int((long long)fake_study_number(&s, "SELECT count(*) FROM trials"),
	    6, "and no new trial");
	runs(&s, 6, value, STEPS, STEPS);
	is_str(fake_study_text(&s,
		   "SELECT group_concat(trial || ' ' || state, ', ') FROM "
		   "trials WHERE trial > 5"),
	    states, what);
	fake_study_close(&s);
}

/* The same in this server and the next one. */
static void
test_counts_once(bool restart)
{
	struct fake_study s;

	study_open(&s, 1, 0, ", \"no_improvement\": 2");
	answered = 6;
	six(&s);
	fake_study_run(&s, 2 * IDLE_MS);
	is_int(looks(&s), 1, "a second look");
	runs(&s, 6, 4.5, STEPS, STEPS);
	if (restart) {
		fake_study_server_down(&s);
		fake_study_server_up(&s);
	}
	answered = 7;
	fake_study_run(&s, 1000);
	is_int(running(&s), 1, "is no second trial without an improvement");
	runs(&s, 7, 4.5, 10, STEPS);
	ok(s.done, "the next one is");
	fake_study_close(&s);
}

int
main(void)
{
	test_thinks();
	test_waits_for_five();
	test_bought();
	test_search_ended(4.5, "6 completed", "and the study ends");
	test_search_ended(0.5, "6 completed, 7 starting",
	    "one that becomes the best lets the search go on");
	test_counts_once(false);
	test_counts_once(true);
	return done_testing();
}
