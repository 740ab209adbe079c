/*
 * Events of one stream -> reports.  Events may be read several times, so a
 * report is identified by its millisecond, step, name and value; equal ones
 * without a step in one millisecond are numbered.
 *
 * The toolkit of AWS's images may split a line into two events.  Then a line is
 * held until the next event shows that it is complete; the last line of a
 * stream is dropped.
 *
 * Reads the logs of many jobs at once: FilterLogEvents over all streams of the
 * study, every six seconds, in windows that overlap because lines are ingested
 * late.  Duplicates are detected by event id.  Two sets suffice: an event of
 * this window that is in neither is new.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "trials/sagemaker/logs/sm-log-internal.h"

/* ---- for all files of the logs ------------------------------------------ */

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

/* ---- sets of hashes of events already read ------------------------------ */

enum { SLOTS_LEAST = 16 };

static uint64_t
sm_log_seen_hash(uint64_t h, const void *data, size_t n)
{
	const unsigned char *p = data;

	for (; n > 0; n--) /* FNV-1a */
		h = (h ^ *p++) * UINT64_C(1099511628211);
	return h;
}

static void
sm_log_seen_free(struct sm_log_seen *seen)
{
	free(seen->slots);
	*seen = (struct sm_log_seen){ 0 };
}

static bool
slot_find(const struct sm_log_seen *seen, uint64_t h, size_t *at)
{
	size_t i;

	for (i = (size_t)h & (seen->cap - 1); seen->slots[i] != 0;
	     i = (i + 1) & (seen->cap - 1))
		if (seen->slots[i] == h) {
			*at = i;
			return true;
		}
	*at = i;
	return false;
}

static void
seen_grow(struct sm_log_seen *seen)
{
	struct sm_log_seen big = {
		.cap = seen->cap > 0 ? 2 * seen->cap : SLOTS_LEAST, .n = seen->n
	};
	size_t i, at;

	big.slots = xcalloc(big.cap, sizeof *big.slots);
	for (i = 0; i < seen->cap; i++)
		if (seen->slots[i] != 0) {
			(void)slot_find(&big, seen->slots[i], &at);
			big.slots[at] = seen->slots[i];
		}
	free(seen->slots);
	*seen = big;
}

static bool
sm_log_seen_add(struct sm_log_seen *seen, uint64_t h)
{
	size_t at;

	h = h != 0 ? h : 1; /* 0 is an empty slot */
	if (2 * (seen->n + 1) > seen->cap)
		seen_grow(seen);
	if (slot_find(seen, h, &at))
		return true;
	seen->slots[at] = h;
	seen->n++;
	return false;
}

/* True: it was in the set already. */
static bool
sm_log_seen_has(const struct sm_log_seen *seen, uint64_t h)
{
	size_t at;

	return seen->cap > 0 && slot_find(seen, h != 0 ? h : 1, &at);
}

/* Add all of another set. */
static void
sm_log_seen_join(struct sm_log_seen *seen, const struct sm_log_seen *other)
{
	size_t i;

	for (i = 0; i < other->cap; i++)
		if (other->slots[i] != 0)
			(void)sm_log_seen_add(seen, other->slots[i]);
}

/* ---- events of a stream ------------------------------------------------- */

enum { EQUAL_MOST = 999 }; /* reports of one millisecond; it has 1000 us */

void
sm_log_events_tick_clear(struct sm_tick *tick)
{
	sm_log_seen_free(&tick->said);
	*tick = (struct sm_tick){ 0 };
}

void
sm_log_events_clear(struct sm_reading *r)
{
	sm_log_events_tick_clear(&r->tick);
	free(r->held);
	*r = (struct sm_reading){ 0 };
}

/* Number of equal reports so far in this millisecond. */
static int
tick_nth(struct sm_tick *tick, int64_t ms, const struct metric_value *v)
{
	uint64_t h;
	int n;

	if (tick->ms != ms) {
		sm_log_seen_free(&tick->said);
		tick->ms = ms;
	}
	h = sm_log_seen_hash(SM_LOG_SEEN_HASH, v->name, strlen(v->name));
	h = sm_log_seen_hash(h, &v->value, sizeof v->value);
	for (n = 0; n < EQUAL_MOST; n++)
		if (!sm_log_seen_add(
			&tick->said, sm_log_seen_hash(h, &n, sizeof n)))
			break;
	return n;
}

static void
report_tell(struct sm_log *log, struct sm_tick *tick, int64_t ms, bool tell)
{
	const struct metric_line *r = log->logs->report;
	struct launch_event ev = { .kind = LAUNCH_REPORT,
		.trial = log->trial,
		.attempt = log->attempt };
	size_t i;
	int nth;

	for (i = 0; i < r->n; i++) {
		nth = r->has_step ? 0 : tick_nth(tick, ms, &r->values[i]);
		if (!tell)
			continue;
		ev.u.report.name = r->values[i].name;
		ev.u.report.has_step = r->has_step;
		ev.u.report.step = r->step;
		ev.u.report.value = r->values[i].value;
		ev.u.report.time_us = ms * 1000 + nth;
		ev.u.report.again = true;
		log->logs->env.emit(log->logs->env.arg, &ev);
	}
}

/* Note once per reason that a line was skipped. */
static void
reason_note(struct sm_log *log, const char *what, const char *why)
{
	char *text;
	size_t i;

	for (i = 0; i < SM_LOG_REASONS && log->whys[i] != NULL; i++)
		if (log->whys[i] == why)
			return;
	if (i == SM_LOG_REASONS)
		return;
	log->whys[i] = why;
	text = xasprintf("%s of its output was skipped: %s", what, why);
	sm_logs_note(log->logs, log, LAUNCH_WARNING, text);
	free(text);
}

static void
part_emit(struct sm_log *log, struct sm_tick *tick, int64_t ms,
    const char *text, size_t len, bool tell)
{
	struct sm_logs *logs = log->logs;
	bool good;

	logs->report->epoch = log->epoch;
	good = sm_log_line_parse(logs->report, logs->rules, text, len);
	log->epoch = logs->report->epoch;
	if (good)
		report_tell(log, tick, ms, tell);
	else if (logs->report->why != NULL)
		reason_note(log, "a line", logs->report->why);
	if (logs->report->left_out != NULL)
		reason_note(log, "a part of a line", logs->report->left_out);
}

static void
line_emit(struct sm_log *log, struct sm_tick *tick, int64_t ms,
    const char *text, bool tell)
{
	size_t head = sm_log_line_head(text);

	if (head > 0)
		part_emit(log, tick, ms, text, head, tell);
	part_emit(log, tick, ms, text + head, strlen(text + head), tell);
}

/*
 * Process the held line, given the next one.  True: that was its second half.
 */
static bool
held_resolve(struct sm_log *log, struct sm_reading *r, const char *next)
{
	char *held = r->held, *joined = NULL;

	switch (sm_log_line_join(log->logs->rules, held, next, &joined)) {
	case SM_LOG_LINE_OTHER:
		return true;
	case SM_LOG_LINE_GOES_ON:
		r->held = joined;
		free(held);
		return true;
	case SM_LOG_LINE_WHOLE:
		line_emit(log, &r->tick, r->held_ms, held, true);
		break;
	case SM_LOG_LINE_DOUBT:
		reason_note(log, "a line",
		    "the next line may be its second half: end reports with a "
		    "comma to mark them as complete");
		break;
	}
	free(held);
	r->held = NULL;
	return false;
}

/* Process the next event of a stream. */
static void
sm_log_events_next(
    struct sm_log *log, struct sm_reading *r, int64_t ms, const char *text)
{
	struct sm_logs *logs = log->logs;

	if (r->held != NULL && held_resolve(log, r, text))
		return;
	if (!logs->env.pieces ||
	    !sm_log_line_open(logs->report, logs->rules, text)) {
		line_emit(log, &r->tick, ms, text, true);
		return;
	}
	r->held = xstrdup(text);
	r->held_ms = ms;
}

/* Process an event of the sweep; with tell false it is only counted. */
static void
sm_log_events_from_filter(struct sm_log *log, struct sm_tick *tick, int64_t ms,
    const char *text, bool tell)
{
	line_emit(log, tick, ms, text, tell);
}

void
sm_log_events_advance(struct sm_log *log, int64_t ms)
{
	struct launch_event ev = { .kind = LAUNCH_READ,
		.trial = log->trial,
		.attempt = log->attempt };

	/* A time of its own must not push the cursor past all others. */
	if (ms <= log->cursor_ms ||
	    ms > loop_wall_us(log->logs->env.loop) / 1000 + SM_LOG_OVERLAP_MS)
		return;
	log->cursor_ms = ms;
	ev.u.cursor.log = ms;
	log->logs->env.emit(log->logs->env.arg, &ev);
}

/* One event as a number; the same place of a stream has the same. */
static uint64_t
event_hash(const struct json *j, int64_t ms, const char *text)
{
	int64_t came = 0;
	uint64_t h;

	(void)json_integer(json_get(j, "ingestionTime"), &came);
	h = sm_log_seen_hash(SM_LOG_SEEN_HASH, &ms, sizeof ms);
	h = sm_log_seen_hash(h, &came, sizeof came);
	return sm_log_seen_hash(h, text, strlen(text));
}

struct sm_page
sm_log_events_page(struct sm_log *log, const struct json *answer,
    void (*line)(struct sm_log *, int64_t ms, const char *text))
{
	struct sm_reading *r = &log->reading;
	struct sm_page page = { 0 };
	const struct json *j = NULL;
	bool first = true, same;
	const char *text;
	int64_t ms, newest = 0;
	uint64_t h;

	if (answer != NULL)
		j = json_get(answer, "events");
	for (j = json_first(j); j != NULL; j = json_next(j)) {
		text = json_string(json_get(j, "message"));
		if (text == NULL ||
		    !json_integer(json_get(j, "timestamp"), &ms))
			continue;
		/* The last event of one page may be the first of the next. */
		h = event_hash(j, ms, text);
		same = first && h == r->last;
		first = false;
		if (same)
			continue;
		r->last = h;
		sm_log_events_next(log, r, ms, text);
		line(log, ms, text);
		newest = ms > newest ? ms : newest;
		page.n++;
		page.bytes += strlen(text);
	}
	sm_log_events_advance(log, newest);
	return page;
}

/* ---- the sweep over all streams of a study ------------------------------ */

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
on_page(void *arg, const struct aws_answer *a)
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
	sw->call = aws_json(logs->env.aws, &ask, on_page, logs);
	buf_free(&body);
}

static void
on_timer(void *arg)
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

/* From where the slowest of the followed jobs has been read to. */
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
		.timer = loop_timer_new(logs->env.loop, on_timer, logs),
	};
	sw->newest_ms = sw->from_ms;
	loop_timer_set(sw->timer, 0);
}

/* Add a job: the next sweep starts where its stream was read to. */
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
