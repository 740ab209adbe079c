/*
 * The launcher without processes: connects a simulated world with the event
 * loop.  All state of attempts is in the world; only what was sent is stored
 * here.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/model/plugin-options.h"
#include "src/model/study/study.h"
#include "trials/pretend/pretend-internal.h"

extern const struct launcher launcher_pretend;

#define STEPS_DEFAULT 20
#define SLOTS_DEFAULT 4
#define AGAIN 3 /* reports */

static const char *const curve_names[PRETEND_CURVES + 1] = {
	[PRETEND_EXP] = "exp",
	[PRETEND_POWER] = "power",
	[PRETEND_CROSSING] = "crossing",
	[PRETEND_PLATEAU] = "plateau",
	[PRETEND_FLAT] = "flat",
	[PRETEND_CURVES] = NULL,
};

static const struct option pretend_options[] = {
	{ "curve", OPTION_TEXT, 0, 0, "exp", curve_names,
	    "the form of the curves" },
	{ "noise", OPTION_REAL, 0, 10, "0.01", NULL,
	    "standard deviation of a report" },
	{ "steps", OPTION_INT, 0, 1e9, "0", NULL,
	    "reports of a whole trial; 0 is trial.max_steps, or 20" },
	{ "seconds_per_step", OPTION_REAL, 0, 86400, "1", NULL,
	    "time between two reports, give or take a quarter" },
	{ "fail", OPTION_REAL, 0, 1, "0", NULL,
	    "share of attempts that exit with status 1" },
	{ "nan", OPTION_REAL, 0, 1, "0", NULL,
	    "share of trials whose reports become NaN" },
	{ "seed", OPTION_INT, 0, 9007199254740992.0, "1", NULL,
	    "another seed, another landscape" },
	{ "slots", OPTION_INT, 0, 100000, "0", NULL,
	    "trials at once; 0 is limits.parallel, or 4" },
	{ "gpus", OPTION_INT, 0, 64, "0", NULL,
	    "pretended GPUs: each trial holds one, in turn" },
	{ .type = OPTION_END },
};

static double
number(const struct launch_env *env, const char *name)
{
	return plugin_option_get(pretend_options, env->options, name)->number;
}

static enum pretend_curve
curve_of(const struct launch_env *env)
{
	const char *name =
	    plugin_option_get(pretend_options, env->options, "curve")->text;
	int i;

	for (i = 0; i < PRETEND_CURVES - 1; i++)
		if (strcmp(name, curve_names[i]) == 0)
			break;
	return (enum pretend_curve)i;
}

static struct pretend_script
script_of(const struct launch_env *env)
{
	struct pretend_script s = {
		.curve = curve_of(env),
		.noise = number(env, "noise"),
		.steps = (int64_t)number(env, "steps"),
		.step_ms = 1000 * number(env, "seconds_per_step"),
		.fail = number(env, "fail"),
		.nan = number(env, "nan"),
		.seed = (uint64_t)number(env, "seed"),
		.maximize = env->maximize,
	};

	if (s.steps == 0)
		s.steps = env->settings->max_steps;
	if (s.steps == 0)
		s.steps = STEPS_DEFAULT;
	return s;
}

static void
on_timer(void *arg)
{
	(void)arg; /* the next iteration calls collect */
}

void
pretend_arm(struct pretend *p)
{
	int64_t ms = pretend_world_next(p->world);

	if (ms < 0)
		loop_timer_stop(p->timer);
	else
		loop_timer_set(p->timer, ms);
}

int
pretend_open(void **ctx, const struct launch_env *env,
    struct pretend_world *world, struct err *e)
{
	struct pretend *p = xcalloc(1, sizeof *p);
	int i;

	(void)e;
	p->env = *env;
	p->metric = xstrdup(env->metric != NULL ? env->metric : "loss");
	p->script = script_of(env);
	p->slots = (int)number(env, "slots");
	if (p->slots == 0)
		p->slots =
		    env->parallel > 0 ? (int)env->parallel : SLOTS_DEFAULT;
	p->gpus = (int)number(env, "gpus");
	p->gpu_trials = xcalloc((size_t)p->gpus + 1, sizeof *p->gpu_trials);
	for (i = 0; i < p->gpus; i++)
		p->gpu_trials[i] = -1;
	p->own = world == NULL;
	p->world = p->own ? pretend_world_new(p->script.seed, NULL) : world;
	pretend_world_attach(p->world, env->loop, &p->script);
	p->timer = loop_timer_new(env->loop, on_timer, p);
	*ctx = p;
	return 0;
}

static int
open_own(void **ctx, const struct launch_env *env, struct err *e)
{
	return pretend_open(ctx, env, NULL, e);
}

static void
pretend_close(void *ctx)
{
	struct pretend *p = ctx;
	size_t i;

	loop_timer_free(p->timer);
	pretend_world_detach(p->world);
	if (p->own)
		pretend_world_free(p->world);
	for (i = 0; i < p->n; i++)
		free(p->watches[i].also);
	free(p->watches);
	free(p->gpu_trials);
	free(p->metric);
	free(p);
}

static int
pretend_slots(void *ctx)
{
	const struct pretend *p = ctx;

	return p->slots;
}

static struct pretend_watch *
watch_find(struct pretend *p, int64_t trial, int attempt)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (p->watches[i].trial == trial &&
		    p->watches[i].attempt == attempt)
			return &p->watches[i];
	return NULL;
}

/* One for each metric beside the objective; free it. */
static double *
qualities(const struct pretend *p, const char *params_json)
{
	double *out = xcalloc(p->env.n_also + 1, sizeof *out);
	size_t i;

	for (i = 0; i < p->env.n_also; i++)
		out[i] = pretend_curve_quality(
		    pretend_curve_seed(p->script.seed, p->env.also[i]),
		    params_json);
	return out;
}

/* Follow an attempt and send all after the first told reports. */
static void
watch_from(struct pretend *p, const struct launch_spec *spec,
    struct pretend_attempt *of, int64_t told)
{
	struct pretend_watch *w = watch_find(p, spec->trial, spec->attempt);

	if (w == NULL) {
		XGROW(p->watches, p->n, p->cap);
		w = &p->watches[p->n++];
		w->also = NULL;
	}
	free(w->also);
	*w = (struct pretend_watch){ .trial = spec->trial,
		.attempt = spec->attempt,
		.of = of,
		.told = (size_t)told,
		.slot = spec->slot,
		.used = spec->usage,
		.used_by = (size_t)spec->cursor.metrics,
		.also = qualities(p, spec->params_json) };
	loop_wake(p->env.loop);
}

static int
pretend_start(void *ctx, const struct launch_spec *spec, struct err *e)
{
	struct pretend *p = ctx;
	const struct pretend_faults *bad = pretend_world_faults(p->world);
	struct pretend_attempt *a = pretend_world_find(p->world, spec->uuid);

	if ((a == NULL || a->state == PRETEND_COMING) &&
	    pretend_world_dice(p->world, bad->busy))
		return err_set(e, ERR_BUSY, "the pretended machine is busy");
	if (a == NULL) {
		if (pretend_world_dice(p->world, bad->refuse))
			return err_set(e, ERR_LAUNCH,
			    "the simulated machine refuses to start it");
		a = pretend_world_start(p->world, spec,
		    pretend_curve_quality(p->script.seed, spec->params_json),
		    false);
	}
	if (a->state == PRETEND_ABANDONED)
		return err_set(e, ERR_LAUNCH, "the attempt was abandoned");
	if (watch_find(p, spec->trial, spec->attempt) == NULL)
		watch_from(p, spec, a, 0);
	pretend_arm(p);
	return 0;
}

static void
pretend_stop(void *ctx, int64_t trial, int attempt, bool now)
{
	struct pretend *p = ctx;
	struct pretend_watch *w = watch_find(p, trial, attempt);

	pretend_world_run(p->world);
	if (w != NULL && w->of != NULL)
		pretend_world_stop(p->world, w->of, now);
	pretend_arm(p);
	loop_wake(p->env.loop);
}

/* Reports that count as sent: for some trials the last ones are sent again. */
static int64_t
overlap(const struct pretend_attempt *a, int64_t told)
{
	if (a == NULL || !a->life.again)
		return told;
	return told > AGAIN ? told - AGAIN : 0;
}

static enum launch_adoption
pretend_adopt(void *ctx, const struct launch_spec *spec, struct err *e)
{
	struct pretend *p = ctx;
	const struct pretend_faults *bad = pretend_world_faults(p->world);
	struct pretend_attempt *a;

	if (pretend_world_dice(p->world, bad->unknown)) {
		err_set(e, ERR_LAUNCH, "the pretended world is hidden by fog");
		return ADOPT_UNKNOWN;
	}
	pretend_world_run(p->world);
	pretend_arm(p);
	a = pretend_world_find(p->world, spec->uuid);
	if (a == NULL && !p->own)
		return ADOPT_NEVER;
	if (a != NULL &&
	    (a->state == PRETEND_COMING || a->state == PRETEND_ABANDONED))
		return ADOPT_NEVER;
	watch_from(p, spec, a, overlap(a, spec->cursor.metrics));
	if (a == NULL)
		return ADOPT_LOST;
	if (a->state == PRETEND_RUNS)
		return ADOPT_ALIVE;
	return a->state == PRETEND_ENDED ? ADOPT_ENDED : ADOPT_LOST;
}

static int
pretend_abandon(void *ctx, const struct launch_spec *spec, struct err *e)
{
	struct pretend *p = ctx;
	struct pretend_attempt *a = pretend_world_find(p->world, spec->uuid);

	pretend_world_run(p->world);
	if (a == NULL)
		a = pretend_world_start(p->world, spec, 0, true);
	if (pretend_world_abandon(p->world, a))
		return 0;
	return err_set(e, ERR_BUSY, "it has started after all");
}

const struct launcher launcher_pretend = {
	.name = "pretend",
	.about = "no process: made-up curves, for trying things out",
	.options = pretend_options,
	.continues = true,
	.open = open_own,
	.close = pretend_close,
	.slots = pretend_slots,
	.start = pretend_start,
	.stop = pretend_stop,
	.adopt = pretend_adopt,
	.abandon = pretend_abandon,
	.collect = pretend_events_collect,
};
