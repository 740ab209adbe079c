/*
 * The backend without processes: connects a simulated world with the event
 * loop.  All state of attempts is in the world; only what was sent is stored
 * here.  Events of the backend pretend for its attempts and GPUs.  Each event
 * is sent once; struct pretend_watch records what was sent.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/model/plugin-options.h"
#include "src/model/study/study.h"
#include "trials/pretend/pretend.h"

/* An attempt that the tuner follows. */
struct pretend_watch {
	int64_t trial;
	int attempt;
	struct pretend_attempt *of; /* NULL: its world was freed */
	size_t told; /* reports sent */
	bool up;
	double *also; /* its quality by each other metric */
	int slot;
	struct gpu_usage used; /* use up to the first used_by reports */
	size_t used_by; /* … this many */
};

struct pretend {
	struct launch_env env;
	char *metric;
	struct pretend_script script;
	struct pretend_world *world;
	bool own;
	int slots;
	int gpus; /* per GPU: number of trials last sent; -1 = none */
	int *gpu_trials;
	struct loop_timer *timer;
	struct pretend_watch *watches;
	size_t n, cap;
};

static void pretend_arm(struct pretend *);

#define STEP_J 100.0
#define STEP_S 1.0 /* GPU seconds measured per step */
#define STEP_BUSY_S 0.6
#define TRIAL_BYTES (INT64_C(2) << 30)
#define GPU_BYTES (INT64_C(16) << 30)
#define IDLE_W 50

void
pretend_gpus_use(struct gpu_usage *u, size_t steps)
{
	if (u->gpus == 0)
		*u = (struct gpu_usage){ .gpus = 1 };
	u->energy += STEP_J * (double)steps;
	u->busy += STEP_BUSY_S * (double)steps;
	u->seen += STEP_S * (double)steps;
	if (steps > 0)
		u->memory = (double)TRIAL_BYTES;
}

/* Fill in GPU i with this many trials; its name is stored in uuid. */
static void
pretend_gpus_show(struct gpu_status *g, int i, int trials, char uuid[24])
{
	(void)snprintf(uuid, 24, "PRETEND-%d", i);
	*g = (struct gpu_status){
		.index = i,
		.uuid = uuid,
		.name = "pretended",
		.state = trials > 0 ? "held" : "free",
		.why = "",
		.owner = "",
		.trials = trials,
		.memory = GPU_BYTES,
		.used = trials * TRIAL_BYTES,
		.temperature = trials > 0 ? 60 : 30,
		.utilization = trials > 0 ? 60 : 0,
		.power = IDLE_W + trials * STEP_J / STEP_S,
	};
}

static void
pretend_tell(
    struct pretend *p, const struct pretend_watch *w, struct launch_event *ev)
{
	ev->trial = w->trial;
	ev->attempt = w->attempt;
	p->env.event(p->env.arg, ev);
}

/* GPU use up to the reports that were sent. */
static void
usage_emit(struct pretend *p, struct pretend_watch *w)
{
	struct launch_event ev = { .kind = LAUNCH_USAGE };
	size_t more = w->told > w->used_by ? w->told - w->used_by : 0;

	if (p->gpus == 0 || (more == 0 && w->used.gpus > 0))
		return;
	pretend_gpus_use(&w->used, more);
	w->used_by += more;
	ev.u.usage = w->used;
	pretend_tell(p, w, &ev);
}

static void
pretend_tell_up(struct pretend *p, struct pretend_watch *w)
{
	struct launch_event ev = { .kind = LAUNCH_UP };

	w->up = true;
	ev.u.up.started_us = w->of->exit.started_us;
	ev.u.up.place = "nowhere";
	pretend_tell(p, w, &ev);
	usage_emit(p, w);
}

/* The same step of the other metrics: smooth curves, better when smaller. */
static void
also_emit(struct pretend *p, const struct pretend_watch *w,
    struct launch_event *ev, int64_t step)
{
	size_t i;

	for (i = 0; i < p->env.n_also; i++) {
		ev->u.report.name = p->env.also[i];
		ev->u.report.value =
		    pretend_curve_loss(&p->script, w->trial, w->also[i], step);
		pretend_tell(p, w, ev);
	}
}

/* Send new reports, at most max; true when all are sent. */
static bool
reports_emit(struct pretend *p, struct pretend_watch *w, size_t max)
{
	struct launch_event ev = { .kind = LAUNCH_REPORT };
	const struct pretend_report *r;
	bool any = w->told < w->of->n_reports;

	for (; w->told < w->of->n_reports && max > 0; w->told++, max--) {
		r = &w->of->reports[w->told];
		ev.u.report.name = p->metric;
		ev.u.report.has_step = r->has_step;
		ev.u.report.step = r->step;
		ev.u.report.value = r->value;
		ev.u.report.again = w->of->life.again;
		ev.u.report.time_us = w->of->life.again ? r->time_us : 0;
		pretend_tell(p, w, &ev);
		ev.u.report.name = "second";
		if (w->of->life.second)
			pretend_tell(p, w, &ev);
		also_emit(p, w, &ev, r->step);
	}
	if (any) {
		ev = (struct launch_event){ .kind = LAUNCH_READ };
		ev.u.cursor.metrics = (int64_t)w->told;
		pretend_tell(p, w, &ev);
		usage_emit(p, w);
	}
	return w->told >= w->of->n_reports;
}

static void
lost_emit(struct pretend *p, const struct pretend_watch *w)
{
	struct launch_event ev = { .kind = LAUNCH_LOST };

	ev.u.lost.why = w->of != NULL
			    ? "the simulated process is lost"
			    : "its simulated state ended with the server";
	pretend_tell(p, w, &ev);
}

static void
tell_end(struct pretend *p, const struct pretend_watch *w)
{
	struct launch_event ev = { .kind = LAUNCH_EXIT };

	ev.u.exit = w->of->exit;
	pretend_tell(p, w, &ev);
}

/* Send what is new of one attempt; true when it is complete. */
static bool
watch_emit(struct pretend *p, struct pretend_watch *w)
{
	const struct pretend_faults *bad = pretend_world_faults(p->world);
	size_t max = SIZE_MAX;

	if (w->of == NULL) {
		lost_emit(p, w);
		return true;
	}
	if (w->of->started_ms < 0 || w->of->state == PRETEND_COMING)
		return false;
	if (!w->up && w->of->exit.ran)
		pretend_tell_up(p, w);
	if (pretend_world_dice(p->world, bad->dribble))
		max = 1;
	if (!reports_emit(p, w, max)) {
		loop_wake(p->env.loop);
		return false;
	}
	if (w->of->state == PRETEND_LOST)
		lost_emit(p, w);
	else if (w->of->state == PRETEND_ENDED)
		tell_end(p, w);
	return w->of->state != PRETEND_RUNS;
}

/* Send the GPUs whose number of trials has changed. */
static void
tell_gpus(struct pretend *p)
{
	struct launch_event ev = { .kind = LAUNCH_GPU };
	char uuid[24];
	int i, trials;
	size_t k;

	for (i = 0; i < p->gpus; i++) {
		for (k = 0, trials = 0; k < p->n; k++)
			trials += p->watches[k].slot % p->gpus == i &&
				  p->watches[k].up;
		if (trials == p->gpu_trials[i])
			continue;
		p->gpu_trials[i] = trials;
		pretend_gpus_show(&ev.u.gpu, i, trials, uuid);
		p->env.event(p->env.arg, &ev);
	}
}

/* Deliver all events. */
static void
pretend_events_collect(void *ctx)
{
	struct pretend *p = ctx;
	struct pretend_attempt *of;
	size_t i = 0;

	pretend_world_run(p->world);
	while (i < p->n) {
		if (!watch_emit(p, &p->watches[i])) {
			i++;
			continue;
		}
		of = p->watches[i].of;
		free(p->watches[i].also);
		memmove(&p->watches[i], &p->watches[i + 1],
		    (--p->n - i) * sizeof *p->watches);
		if (p->own && of != NULL)
			pretend_world_forget(p->world, of);
	}
	tell_gpus(p);
	pretend_arm(p);
}

extern const struct backend_type backend_pretend;

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
	    "seed of the objective function" },
	{ "slots", OPTION_INT, 0, 100000, "0", NULL,
	    "trials at once; 0 is limits.parallel, or 4" },
	{ "gpus", OPTION_INT, 0, 64, "0", NULL,
	    "simulated GPUs: each trial holds one, in turn" },
	{ .type = OPTION_END },
};

static enum pretend_curve
curve_of(const struct launch_env *env)
{
	const char *name = plugin_option_text(env->options, "curve");
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
		.noise = plugin_option_number(env->options, "noise"),
		.steps = (int64_t)plugin_option_number(env->options, "steps"),
		.step_ms = 1000 * plugin_option_number(
				      env->options, "seconds_per_step"),
		.fail = plugin_option_number(env->options, "fail"),
		.nan = plugin_option_number(env->options, "nan"),
		.seed = (uint64_t)plugin_option_number(env->options, "seed"),
		.maximize = env->maximize,
	};

	if (s.steps == 0)
		s.steps = env->settings->max_steps;
	if (s.steps == 0)
		s.steps = STEPS_DEFAULT;
	return s;
}

static void
pretend_on_timer(void *arg)
{
	(void)arg; /* the next iteration calls collect */
}

/* Set the timer for the next thing that happens. */
static void
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
	p->slots = (int)plugin_option_number(env->options, "slots");
	if (p->slots == 0)
		p->slots =
		    env->parallel > 0 ? (int)env->parallel : SLOTS_DEFAULT;
	p->gpus = (int)plugin_option_number(env->options, "gpus");
	p->gpu_trials = xcalloc((size_t)p->gpus + 1, sizeof *p->gpu_trials);
	for (i = 0; i < p->gpus; i++)
		p->gpu_trials[i] = -1;
	p->own = world == NULL;
	p->world = p->own ? pretend_world_new(p->script.seed, NULL) : world;
	pretend_world_attach(p->world, env->loop, &p->script);
	p->timer = loop_timer_new(env->loop, pretend_on_timer, p);
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
pretend_watch_find(struct pretend *p, int64_t trial, int attempt)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (p->watches[i].trial == trial &&
		    p->watches[i].attempt == attempt)
			return &p->watches[i];
	return NULL;
}

/* The qualities of each metric beside the objective; free them. */
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
	struct pretend_watch *w =
	    pretend_watch_find(p, spec->trial, spec->attempt);

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
		return err_set(e, ERR_BUSY, "the simulated machine is busy");
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
	if (pretend_watch_find(p, spec->trial, spec->attempt) == NULL)
		watch_from(p, spec, a, 0);
	pretend_arm(p);
	return 0;
}

static void
pretend_stop(void *ctx, int64_t trial, int attempt, bool now)
{
	struct pretend *p = ctx;
	struct pretend_watch *w = pretend_watch_find(p, trial, attempt);

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
		err_set(
		    e, ERR_LAUNCH, "the simulated machine cannot be queried");
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

static enum launch_kept
pretend_kept(void *ctx, int64_t trial)
{
	const struct pretend *p = ctx;

	return pretend_world_saved(p->world, trial) > 0 ? LAUNCH_KEPT_YES
							: LAUNCH_KEPT_NO;
}

const struct backend_type backend_pretend = {
	.name = "pretend",
	.about = "no processes: simulated curves, to test strategies and rules",
	.options = pretend_options,
	.continues = true,
	.open = open_own,
	.close = pretend_close,
	.slots = pretend_slots,
	.start = pretend_start,
	.stop = pretend_stop,
	.adopt = pretend_adopt,
	.abandon = pretend_abandon,
	.kept = pretend_kept,
	.collect = pretend_events_collect,
};
