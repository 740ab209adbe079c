/*
 * The output of training jobs from CloudWatch Logs: which jobs are followed,
 * and how.  Everything may be read twice, so reports carry their own time, and
 * the tuner drops those it has already recorded (attempt-metrics.c).
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "trials/metric-unread/unread-log.h"
#include "trials/sagemaker/logs/sm-log-drain.h"
#include "trials/sagemaker/logs/sm-log-file.h"
#include "trials/sagemaker/logs/sm-log-filter.h"
#include "trials/sagemaker/logs/sm-log-internal.h"
#include "trials/sagemaker/logs/sm-log-streams.h"

/* A denial that lasts so long stays. */
#define DENIED_S 300.0

enum { FAILURES_TOLD = 5 }; /* in a row, each of several tries */

int64_t
sm_logs_ms(const struct sm_logs *logs, double seconds)
{
	int64_t ms = (int64_t)(seconds * 1000 / logs->env.pace);

	return ms > 0 ? ms : 1;
}

void
sm_logs_note(struct sm_logs *logs, const struct sm_log *log,
    enum launch_level level, const char *text)
{
	struct launch_event ev = { .kind = LAUNCH_NOTE };

	if (log != NULL) {
		ev.trial = log->trial;
		ev.attempt = log->attempt;
	}
	ev.u.note.level = level;
	ev.u.note.text = text;
	logs->env.emit(logs->env.arg, &ev);
}

static bool
is_denial(const struct aws_answer *a)
{
	return strncmp(a->code, "AccessDenied", 12) == 0;
}

void
sm_log_failed(struct sm_log *log, const struct aws_answer *a)
{
	char *text;

	log->failures++;
	log->barred =
	    (a->what == AWS_CALLER || a->what == AWS_MISSING) && !is_denial(a);
	if (log->failures != FAILURES_TOLD || log->logs->said_trouble)
		return;
	log->logs->said_trouble = true;
	text = xasprintf(
	    "its log cannot be read, and reading is retried: %s", a->message);
	sm_logs_note(log->logs, log, LAUNCH_WARNING, text);
	free(text);
}

int
sm_logs_open(struct sm_logs **out, const struct sm_logs_env *env, struct err *e)
{
	struct sm_logs *logs = xcalloc(1, sizeof *logs);

	logs->env = *env;
	if ((env->settings->n_metrics > 0 || env->settings->lines != 0) &&
	    metric_patterns_new(&logs->rules, env->settings, e) != 0) {
		free(logs);
		return -1;
	}
	logs->env.metric = xstrdup(env->metric);
	logs->env.prefix = xstrdup(env->prefix);
	logs->report = xcalloc(1, sizeof *logs->report);
	logs->file_most = SM_LOG_FILE_MOST;
	if (env->cloudwatch)
		logs->metrics = sm_log_metric_data_new(logs);
	*out = logs;
	return 0;
}

void
sm_logs_close(struct sm_logs *logs)
{
	if (logs == NULL)
		return;
	while (logs->n > 0)
		sm_log_free(logs->all[logs->n - 1]);
	sm_log_filter_stop(logs);
	sm_log_metric_data_free(logs->metrics);
	metric_patterns_free(logs->rules);
	free(logs->report);
	free(logs->all);
	free((char *)logs->env.metric);
	free((char *)logs->env.prefix);
	free(logs);
}

bool
sm_logs_unread(struct sm_logs *logs, const char *folder, const char *metric,
    struct buf *why)
{
	/* What CloudWatch has computed is not in the log. */
	return logs->metrics == NULL &&
	       unread_log_put(why, folder, logs->rules, metric);
}

/* Few jobs are read stream by stream, many by one sweep over all. */
static void
sm_logs_mode(struct sm_logs *logs)
{
	size_t i, n = 0;

	for (i = 0; i < logs->n; i++)
		n += logs->all[i]->phase == SM_LOG_FOLLOW;
	if (logs->metrics != NULL || n < SM_LOG_FILTER_UNTIL) {
		if (!logs->sweep.on)
			return;
		sm_log_filter_stop(logs);
		for (i = 0; i < logs->n; i++)
			if (logs->all[i]->phase == SM_LOG_FOLLOW &&
			    logs->all[i]->call == NULL)
				loop_timer_set(logs->all[i]->timer, 0);
	} else if (n > SM_LOG_FILTER_ABOVE && !logs->sweep.on &&
		   !logs->env.pieces)
		sm_log_filter_start(logs);
}

struct sm_log *
sm_log_follow(struct sm_logs *logs, int64_t trial, int attempt, const char *job,
    const char *dir, int64_t since_ms)
{
	struct sm_log *log = xcalloc(1, sizeof *log);

	log->logs = logs;
	log->states = metric_log_new(logs->rules);
	log->trial = trial;
	log->attempt = attempt;
	log->job = xstrdup(job);
	log->dir = xstrdup(dir);
	log->discover = true;
	log->begun_ms = loop_wall_us(logs->env.loop) / 1000;
	log->cursor_ms = log->written_ms = log->skip_ms = since_ms;
	log->from_ms =
	    since_ms > SM_LOG_OVERLAP_MS ? since_ms - SM_LOG_OVERLAP_MS : 0;
	log->overlap_ms = SM_LOG_OVERLAP_MS;
	log->n_before = -1;
	log->timer =
	    loop_timer_new(logs->env.loop, sm_log_streams_on_timer, log);
	logs->all = xreallocarray(logs->all, logs->n + 1, sizeof *logs->all);
	logs->all[logs->n++] = log;
	sm_log_file_touch(log);
	sm_log_filter_join(logs, log);
	if (logs->metrics == NULL)
		loop_timer_set(log->timer, 0);
	sm_logs_mode(logs);
	return log;
}

void
sm_log_restarted(struct sm_log *log)
{
	log->discover = true;
}

void
sm_log_finish(
    struct sm_log *log, bool orderly, void (*done)(void *arg), void *arg)
{
	struct sm_logs *logs = log->logs;

	log->done = done;
	log->done_arg = arg;
	log->orderly = orderly;
	log->failures = 0;
	log->phase = SM_LOG_END;
	if (log->call != NULL) {
		aws_call_cancel(log->call);
		log->call = NULL;
	}
	if (logs->metrics != NULL)
		sm_log_metric_data_finish(logs->metrics, log);
	else
		sm_log_drain(log);
	sm_logs_mode(logs);
}

void
sm_log_free(struct sm_log *log)
{
	struct sm_logs *logs;
	size_t i;

	if (log == NULL)
		return;
	logs = log->logs;
	for (i = 0; i < logs->n && logs->all[i] != log; i++)
		;
	logs->all[i] = logs->all[--logs->n];
	if (log->call != NULL)
		aws_call_cancel(log->call);
	sm_log_file_end(log, false);
	loop_timer_free(log->timer);
	sm_log_streams_free(log);
	sm_log_events_clear(&log->reading);
	sm_log_events_tick_clear(&log->filter_tick);
	buf_free(&log->lines);
	metric_log_free(log->states);
	free(log->job);
	free(log->dir);
	free(log);
	sm_logs_mode(logs);
}

bool
sm_logs_denied(struct sm_logs *logs, const struct aws_answer *a)
{
	int64_t now = loop_now_ms(logs->env.loop);
	size_t i;

	if (!is_denial(a))
		return false;
	if (logs->metrics != NULL)
		return true;
	if (logs->denied_ms == 0)
		logs->denied_ms = now;
	if (now - logs->denied_ms < sm_logs_ms(logs, DENIED_S))
		return false;
	sm_logs_note(logs, NULL, LAUNCH_WARNING,
	    "the logs of training jobs may not be read: metrics come from "
	    "CloudWatch, a minute late and averaged over each minute (to fix, "
	    "allow logs:GetLogEvents, logs:FilterLogEvents and "
	    "logs:DescribeLogStreams)");
	logs->metrics = sm_log_metric_data_new(logs);
	sm_logs_mode(logs);
	for (i = 0; i < logs->n; i++)
		if (logs->all[i]->phase == SM_LOG_END)
			sm_log_metric_data_finish(logs->metrics, logs->all[i]);
	return true;
}
