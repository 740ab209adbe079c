/*
 * A job is over: everything it wrote is read once more from its start, until
 * two passes find the same.  Lines may come late and in between, so only a
 * pass from the start sees them all; what was delivered before is passed over
 * by who records.  The file for "hpotune logs" is made of the last pass.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/json.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "trials/sagemaker-logs.h"

enum {
	PASS_MOST = 8,
	FAIL_MOST = 20, /* answers in a row that were none */
	TAIL_ABOVE = 50000 /* events: such a log is not read from its start */
};

#define PASS_S 5.0 /* between two passes */

static void
log_done(struct sm_log *log)
{
	void (*done)(void *arg) = log->done;

	log->phase = SM_LOG_DONE;
	done(log->done_arg);
}

static void pass_go(struct sm_log *);

static void
pass_over(struct sm_log *log)
{
	bool settled = log->n_events == log->n_before && log->n_events > 0;

	sm_log_file_end(log, true);
	log->n_before = log->n_events;
	if (settled || ++log->pass >= PASS_MOST) {
		log_done(log);
		return;
	}
	loop_timer_set(log->timer, sm_logs_ms(log->logs, PASS_S));
}

/* It cannot be read: not for ever. */
static void
pass_failed(struct sm_log *log, const struct aws_answer *a)
{
	char *text;

	if (++log->failures < FAIL_MOST) {
		loop_timer_set(log->timer, sm_logs_ms(log->logs, PASS_S));
		return;
	}
	text = xasprintf("the last lines of its log could not be read: %s",
	    a != NULL && *a->message != '\0' ? a->message : "no answer");
	sm_logs_note(log->logs, log, LAUNCH_WARNING, text);
	free(text);
	sm_log_file_end(log, false);
	log_done(log);
}

static void
on_page(void *arg, const struct aws_answer *a)
{
	struct sm_log *log = arg;
	struct sm_stream *stream = &log->streams[log->at];
	const struct json *j;
	const char *text, *token;
	int64_t ms, newest = 0;

	log->call = NULL;
	if (!a->good) {
		if (sm_logs_denied(log->logs, a))
			return;
		sm_log_file_end(log, false);
		pass_failed(log, a);
		return;
	}
	log->failures = 0;
	j = a->json != NULL ? json_get(a->json, "events") : NULL;
	for (j = j != NULL ? json_first(j) : NULL; j != NULL;
	     j = json_next(j)) {
		text = json_string(json_get(j, "message"));
		if (text == NULL ||
		    !json_integer(json_get(j, "timestamp"), &ms))
			continue;
		sm_log_hear(log, &log->tick, ms, text, true);
		sm_log_file_put(log, text);
		log->n_events++;
		if (ms > newest)
			newest = ms;
	}
	sm_log_tell(log, newest);
	token = a->json != NULL
		    ? json_string(json_get(a->json, "nextForwardToken"))
		    : NULL;
	if (token == NULL ||
	    (stream->token != NULL && strcmp(token, stream->token) == 0)) {
		stream->done = true;
		log->at++;
		log->tick = (struct sm_tick){ 0 };
	} else {
		free(stream->token);
		stream->token = xstrdup(token);
	}
	pass_go(log);
}

static void
pass_go(struct sm_log *log)
{
	if (log->at < log->n_streams)
		sm_log_ask(log, &log->streams[log->at], 0, on_page);
	else
		pass_over(log);
}

static void
on_streams(struct sm_log *log, bool good)
{
	if (log->logs->metrics != NULL)
		return;
	if (!good) {
		sm_log_file_end(log, false);
		pass_failed(log, NULL);
		return;
	}
	pass_go(log);
}

void
sm_log_pass(struct sm_log *log)
{
	if (log->n_before > TAIL_ABOVE) {
		/* Go on where the tokens are: far fewer calls. */
		log->at = log->n_streams > 0 ? log->n_streams - 1 : 0;
		sm_log_discover(log, on_streams);
		return;
	}
	sm_streams_free(log);
	log->n_events = 0;
	log->tick = (struct sm_tick){ 0 };
	sm_log_file_begin(log);
	sm_log_discover(log, on_streams);
}
