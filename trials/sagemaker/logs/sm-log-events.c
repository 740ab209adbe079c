/*
 * Events of one stream -> reports.  Events may be read several times, so a
 * report is identified by its millisecond, step, name and value; equal ones
 * without a step in one millisecond are numbered.
 *
 * The toolkit of AWS's images may split a line into two events.  Then a line is
 * held until the next event shows that it is complete; the last line of a
 * stream is dropped.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/base/reading.h"
#include "trials/sagemaker/logs/sm-log-internal.h"
#include "trials/sagemaker/logs/sm-log-line.h"
#include "trials/sagemaker/logs/sm-log-seen.h"

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
		backend_report_set(&ev, r, i);
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
	struct metric_line *r = logs->report;

	/* The copy of its lines has this name. */
	if (reading_is_left(log->dir, "log")) {
		reason_note(log, "the rest", reading_left_text);
		return;
	}
	reading_begin(log->dir, "log");
	r->log = log->states;
	if (sm_log_line_parse(r, logs->rules, text, len))
		do
			report_tell(log, tick, ms, tell);
		while (metric_line_more(r));
	else if (r->why != NULL)
		reason_note(log, "a line", r->why);
	if (r->left_out != NULL)
		reason_note(log, "a part of a line", r->left_out);
	r->log = NULL;
	reading_end();
}

/* A progress bar writes many states of itself into one line. */
static void
bars_emit(struct sm_log *log, struct sm_tick *tick, int64_t ms,
    const char *text, size_t len, bool tell)
{
	bool *bar = &log->logs->report->overwritten;
	bool objects = metric_patterns_objects(log->logs->rules);
	const char *end = text + len, *next;

	while (
	    (next = metric_line_next(text, end, objects, &len, bar)) != NULL &&
	    (*bar || next[-1] != '\n')) {
		part_emit(log, tick, ms, text, len, tell);
		text = next;
	}
	*bar = false;
	part_emit(log, tick, ms, text, (size_t)(end - text), tell);
}

static void
line_emit(struct sm_log *log, struct sm_tick *tick, int64_t ms,
    const char *text, bool tell)
{
	size_t head = sm_log_line_head(text);

	if (head > 0)
		bars_emit(log, tick, ms, text, head, tell);
	bars_emit(log, tick, ms, text + head, strlen(text + head), tell);
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

void
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
