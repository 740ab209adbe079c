/* Opens and closes the backend; jobs continue. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/model/study/study.h"
#include "trials/sagemaker/sm-checkpoint-watch.h"
#include "trials/sagemaker/sm-internal.h"
#include "trials/sagemaker/sm-open.h"
#include "trials/sagemaker/sm-poll.h"
#include "trials/sagemaker/sm-spec-copy.h"
#include "trials/sagemaker/watch/sm-watch.h"

static const char *
sm_open_variable(const char *name)
{
	return getenv(name);
}

static void
sm_open_on_client_note(void *arg, bool warn, const char *text)
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
sm_open_admits(const struct study_trial *trial,
    const struct option_value *values, struct err *e)
{
	struct sm_settings *set;
	struct err why = ERR_INIT;
	int rc;

	if (sm_settings_read(&set, values, trial, e) != 0)
		return -1;
	rc = aws_keys_ask(sm_open_variable, set->profile, &why);
	sm_settings_free(set);
	return rc == 0
		   ? 0
		   : err_set(e, why.kind, "%s; " SM_OPEN_KEYS_MEND, why.text);
}

void
sm_open_warns(const struct study_trial *trial,
    const struct option_value *values, const char *dir, struct buf *text)
{
	struct sm_settings *set;
	struct err e = ERR_INIT;

	(void)dir;
	if (sm_settings_read(&set, values, trial, &e) != 0)
		return;
	if (!aws_keys_visible(sm_open_variable, set->profile))
		buf_puts(text,
		    "credentials of AWS: none are visible here, and those of "
		    "an EC2 instance's role are only asked for by start and "
		    "doctor; " SM_OPEN_KEYS_MEND "\n");
	sm_settings_free(set);
}

int
sm_open_client(struct sm *sm, const struct launch_env *env, struct err *e)
{
	struct aws_env aws = { .loop = env->loop,
		.env = sm_open_variable,
		.note = sm_open_on_client_note,
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
sm_open_on_log(void *arg, const struct launch_event *ev)
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
		sm_checkpoint_watch_report(a);
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
		.emit = sm_open_on_log,
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

int
sm_open(void **ctx, const struct launch_env *env, struct err *e)
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
	sm->checkpoint_timer =
	    loop_timer_new(sm->loop, sm_checkpoint_watch_poll, sm);
	*ctx = sm;
	return 0;
}

void
sm_attempt_free(struct sm_attempt *a)
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
	sm_spec_copy_free(a->spec);
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
		sm_attempt_free(sm->attempts[i]);
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
