/* Passes what followers of studies draw on to the pages. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/http/http-server.h"
#include "src/base/json/json-writer.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/web/web-answer.h"
#include "src/web/web-follow.h"
#include "src/web/web-live.h"
#include "src/web/web-reader.h"
#include "src/web/studies/web-studies.h"

enum {
	TURN_MS = 1000,
	BEAT_MS =
	    5000, /* a comment is sent, so that a lost client is noticed */
	REST_MS = 50 * WEB_READER_LIMIT_MS, /* of a study that did not answer */
	BACKLOG = 4 << 20 /* bytes; a client with more gets no events */
};

struct web_live_listener {
	struct web_live_listener *next;
	struct web_live_watch *watch;
	struct http_server_request *request;
	bool started; /* its study was found */
	bool fresh; /* gets all parts, not only those that have changed */
	uint32_t asked; /* its question for them */
	bool missed; /* some of this round */
};

/* A study that at least one page follows, by parts or by ticks alone. */
struct web_live_watch {
	struct web_live_watch *next;
	struct web_live *live;
	char *id;
	bool tick;
	bool found;
	struct web_live_listener *listeners;
	struct web_reader *reader; /* NULL: it rests */
	int64_t again_ms; /* until then */
};

struct web_live {
	struct loop *loop;
	struct web_readers *readers;
	struct web_studies *studies;
	struct loop_timer *timer;
	struct web_live_watch *watches;
	int64_t beat_ms; /* of the next comment */
};

static void
web_live_watch_free(struct web_live_watch *w)
{
	struct web_live_watch **at;

	for (at = &w->live->watches; *at != w; at = &(*at)->next)
		;
	*at = w->next;
	web_reader_kill(w->reader);
	free(w->id);
	free(w);
}

/* Forget a listener; the last one takes the watch with it. */
static void
web_live_leave(struct web_live_listener *l)
{
	struct web_live_watch *w = l->watch;
	struct web_live_listener **at;

	for (at = &w->listeners; *at != l; at = &(*at)->next)
		;
	*at = l->next;
	free(l);
	if (w->listeners == NULL)
		web_live_watch_free(w);
}

static void
web_live_on_gone(void *arg, struct http_server_request *request)
{
	(void)request;
	web_live_leave(arg);
}

static void
web_live_event(
    struct web_live_listener *l, const char *name, const char *data, size_t len)
{
	struct buf b = { 0 };

	if (!l->started)
		return;
	if (http_server_backlog(l->request) > BACKLOG) {
		l->fresh = l->missed = true;
		return;
	}
	buf_printf(&b, "event: %s\ndata: ", name);
	buf_add(&b, data, len);
	buf_puts(&b, "\n\n");
	http_server_send(l->request, b.data, b.len);
	buf_free(&b);
}

/* The study is there: the answer begins. */
static void
web_live_start(struct web_live_listener *l)
{
	if (l->started)
		return;
	l->started = true;
	http_server_stream(l->request);
	http_server_send(l->request, "retry: 2000\n\n", 13);
}

static void
web_live_found(struct web_live_watch *w)
{
	struct web_live_listener *l;

	w->found = true;
	for (l = w->listeners; l != NULL; l = l->next)
		web_live_start(l);
}

/* The study is not there; a page that followed it learns it by the end. */
static void
web_live_none(struct web_live_watch *w)
{
	struct web_live_listener *l, *next;

	for (l = w->listeners; l != NULL; l = next) {
		next = l->next;
		if (l->started)
			http_server_stream_end(l->request);
		else
			web_answer_text(
			    l->request, 404, "There is no such study.\n");
		web_live_leave(l);
	}
}

static void
web_live_part(struct web_live_watch *w, const char *data, size_t len, bool all)
{
	struct web_live_listener *l;

	for (l = w->listeners; l != NULL; l = l->next)
		if (all || l->fresh)
			web_live_event(l, "part", data, len);
}

static void
web_live_ticks(struct web_live_watch *w)
{
	struct web_live_listener *l;

	for (l = w->listeners; l != NULL; l = l->next)
		web_live_event(l, "tick", "{}", 2);
}

/* All parts were drawn after this question. */
static void
web_live_round(struct web_live_watch *w, uint32_t asked)
{
	struct web_live_listener *l;

	for (l = w->listeners; l != NULL; l = l->next) {
		if ((int32_t)(asked - l->asked) >= 0)
			l->fresh = l->missed;
		l->missed = false;
	}
}

static void
web_live_on_frame(void *arg, char kind, const char *bytes, size_t len)
{
	struct web_live_watch *w = arg;
	uint32_t asked = 0;

	switch ((enum web_follow_frame)kind) {
	case WEB_FOLLOW_NONE:
		web_live_none(w);
		break;
	case WEB_FOLLOW_FOUND:
		web_live_found(w);
		break;
	case WEB_FOLLOW_TICK:
		web_live_ticks(w);
		break;
	case WEB_FOLLOW_PART:
	case WEB_FOLLOW_SAME:
		web_live_part(w, bytes, len, kind == WEB_FOLLOW_PART);
		break;
	case WEB_FOLLOW_ROUND:
		memcpy(&asked, bytes, sizeof asked);
		web_live_round(w, asked);
		break;
	}
}

/* The follower was killed, or has died: pages say so, and it rests. */
static void
web_live_on_end(void *arg, const char *why, int64_t at)
{
	struct web_live_watch *w = arg;
	struct buf data = { 0 };
	struct json_writer writer = { .out = &data };
	struct web_live_listener *l;
	char *sentence;

	(void)at;
	w->reader = NULL;
	w->again_ms = loop_now_ms(w->live->loop) + REST_MS;
	sentence = xasprintf("not followed for %d s: the database %s",
	    REST_MS / 1000, why != NULL ? why : "is gone");
	json_writer_object(&writer, NULL);
	json_writer_text(&writer, "why", sentence);
	json_writer_end(&writer);
	for (l = w->listeners; l != NULL; l = l->next) {
		web_live_start(l);
		web_live_event(l, "trouble", data.data, data.len);
	}
	free(sentence);
	buf_free(&data);
}

static void
web_live_work(void *arg, struct web_sink *sink)
{
	struct web_live_watch *w = arg;

	web_follow(w->live->studies, w->id, !w->tick, sink);
}

static void
web_live_watch_start(struct web_live_watch *w)
{
	struct web_live_listener *l;

	w->reader = web_reader_start(
	    w->live->readers, &(struct web_reader_spec){ .work = web_live_work,
				  .frame = web_live_on_frame,
				  .end = web_live_on_end,
				  .arg = w,
				  .study = w->id,
				  .stays = true });
	for (l = w->listeners; l != NULL; l = l->next)
		l->asked = 0;
}

static void
web_live_on_timer(void *arg)
{
	struct web_live *live = arg;
	int64_t now = loop_now_ms(live->loop);
	struct web_live_watch *w;
	struct web_live_listener *l;
	bool beat = now >= live->beat_ms;

	if (beat)
		live->beat_ms = now + BEAT_MS;
	for (w = live->watches; w != NULL; w = w->next) {
		if (w->reader == NULL && now >= w->again_ms)
			web_live_watch_start(w);
		for (l = w->listeners; beat && l != NULL; l = l->next)
			if (l->started)
				http_server_send(l->request, ":\n\n", 3);
	}
	if (live->watches != NULL)
		loop_timer_set(live->timer, TURN_MS);
}

struct web_live *
web_live_open(
    struct loop *loop, struct web_readers *readers, struct web_studies *studies)
{
	struct web_live *live = xcalloc(1, sizeof *live);

	live->loop = loop;
	live->readers = readers;
	live->studies = studies;
	live->timer = loop_timer_new(loop, web_live_on_timer, live);
	return live;
}

/* The clients have been disconnected: none is left. */
void
web_live_close(struct web_live *live)
{
	if (live == NULL)
		return;
	loop_timer_free(live->timer);
	free(live);
}

static struct web_live_watch *
web_live_watch_find(struct web_live *live, const char *id, bool tick)
{
	struct web_live_watch *w;

	for (w = live->watches; w != NULL; w = w->next)
		if (w->tick == tick && strcmp(w->id, id) == 0)
			return w;
	w = xcalloc(1, sizeof *w);
	w->live = live;
	w->id = xstrdup(id);
	w->tick = tick;
	w->next = live->watches;
	live->watches = w;
	return w;
}

void
web_live_add(struct web_live *live, const char *id,
    struct http_server_request *request, bool tick)
{
	struct web_live_watch *w = web_live_watch_find(live, id, tick);
	struct web_live_listener *l = xcalloc(1, sizeof *l);

	l->watch = w;
	l->request = request;
	l->fresh = true;
	l->next = w->listeners;
	w->listeners = l;
	web_answer_headers(request, "text/event-stream");
	http_server_watch(request, web_live_on_gone, l);
	if (w->found)
		web_live_start(l);
	if (w->reader == NULL && loop_now_ms(live->loop) >= w->again_ms)
		web_live_watch_start(w);
	/* The page may be older than the last change. */
	else if (w->reader != NULL)
		l->asked = web_reader_ask(w->reader);
	else
		web_live_start(l); /* it rests */
	if (!loop_timer_pending(live->timer))
		loop_timer_set(live->timer, TURN_MS);
}
