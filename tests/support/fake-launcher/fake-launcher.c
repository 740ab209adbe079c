/* Launchers of nothing.  What a test tells them is all they know. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/model/plugin-options.h"
#include "tests/support/fake-launcher/fake-launcher.h"

struct far far, near;

static const struct launch_dirs far_dirs = {
	.checkpoint = "/far/checkpoint",
	.output = "/far/output",
	.model = "/far/model",
	.params = "/far/params.json",
	.metrics = "/far/metrics.jsonl",
};

static const char *const moods[] = { "good", "usage", "other", NULL };

static const struct option far_options[] = {
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
	return option_get(far_options, options, name)->number;
}

static int
far_check(const struct study_trial *settings,
    const struct option_value *options, struct err *e)
{
	const struct option_value *mood =
	    option_get(far_options, options, "mood");

	(void)settings;
	if (strcmp(mood->text, "usage") == 0)
		return json_err(mood->json, e, "not in this mood");
	if (strcmp(mood->text, "other") == 0)
		return err_set(e, ERR_LAUNCH, "the far side says no");
	return 0;
}

static int
far_replicas(
    const struct study_trial *settings, const struct option_value *options)
{
	(void)settings;
	return (int)number(options, "replicas");
}

static double
far_worst_cost(
    const struct study_trial *settings, const struct option_value *options)
{
	double price = number(options, "price");

	(void)settings;
	return price < 0 ? NAN : price;
}

static int64_t
far_worst_ms(
    const struct study_trial *settings, const struct option_value *options)
{
	(void)settings;
	return (int64_t)(1000 * number(options, "worst"));
}

static int
any_open(struct far *f, void **ctx, const struct launch_env *env)
{
	f->env = *env;
	(void)snprintf(f->study_id, sizeof f->study_id, "%s", env->study_id);
	f->slots = (int)number(env->options, "slots");
	*ctx = f;
	return 0;
}

static int
far_open(void **ctx, const struct launch_env *env, struct err *e)
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
far_close(void *ctx)
{
	struct far *f = ctx;

	f->n_queue = 0;
}

static int
far_slots(void *ctx)
{
	return ((struct far *)ctx)->slots;
}

static void
far_slot_name(void *ctx, int slot, char *buf, size_t n)
{
	(void)ctx;
	(void)snprintf(buf, n, "far %d", slot);
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
call_note(struct far_call *calls, size_t *n, const struct launch_spec *spec)
{
	struct far_call *c = &calls[(*n)++ % FAR_MOST];

	free(c->env);
	free(c->argv);
	*c = (struct far_call){ .trial = spec->trial,
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
far_start(void *ctx, const struct launch_spec *spec, struct err *e)
{
	struct far *f = ctx;

	(void)e;
	call_note(f->starts, &f->n_starts, spec);
	return 0;
}

static void
far_stop(void *ctx, int64_t trial, int attempt, bool now)
{
	struct far *f = ctx;

	(void)trial;
	(void)attempt;
	f->stops++;
	f->kills += now;
}

static int
far_pending(void *ctx)
{
	return ((struct far *)ctx)->pending;
}

static enum launch_look
far_look(void *ctx, const struct launch_spec *spec, struct err *e)
{
	struct far *f = ctx;

	call_note(f->looks, &f->n_looks, spec);
	if (f->look == LOOK_UNKNOWN)
		(void)err_set(e, ERR_REMOTE, "the far side is silent");
	return f->look;
}

static int
far_abandon(void *ctx, const struct launch_spec *spec, struct err *e)
{
	(void)ctx;
	(void)spec;
	(void)e;
	return 0;
}

static void
far_collect(void *ctx)
{
	struct far *f = ctx;
	size_t i, n = f->n_queue;

	for (i = 0; i < n; i++)
		f->env.event(f->env.arg, &f->queue[i]);
	memmove(f->queue, f->queue + n, (f->n_queue - n) * sizeof *f->queue);
	f->n_queue -= n;
}

const struct launcher launcher_far = {
	.name = "far",
	.about = "jobs elsewhere that cost money, for tests",
	.options = far_options,
	.dirs = &far_dirs,
	.check = far_check,
	.replicas = far_replicas,
	.worst_cost = far_worst_cost,
	.worst_ms = far_worst_ms,
	.slow_end = true,
	.open = far_open,
	.close = far_close,
	.slots = far_slots,
	.slot_name = far_slot_name,
	.start = far_start,
	.stop = far_stop,
	.stops_pending = far_pending,
	.look = far_look,
	.abandon = far_abandon,
	.collect = far_collect,
};

const struct launcher launcher_near = {
	.name = "near",
	.about = "a machine that is free, for tests",
	.options = far_options,
	.open = near_open,
	.close = far_close,
	.slots = far_slots,
	.slot_name = far_slot_name,
	.start = far_start,
	.stop = far_stop,
	.look = far_look,
	.abandon = far_abandon,
	.collect = far_collect,
};

static void
calls_free(struct far_call *calls)
{
	size_t i;

	for (i = 0; i < FAR_MOST; i++) {
		free(calls[i].env);
		free(calls[i].argv);
	}
}

void
far_reset(void)
{
	struct far *all[] = { &far, &near };
	size_t i;

	for (i = 0; i < 2; i++) {
		calls_free(all[i]->starts);
		calls_free(all[i]->looks);
		*all[i] = (struct far){ .look = LOOK_ALIVE };
	}
}

void
far_tell(struct far *f, struct launch_event ev)
{
	f->queue[f->n_queue++] = ev;
	loop_wake(f->env.loop);
}

void
far_up(struct far *f, int64_t trial, int attempt, int64_t started_us)
{
	far_tell(
	    f, (struct launch_event){ .kind = LAUNCH_UP,
		   .trial = trial,
		   .attempt = attempt,
		   .u.up = { .started_us = started_us, .place = "job-1" } });
}

void
far_report(struct far *f, int64_t trial, int attempt, int64_t step,
    double value, int64_t time_us)
{
	far_tell(f, (struct launch_event){ .kind = LAUNCH_REPORT,
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
far_exit(struct far *f, int64_t trial, int attempt, struct launch_exit x)
{
	far_tell(f, (struct launch_event){ .kind = LAUNCH_EXIT,
			.trial = trial,
			.attempt = attempt,
			.u.exit = x });
}

const struct far_call *
far_started(const struct far *f, int64_t trial)
{
	size_t i;

	for (i = f->n_starts; i-- > 0;)
		if (f->starts[i].trial == trial)
			return &f->starts[i];
	return NULL;
}
