/*
 * The rest of a log is read after its job has ended.  First the newest stream is
 * polled until no events arrive: briefly if the entry script's last line was
 * seen, longer if it may never come (the script was killed, or another program
 * started the trial), and for minutes if it must come, because then the log is
 * delayed.  Then everything is read again from the start, because delayed lines
 * may have been inserted in between; the tuner drops reports it has already
 * recorded (attempt-metrics.c).  The file for "hpotune logs" is written in that
 * pass.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "trials/sagemaker/logs/sm-log-drain.h"
#include "trials/sagemaker/logs/sm-log-file.h"
#include "trials/sagemaker/logs/sm-log-internal.h"
#include "trials/sagemaker/logs/sm-log-line.h"
#include "trials/sagemaker/logs/sm-log-streams.h"

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
	sm_log_file_end(log, true);
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

	sm_log_file_end(log, false);
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
drain_line_hear(struct sm_log *log, int64_t ms, const char *text)
{
	size_t before;

	(void)ms;
	if (log->at + 1 == log->n_streams && sm_log_line_ends(text, &before))
		log->ended = true;
	if (log->whole)
		sm_log_file_put(log, text);
	log->n_events++;
}

static void
drain_on_page(void *arg, const struct aws_answer *a)
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
	(void)sm_log_events_page(log, a->json, drain_line_hear);
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
	sm_log_streams_get(log, &log->streams[log->at], from, drain_on_page);
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

void
sm_log_drain(struct sm_log *log)
{
	int64_t now = loop_now_ms(log->logs->env.loop);

	log->quiet_ms = now;
	log->end_ms = now + sm_logs_ms(log->logs, END_MOST_S);
	log->drain_from_ms = log->cursor_ms;
	loop_timer_set(log->timer, 0);
}

void
sm_log_drain_pass(struct sm_log *log)
{
	bool known = log->n_streams > 0 && (log->ended || log->whole);
	size_t i;

	log->n_events = 0;
	log->pages = 0;
	log->ended = false;
	sm_log_events_clear(&log->reading);
	if (log->whole)
		sm_log_file_begin(log);
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
