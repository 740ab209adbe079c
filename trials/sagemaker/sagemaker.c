/*
 * The backend "sagemaker": its interface; jobs continue when it is closed.
 * sm-create.c has the table of failures.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/model/study/study.h"
#include "trials/sagemaker/sm-internal.h"
#include "trials/sagemaker/sm-open.h"
#include "trials/sagemaker/sm-poll.h"
#include "trials/sagemaker/sm-spec-copy.h"
#include "trials/sagemaker/watch/sm-watch.h"

enum {
	STOP_S = 120 /* SageMaker's own grace */
};

static void
sagemaker_collect(void *ctx)
{
	struct sm *sm = ctx;
	struct sm_event *queue = sm->queue;
	struct sm_attempt *a;
	size_t i, kept = 0, n = sm->n_queue;

	sm->queue = NULL;
	sm->n_queue = sm->cap_queue = 0;
	for (i = 0; i < n; i++) {
		sm->event(sm->arg, &queue[i].ev);
		free(queue[i].text);
	}
	free(queue);
	for (i = 0; i < sm->n; i++) {
		a = sm->attempts[i];
		if (a->state == SM_OVER)
			sm_attempt_free(a);
		else
			sm->attempts[kept++] = a;
	}
	sm->n = kept;
	sm_watch_running(sm->watch, (int)kept);
}

static int
slots(void *ctx)
{
	const struct sm *sm = ctx;

	return sm->slots;
}

static void
on_stop_timer(void *arg)
{
	sm_job_update_stop(arg);
}

static struct sm_attempt *
attempt_add(struct sm *sm, const struct launch_spec *spec)
{
	struct sm_attempt *a = xcalloc(1, sizeof *a);

	a->sm = sm;
	a->trial = spec->trial;
	a->attempt = spec->attempt;
	(void)snprintf(a->uuid, sizeof a->uuid, "%s", spec->uuid);
	sm_job_request_name(a->job, sm->prefix, a->trial, a->attempt, a->uuid);
	a->dir = backend_spec_attempt_dir(spec);
	a->spec = sm_spec_copy(spec);
	a->cursor = spec->cursor;
	a->up = a->trained = a->placed = spec->up;
	a->missing_ms = -1;
	a->stop_timer = loop_timer_new(sm->loop, on_stop_timer, a);
	a->sync_ms = a->phase_ms = loop_now_ms(sm->loop);
	sm_quota_plan(sm, &a->plan, spec->past.capacity);
	XGROW(sm->attempts, sm->n, sm->cap);
	sm->attempts[sm->n++] = a;
	return a;
}

static int
sagemaker_start(void *ctx, const struct launch_spec *spec, struct err *e)
{
	struct sm *sm = ctx;
	struct sm_attempt *a = sm_find(sm, spec->trial, spec->attempt);

	if (a != NULL)
		return 0;
	a = attempt_add(sm, spec);
	if (sm_create_queue(a, e) != 0) {
		sm->n--;
		sm_attempt_free(a);
		return -1;
	}
	return 0;
}

static void
stop(void *ctx, int64_t trial, int attempt, bool now)
{
	struct sm_attempt *a = sm_find(ctx, trial, attempt);

	(void)now; /* there is no faster stop */
	if (a == NULL || a->stop)
		return;
	a->stop = true;
	sm_job_update_stop(a);
}

/* Stops that AWS has not accepted yet. */
static int
stops_pending(void *ctx)
{
	const struct sm *sm = ctx;
	const struct sm_attempt *a;
	size_t i;
	int n = 0;

	for (i = 0; i < sm->n; i++) {
		a = sm->attempts[i];
		n += a->stop && !a->stop_sent && a->state < SM_DRAIN;
	}
	return n;
}

static enum launch_adoption
adopt(void *ctx, const struct launch_spec *spec, struct err *e)
{
	struct sm *sm = ctx;
	struct sm_attempt *a = sm_find(sm, spec->trial, spec->attempt);

	if (a != NULL)
		return ADOPT_ALIVE;
	a = attempt_add(sm, spec);
	if (sm_create_adopt(a, loop_wall_us(sm->loop) / 1000000, e) != 0) {
		sm->n--;
		sm_attempt_free(a);
		return ADOPT_UNKNOWN;
	}
	if (a->up)
		sm_job_update_follow(a);
	sm_poll_describe(a);
	if (spec->stopping) {
		a->stop = true;
		sm_job_update_stop(a);
	}
	return ADOPT_ALIVE;
}

/* A delayed Create may take effect for a while: watch the job's name. */
static int
forgo(void *ctx, const struct launch_spec *spec, struct err *e)
{
	(void)ctx;
	return err_set(e, ERR_BUSY,
	    "the training job of trial %" PRId64 " may still be created",
	    spec->trial);
}

static int
check(const struct study_trial *trial, const struct option_value *values,
    struct err *e)
{
	struct sm_settings *set;

	if (sm_settings_read(&set, values, trial, e) != 0)
		return -1;
	sm_settings_free(set);
	return 0;
}

static int
sagemaker_replicas(
    const struct study_trial *trial, const struct option_value *values)
{
	struct sm_settings *set;
	struct err e = ERR_INIT;
	int n;

	if (sm_settings_read(&set, values, trial, &e) != 0)
		return 1;
	n = sm_plan_replicas(set);
	sm_settings_free(set);
	return n;
}

static void
misses(const struct study_trial *trial, const struct option_value *values,
    struct buf *text)
{
	struct sm_settings *set;
	struct err e = ERR_INIT;

	if (sm_settings_read(&set, values, trial, &e) != 0)
		return;
	if (set->algorithm)
		sm_algorithm_misses(set, text);
	sm_settings_free(set);
}

static double
worst_cost(const struct study_trial *trial, const struct option_value *values)
{
	struct sm_settings *set;
	struct err e = ERR_INIT;
	double cost;

	if (sm_settings_read(&set, values, trial, &e) != 0)
		return NAN;
	cost = sm_plan_worst_cost(set, NULL);
	sm_settings_free(set);
	return cost;
}

static double
usual_cost(const struct study_trial *trial, const struct option_value *values,
    int64_t *ms, struct buf *on)
{
	struct sm_settings *set;
	struct err e = ERR_INIT;
	struct sm_plan plan;
	double cost;

	if (sm_settings_read(&set, values, trial, &e) != 0)
		return NAN;
	sm_plan_make(&plan, set, 0);
	*ms = plan.max_run_s * 1000;
	cost = plan.price * (double)plan.max_run_s / 3600;
	if (plan.type != NULL && plan.instances > 1)
		buf_printf(on, "%d machines ", plan.instances);
	buf_printf(
	    on, "%s at $", plan.type != NULL ? plan.type->name : "all groups");
	buf_printf(on, plan.price < 1 ? "%.3g" : "%.2f", plan.price);
	buf_puts(on, " an hour");
	sm_settings_free(set);
	return cost;
}

/* Without the wait for an on-demand machine, which has no bound. */
static int64_t
worst_ms(const struct study_trial *trial, const struct option_value *values)
{
	struct sm_settings *set;
	struct err e = ERR_INIT;
	int64_t s;

	if (sm_settings_read(&set, values, trial, &e) != 0)
		return 0;
	s = set->spot && set->max_wait_s > set->max_run_s ? set->max_wait_s
							  : set->max_run_s;
	s += set->download_s + set->upload_s;
	sm_settings_free(set);
	return (s + STOP_S) * 1000;
}

static const struct launch_dirs dirs = {
	.checkpoint = "/opt/ml/checkpoints",
	.output = "/opt/ml/output/data",
	.model = "/opt/ml/model",
	.params = "/tmp/hpotune/params.json",
	.metrics = "/tmp/hpotune/metrics.jsonl",
};

static bool
keeps(const struct option_value *options)
{
	const struct option_value *v =
	    plugin_option_get(options, "checkpoints");

	return v->given && v->number != 0;
}

/* What lies in S3 is not listed for it: study.json may say what does. */
static enum launch_kept
kept(void *ctx, int64_t trial)
{
	const struct sm *sm = ctx;

	(void)trial;
	return sm->set->declared      ? LAUNCH_KEPT_YES
	       : sm->set->checkpoints ? LAUNCH_KEPT_UNSEEN
				      : LAUNCH_KEPT_NO;
}

static bool
unread(void *ctx, const char *folder, const char *metric, bool *file,
    struct buf *why)
{
	const struct sm *sm = ctx;

	(void)file;
	return sm_logs_unread(sm->logs, folder, metric, why);
}

/* Each job has a machine that it gives back. */
static bool
no_places(void *ctx, int64_t trial, int attempt, struct buf *names)
{
	(void)ctx;
	(void)trial;
	(void)attempt;
	(void)names;
	return true;
}

static int64_t
sagemaker_parallel(const struct study_trial *t)
{
	(void)t;
	return SM_SLOTS_DEFAULT;
}

const struct backend_type backend_sagemaker = {
	.name = "sagemaker",
	.about = "training jobs of Amazon SageMaker",
	.options = sm_options,
	.dirs = &dirs,
	.check = check,
	.replicas = sagemaker_replicas,
	.parallel = sagemaker_parallel,
	.warns = sm_open_warns,
	.misses = misses,
	.admits = sm_open_admits,
	.worst_cost = worst_cost,
	.usual_cost = usual_cost,
	.bill = sm_bill,
	.worst_ms = worst_ms,
	.slow_end = true,
	.strays = sm_gc_strays,
	.fetch = sm_download,
	.tuning = sm_tuning,
	.doctor = sm_doctor,
	.open = sm_open,
	.close = sm_close,
	.slots = slots,
	.places = no_places,
	.start = sagemaker_start,
	.stop = stop,
	.stops_pending = stops_pending,
	.adopt = adopt,
	.abandon = forgo,
	.kept = kept,
	.keeps = keeps,
	.unread = unread,
	.collect = sagemaker_collect,
};
