/*
 * Suggestions by hpotune-worker: frames, the same points inside and outside of
 * it, its death at every place, and the choice of the program.
 */

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/log.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/engine/suggest/suggest.h"
#include "src/model/history/history.h"
#include "src/model/plugin-options.h"
#include "src/model/space.h"
#include "src/model/study/study.h"
#include "src/plugins/plugins.h"
#include "src/worker/worker-protocol.h"
#include "strategies/strategy.h"
#include "tests/support/tap.h"

struct rig {
	struct loop *loop;
	struct study *study;
	struct plugins plugins;
	struct history *history;
	struct suggester *suggester;
	struct value *values;
	char dir[64], *starts;
	int events;
	char event[300];
};

static void
on_event(void *arg, enum log_level level, const char *text)
{
	struct rig *g = arg;

	(void)level;
	g->events++;
	(void)snprintf(g->event, sizeof g->event, "%s", text);
}

/* A study with every kind of parameter, and so many trials that are over. */
static void
rig_open(struct rig *g, const char *strategy, int trials)
{
	static const char text[] =
	    "{\"study\": \"asker\", \"objective\": {\"metric\": \"m\", "
	    "\"goal\": \"maximize\"}, \"parameters\": {"
	    "\"lr\": {\"type\": \"float\", \"min\": 1e-4, \"max\": 1, "
	    "\"scale\": \"log\"}, "
	    "\"n\": {\"type\": \"int\", \"min\": 1, \"max\": 9}, "
	    "\"c\": {\"type\": \"choice\", \"values\": [\"a\", \"b\", 3]}, "
	    "\"m\": {\"type\": \"float\", \"min\": 0, \"max\": 1, "
	    "\"when\": {\"c\": [\"a\"]}}}, "
	    "\"strategy\": %s, \"trial\": {\"command\": [\"true\"]}, "
	    "\"backend\": \"pretend\", \"limits\": {\"trials\": 99}}";
	struct err e = ERR_INIT;
	char *json = xasprintf(text, strategy);
	struct rng rng;
	double x[4];
	int i;
	size_t k;

	*g = (struct rig){ .dir = "/tmp/t_suggest.XXXXXX" };
	if (study_parse(&g->study, json, strlen(json), "/tmp/s.json", &e) !=
		0 ||
	    plugins_read(&g->plugins, g->study, &e) != 0 ||
	    loop_open(&g->loop, LOOP_REAL, &e) != 0 ||
	    mkdtemp(g->dir) == NULL) {
		printf("Bail out! %s\n", e.text);
		exit(1);
	}
	free(json);
	g->starts = xasprintf("%s/starts", g->dir);
	(void)setenv("ODD_STARTS", g->starts, 1);
	g->history = history_new(4, true, HISTORY_POINTS | HISTORY_CURVES);
	g->values = xcalloc(4, sizeof *g->values);
	rng_init(&rng, 5, 0);
	for (i = 1; i <= trials; i++) {
		for (k = 0; k < 4; k++)
			x[k] = rng_uniform(&rng);
		space_snap(g->study->space, x);
		history_add(g->history, i, x);
		history_report(g->history, i, 1, x[0] + x[1]);
		history_end(g->history, i,
		    i % 7 == 0 ? TRIAL_FAILED : TRIAL_COMPLETED, x[0] - x[1]);
	}
}

static int
rig_begin(struct rig *g, struct err *e)
{
	struct suggest_env env = { .loop = g->loop,
		.study = g->study,
		.plugins = &g->plugins,
		.history = g->history,
		.seed = 11,
		.state_dir = g->dir,
		.event = on_event,
		.arg = g };

	return suggest_open(&g->suggester, &env, e);
}

static void
rig_close(struct rig *g)
{
	char *log = xasprintf("%s/strategy.log", g->dir);

	suggest_close(g->suggester);
	history_free(g->history);
	plugins_free(&g->plugins);
	study_free(g->study);
	loop_close(g->loop);
	(void)unlink(log);
	(void)unlink(g->starts);
	ok(rmdir(g->dir) == 0, "nothing else was written");
	free(log);
	free(g->starts);
	free(g->values);
}

/* A question while the loop runs. */
struct wait {
	struct rig *rig;
	const struct suggest_question *q;
	struct suggest_answer *out;
	struct err *err;
	enum suggest_result asked;
};

static void
on_wait(void *arg)
{
	struct wait *w = arg;

	w->asked = suggest_ask(w->rig->suggester, w->q, w->out, w->err);
	if (w->asked != SUGGEST_LATER)
		loop_stop(w->rig->loop);
}

/* Run the loop until the question is answered. */
static enum suggest_result
rig_wait(struct rig *g, const struct suggest_question *q,
    struct suggest_answer *out, struct err *e)
{
	struct wait w = { .rig = g, .q = q, .out = out, .err = e };

	loop_run(g->loop, on_wait, &w);
	return w.asked;
}

static enum suggest_result
rig_ask(struct rig *g, int64_t trial, unsigned redraw, struct suggest_answer *a,
    struct err *e)
{
	struct suggest_question q = { .trial = trial, .redraw = redraw };

	*a = (struct suggest_answer){ .values = g->values };
	return rig_wait(g, &q, a, e);
}

static char *
setting(const struct rig *g)
{
	struct buf b = { 0 };

	space_put_json(&b, g->study->space, g->values);
	return buf_take(&b);
}

/* What a call in this process says. */
static char *
called(struct rig *g, int64_t trial, unsigned redraw)
{
	struct strategy_ask ask = { .space = g->study->space,
		.history = g->history,
		.seed = 11,
		.trial = trial,
		.redraw = redraw };
	double x[4];
	struct suggestion s = { .x = x, .made_by = "cpu" };
	struct err e = ERR_INIT;

	if (g->plugins.strategy->suggest(
		&s, &ask, g->plugins.strategy_options, &e) != 0)
		return xstrdup("nothing");
	space_snap(g->study->space, x);
	space_decode(g->study->space, x, g->values);
	return setting(g);
}

static void
days(const char *words)
{
	(void)setenv("ODD_DAYS", words, 1);
}

static long
starts(const struct rig *g)
{
	struct stat st;

	return stat(g->starts, &st) == 0 ? (long)st.st_size : 0;
}

static void
test_frames(void)
{
	struct worker_message_answer a = { .result = 0,
		.trial = 7,
		.redraw = 2,
		.from = 3,
		.seconds = 0.25,
		.n = 2,
		.made_by = "cpu",
		.text = "why" },
				     b;
	double x[2] = { 0.25, 0.75 }, y[2];
	struct buf frame = { 0 };
	struct worker_message m = { 0 };
	size_t len, early = 0, cut = 0;

	a.x = x;
	worker_protocol_put_answer(&frame, &a);
	for (len = 0; len < frame.len; len++)
		early += worker_protocol_take(&m, frame.data, len, 1000) != 0;
	is_int((long long)early, 0, "no frame before its last byte");
	is_int(worker_protocol_take(&m, frame.data, frame.len, 1000),
	    (long long)frame.len, "then it is one");
	is_int(worker_protocol_read_answer(&b, y, 2, &m), 0,
	    "an answer comes back");
	ok(b.trial == 7 && b.redraw == 2 && b.from == 3 && y[1] == 0.75 &&
		b.seconds == 0.25,
	    "its numbers are the same");
	is_str(b.made_by, "cpu", "the device is the same");
	is_str(b.text, "why", "the message is the same");
	ok(worker_protocol_read_answer(&b, y, 3, &m) != 0,
	    "one for another space is refused");
	for (len = 0; len < m.len; len++) {
		struct worker_message s = {
			.kind = m.kind, .data = m.data, .len = len
		};

		cut += worker_protocol_read_answer(&b, y, 2, &s) == 0;
	}
	is_int((long long)cut, 0, "one that is cut short is refused");
	is_int(worker_protocol_take(&m, frame.data, frame.len, 20), -1,
	    "a frame that is too long is none");
	frame.data[4] = 77;
	is_int(worker_protocol_take(&m, frame.data, frame.len, 1000), -1,
	    "a frame of an unknown kind is refused");
	buf_free(&frame);
}

/* In and out of the worker, before and after it was started again. */
static void
test_same(const char *name)
{
	struct err e = ERR_INIT;
	struct suggest_answer a;
	char *here, *there;
	struct rig g;
	int i;

	rig_open(&g, name, 40);
	if (rig_begin(&g, &e) != 0)
		printf("# %s\n", e.text);
	for (i = 0; i < 4; i++) {
		here = called(&g, 41 + i / 2, (unsigned)i % 2);
		if (rig_ask(&g, 41 + i / 2, (unsigned)i % 2, &a, &e) !=
		    SUGGEST_POINT)
			printf("# %s\n", e.text);
		there = setting(&g);
		is_str(there, here, name);
		is_str(a.made_by, "cpu", "made by the CPU");
		ok(a.seconds >= 0 && a.seconds < 60,
		    "its seconds are plausible");
		free(here);
		free(there);
		if (i == 1) {
			suggest_close(g.suggester);
			ok(rig_begin(&g, &e) == 0, "begun again");
		}
	}
	rig_close(&g);
}

/* A worker dies so often, and then answers as if nothing had been. */
static void
test_deaths(const char *what, const char *words, long want)
{
	struct err e = ERR_INIT;
	struct suggest_answer a;
	char *here, *there;
	struct rig g;

	(void)setenv("HPOTUNE_WORKER", getenv("ODD_WORKER"), 1);
	days(words);
	rig_open(&g, "\"random\"", 3);
	ok(rig_begin(&g, &e) == 0, "begun");
	here = called(&g, 4, 0);
	is_int(rig_ask(&g, 4, 0, &a, &e), SUGGEST_POINT, what);
	there = setting(&g);
	is_str(there, here, "with the same answer");
	is_int(starts(&g), want, "after so many starts");
	rig_close(&g);
	free(here);
	free(there);
}

/* A worker fails for good: the error says how. */
static void
test_gives_up(const char *what, const char *words, const char *want)
{
	struct err e = ERR_INIT;
	struct suggest_answer a;
	struct rig g;

	days(words);
	rig_open(&g, "\"random\"", 3);
	ok(rig_begin(&g, &e) == 0, "begun");
	is_int(rig_ask(&g, 4, 0, &a, &e), SUGGEST_FAILED, what);
	if (!ok(strstr(e.text, want) != NULL, "message: %s", want))
		printf("# %s\n", e.text);
	rig_close(&g);
}

/* Until the worker has the question and thinks. */
struct think {
	struct rig *rig;
	struct loop_timer *look;
	int later, other;
};

static void
on_look(void *arg)
{
	struct think *th = arg;

	loop_timer_set(th->look, 2);
}

static void
on_think(void *arg)
{
	struct suggest_question q = { .trial = 4 };
	struct think *th = arg;
	struct suggest_answer a = { .values = th->rig->values };
	struct err e = ERR_INIT;

	if (suggest_ask(th->rig->suggester, &q, &a, &e) == SUGGEST_LATER)
		th->later++;
	else
		th->other++;
	if (starts(th->rig) == 2 || th->other > 0)
		loop_stop(th->rig->loop);
}

/* Another question takes the place of one that somebody thinks about. */
static void
test_drop(void)
{
	struct err e = ERR_INIT;
	struct suggest_answer a;
	char *here, *there;
	struct rig g;
	struct think th = { .rig = &g };

	days("deaf asked good");
	rig_open(&g, "\"random\"", 3);
	ok(rig_begin(&g, &e) == 0, "begun");
	th.look = loop_timer_new(g.loop, on_look, &th);
	loop_timer_set(th.look, 1);
	loop_run(g.loop, on_think, &th);
	loop_timer_free(th.look);
	ok(th.later > 0 && th.other == 0, "a strategy takes long");
	here = called(&g, 5, 0);
	is_int(rig_ask(&g, 5, 0, &a, &e), SUGGEST_POINT,
	    "a request replaces the one in progress");
	there = setting(&g);
	is_str(there, here, "rightly");
	is_int(starts(&g), 3, "by a new process");
	suggest_cancel(g.suggester);
	is_int(rig_ask(&g, 6, 0, &a, &e), SUGGEST_POINT, "and the next one");
	is_int(starts(&g), 3, "the next request needs no new process");
	free(there);
	free(here);
	rig_close(&g);
}

/* The GPU when there is one, and when there is none. */
static void
test_device(void)
{
	struct err e = ERR_INIT;
	struct suggest_answer a;
	struct rig g;

	(void)setenv("HPOTUNE_WORKER", getenv("ODD_REAL"), 1);
	(void)setenv("HPOTUNE_WORKER_CUDA", getenv("ODD_WORKER"), 1);
	days("gpu");
	rig_open(&g, "\"random\"", 3);
	ok(rig_begin(&g, &e) == 0, "begun");
	is_int(rig_ask(&g, 4, 0, &a, &e), SUGGEST_POINT, "a device answers");
	is_str(a.made_by, "cuda", "the answer names cuda");
	is_int(rig_ask(&g, 5, 0, &a, &e), SUGGEST_POINT, "and again");
	is_int(g.events, 1, "with one event");
	is_str(g.event, "it computes on a fake", "the event names the device");
	is_int(starts(&g), 1, "both answers are of one process");
	rig_close(&g);

	days("none");
	rig_open(&g, "\"random\"", 3);
	ok(rig_begin(&g, &e) == 0, "begun");
	is_int(rig_ask(&g, 4, 0, &a, &e), SUGGEST_POINT,
	    "a worker without a device: an answer");
	is_str(a.made_by, "cpu", "the CPU answers");
	is_int(rig_ask(&g, 5, 0, &a, &e), SUGGEST_POINT, "and again");
	is_int(g.events, 1, "with one event");
	is_str(g.event, "it computes on the CPU: no driver is loaded",
	    "the event has the reason");
	is_int(starts(&g), 1, "the device was looked for once");
	rig_close(&g);

	days("quiet");
	rig_open(&g, "\"random\"", 3);
	ok(rig_begin(&g, &e) == 0, "begun");
	is_int(rig_ask(&g, 4, 0, &a, &e), SUGGEST_POINT,
	    "one that ends without a word has no device");
	is_str(a.made_by, "cpu",
	    "a worker that exits without HELLO: the CPU answers");
	rig_close(&g);

	rig_open(&g, "{\"name\": \"random\", \"device\": \"cpu\"}", 3);
	ok(rig_begin(&g, &e) == 0, "begun");
	is_int(rig_ask(&g, 4, 0, &a, &e), SUGGEST_POINT, "device cpu");
	is_int(starts(&g), 0, "looks for no device");
	rig_close(&g);

	days("none");
	rig_open(&g, "{\"name\": \"random\", \"device\": \"cuda\"}", 3);
	ok(rig_begin(&g, &e) == 0, "begun");
	is_int(rig_ask(&g, 4, 0, &a, &e), SUGGEST_FAILED, "device cuda");
	is_str(e.text, "strategy.device is \"cuda\": no driver is loaded",
	    "is taken at its word");
	rig_close(&g);

	(void)setenv("HPOTUNE_WORKER_CUDA", "", 1);
	rig_open(&g, "{\"name\": \"random\", \"device\": \"cuda\"}", 3);
	is_int(suggest_check(&g.plugins, g.study, &e), -1,
	    "device cuda without its program");
	is_str(e.text,
	    "the strategy random: strategy.device is \"cuda\", but "
	    "hpotune-worker-cuda is not "
	    "installed",
	    "is refused before anything is made");
	rig_close(&g);
}

static void
quiet(void *arg, enum log_level level, const char *area, const char *text)
{
	(void)arg;
	(void)level;
	(void)area;
	(void)text;
}

/* Trials 1 to 20 have ended; further ones run. */
struct early {
	struct rig rig;
	struct strategy strategy; /* slow, and may be asked ahead */
	struct suggest_question q;
};

static void
early_open(struct early *y, int running)
{
	double x[4] = { 0.5, 0.5, 0.5, 0.5 };
	struct err e = ERR_INIT;
	int i;

	rig_open(&y->rig, "\"tpe\"", 20);
	y->strategy = *y->rig.plugins.strategy;
	y->strategy.ahead = true;
	y->rig.plugins.strategy = &y->strategy;
	for (i = 1; i <= running; i++) {
		space_snap(y->rig.study->space, x);
		history_add(y->rig.history, 20 + i, x);
	}
	y->q = (struct suggest_question){ .trial = 21 + running, .ended = 20 };
	days("good");
	is_int(rig_begin(&y->rig, &e), 0, "a suggester");
}

static void
early_turn(void *arg)
{
	struct early *y = arg;

	if (suggest_ahead(y->rig.suggester, &y->q))
		loop_stop(y->rig.loop);
}

/* Another trial ends. */
static void
early_end(struct early *y, int64_t trial, double objective)
{
	history_end(y->rig.history, trial, TRIAL_COMPLETED, objective);
	y->q.ended++;
}

/* The answer, asked for without a turn of the loop. */
static enum suggest_result
early_ask(struct early *y, char **set)
{
	struct suggest_answer a = { .values = y->rig.values };
	enum suggest_result rc;
	struct err e = ERR_INIT;

	rc = suggest_ask(y->rig.suggester, &y->q, &a, &e);
	*set = rc == SUGGEST_POINT ? setting(&y->rig) : xstrdup("");
	return rc;
}

static void
test_ahead(void)
{
	struct early y;
	char *want, *got;

	early_open(&y, 2);
	want = called(&y.rig, 23, 0);
	loop_run(y.rig.loop, early_turn, &y);
	early_end(&y, 21, -10);
	is_int(early_ask(&y, &got), SUGGEST_POINT,
	    "the answer is there when a trial ends");
	is_str(got, want, "it is the one of the history then");
	free(want);
	free(got);
	y.q.trial++;
	is_int(early_ask(&y, &got), SUGGEST_LATER, "it is used once");
	free(got);
	rig_close(&y.rig);
}

/* What makes the answer one of the past; ends, 10 is the best. */
static void
test_ahead_dropped(
    int ended, double objective, int64_t enqueued, const char *what)
{
	struct suggest_answer a;
	struct early y;
	char *want, *got;
	struct err e = ERR_INIT;
	int i;

	early_open(&y, 3);
	loop_run(y.rig.loop, early_turn, &y);
	for (i = 1; i <= ended; i++)
		early_end(&y, 20 + i, objective);
	y.q.n_enqueued = enqueued;
	is_int(early_ask(&y, &got), SUGGEST_LATER, what);
	free(got);
	want = called(&y.rig, 24, 0);
	a = (struct suggest_answer){ .values = y.rig.values };
	is_int(rig_wait(&y.rig, &y.q, &a, &e), SUGGEST_POINT,
	    "it is computed again");
	got = setting(&y.rig);
	is_str(got, want, "the second computation has all results");
	free(want);
	free(got);
	rig_close(&y.rig);
}

/* With one trial its result is what the suggestion needs. */
static void
test_ahead_alone(void)
{
	struct early y;
	char *got;

	early_open(&y, 1);
	ok(!suggest_ahead(y.rig.suggester, &y.q), "nothing is computed ahead");
	is_int(starts(&y.rig), 0, "no worker is asked");
	early_end(&y, 21, -10);
	is_int(early_ask(&y, &got), SUGGEST_LATER, "but when the trial ends");
	free(got);
	rig_close(&y.rig);
}

/* A second look takes the only slot while the strategy computes. */
static void
test_ahead_goes_on(void)
{
	struct early y;
	char *want, *got;

	early_open(&y, 1);
	want = called(&y.rig, 22, 0);
	is_int(early_ask(&y, &got), SUGGEST_LATER, "it is being computed");
	free(got);
	loop_run(y.rig.loop, early_turn, &y);
	is_int(early_ask(&y, &got), SUGGEST_POINT,
	    "the computation goes on while there is no room");
	is_str(got, want, "and its answer is the one to the question");
	free(want);
	free(got);
	rig_close(&y.rig);
}

/* The same, but a trial has ended when there is no room. */
static void
test_ahead_outdated(void)
{
	struct early y;
	char *got;

	early_open(&y, 1);
	is_int(early_ask(&y, &got), SUGGEST_LATER, "it is being computed");
	free(got);
	early_end(&y, 21, -10);
	ok(!suggest_ahead(y.rig.suggester, &y.q), "its history is outdated");
	is_int(early_ask(&y, &got), SUGGEST_LATER, "it is computed again");
	free(got);
	rig_close(&y.rig);
}

int
main(void)
{
	char *odd =
	    xasprintf("%s/tests/tools/bad-worker", getenv("TOP_BUILDDIR"));

	log_set_sink(quiet, NULL);
	(void)setenv("ODD_WORKER", odd, 1);
	(void)setenv("ODD_REAL", getenv("HPOTUNE_WORKER"), 1);
	(void)setenv("HPOTUNE_WORKER_CUDA", "", 1);
	test_frames();
	test_same("\"random\"");
	test_same("\"sobol\"");
	test_same("\"tpe\"");
	test_same("\"grid\"");
	test_deaths("dead before its first word", "early early good", 3);
	test_deaths("dead at the question", "kill kill good", 3);
	test_deaths("dead within the answer", "half good", 2);
	test_deaths("noise instead of an answer", "noise huge good", 3);
	test_deaths("the answer to another question", "other good", 2);
	test_gives_up("three deaths", "kill",
	    "hpotune-worker was killed by signal 9, 3 times over trial 4");
	test_gives_up("three ends", "early",
	    "hpotune-worker ended with status 3, 3 times over trial 4");
	test_gives_up("noise for ever", "noise", "sent an invalid answer");
	test_gives_up(
	    "the CPU that is not there", "none", "sent an invalid answer");
	test_gives_up("another version", "old", "has another version");
	test_drop();
	test_device();
	test_ahead();
	test_ahead_dropped(1, 10, 0, "a new best drops it");
	test_ahead_dropped(2, -10, 0, "two results drop it");
	test_ahead_dropped(1, -10, 1, "another question drops it");
	test_ahead_alone();
	test_ahead_goes_on();
	test_ahead_outdated();
	free(odd);
	return done_testing();
}
