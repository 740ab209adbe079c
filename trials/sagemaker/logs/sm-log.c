/*
 * The output of training jobs from CloudWatch Logs: which jobs are followed,
 * and how.  Everything may be read twice, so reports carry their own time, and
 * the tuner drops those it has already recorded (attempt-metrics.c).
 * Reference: CloudWatch Logs API, GetLogEvents and FilterLogEvents.  The
 * streams of one job: one per host and start; host algo-1 reports.  Their names
 * end in the time of the start, so sorting by name sorts by age.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/model/study/study.h"
#include "trials/sagemaker/logs/sm-log-internal.h"

/* ---- the copy for "hpotune logs" ---------------------------------------- */

/*
 * The file "log" in the folder of the attempt.  Lines are appended while the
 * job runs; the final pass writes the file anew.  On a full disk the copy is
 * dropped.
 */

static int
file_open(const struct sm_log *log, const char *name, int flags)
{
	char *path = xasprintf("%s/%s", log->dir, name);
	int fd;

	(void)mkdir(log->dir, 0700);
	fd = open(path,
	    O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags,
	    0600);
	free(path);
	return fd;
}

/* A line of the job, with its newline; none for one of the entry script. */
static void
copy_line(struct buf *lines, const char *text)
{
	size_t n;

	if (sm_log_line_ends(text, &n) && n == 0)
		return; /* ours, not the trial's */
	buf_add(lines, text, n);
	if (n == 0 || text[n - 1] != '\n')
		buf_putc(lines, '\n');
}

/* Cut the beginning of a file that is too long.  False: I/O error. */
static bool
file_cut(FILE *f, int64_t most)
{
	int64_t size, from, to;
	char piece[1 << 16];
	size_t n;

	if (fseeko(f, 0, SEEK_END) != 0)
		return false;
	size = ftello(f);
	from = size - most;
	if (from <= 0)
		return size >= 0;
	if (fseeko(f, 0, SEEK_SET) != 0)
		return false;
	(void)fprintf(f, "[%lld bytes are left out here]\n", (long long)from);
	for (to = ftello(f); from < size;
	     to += (int64_t)n, from += (int64_t)n) {
		if (fseeko(f, from, SEEK_SET) != 0 ||
		    (n = fread(piece, 1, sizeof piece, f)) == 0 ||
		    fseeko(f, to, SEEK_SET) != 0 || fwrite(piece, 1, n, f) != n)
			return false;
	}
	return fflush(f) == 0 && ftruncate(fileno(f), to) == 0;
}

/* Append lines; a copy that is too long loses its beginning. */
static void
copy_append(struct sm_log *log, const struct buf *lines)
{
	int64_t most = log->logs->file_most;
	struct stat st;
	FILE *f;
	ssize_t n;
	int fd;

	if (lines->len == 0)
		return;
	fd = file_open(log, "log", O_APPEND);
	if (fd == -1)
		return;
	n = write(fd, lines->data, lines->len);
	(void)n;
	if (fstat(fd, &st) == -1 || st.st_size <= 2 * most ||
	    fcntl(fd, F_SETFL, 0) == -1 || (f = fdopen(fd, "r+")) == NULL) {
		(void)close(fd);
		return;
	}
	(void)file_cut(f, most);
	(void)fclose(f);
}

/* Create the file, so that it can be followed. */
static void
copy_touch(struct sm_log *log)
{
	int fd = file_open(log, "log", 0);

	if (fd != -1)
		(void)close(fd);
}

/* A line of the final pass: to its new file or, without one, to the old. */
static void
copy_put(struct sm_log *log, const char *text)
{
	struct buf line = { 0 };

	copy_line(&line, text);
	if (log->file != NULL && line.len > 0)
		(void)fwrite(line.data, 1, line.len, log->file);
	else
		copy_append(log, &line);
	buf_free(&line);
}

/*
 * A reader that follows the old file must see its end: if the new file only
 * extends the old one, the difference is appended to the old file.
 */
static bool
file_extends(FILE *f, const char *old)
{
	char a[1 << 14], b[1 << 14];
	FILE *o = fopen(old, "r+e");
	bool same = o != NULL && fseeko(f, 0, SEEK_SET) == 0;
	size_t n = 0, m;

	while (same && (n = fread(a, 1, sizeof a, o)) > 0)
		same = fread(b, 1, n, f) == n && memcmp(a, b, n) == 0;
	if (same)
		same = !ferror(o) && fseeko(o, 0, SEEK_END) == 0;
	while (same && (m = fread(b, 1, sizeof b, f)) > 0)
		same = fwrite(b, 1, m, o) == m;
	if (o != NULL && fclose(o) != 0)
		same = false;
	return same && !ferror(f);
}

/* The end of the final pass: its file replaces the old one, or is dropped. */
static void
copy_end(struct sm_log *log, bool keep)
{
	char *from, *to;
	bool good, there;

	if (log->file == NULL)
		return;
	from = xasprintf("%s/log.new", log->dir);
	to = xasprintf("%s/log", log->dir);
	good = keep && log->n_events > 0 &&
	       file_cut(log->file, log->logs->file_most) && !ferror(log->file);
	there = good && file_extends(log->file, to);
	good = fclose(log->file) == 0 && good;
	log->file = NULL;
	if (!good || there || rename(from, to) != 0)
		(void)unlink(from);
	free(from);
	free(to);
}

/* The final pass writes a new file, which replaces the old. */
static void
copy_begin(struct sm_log *log)
{
	int fd;

	copy_end(log, false);
	fd = file_open(log, "log.new", O_TRUNC);
	log->file = fd != -1 ? fdopen(fd, "w+") : NULL;
	if (log->file == NULL && fd != -1)
		(void)close(fd);
}

static void sm_log_drain_pass(struct sm_log *);

/* GetLogEvents calls a second, of all jobs together; AWS allows 10. */
#define READS_PER_S 5.0
/* A denial that lasts so long stays. */
#define DENIED_S 300.0

enum {
	FAILURES_TOLD = 5, /* in a row, each of several tries */
	QUICK_MOST = 50, /* reads in a row without a pause */
	PAGE_BYTES = 1 << 20, /* of a page: the maximum */
	SLOWER_MOST = 4, /* doublings of the pause between failures */
	DISCOVER_S = 60 /* maximum delay until an unannounced stream is found */
};

static int64_t
sm_logs_period_ms(const struct sm_logs *logs)
{
	double s = (double)logs->n / READS_PER_S;

	return sm_logs_ms(logs, s > 1 ? s : 1);
}

static bool
is_denial(const struct aws_answer *a)
{
	return strncmp(a->code, "AccessDenied", 12) == 0;
}

/* Handle a failed request: whether a retry may help. */
static void
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

/* ---- streams ------------------------------------------------------------ */

static void
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

/* Insert it in order; known streams are left unchanged. */
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

/* DescribeLogStreams, then then(log, good). */
static void
sm_log_streams_discover(
    struct sm_log *log, void (*then)(struct sm_log *, bool good))
{
	log->then = then;
	find_page(log, NULL);
}

/* ---- events ------------------------------------------------------------- */

static void
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
	read_in(log,
	    more && log->quick < QUICK_MOST ? 0 : sm_logs_period_ms(log->logs));
}

/* For the copy, unless it has it. */
static void
line_copy(struct sm_log *log, int64_t ms, const char *text)
{
	if (ms <= log->skip_ms)
		return;
	copy_line(&log->lines, text);
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
	read_in(log, sm_logs_period_ms(log->logs) << slower);
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
	copy_append(log, &log->lines);
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
on_found(struct sm_log *log, bool good)
{
	if (!good)
		read_later(log);
	else if (log->n_streams == 0 || log->logs->metrics != NULL)
		read_next(log, false);
	else
		read_in(log, 0);
}

static void
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
		sm_log_streams_discover(log, on_found);
	else
		sm_log_streams_get(
		    log, &log->streams[log->at], log->from_ms, on_events);
}

static void sm_log_drain(struct sm_log *);

/* ---- coming and going --------------------------------------------------- */

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
	copy_touch(log);
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
	copy_end(log, false);
	loop_timer_free(log->timer);
	sm_log_streams_free(log);
	sm_log_events_clear(&log->reading);
	sm_log_events_tick_clear(&log->filter_tick);
	buf_free(&log->lines);
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

/*
 * Reads the rest of a log after a job has ended.  First the newest stream is
 * polled until no events arrive: briefly if the entry script's last line was
 * seen, longer if it may never come (the script was killed, or another program
 * started the trial), and for minutes if it must come, because then the log is
 * delayed.  Then everything is read again from the start, because delayed lines
 * may have been inserted in between; the tuner drops reports it has already
 * recorded (attempt-metrics.c).  The file for "hpotune logs" is written in that
 * pass.
 */

enum {
	FAIL_MOST = 20, /* failed passes in a row before giving up */
	PAGES_MOST = 3000 /* of the last pass: some gigabytes */
};

#define LOOK_S 5.0 /* between two polls */
#define QUIET_ENDED_S 10.0 /* nothing new behind the last line */
#define QUIET_S 30.0 /* nothing new, and no last line */
#define QUIET_ORDERLY_S 300.0 /* … if the last line must come */
#define END_MOST_S 300.0 /* limit, even if events still arrive */

static void pass_go(struct sm_log *);

static void
log_done(struct sm_log *log)
{
	void (*done)(void *arg) = log->done;

	log->phase = SM_LOG_DONE;
	done(log->done_arg);
}

static void
drain_schedule(struct sm_log *log)
{
	int64_t now = loop_now_ms(log->logs->env.loop);
	double quiet_s = log->ended	? QUIET_ENDED_S
			 : log->orderly ? QUIET_ORDERLY_S
					: QUIET_S;

	if (log->n_events != log->n_before)
		log->quiet_ms = now;
	log->n_before = log->n_events;
	log->whole = now >= log->end_ms ||
		     now - log->quiet_ms >= sm_logs_ms(log->logs, quiet_s);
	loop_timer_set(log->timer,
	    log->whole
		? 0
		: sm_logs_ms(log->logs, log->ended ? QUIET_ENDED_S : LOOK_S));
}

static void
pass_over(struct sm_log *log)
{
	log->failures = 0;
	if (!log->whole) {
		drain_schedule(log);
		return;
	}
	copy_end(log, true);
	log_done(log);
}

/*
 * The log cannot be read.  Give up after a limited number of denials; network
 * errors and missing keys are retried without limit.
 */
static void
pass_failed(struct sm_log *log, const struct aws_answer *a)
{
	char *text;

	copy_end(log, false);
	if (log->failures < FAIL_MOST || !log->barred) {
		loop_timer_set(log->timer, sm_logs_ms(log->logs, LOOK_S));
		return;
	}
	text = xasprintf("the last lines of its log could not be read: %s",
	    a != NULL && *a->message != '\0' ? a->message : "no answer");
	sm_logs_note(log->logs, log, LAUNCH_WARNING, text);
	free(text);
	log_done(log);
}

static void
line_hear(struct sm_log *log, int64_t ms, const char *text)
{
	size_t before;

	(void)ms;
	if (log->at + 1 == log->n_streams && sm_log_line_ends(text, &before))
		log->ended = true;
	if (log->whole)
		copy_put(log, text);
	log->n_events++;
}

static void
on_page(void *arg, const struct aws_answer *a)
{
	struct sm_log *log = arg;
	struct sm_log_stream *stream = &log->streams[log->at];
	const char *token = NULL;

	log->call = NULL;
	if (!a->good) {
		sm_log_failed(log, a);
		if (!sm_logs_denied(log->logs, a))
			pass_failed(log, a);
		return;
	}
	log->logs->denied_ms = 0;
	(void)sm_log_events_page(log, a->json, line_hear);
	if (a->json != NULL)
		token = json_string(json_get(a->json, "nextForwardToken"));
	if (token == NULL || ++log->pages >= PAGES_MOST ||
	    (stream->token != NULL && strcmp(token, stream->token) == 0)) {
		log->at++;
		sm_log_events_clear(&log->reading);
	} else {
		free(stream->token);
		stream->token = xstrdup(token);
	}
	pass_go(log);
}

static void
pass_go(struct sm_log *log)
{
	int64_t from = 0;

	if (log->at >= log->n_streams) {
		pass_over(log);
		return;
	}
	if (!log->whole && log->drain_from_ms > SM_LOG_OVERLAP_MS)
		from = log->drain_from_ms - SM_LOG_OVERLAP_MS;
	sm_log_streams_get(log, &log->streams[log->at], from, on_page);
}

static void
on_streams(struct sm_log *log, bool good)
{
	if (log->logs->metrics != NULL)
		return;
	if (!good) {
		pass_failed(log, NULL);
		return;
	}
	log->at = 0;
	if (!log->whole && log->n_streams > 0)
		log->at = log->n_streams - 1;
	pass_go(log);
}

static void
sm_log_drain(struct sm_log *log)
{
	int64_t now = loop_now_ms(log->logs->env.loop);

	log->quiet_ms = now;
	log->end_ms = now + sm_logs_ms(log->logs, END_MOST_S);
	log->drain_from_ms = log->cursor_ms;
	loop_timer_set(log->timer, 0);
}

static void
sm_log_drain_pass(struct sm_log *log)
{
	bool known = log->n_streams > 0 && (log->ended || log->whole);
	size_t i;

	log->n_events = 0;
	log->pages = 0;
	log->ended = false;
	sm_log_events_clear(&log->reading);
	if (log->whole)
		copy_begin(log);
	if (!known) {
		sm_log_streams_free(log);
		sm_log_streams_discover(log, on_streams);
		return;
	}
	for (i = 0; i < log->n_streams; i++) {
		free(log->streams[i].token);
		log->streams[i].token = NULL;
	}
	on_streams(log, true);
}
