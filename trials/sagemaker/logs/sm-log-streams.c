/*
 * The streams of one job: one per host and start; host algo-1 reports.  Their
 * names end in the time of the start, so sorting by name sorts by age.
 * Reference: CloudWatch Logs API, GetLogEvents.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "trials/sagemaker/logs/sm-log-drain.h"
#include "trials/sagemaker/logs/sm-log-file.h"
#include "trials/sagemaker/logs/sm-log-internal.h"
#include "trials/sagemaker/logs/sm-log-streams.h"

/* GetLogEvents calls a second, of all jobs together; AWS allows 10. */
#define READS_PER_S 5.0

enum {
	QUICK_MOST = 50, /* reads in a row without a pause */
	PAGE_BYTES = 1 << 20, /* of a page: the maximum */
	SLOWER_MOST = 4, /* doublings of the pause between failures */
	DISCOVER_S = 60 /* maximum delay until an unannounced stream is found */
};

static int64_t
period_ms(const struct sm_logs *logs)
{
	double s = (double)logs->n / READS_PER_S;

	return sm_logs_ms(logs, s > 1 ? s : 1);
}

void
sm_log_streams_free(struct sm_log *log)
{
	size_t i;

	for (i = 0; i < log->n_streams; i++) {
		free(log->streams[i].name);
		free(log->streams[i].token);
	}
	free(log->streams);
	log->streams = NULL;
	log->n_streams = log->at = 0;
}

/* Insert a stream in order; known streams are left unchanged. */
static void
stream_add(struct sm_log *log, const char *name)
{
	size_t i, n = log->n_streams;

	for (i = 0; i < n && strcmp(log->streams[i].name, name) < 0; i++)
		;
	if (i < n && strcmp(log->streams[i].name, name) == 0)
		return;
	log->streams = xreallocarray(log->streams, n + 1, sizeof *log->streams);
	memmove(&log->streams[i + 1], &log->streams[i],
	    (n - i) * sizeof *log->streams);
	log->streams[i] = (struct sm_log_stream){ .name = xstrdup(name) };
	log->n_streams++;
	if (i <= log->at) {
		log->at = i;
		sm_log_events_clear(&log->reading);
	}
	if (i + 1 == log->n_streams)
		log->discover = false;
}

static void find_page(struct sm_log *, const char *token);

static void
on_listed(void *arg, const struct aws_answer *a)
{
	struct sm_log *log = arg;
	const struct json *j;
	const char *name, *token;

	log->call = NULL;
	/* No job of the account has ever logged: not yet, then. */
	if (!a->good && strcmp(a->code, "ResourceNotFoundException") == 0) {
		log->then(log, true);
		return;
	}
	if (!a->good) {
		sm_log_failed(log, a);
		log->then(log, sm_logs_denied(log->logs, a));
		return;
	}
	j = json_get(a->json, "logStreams");
	for (j = json_first(j); j != NULL; j = json_next(j)) {
		name = json_string(json_get(j, "logStreamName"));
		if (name != NULL)
			stream_add(log, name);
	}
	token = a->json != NULL ? json_string(json_get(a->json, "nextToken"))
				: NULL;
	if (token != NULL) {
		find_page(log, token);
		return;
	}
	log->discovered_ms = loop_now_ms(log->logs->env.loop);
	log->then(log, true);
}

static void
find_page(struct sm_log *log, const char *token)
{
	struct buf body = { 0 };
	struct json_writer o = { .out = &body };
	struct aws_ask ask = { .service = AWS_LOGS,
		.operation = "DescribeLogStreams" };
	char *prefix = xasprintf("%s/algo-1-", log->job);

	json_writer_object(&o, NULL);
	json_writer_text(&o, "logGroupName", SM_LOG_GROUP);
	json_writer_text(&o, "logStreamNamePrefix", prefix);
	if (token != NULL)
		json_writer_text(&o, "nextToken", token);
	json_writer_end(&o);
	ask.body = buf_str(&body);
	log->call = aws_json(log->logs->env.aws, &ask, on_listed, log);
	buf_free(&body);
	free(prefix);
}

void
sm_log_streams_discover(
    struct sm_log *log, void (*then)(struct sm_log *, bool good))
{
	log->then = then;
	find_page(log, NULL);
}

void
sm_log_streams_get(struct sm_log *log, struct sm_log_stream *stream,
    int64_t from_ms, aws_cb *cb)
{
	struct buf body = { 0 };
	struct json_writer o = { .out = &body };
	struct aws_ask ask = { .service = AWS_LOGS,
		.operation = "GetLogEvents" };

	if (stream->token == NULL)
		sm_log_events_clear(&log->reading);
	json_writer_object(&o, NULL);
	json_writer_text(&o, "logGroupName", SM_LOG_GROUP);
	json_writer_text(&o, "logStreamName", stream->name);
	json_writer_bool(&o, "startFromHead", true);
	json_writer_integer(&o, "limit", SM_LOG_LIMIT);
	if (stream->token != NULL)
		json_writer_text(&o, "nextToken", stream->token);
	else if (from_ms > 0)
		json_writer_integer(&o, "startTime", from_ms);
	json_writer_end(&o);
	ask.body = buf_str(&body);
	log->call = aws_json(log->logs->env.aws, &ask, cb, log);
	buf_free(&body);
}

static void
read_in(struct sm_log *log, int64_t ms)
{
	if (log->phase == SM_LOG_FOLLOW && log->logs->metrics == NULL &&
	    !log->logs->sweep.on)
		loop_timer_set(log->timer, ms);
}

/* The next read: at once if there is more, else after a pause. */
static void
read_next(struct sm_log *log, bool more)
{
	log->quick = more ? log->quick + 1 : 0;
	read_in(
	    log, more && log->quick < QUICK_MOST ? 0 : period_ms(log->logs));
}

/* For the copy, unless it has it. */
static void
line_copy(struct sm_log *log, int64_t ms, const char *text)
{
	if (ms <= log->skip_ms)
		return;
	sm_log_file_line(&log->lines, text);
	if (ms > log->written_ms)
		log->written_ms = ms;
}

/* Usually a token that is too old: continue by time. */
static void
token_drop(struct sm_log *log, struct sm_log_stream *stream)
{
	free(stream->token);
	stream->token = NULL;
	log->skip_ms = log->written_ms;
	log->from_ms = log->cursor_ms > log->overlap_ms
			   ? log->cursor_ms - log->overlap_ms
			   : 0;
	/* The next one before the end must not read all that again. */
	log->overlap_ms /= 4;
}

/* Keys may be rejected for hours: no limit. */
static void
read_later(struct sm_log *log)
{
	int slower = log->failures < SLOWER_MOST ? log->failures : SLOWER_MOST;

	log->quick = 0;
	read_in(log, period_ms(log->logs) << slower);
}

static void
read_failed(struct sm_log *log, const struct aws_answer *a)
{
	struct sm_log_stream *stream = &log->streams[log->at];

	if (sm_logs_denied(log->logs, a))
		return;
	if (stream->token != NULL && a->what == AWS_CALLER)
		token_drop(log, stream);
	sm_log_failed(log, a);
	read_later(log);
}

static void
on_events(void *arg, const struct aws_answer *a)
{
	struct sm_log *log = arg;
	struct sm_log_stream *stream = &log->streams[log->at];
	struct sm_page page;
	const char *token = NULL;
	bool moved, newer = log->at + 1 < log->n_streams;

	log->call = NULL;
	if (!a->good) {
		read_failed(log, a);
		return;
	}
	log->failures = 0;
	log->logs->denied_ms = 0;
	page = sm_log_events_page(log, a->json, line_copy);
	sm_log_file_append(log, &log->lines);
	buf_clear(&log->lines);
	if (a->json != NULL)
		token = json_string(json_get(a->json, "nextForwardToken"));
	moved = token != NULL &&
		(stream->token == NULL || strcmp(token, stream->token) != 0);
	if (moved) {
		free(stream->token);
		stream->token = xstrdup(token);
	} else
		log->overlap_ms = SM_LOG_OVERLAP_MS;
	if (!moved && newer) {
		/* End of this stream, and a newer one exists. */
		log->at++;
		sm_log_events_clear(&log->reading);
		read_next(log, true);
		return;
	}
	/*
	 * Pages before the end may be empty; a short page is usually the last.
	 */
	read_next(
	    log, moved && (newer || page.n == 0 || page.n >= SM_LOG_LIMIT / 2 ||
			      page.bytes >= PAGE_BYTES / 2));
}

static void
log_streams_on_found(struct sm_log *log, bool good)
{
	if (!good)
		read_later(log);
	else if (log->n_streams == 0 || log->logs->metrics != NULL)
		read_next(log, false);
	else
		read_in(log, 0);
}

void
sm_log_streams_on_timer(void *arg)
{
	struct sm_log *log = arg;
	int64_t now = loop_now_ms(log->logs->env.loop);

	if (log->call != NULL || log->logs->metrics != NULL)
		return;
	if (log->phase == SM_LOG_END) {
		sm_log_drain_pass(log);
		return;
	}
	if (log->phase != SM_LOG_FOLLOW || log->logs->sweep.on)
		return;
	if (log->n_streams == 0 ||
	    now - log->discovered_ms >=
		sm_logs_ms(log->logs, log->discover ? 3 : DISCOVER_S))
		sm_log_streams_discover(log, log_streams_on_found);
	else
		sm_log_streams_get(
		    log, &log->streams[log->at], log->from_ms, on_events);
}
