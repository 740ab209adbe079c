/*
 * The sweep: reads the logs of many jobs at once, by FilterLogEvents over all
 * streams of the study, every six seconds, in windows that overlap because
 * lines are ingested late.  Duplicates are detected by event id.  Two sets
 * suffice: an event of this window that is in neither is new.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "trials/sagemaker/logs/sm-log-filter.h"
#include "trials/sagemaker/logs/sm-log-internal.h"
#include "trials/sagemaker/logs/sm-log-seen.h"

#define SWEEP_S 6.0
#define WINDOW_S 120.0 /* ingestion delay that is covered */

enum {
	PAGES_MOST = 200, /* further pages are read when the jobs end */
	FIRST_MS = 6 * 3600 * 1000 /* of a job without any event yet */
};

static void sweep_page(struct sm_logs *);

/* The job of stream "JOB/algo-1-…", or NULL: another host, or foreign. */
static struct sm_log *
stream_owner(const struct sm_logs *logs, const char *stream)
{
	const char *slash = strchr(stream, '/');
	size_t i, n;

	if (slash == NULL || strncmp(slash, "/algo-1-", 8) != 0)
		return NULL;
	n = (size_t)(slash - stream);
	for (i = 0; i < logs->n; i++)
		if (strncmp(logs->all[i]->job, stream, n) == 0 &&
		    logs->all[i]->job[n] == '\0')
			return logs->all[i];
	return NULL;
}

static void
event_read(struct sm_logs *logs, const struct json *j)
{
	struct sm_log_filter *sw = &logs->sweep;
	const char *stream = json_string(json_get(j, "logStreamName"));
	const char *text = json_string(json_get(j, "message"));
	const char *id = json_string(json_get(j, "eventId"));
	struct sm_log *log;
	bool old = false;
	uint64_t h;
	int64_t ms;

	if (stream == NULL || text == NULL ||
	    !json_integer(json_get(j, "timestamp"), &ms))
		return;
	/* A time of its own must not push the window past all others. */
	if (ms > sw->newest_ms &&
	    ms < loop_wall_us(logs->env.loop) / 1000 + SM_LOG_OVERLAP_MS)
		sw->newest_ms = ms;
	log = stream_owner(logs, stream);
	if (log == NULL || log->phase != SM_LOG_FOLLOW)
		return;
	if (id != NULL) {
		h = sm_log_seen_hash(SM_LOG_SEEN_HASH, id, strlen(id));
		if (sm_log_seen_add(&sw->now, h))
			return; /* twice in this sweep */
		old = sm_log_seen_has(&sw->before, h);
	}
	sm_log_events_from_filter(log, &log->filter_tick, ms, text, !old);
	if (!old)
		sm_log_events_advance(log, ms);
}

static void
sweep_next(struct sm_logs *logs, bool good)
{
	struct sm_log_filter *sw = &logs->sweep;
	int64_t window = (int64_t)(WINDOW_S * 1000);

	free(sw->token);
	sw->token = NULL;
	sw->pages = 0;
	/*
	 * After a failure the same window is read again; both sets together
	 * identify what was delivered.
	 */
	if (!good)
		sm_log_seen_join(&sw->now, &sw->before);
	else if (sw->newest_ms - window > sw->from_ms)
		sw->from_ms = sw->newest_ms - window;
	sm_log_seen_free(&sw->before);
	sw->before = sw->now;
	sw->now = (struct sm_log_seen){ 0 };
	loop_timer_set(sw->timer, sm_logs_ms(logs, SWEEP_S));
}

static void
log_filter_on_page(void *arg, const struct aws_answer *a)
{
	struct sm_logs *logs = arg;
	struct sm_log_filter *sw = &logs->sweep;
	const struct json *j;
	const char *token;

	sw->call = NULL;
	if (!a->good) {
		if (!sm_logs_denied(logs, a))
			sweep_next(logs, false);
		return;
	}
	logs->denied_ms = 0;
	j = json_get(a->json, "events");
	for (j = json_first(j); j != NULL; j = json_next(j))
		event_read(logs, j);
	token = a->json != NULL ? json_string(json_get(a->json, "nextToken"))
				: NULL;
	if (token == NULL || ++sw->pages >= PAGES_MOST) {
		sweep_next(logs, true);
		return;
	}
	free(sw->token);
	sw->token = xstrdup(token);
	sweep_page(logs);
}

static void
sweep_page(struct sm_logs *logs)
{
	struct sm_log_filter *sw = &logs->sweep;
	struct buf body = { 0 };
	struct json_writer o = { .out = &body };
	struct aws_ask ask = { .service = AWS_LOGS,
		.operation = "FilterLogEvents" };

	json_writer_object(&o, NULL);
	json_writer_text(&o, "logGroupName", SM_LOG_GROUP);
	json_writer_text(&o, "logStreamNamePrefix", logs->env.prefix);
	/* User patterns may match any line, so no filter is possible. */
	if (logs->rules == NULL)
		json_writer_text(&o, "filterPattern", "\"hpotune\"");
	json_writer_integer(&o, "startTime", sw->from_ms);
	json_writer_integer(&o, "limit", SM_LOG_LIMIT);
	if (sw->token != NULL)
		json_writer_text(&o, "nextToken", sw->token);
	json_writer_end(&o);
	ask.body = buf_str(&body);
	sw->call = aws_json(logs->env.aws, &ask, log_filter_on_page, logs);
	buf_free(&body);
}

static void
log_filter_on_timer(void *arg)
{
	struct sm_logs *logs = arg;
	struct sm_log_filter *sw = &logs->sweep;
	size_t i;

	if (sw->call != NULL)
		return;
	if (sw->behind_ms < sw->from_ms)
		sw->from_ms = sw->behind_ms;
	sw->behind_ms = INT64_MAX;
	for (i = 0; i < logs->n; i++)
		sm_log_events_tick_clear(&logs->all[i]->filter_tick);
	sweep_page(logs);
}

void
sm_log_filter_start(struct sm_logs *logs)
{
	struct sm_log_filter *sw = &logs->sweep;
	int64_t from = INT64_MAX, at;
	size_t i;

	for (i = 0; i < logs->n; i++) {
		at = logs->all[i]->cursor_ms;
		if (at == 0)
			at = logs->all[i]->begun_ms - FIRST_MS;
		if (logs->all[i]->phase == SM_LOG_FOLLOW && at < from)
			from = at;
	}
	if (from == INT64_MAX || from < SM_LOG_OVERLAP_MS)
		from = SM_LOG_OVERLAP_MS;
	*sw = (struct sm_log_filter){
		.on = true,
		.from_ms = from - SM_LOG_OVERLAP_MS,
		.behind_ms = INT64_MAX,
		.timer =
		    loop_timer_new(logs->env.loop, log_filter_on_timer, logs),
	};
	sw->newest_ms = sw->from_ms;
	loop_timer_set(sw->timer, 0);
}

void
sm_log_filter_join(struct sm_logs *logs, const struct sm_log *log)
{
	struct sm_log_filter *sw = &logs->sweep;
	int64_t at = log->cursor_ms > 0 ? log->cursor_ms : log->begun_ms;

	if (sw->on && at - SM_LOG_OVERLAP_MS < sw->behind_ms)
		sw->behind_ms = at - SM_LOG_OVERLAP_MS;
}

void
sm_log_filter_stop(struct sm_logs *logs)
{
	struct sm_log_filter *sw = &logs->sweep;

	if (!sw->on)
		return;
	if (sw->call != NULL)
		aws_call_cancel(sw->call);
	loop_timer_free(sw->timer);
	sm_log_seen_free(&sw->now);
	sm_log_seen_free(&sw->before);
	free(sw->token);
	*sw = (struct sm_log_filter){ 0 };
}
