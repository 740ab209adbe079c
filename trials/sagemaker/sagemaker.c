/*
 * The launcher "sagemaker": its interface; jobs continue when it is closed.
 * sm-create.c has the table of failures.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/model/study/study.h"
#include "trials/sagemaker/sm-internal.h"
#include "trials/sagemaker/watch/sm-watch.h"

/* ---- copies of a launch_spec: uploading the code may take a while ------- */

static char *
text_copy(const char *s)
{
	return s != NULL ? xstrdup(s) : NULL;
}

/* A copy that outlives start; free with sm_spec_free. */
static struct launch_spec *
spec_copy(const struct launch_spec *spec)
{
	struct launch_spec *s = xmalloc(sizeof *s);

	*s = *spec;
	s->study = text_copy(spec->study);
	s->uuid = text_copy(spec->uuid);
	s->trial_dir = text_copy(spec->trial_dir);
	s->params_json = text_copy(spec->params_json);
	s->argv = strv_copy(spec->argv);
	s->env = strv_copy(spec->env);
	s->own_env = strv_copy(launcher_spec_env(spec));
	return s;
}

void
sm_spec_free(struct launch_spec *s)
{
	if (s == NULL)
		return;
	free((char *)s->study);
	free((char *)s->uuid);
	free((char *)s->trial_dir);
	free((char *)s->params_json);
	strv_free((char **)s->argv);
	strv_free((char **)s->env);
	strv_free((char **)s->own_env);
	free(s);
}

/* ---- checkpoints that do not reach S3 ----------------------------------- */

/*
 * Warns, once per attempt, if a trial reports but no new checkpoints appear:
 * the upload by SageMaker may fail silently, and then a spot interruption
 * loses everything since.
 */

enum {
	REPORTS_LEAST = 2 /* fewer reports are no progress */
};

static void
on_list(void *arg, const struct aws_answer *r,
    const struct aws_s3_object *objects, size_t n)
{
	struct sm_attempt *a = arg;
	struct sm *sm = a->sm;
	int64_t now = loop_now_ms(sm->loop), newest = 0;
	size_t i;

	a->checkpoint_call = NULL;
	if (!r->good)
		return;
	for (i = 0; i < n; i++)
		if (objects[i].modified_s > newest)
			newest = objects[i].modified_s;
	if (newest > a->sync_s) {
		a->sync_s = newest;
		a->sync_ms = now;
		a->reports = 0;
		return;
	}
	if (a->noted_checkpoint || a->reports < REPORTS_LEAST ||
	    now - a->sync_ms < sm_ms(sm, SM_CHECKPOINT_LATE_S))
		return;
	a->noted_checkpoint = true;
	sm_events_note(sm, a, LAUNCH_WARNING,
	    "%s for %" PRId64 " min, while %" PRId64 " reports came: an "
	    "interruption would lose them",
	    newest != 0 ? "no new checkpoint reached S3"
			: "no checkpoint reached S3",
	    (now - a->sync_ms) / 60000, a->reports);
}

static bool
wants_check(const struct sm_attempt *a)
{
	return a->state == SM_RUNNING && !a->stop && !a->noted_checkpoint &&
	       a->checkpoint_call == NULL && a->reports >= REPORTS_LEAST;
}

static void
checkpoints_look(void *arg)
{
	struct sm *sm = arg;
	struct sm_attempt *a;
	char *prefix;
	size_t i;

	for (i = 0; i < sm->n; i++) {
		a = sm->attempts[i];
		if (!wants_check(a))
			continue;
		prefix = xasprintf(
		    "%s/ckpt/%05" PRId64 "/", sm->study_key, a->trial);
		a->checkpoint_call = aws_s3_list(
		    sm->aws, sm->set->bucket, prefix, 0, on_list, a);
		free(prefix);
	}
}

static void
checkpoints_report(struct sm_attempt *a)
{
	struct sm *sm = a->sm;

	if (a->reports++ == 0)
		/* Progress is measured from here. */
		a->sync_ms = loop_now_ms(sm->loop);
	if (sm->set->checkpoints && a->plan.spot &&
	    !loop_timer_pending(sm->checkpoint_timer))
		loop_timer_set(
		    sm->checkpoint_timer, sm_ms(sm, SM_CHECKPOINT_WATCH_S));
}

/* ---- open and close ----------------------------------------------------- */

static const char *
variable(const char *name)
{
	return getenv(name);
}

static void
on_client_note(void *arg, bool warn, const char *text)
{
	sm_events_note(
	    arg, NULL, warn ? LAUNCH_WARNING : LAUNCH_INFO, "%s", text);
}

char *
sm_open_arn_account(const char *arn)
{
	int colons = 0;

	while (*arn != '\0' && colons < 4)
		colons += *arn++ == ':';
	return strspn(arn, "0123456789") == 12 ? xstrndup(arn, 12) : NULL;
}

static void
name_place(struct sm *sm)
{
	char *account = sm_open_arn_account(sm->set->role);

	(void)snprintf(sm->place, sizeof sm->place, "%.40s%s%s",
	    aws_client_region(sm->aws), account != NULL ? "/" : "",
	    account != NULL ? account : "");
	free(account);
}

int
sm_open_client(struct sm *sm, const struct launch_env *env, struct err *e)
{
	struct aws_env aws = { .loop = env->loop,
		.env = variable,
		.note = on_client_note,
		.note_arg = sm };

	sm->loop = env->loop;
	sm->event = env->event;
	sm->arg = env->arg;
	sm->study = xstrdup(env->study);
	sm->study_id = xstrdup(env->study_id != NULL ? env->study_id : "");
	sm->metric = env->metric != NULL ? xstrdup(env->metric) : NULL;
	sm->state_dir = xstrdup(env->state_dir != NULL ? env->state_dir : ".");
	sm->trial = env->settings;
	sm->maximize = env->maximize;
	sm->hold = env->hold;
	if (sm_settings_read(&sm->set, env->options, env->settings, e) != 0)
		return -1;
	aws.region = sm->set->region;
	aws.profile = sm->set->profile;
	aws.pace = sm->set->pace;
	if (aws_open(&sm->aws, &aws, e) != 0)
		return -1;
	name_place(sm);
	sm_job_request_prefix(sm->prefix, sm->study, sm->study_id);
	sm->study_key =
	    sm_job_request_study_key(sm->set, sm->study, sm->study_id);
	return 0;
}

/* Events of the output: LAUNCH_UP precedes the first report. */
static void
on_log(void *arg, const struct launch_event *ev)
{
	struct sm *sm = arg;
	struct sm_attempt *a = sm_find(sm, ev->trial, ev->attempt);
	struct launch_event to = *ev;

	/* A note may belong to no attempt. */
	if (ev->trial != 0 && (a == NULL || a->state == SM_OVER))
		return;
	if (a == NULL) {
		sm_events_emit(sm, ev);
		return;
	}
	if (ev->kind == LAUNCH_REPORT) {
		/* A job that reports trains, whatever the list shows. */
		sm_job_update_started(a, ev->u.report.time_us);
		checkpoints_report(a);
		if (sm->metric != NULL &&
		    strcmp(ev->u.report.name, sm->metric) == 0)
			sm_watch_report(sm->watch, ev->u.report.value);
	} else if (ev->kind == LAUNCH_READ) {
		a->cursor.log = ev->u.cursor.log;
		a->cursor.log_skip = ev->u.cursor.log_skip;
		to.u.cursor = a->cursor;
	}
	sm_events_emit(sm, &to);
}

static int
open_logs(struct sm *sm, struct err *e)
{
	const struct study_trial *trial = sm->trial;
	struct sm_logs_env env = { .loop = sm->loop,
		.aws = sm->aws,
		.metric = sm->metric,
		.prefix = sm->prefix,
		.pace = sm->set->pace,
		.cloudwatch = sm->set->metrics_from_cloudwatch,
		.pieces =
		    sm_distribution_is_toolkit(sm->set) && !sm->set->algorithm,
		.emit = on_log,
		.arg = sm };

	if (sm->set->algorithm)
		trial = sm->algorithm_trial =
		    sm_algorithm_trial(sm->set, sm->trial, sm->metric);
	env.settings = trial;
	return sm_logs_open(&sm->logs, &env, e);
}

static void
on_changed(void *arg, const char *job)
{
	sm_poll_hint(arg, job);
}

static void
on_watch_note(void *arg, enum launch_level level, const char *text)
{
	sm_events_note(arg, NULL, level, "%s", text);
}

static struct sm_watch_env
watch_env(struct sm *sm)
{
	return (struct sm_watch_env){ .loop = sm->loop,
		.aws = sm->aws,
		.settings = sm->set,
		.prefix = sm->prefix,
		.study = sm->study,
		.maximize = sm->maximize,
		.changed = on_changed,
		.note = on_watch_note,
		.arg = sm };
}

static void
open_watch(struct sm *sm)
{
	struct sm_watch_env env = watch_env(sm);

	sm->watch = sm_watch_new(&env);
}

/* Remove the watch resources after the last job. */
static void
close_watch(struct sm *sm)
{
	struct sm_watch_env env = watch_env(sm);

	if (sm->watch == NULL)
		return;
	sm_watch_free(sm->watch);
	if (sm->n == 0 && sm->watched)
		sm_watch_remove(&env);
}

static int
open_launcher(void **ctx, const struct launch_env *env, struct err *e)
{
	struct sm *sm = xcalloc(1, sizeof *sm);

	if (sm_open_client(sm, env, e) != 0 || open_logs(sm, e) != 0) {
		sm_close(sm);
		return -1;
	}
	sm->parallel = sm->set->parallel > 0 ? sm->set->parallel
		       : env->parallel > 0   ? (int)env->parallel
					     : SM_SLOTS_DEFAULT;
	sm->slots = sm->parallel;
	sm->times = env->times;
	open_watch(sm);
	sm->poll.due_ms = INT64_MAX;
	sm->cap_timer = loop_timer_new(sm->loop, sm_quota_probe, sm);
	sm->checkpoint_timer = loop_timer_new(sm->loop, checkpoints_look, sm);
	*ctx = sm;
	return 0;
}

static void
attempt_free(struct sm_attempt *a)
{
	struct aws_call *calls[] = { a->call, a->stop_call,
		a->checkpoint_call };
	size_t i;

	for (i = 0; i < sizeof calls / sizeof calls[0]; i++)
		if (calls[i] != NULL)
			aws_call_cancel(calls[i]);
	if (a->log != NULL)
		sm_log_free(a->log);
	sm_gpu_usage_free(a);
	loop_timer_free(a->timer);
	loop_timer_free(a->stop_timer);
	sm_spec_free(a->spec);
	free(a->body);
	free(a->dir);
	free(a);
}

void
sm_close(void *ctx)
{
	struct sm *sm = ctx;
	size_t i;

	close_watch(sm);
	for (i = 0; i < sm->n; i++)
		attempt_free(sm->attempts[i]);
	free(sm->attempts);
	for (i = 0; i < sm->n_queue; i++)
		free(sm->queue[i].text);
	free(sm->queue);
	sm_poll_close(sm);
	sm_code_upload_close(sm);
	sm_warm_pool_close(sm);
	if (sm->cap_timer != NULL)
		loop_timer_free(sm->cap_timer);
	if (sm->checkpoint_timer != NULL)
		loop_timer_free(sm->checkpoint_timer);
	if (sm->logs != NULL)
		sm_logs_close(sm->logs);
	if (sm->aws != NULL)
		aws_close(sm->aws);
	if (sm->algorithm_trial != NULL)
		sm_algorithm_trial_free(sm->algorithm_trial);
	if (sm->set != NULL)
		sm_settings_free(sm->set);
	free(sm->caps);
	free(sm->study);
	free(sm->study_id);
	free(sm->metric);
	free(sm->state_dir);
	free(sm->study_key);
	free(sm);
}

/* ---- the interface ------------------------------------------------------ */

enum {
	STOP_S = 120 /* SageMaker's own grace */
};

static void
collect(void *ctx)
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
			attempt_free(a);
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
	a->dir = launcher_spec_attempt_dir(spec);
	a->spec = spec_copy(spec);
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
start(void *ctx, const struct launch_spec *spec, struct err *e)
{
	struct sm *sm = ctx;
	struct sm_attempt *a = sm_find(sm, spec->trial, spec->attempt);

	if (a != NULL)
		return 0;
	a = attempt_add(sm, spec);
	if (sm_create_queue(a, e) != 0) {
		sm->n--;
		attempt_free(a);
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
		attempt_free(a);
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
replicas(const struct study_trial *trial, const struct option_value *values)
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

const struct launcher launcher_sagemaker = {
	.name = "sagemaker",
	.about = "training jobs of Amazon SageMaker",
	.options = sm_options,
	.dirs = &dirs,
	.check = check,
	.replicas = replicas,
	.misses = misses,
	.worst_cost = worst_cost,
	.bill = sm_bill,
	.worst_ms = worst_ms,
	.slow_end = true,
	.strays = sm_gc_strays,
	.fetch = sm_download,
	.tuning = sm_tuning,
	.doctor = sm_doctor,
	.open = open_launcher,
	.close = sm_close,
	.slots = slots,
	.start = start,
	.stop = stop,
	.stops_pending = stops_pending,
	.adopt = adopt,
	.abandon = forgo,
	.kept = kept,
	.keeps = keeps,
	.collect = collect,
};
