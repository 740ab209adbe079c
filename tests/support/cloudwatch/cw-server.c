/* The server side of cw-logs.h. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/json/json.h"
#include "src/base/loop.h"
#include "tests/support/cloudwatch/cw-logs.h"

/* A place between two lines. */
struct place {
	int64_t ms, seq;
};

static bool
behind(const struct line *line, struct place p)
{
	return line->ms > p.ms || (line->ms == p.ms && line->seq > p.seq);
}

/* Whether it goes wrong this time. */
static bool
strikes(struct cw_logs *r, int every)
{
	return every > 0 && ++r->chances % every == 0;
}

static void
refuse(struct cw_logs *r, struct step *s, const char *code)
{
	s->status = 400;
	buf_printf(&r->answer, "{\"__type\":\"%s\",\"message\":\"no\"}", code);
}

static void
event_put(struct cw_logs *r, const struct line *line, bool first, bool swept)
{
	buf_printf(&r->answer,
	    "%s{\"timestamp\":%" PRId64 ",\"ingestionTime\":%" PRId64
	    ",\"message\":\"%s\"",
	    first ? "" : ",", line->ms, line->ms + line->seq, line->text);
	if (swept)
		buf_printf(&r->answer,
		    ",\"logStreamName\":\"%s\",\"eventId\":\"%" PRId64
		    "-%" PRId64 "\"",
		    line->stream, line->ms, line->seq);
	buf_putc(&r->answer, '}');
}

struct want {
	const char *stream; /* or a prefix of them */
	bool prefix, tagged;
	int64_t from_ms;
};

static bool
wanted(struct cw_logs *r, const struct line *line, const struct want *w)
{
	size_t n = strlen(w->stream);

	return line->due_ms <= loop_now_ms(r->rig.loop) &&
	       line->ms >= w->from_ms &&
	       strncmp(line->stream, w->stream, n) == 0 &&
	       (w->prefix || line->stream[n] == '\0') &&
	       (!w->tagged || strstr(line->text, "hpotune") != NULL);
}

/* A page behind a place, which moves; whether there is more. */
static bool
page_put(struct cw_logs *r, const struct want *w, struct place *at, bool again)
{
	const struct line *line, *last = NULL;
	bool first = true;
	size_t i, n = 0;

	for (i = 0; i < r->n_lines; i++) {
		line = &r->lines[i];
		if (!wanted(r, line, w))
			continue;
		if (!behind(line, *at)) {
			last = line;
			continue;
		}
		if (n == r->page)
			return true;
		if (n == 0 && again && last != NULL &&
		    strikes(r, r->twice_every)) {
			event_put(r, last, true, w->prefix);
			first = false;
		}
		event_put(r, line, first, w->prefix);
		first = false;
		at->ms = line->ms;
		at->seq = line->seq;
		n++;
	}
	return false;
}

static void
get_events(struct cw_logs *r, const struct json *q, struct step *s)
{
	struct want w = { .stream = json_string(json_get(q, "logStreamName")) };
	const char *token = json_string(json_get(q, "nextToken"));
	struct place at = { 0 }, was;

	r->gets++;
	(void)json_integer(json_get(q, "startTime"), &w.from_ms);
	if (token != NULL && strikes(r, r->expire_every)) {
		refuse(r, s, "InvalidParameterException");
		return;
	}
	at.ms = w.from_ms - 1;
	if (token != NULL &&
	    sscanf(token, "f/%" SCNd64 "/%" SCNd64 "/", &at.ms, &at.seq) != 2)
		abort();
	was = at;
	buf_puts(&r->answer, "{\"events\":[");
	if (strikes(r, r->empty_every))
		token = NULL; /* nothing, but it moves */
	else
		(void)page_put(r, &w, &at, token != NULL);
	if (token != NULL && at.ms == was.ms && at.seq == was.seq)
		buf_printf(&r->answer, "],\"nextForwardToken\":\"%s\"}", token);
	else
		buf_printf(&r->answer,
		    "],\"nextForwardToken\":\"f/%" PRId64 "/%" PRId64 "/%d\"}",
		    at.ms, at.seq, r->gets);
}

static void
filter_events(struct cw_logs *r, const struct json *q, struct step *s)
{
	struct want w = { .stream =
			      json_string(json_get(q, "logStreamNamePrefix")),
		.prefix = true,
		.tagged = json_get(q, "filterPattern") != NULL };
	const char *token = json_string(json_get(q, "nextToken"));
	struct place at = { 0 };
	bool more;

	r->filters++;
	(void)json_integer(json_get(q, "startTime"), &w.from_ms);
	if (token != NULL && strikes(r, r->expire_every)) {
		refuse(r, s, "InvalidParameterException");
		return;
	}
	if (token != NULL &&
	    sscanf(token, "n/%" SCNd64 "/%" SCNd64, &at.ms, &at.seq) != 2)
		abort();
	buf_puts(&r->answer, "{\"events\":[");
	more =
	    strikes(r, r->empty_every) || page_put(r, &w, &at, token != NULL);
	buf_putc(&r->answer, ']');
	if (more)
		buf_printf(&r->answer,
		    ",\"nextToken\":\"n/%" PRId64 "/%" PRId64 "\"", at.ms,
		    at.seq);
	buf_putc(&r->answer, '}');
}

/* Streams are there with their first line, two a page. */
static void
find_streams(struct cw_logs *r, const struct json *q)
{
	struct want w = { .stream =
			      json_string(json_get(q, "logStreamNamePrefix")),
		.prefix = true };
	const char *token = json_string(json_get(q, "nextToken"));
	size_t i, k, n = 0, skip = token != NULL ? strtoul(token, NULL, 10) : 0;

	r->finds++;
	buf_puts(&r->answer, "{\"logStreams\":[");
	for (i = 0; i < r->n_lines; i++) {
		if (!wanted(r, &r->lines[i], &w))
			continue;
		for (k = 0; k < i; k++)
			if (wanted(r, &r->lines[k], &w) &&
			    strcmp(r->lines[k].stream, r->lines[i].stream) == 0)
				break;
		if (k < i || n++ < skip)
			continue;
		if (n - skip > 2) {
			buf_printf(
			    &r->answer, "],\"nextToken\":\"%zu\"}", n - 1);
			return;
		}
		buf_printf(&r->answer, "%s{\"logStreamName\":\"%s\"}",
		    n - skip > 1 ? "," : "", r->lines[i].stream);
	}
	buf_puts(&r->answer, "]}");
}

void
cw_server_decide(
    struct aws_client *rig, const struct asked *asked, struct step *s)
{
	struct cw_logs *r = (struct cw_logs *)rig; /* its first member */
	struct json_doc *doc;
	const struct json *q;
	bool logs;

	if (json_parse(
		&doc, asked->body, strlen(asked->body), NULL, false, NULL) != 0)
		abort();
	q = json_root(doc);
	buf_clear(&r->answer);
	logs = strcmp(asked->operation, "GetMetricData") != 0;
	if (logs && r->denied)
		refuse(r, s, "AccessDeniedException");
	else if (logs && r->broken)
		refuse(r, s, "InvalidParameterException");
	else if (logs && r->no_group)
		refuse(r, s, "ResourceNotFoundException");
	else if (strcmp(asked->operation, "GetLogEvents") == 0)
		get_events(r, q, s);
	else if (strcmp(asked->operation, "FilterLogEvents") == 0)
		filter_events(r, q, s);
	else if (logs)
		find_streams(r, q);
	else {
		r->metrics++;
		if (r->metric_page != NULL &&
		    strstr(asked->body, "\"v1_0\"") != NULL)
			buf_puts(&r->answer, r->metric_page);
		else if (r->metric_data != NULL)
			buf_puts(&r->answer, r->metric_data);
		else
			refuse(r, s, "AccessDeniedException");
	}
	json_free(doc);
	s->body = buf_str(&r->answer);
	s->len = r->answer.len;
}
