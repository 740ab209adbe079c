/* Fake backends, controlled by a test. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/model/plugin-options.h"
#include "tests/support/fake-backend/fake-backend.h"

struct fake_backend far, near;

static const struct launch_dirs fake_backend_dirs = {
	.checkpoint = "/far/checkpoint",
	.output = "/far/output",
	.model = "/far/model",
	.params = "/far/params.json",
	.metrics = "/far/metrics.jsonl",
};

static const char *const moods[] = { "good", "usage", "other", NULL };

static const struct option fake_backend_options[] = {
	{ "slots", OPTION_INT, 0, 100, "2", NULL, "trials at once" },
	{ "replicas", OPTION_INT, 1, 100, "1", NULL, "processes of a trial" },
	{ "price", OPTION_REAL, -1, 1e6, "0", NULL,
	    "dollars of an attempt; -1 = not known" },
	{ "worst", OPTION_DURATION, 0, 0, "1h", NULL, "of an attempt" },
	{ "mood", OPTION_TEXT, 0, 0, "good", moods, "what check says" },
	{ .type = OPTION_END },
};

static double
number(const struct option_value *options, const char *name)
{
	return plugin_option_number(options, name);
}

static int
fake_backend_check(const struct study_trial *settings,
    const struct option_value *options, struct err *e)
{
	const struct option_value *mood = plugin_option_get(options, "mood");

	(void)settings;
	if (strcmp(mood->text, "usage") == 0)
		return json_err(mood->json, e, "not in this mood");
	if (strcmp(mood->text, "other") == 0)
		return err_set(e, ERR_LAUNCH, "the far side says no");
	return 0;
}

static int
fake_backend_replicas(
    const struct study_trial *settings, const struct option_value *options)
{
	(void)settings;
	return (int)number(options, "replicas");
}

static double
fake_backend_worst_cost(
    const struct study_trial *settings, const struct option_value *options)
{
	double price = number(options, "price");

	(void)settings;
	return price < 0 ? NAN : price;
}

static int64_t
fake_backend_worst_ms(
    const struct study_trial *settings, const struct option_value *options)
{
	(void)settings;
	return (int64_t)(1000 * number(options, "worst"));
}

static int
any_open(struct fake_backend *f, void **ctx, const struct launch_env *env)
{
	f->env = *env;
	(void)snprintf(f->study_id, sizeof f->study_id, "%s", env->study_id);
	f->slots = (int)number(env->options, "slots");
	*ctx = f;
	return 0;
}

static int
fake_backend_open(void **ctx, const struct launch_env *env, struct err *e)
{
	(void)e;
	return any_open(&far, ctx, env);
}

static int
near_open(void **ctx, const struct launch_env *env, struct err *e)
{
	(void)e;
	return any_open(&near, ctx, env);
}

static void
fake_backend_close(void *ctx)
{
	struct fake_backend *f = ctx;

	f->n_queue = 0;
}

static int
fake_backend_slots(void *ctx)
{
	return ((struct fake_backend *)ctx)->slots;
}

static char *
joined(char *const *list)
{
	struct buf b = { 0 };

	for (; *list != NULL; list++)
		buf_printf(&b, "%s\n", *list);
	return buf_take(&b);
}

static void
call_note(
    struct fake_backend_call *calls, size_t *n, const struct launch_spec *spec)
{
	struct fake_backend_call *c = &calls[(*n)++ % FAKE_BACKEND_MAX];

	free(c->env);
	free(c->argv);
	*c = (struct fake_backend_call){ .trial = spec->trial,
		.attempt = spec->attempt,
		.slot = spec->slot,
		.env = joined(spec->env),
		.argv = joined(spec->argv),
		.past = spec->past,
		.up = spec->up,
		.stopping = spec->stopping };
	(void)snprintf(c->uuid, sizeof c->uuid, "%s", spec->uuid);
}

static int
fake_backend_start(void *ctx, const struct launch_spec *spec, struct err *e)
{
	struct fake_backend *f = ctx;

	(void)e;
	call_note(f->starts, &f->n_starts, spec);
	return 0;
}

static void
fake_backend_stop(void *ctx, int64_t trial, int attempt, bool now)
{
	struct fake_backend *f = ctx;

	(void)trial;
	(void)attempt;
	f->stops++;
	f->kills += now;
}

static int
fake_backend_pending(void *ctx)
{
	return ((struct fake_backend *)ctx)->pending;
}

static int64_t
fake_backend_still(void *ctx, int64_t trial, int attempt)
{
	(void)trial;
	(void)attempt;
	return ((struct fake_backend *)ctx)->still_ms;
}

static enum launch_adoption
fake_backend_look(void *ctx, const struct launch_spec *spec, struct err *e)
{
	struct fake_backend *f = ctx;

	call_note(f->looks, &f->n_looks, spec);
	if (f->look == ADOPT_UNKNOWN)
		(void)err_set(e, ERR_REMOTE, "the far side is silent");
	return f->look;
}

static int
fake_backend_abandon(void *ctx, const struct launch_spec *spec, struct err *e)
{
	(void)ctx;
	(void)spec;
	(void)e;
	return 0;
}

static void
fake_backend_collect(void *ctx)
{
	struct fake_backend *f = ctx;
	size_t i, n = f->n_queue;

	for (i = 0; i < n; i++)
		f->env.event(f->env.arg, &f->queue[i]);
	memmove(f->queue, f->queue + n, (f->n_queue - n) * sizeof *f->queue);
	f->n_queue -= n;
}

const struct backend_type backend_far = {
	.name = "far",
	.about = "jobs elsewhere that cost money, for tests",
	.options = fake_backend_options,
	.dirs = &fake_backend_dirs,
	.check = fake_backend_check,
	.replicas = fake_backend_replicas,
	.worst_cost = fake_backend_worst_cost,
	.worst_ms = fake_backend_worst_ms,
	.slow_end = true,
	.open = fake_backend_open,
	.close = fake_backend_close,
	.slots = fake_backend_slots,
	.start = fake_backend_start,
	.stop = fake_backend_stop,
	.still_ms = fake_backend_still,
	.stops_pending = fake_backend_pending,
	.adopt = fake_backend_look,
	.abandon = fake_backend_abandon,
	.collect = fake_backend_collect,
};

const struct backend_type backend_near = {
	.name = "near",
	.about = "a machine that is free, for tests",
	.options = fake_backend_options,
	.open = near_open,
	.close = fake_backend_close,
	.slots = fake_backend_slots,
	.start = fake_backend_start,
	.stop = fake_backend_stop,
	.adopt = fake_backend_look,
	.abandon = fake_backend_abandon,
	.collect = fake_backend_collect,
};

static void
calls_free(struct fake_backend_call *calls)
{
	size_t i;

	for (i = 0; i < FAKE_BACKEND_MAX; i++) {
		free(calls[i].env);
		free(calls[i].argv);
	}
}

void
fake_backend_reset(void)
{
	struct fake_backend *all[] = { &far, &near };
	size_t i;

	for (i = 0; i < 2; i++) {
		calls_free(all[i]->starts);
		calls_free(all[i]->looks);
		*all[i] = (struct fake_backend){ .look = ADOPT_ALIVE };
	}
}

void
fake_backend_queue(struct fake_backend *f, struct launch_event ev)
{
	f->queue[f->n_queue++] = ev;
	loop_wake(f->env.loop);
}

void
fake_backend_up(
    struct fake_backend *f, int64_t trial, int attempt, int64_t started_us)
{
	fake_backend_queue(
	    f, (struct launch_event){ .kind = LAUNCH_UP,
		   .trial = trial,
		   .attempt = attempt,
		   .u.up = { .started_us = started_us, .place = "job-1" } });
}

void
fake_backend_report(struct fake_backend *f, int64_t trial, int attempt,
    int64_t step, double value, int64_t time_us)
{
	fake_backend_queue(f, (struct launch_event){ .kind = LAUNCH_REPORT,
				  .trial = trial,
				  .attempt = attempt,
				  .u.report = { .name = "m",
				      .has_step = step >= 0,
				      .step = step,
				      .value = value,
				      .time_us = time_us,
				      .again = true } });
}

void
fake_backend_exit(
    struct fake_backend *f, int64_t trial, int attempt, struct launch_exit x)
{
	fake_backend_queue(f, (struct launch_event){ .kind = LAUNCH_EXIT,
				  .trial = trial,
				  .attempt = attempt,
				  .u.exit = x });
}

const struct fake_backend_call *
fake_backend_started(const struct fake_backend *f, int64_t trial)
{
	size_t i;

	for (i = f->n_starts; i-- > 0;)
		if (f->starts[i].trial == trial)
			return &f->starts[i];
	return NULL;
}
