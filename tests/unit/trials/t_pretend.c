/* The simulated world: curves, ends, stops, and what survives a restart. */

#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/model/plugin-options.h"
#include "src/model/study/study.h"
#include "tests/support/tap.h"
#include "trials/pretend/pretend.h"

/* A server of one trial: what it was told, as text. */
struct ear {
	struct loop *loop;
	const struct backend_type *type;
	void *ctx;
	struct pretend_world *world;
	struct study_trial settings;
	struct option_value *options;
	struct buf told;
	int64_t reports, read;
	struct launch_exit exit;
	double first, last;
	int64_t steps[64];
	int64_t stop_at; /* ask to end after so many reports */
	bool over;
};

static void
hear(void *arg, const struct launch_event *ev)
{
	struct ear *ear = arg;

	switch (ev->kind) {
	case LAUNCH_UP:
		buf_putc(&ear->told, 'u');
		break;
	case LAUNCH_REPORT:
		if (ear->reports == 0)
			ear->first = ev->u.report.value;
		ear->last = ev->u.report.value;
		ear->steps[ear->reports++ % 64] = ev->u.report.step;
		break;
	case LAUNCH_ARTIFACTS:
	case LAUNCH_PLACE:
	case LAUNCH_WAITS:
	case LAUNCH_COST:
	case LAUNCH_ACCEPTED:
		break;
	case LAUNCH_READ:
		ear->read = ev->u.cursor.metrics;
		break;
	case LAUNCH_USAGE:
	case LAUNCH_GPU:
	case LAUNCH_SLOTS:
	case LAUNCH_NOTE:
		break;
	case LAUNCH_EXIT:
		buf_putc(&ear->told, 'x');
		ear->exit = ev->u.exit;
		ear->over = true;
		break;
	case LAUNCH_LOST:
		buf_putc(&ear->told, 'l');
		ear->over = true;
		break;
	}
}

static void
turn(void *arg)
{
	struct ear *ear = arg;

	ear->type->collect(ear->ctx);
	if (ear->stop_at > 0 && ear->reports >= ear->stop_at) {
		ear->type->stop(ear->ctx, 1, 1, false);
		ear->stop_at = 0;
	}
	if (ear->over)
		loop_stop(ear->loop);
}

static struct launch_spec
spec(const struct ear *ear, int attempt)
{
	return (struct launch_spec){
		.trial = 1,
		.attempt = attempt,
		.study = "s",
		.uuid = attempt == 1 ? "one" : "two",
		.params_json = "{\"lr\":0.01,\"opt\":\"adam\"}",
		.settings = &ear->settings,
		.cursor = { .metrics = ear->read },
	};
}

/* Open the backend on a new loop, as a server that starts. */
static void
server_up(struct ear *ear, struct pretend_world *world)
{
	struct launch_env env = { .study = "s",
		.metric = "acc",
		.maximize = true,
		.settings = &ear->settings,
		.parallel = 3,
		.event = hear,
		.arg = ear };

	ear->type = backend_type_find("pretend");
	ear->world = world;
	if (ear->options == NULL)
		plugin_options_read(
		    &ear->options, ear->type->options, NULL, NULL, NULL);
	loop_open(&ear->loop, LOOP_VIRTUAL, NULL);
	env.loop = ear->loop;
	env.options = ear->options;
	if (world != NULL)
		pretend_open(&ear->ctx, &env, world, NULL);
	else
		ear->type->open(&ear->ctx, &env, NULL);
}

static void
server_down(struct ear *ear)
{
	ear->type->close(ear->ctx);
	loop_close(ear->loop);
}

static void
ear_fini(struct ear *ear)
{
	plugin_options_free(ear->options);
	buf_free(&ear->told);
}

static int
start(struct ear *ear, int attempt)
{
	struct launch_spec s = spec(ear, attempt);

	return ear->type->start(ear->ctx, &s, NULL);
}

static enum launch_adoption
look(struct ear *ear, int attempt)
{
	struct launch_spec s = spec(ear, attempt);
	struct err e = ERR_INIT;

	return ear->type->adopt(ear->ctx, &s, &e);
}

static void
run(struct ear *ear)
{
	ear->over = false;
	loop_run(ear->loop, turn, ear);
}

static void
test_whole(void)
{
	struct ear a = { .settings = { .max_steps = 8 } }, b = a;

	server_up(&a, NULL);
	is_int(a.type->slots(a.ctx), 3, "as many slots as limits.parallel");
	is_int(start(&a, 1), 0, "a trial starts");
	run(&a);
	is_str(buf_str(&a.told), "ux", "it is up, then it ends");
	is_int(a.reports, 8, "with a report for each step");
	is_int(a.read, 8, "all of which are read");
	ok(a.steps[0] == 1 && a.steps[7] == 8, "steps 1 to 8");
	ok(a.exit.ran && a.exit.exit_code == 0 && a.exit.signal == 0,
	    "exit status 0");
	ok(a.exit.ended_us - a.exit.started_us > 6000000 &&
		a.exit.ended_us - a.exit.started_us < 13000000,
	    "about a second for each");
	ok(a.last > a.first, "it learns");
	server_down(&a);
	server_up(&b, NULL);
	start(&b, 1);
	run(&b);
	ok(b.first == a.first && b.last == a.last, "again: the same numbers");
	is_int(look(&b, 1), ADOPT_LOST, "a new world has lost the attempt");
	server_down(&b);
	ear_fini(&a);
	ear_fini(&b);
}

static void
test_own_is_lost(void)
{
	struct ear ear = { .settings = { .max_steps = 8 } };

	server_up(&ear, NULL);
	start(&ear, 1);
	server_down(&ear);
	server_up(&ear, NULL);
	is_int(look(&ear, 1), ADOPT_LOST, "a world of its own goes at a close");
	run(&ear);
	is_str(buf_str(&ear.told), "l", "and the attempt is reported as lost");
	server_down(&ear);
	ear_fini(&ear);
}

static void
test_stop(bool stubborn)
{
	struct pretend_faults faults = { .ignore_stop = stubborn };
	struct pretend_world *w = pretend_world_new(1, &faults);
	struct ear ear = { .settings = { .max_steps = 50, .grace_ms = 5000 },
		.stop_at = 3 };
	const struct pretend_attempt *a;

	server_up(&ear, w);
	start(&ear, 1);
	run(&ear);
	a = pretend_world_get(w, 0);
	ok(a->stop_ms > 0 && a->ended_ms >= a->stop_ms,
	    "the ledger has the stop and the end");
	if (stubborn) {
		is_int(a->ended_ms - a->stop_ms, 5000, "killed by the grace");
		is_int(ear.exit.signal, 9, "with SIGKILL");
		ok(ear.reports > 5, "having gone on until then");
	} else {
		ok(a->ended_ms - a->stop_ms <= 51, "it obeys at once");
		is_int(ear.reports, 3, "and reports no more");
		is_int(start(&ear, 2), 0, "another attempt");
		run(&ear);
		is_int(ear.steps[3], 4, "continues after the checkpoint");
		is_int(ear.reports, 50, "to the end");
	}
	server_down(&ear);
	ear_fini(&ear);
	pretend_world_free(w);
}

static void
test_survives(void)
{
	struct pretend_world *w = pretend_world_new(1, NULL);
	struct ear ear = { .settings = { .max_steps = 20, .grace_ms = 5000 } };

	server_up(&ear, w);
	is_int(look(&ear, 1), ADOPT_NEVER, "not started yet");
	start(&ear, 1);
	is_int(start(&ear, 1), 0, "starting twice is harmless");
	server_down(&ear);
	pretend_world_pass(w, 5000);
	is_int((long long)pretend_world_running(w), 1, "and starts one");
	server_up(&ear, w);
	is_int(look(&ear, 1), ADOPT_ALIVE, "it outlives its server");
	ear.type->collect(ear.ctx);
	ok(ear.reports >= 3 && ear.reports < 8 && ear.read == ear.reports,
	    "what it said meanwhile is reported");
	server_down(&ear);
	pretend_world_pass(w, 60000);
	server_up(&ear, w);
	is_int(look(&ear, 1), ADOPT_ENDED, "and ends without one");
	run(&ear);
	is_int(ear.reports, 20, "every report is reported once");
	is_int(ear.exit.exit_code, 0, "and its end");
	server_down(&ear);
	ear_fini(&ear);
	pretend_world_free(w);
}

static void
test_faults(void)
{
	struct pretend_faults faults = { .late = 1 };
	struct pretend_world *w = pretend_world_new(1, &faults);
	struct ear ear = { .settings = { .max_steps = 5, .grace_ms = 5000 } };
	struct launch_spec s;

	server_up(&ear, w);
	start(&ear, 1);
	is_int(look(&ear, 1), ADOPT_NEVER, "a late one is not there yet");
	run(&ear);
	is_str(buf_str(&ear.told), "ux", "but comes");
	start(&ear, 2);
	s = spec(&ear, 2);
	is_int(ear.type->abandon(ear.ctx, &s, NULL), 0,
	    "one on its way can be abandoned");
	ok(start(&ear, 2) != 0, "and never starts");
	server_down(&ear);
	pretend_world_pass(w, 60000);
	is_int(pretend_world_get(w, 1)->started_ms, -1, "not even later");
	s = spec(&ear, 1);
	server_up(&ear, w);
	ok(ear.type->abandon(ear.ctx, &s, NULL) != 0,
	    "what has run cannot be abandoned");
	server_down(&ear);
	ear_fini(&ear);
	pretend_world_free(w);

	faults = (struct pretend_faults){ .busy = 1, .unknown = 1 };
	w = pretend_world_new(1, &faults);
	ear = (struct ear){ .settings = { .max_steps = 5 } };
	server_up(&ear, w);
	ok(start(&ear, 1) != 0, "a busy world starts nothing");
	is_int(look(&ear, 1), ADOPT_UNKNOWN,
	    "a world that cannot be observed reports nothing");
	server_down(&ear);
	ear_fini(&ear);
	pretend_world_free(w);
}

static void
test_curves(void)
{
	struct pretend_script s = { .steps = 100, .seed = 7 };
	const char *good = "{\"lr\":0.01}", *bad = "{\"lr\":1e9}";
	int64_t trial, step;
	int wrong = 0, crossed = 0;
	double a, b;

	for (s.curve = 0; s.curve < PRETEND_CURVES; s.curve++)
		for (trial = 1; trial <= 20; trial++)
			for (step = 1; step < 100; step++) {
				a = pretend_curve_loss(&s, trial, 0.3, step);
				b = pretend_curve_loss(
				    &s, trial, 0.3, step + 1);
				wrong += !(b <= a && b > 0 && a < 1);
			}
	is_int(wrong, 0, "without noise no curve rises");
	s.curve = PRETEND_CROSSING;
	for (trial = 2; trial <= 20; trial++)
		crossed += (pretend_curve_loss(&s, 1, 0.3, 5) <
			       pretend_curve_loss(&s, trial, 0.3, 5)) !=
			   (pretend_curve_loss(&s, 1, 0.3, 100) <
			       pretend_curve_loss(&s, trial, 0.3, 100));
	ok(crossed > 3, "crossing curves cross");
	ok(pretend_curve_quality(7, good) < pretend_curve_quality(7, bad),
	    "settings differ in quality");
	is_near(pretend_curve_quality(7, "no JSON"), 0.5, 0,
	    "no setting is average");
	s = (struct pretend_script){ .steps = 10, .nan = 1, .seed = 7 };
	ok(isnan(pretend_curve_value(&s, 1, 1, 0.5, 11)),
	    "nan: by the end it is NaN");
	s.nan = 0;
	s.maximize = true;
	is_near(pretend_curve_value(&s, 1, 1, 0.5, 9) +
		    pretend_curve_loss(&s, 1, 0.5, 9),
	    1, 1e-12, "maximize turns the curve over");
}

int
main(void)
{
	test_whole();
	test_own_is_lost();
	test_stop(false);
	test_stop(true);
	test_survives();
	test_faults();
	test_curves();
	return done_testing();
}
