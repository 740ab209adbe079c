/* Watches studies for the pages that follow them. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/clock.h"
#include "src/base/http/http-server.h"
#include "src/base/json/json-writer.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/html/page.h"
#include "src/web/web-live.h"
#include "src/web/web-page.h"
#include "src/web/web-studies.h"

enum {
	LOOK_MS = 200, /* between two looks at a database */
	BEAT_MS =
	    5000, /* a comment is sent, so that a lost client is noticed */
	ROUND_SHARE = 50,
	PART_SHARE = 100,
	PARTS = 16,
	BACKLOG = 4 << 20 /* bytes; a client with more gets no events */
};

struct listener {
	struct listener *next;
	struct watch *watch;
	struct http_server_request *request;
	bool tick;
	bool fresh; /* gets all parts, not only those that have changed */
	bool missed; /* some of this round */
};

struct part {
	char *html; /* as drawn last; NULL = not yet */
	bool stale; /* something has changed since */
	int64_t due_ms;
};

/* A study that at least one page follows. */
struct watch {
	struct watch *next;
	struct web_live *live;
	struct web_study study; /* id, db and state_dir are ours */
	struct web_stamp stamp;
	bool alive;
	struct listener *listeners;
	struct part parts[PARTS];
	int64_t due_ms; /* of the next round */
};

struct web_live {
	struct loop *loop;
	struct loop_timer *timer;
	struct watch *watches;
	int64_t beat_ms; /* of the next comment */
};

static void
watch_free(struct watch *w)
{
	struct watch **at;
	size_t i;

	for (at = &w->live->watches; *at != w; at = &(*at)->next)
		;
	*at = w->next;
	for (i = 0; i < PARTS; i++)
		free(w->parts[i].html);
	free(w->study.id);
	free(w->study.db);
	free(w->study.state_dir);
	free(w);
}

static void
on_gone(void *arg, struct http_server_request *request)
{
	struct listener *l = arg, **at;

	(void)request;
	for (at = &l->watch->listeners; *at != l; at = &(*at)->next)
		;
	*at = l->next;
	if (l->watch->listeners == NULL)
		watch_free(l->watch);
	free(l);
}

static void
event_send(struct listener *l, const char *name, const struct buf *data)
{
	struct buf b = { 0 };

	if (http_server_backlog(l->request) > BACKLOG) {
		l->fresh = l->missed = true;
		return;
	}
	buf_printf(&b, "event: %s\ndata: ", name);
	buf_add(&b, data->data, data->len);
	buf_puts(&b, "\n\n");
	http_server_send(l->request, b.data, b.len);
	buf_free(&b);
}

/* Send a part to the clients that do not have it. */
static void
part_send(struct watch *w, const char *name, const char *html, bool changed)
{
	struct buf data = { 0 };
	struct json_writer writer = { .out = &data };
	struct listener *l;

	json_writer_object(&writer, NULL);
	json_writer_text(&writer, "name", name);
	json_writer_text(&writer, "html", html);
	json_writer_end(&writer);
	for (l = w->listeners; l != NULL; l = l->next)
		if (!l->tick && (changed || l->fresh))
			event_send(l, "part", &data);
	buf_free(&data);
}

static bool
wants_parts(const struct watch *w)
{
	const struct listener *l;

	for (l = w->listeners; l != NULL; l = l->next)
		if (!l->tick)
			return true;
	return false;
}

static void
tick_send(struct watch *w)
{
	struct buf data = { 0 };
	struct listener *l;

	buf_puts(&data, "{}");
	for (l = w->listeners; l != NULL; l = l->next)
		event_send(l, "tick", &data);
	buf_free(&data);
}

/* Draw a section and send it when it differs from the one before. */
static int
part_draw(struct watch *w, struct page *r, size_t i, int64_t now)
{
	struct part *part = &w->parts[i];
	int64_t start = clock_cpu_us();
	bool changed;

	buf_clear(&r->h.out);
	if (page_sections[i]->put(r, NULL) == -1)
		return -1;
	part->stale = false;
	part->due_ms = now + (clock_cpu_us() - start) / 1000 * PART_SHARE;
	changed =
	    part->html == NULL || strcmp(part->html, buf_str(&r->h.out)) != 0;
	part_send(w, page_sections[i]->name, buf_str(&r->h.out), changed);
	if (changed) {
		free(part->html);
		part->html = xstrdup(buf_str(&r->h.out));
	}
	return 0;
}

/* Whether a part waits to be drawn whose time has come. */
static bool
part_is_due(const struct watch *w, size_t i, int64_t now)
{
	return w->parts[i].stale && now >= w->parts[i].due_ms;
}

static void
round_run(struct watch *w, int64_t now)
{
	int64_t start = clock_cpu_us();
	struct listener *l;
	struct page r;
	size_t i;
	int rc;

	rc = web_page_open(&r, &w->study, NULL);
	for (i = 0; rc == 0 && page_sections[i] != NULL; i++)
		if (part_is_due(w, i, now))
			rc = part_draw(w, &r, i, now);
	web_page_close(&r);
	for (i = 0; rc == 0 && page_sections[i] != NULL; i++)
		if (w->parts[i].stale)
			rc = 1; /* not all of them were due */
	if (rc == 0)
		for (l = w->listeners; l != NULL; l = l->next)
			l->fresh = l->missed;
	for (l = w->listeners; l != NULL; l = l->next)
		l->missed = false;
	w->due_ms =
	    now + LOOK_MS + (clock_cpu_us() - start) / 1000 * ROUND_SHARE;
}

static void
watch_look(struct watch *w, int64_t now)
{
	struct web_stamp stamp;
	bool alive, due = false;
	size_t i;

	if (now < w->due_ms)
		return;
	web_study_stamp(&w->study, &stamp);
	alive = web_study_alive(&w->study);
	if (!web_stamp_same(&stamp, &w->stamp) || alive != w->alive) {
		w->stamp = stamp;
		w->alive = alive;
		for (i = 0; i < PARTS; i++)
			w->parts[i].stale = true;
		tick_send(w);
	}
	for (i = 0; page_sections[i] != NULL; i++)
		due |= part_is_due(w, i, now);
	if (due && wants_parts(w))
		round_run(w, now);
}

static void
on_timer(void *arg)
{
	struct web_live *live = arg;
	int64_t now = loop_now_ms(live->loop);
	struct watch *w;
	struct listener *l;

	for (w = live->watches; w != NULL; w = w->next)
		watch_look(w, now);
	if (now >= live->beat_ms) {
		live->beat_ms = now + BEAT_MS;
		for (w = live->watches; w != NULL; w = w->next)
			for (l = w->listeners; l != NULL; l = l->next)
				http_server_send(l->request, ":\n\n", 3);
	}
	if (live->watches != NULL)
		loop_timer_set(live->timer, LOOK_MS);
}

struct web_live *
web_live_open(struct loop *loop)
{
	struct web_live *live = xcalloc(1, sizeof *live);

	live->loop = loop;
	live->timer = loop_timer_new(loop, on_timer, live);
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

static struct watch *
watch_find(struct web_live *live, const struct web_study *s)
{
	struct watch *w;

	for (w = live->watches; w != NULL; w = w->next)
		if (strcmp(w->study.db, s->db) == 0)
			return w;
	w = xcalloc(1, sizeof *w);
	w->live = live;
	w->study.id = xstrdup(s->id);
	w->study.db = xstrdup(s->db);
	w->study.state_dir = xstrdup(s->state_dir);
	w->next = live->watches;
	live->watches = w;
	return w;
}

void
web_live_add(struct web_live *live, const struct web_study *s,
    struct http_server_request *request, bool tick)
{
	struct watch *w = watch_find(live, s);
	struct listener *l = xcalloc(1, sizeof *l);
	size_t i;

	l->watch = w;
	l->request = request;
	l->tick = tick;
	l->fresh = true;
	l->next = w->listeners;
	w->listeners = l;
	/* The page may be older than the last change. */
	for (i = 0; i < PARTS; i++)
		w->parts[i].stale = true;
	http_server_set(request, "Content-Type", "text/event-stream");
	http_server_watch(request, on_gone, l);
	http_server_stream(request);
	http_server_send(request, "retry: 2000\n\n", 13);
	if (!loop_timer_pending(live->timer))
		loop_timer_set(live->timer, LOOK_MS);
}
