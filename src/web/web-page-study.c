/*
 * The page of a study, sent piece by piece: the first is on its way while the
 * next is drawn, and other requests are answered between two pieces.
 */

#include <stdbool.h>
#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/http/http-server.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/html/page.h"
#include "src/html/section.h"
#include "src/store/store.h"
#include "src/web/web-access.h"
#include "src/web/web-address.h"
#include "src/web/web-page.h"
#include "src/web/web-studies.h"
#include "src/web/web-table.h"
#include "src/web/web-zoom.h"

/* ---- drawing ------------------------------------------------------------ */

static void
buttons_put(struct page *r, bool archived, const char *note)
{
	struct html *h = &r->h;

	html_open(h, "p");
	html_attr(h, "class", "buttons");
	if (r->now > 0) {
		if (r->row.state == STUDY_PAUSED)
			web_page_button(h, "resume", NULL, "Resume", NULL);
		else
			web_page_button(h, "pause", NULL, "Pause", NULL);
		web_page_button(h, "stop", NULL, "Stop the server",
		    "The server lets its trials checkpoint and shuts down; "
		    "hpotune start goes on with the study. Stop it?");
	}
	html_open(h, "input");
	html_attr(h, "data-words", "enqueue");
	html_attr(h, "required", "required");
	html_attr(h, "placeholder", "enqueue a setting: lr=0.01 layers=2");
	html_attr(h, "aria-label", "setting to try next");
	html_close(h, "input");
	web_page_button(h, "enqueue", NULL, "Enqueue", NULL);
	if (archived)
		web_page_button(h, "restore", NULL, "Show in the list", NULL);
	else
		web_page_button(h, "archive", NULL, "Archive", NULL);
	html_close(h, "p");
	html_open(h, "p");
	html_attr(h, "class", "buttons");
	html_open(h, "input");
	html_attr(h, "data-words", "note");
	html_attr(h, "value", note == NULL ? "" : note);
	html_attr(h, "placeholder", "a note, for the list of studies");
	html_attr(h, "aria-label", "note about the study");
	html_close(h, "input");
	web_page_button(h, "note", NULL, "Save the note", NULL);
	html_close(h, "p");
}

/* A page in progress: pieces are the frame, the sections, the table. */
struct study_page {
	struct page r;
	const struct web_access *access;
	const struct web_address *address;
	char *id;
	bool archived;
	char *note;
	size_t piece;
	bool over;
};

static void
begin_put(struct study_page *p)
{
	struct web_step steps[] = { { "studies", "/" }, { p->id, NULL } };
	char *live = web_page_address(p->id, "/live");

	web_page_begin(&p->r.h, p->access, p->id, live, steps, 2);
	free(live);
}

static int
section_put(
    struct study_page *p, const struct page_section *section, struct err *e)
{
	struct html *h = &p->r.h;

	html_open(h, "div");
	html_attrf(h, "id", "part-%s", section->name);
	if (web_zoom_is_of(&p->r, section->name))
		html_attr(h, "data-zoomed", "zoomed");
	html_text(h, NULL);
	if (section->put(&p->r, e) == -1)
		return -1;
	html_close(h, "div");
	web_zoom_put(&p->r, section->name, p->address);
	if (p->piece == 0 && !p->access->read_only)
		buttons_put(&p->r, p->archived, p->note);
	else if (p->piece == 0 && p->note != NULL)
		html_leaf(h, "p", "note", p->note);
	return 0;
}

static int
table_put(struct study_page *p, struct err *e)
{
	struct html *h = &p->r.h;

	html_open(h, "div");
	html_attr(h, "id", "trials");
	if (web_table_put(&p->r, p->id, p->address, e) != 0)
		return -1;
	html_close(h, "div");
	web_table_forms_put(&p->r, p->id, p->address);
	web_page_end(h);
	return 0;
}

static void
page_end(struct study_page *p)
{
	web_page_close(&p->r);
	free(p->id);
	free(p->note);
	free(p);
}

/* access and address are borrowed until its end; after -1 there is none. */
static int
page_begin(struct study_page **out, const struct web_access *access,
    const struct web_study *s, const struct web_address *address, struct err *e)
{
	struct study_page *p = xcalloc(1, sizeof *p);

	p->access = access;
	p->address = address;
	p->id = xstrdup(s->id);
	p->archived = web_study_archived(s);
	p->note = web_study_note_read(s);
	if (web_page_open(&p->r, s, e) != 0) {
		page_end(p);
		return -1;
	}
	web_zoom_read(&p->r, address);
	begin_put(p);
	*out = p;
	return 0;
}

/* 1: a piece was appended, 0: the page is complete, -1. */
static int
page_next(struct study_page *p, struct buf *out, struct err *e)
{
	const struct page_section *section;
	int rc;

	if (p->over)
		return 0;
	section = page_sections[p->piece];
	p->over = section == NULL;
	rc = p->over ? table_put(p, e) : section_put(p, section, e);
	p->piece++;
	if (rc == -1)
		return -1;
	buf_add(out, p->r.h.out.data, p->r.h.out.len);
	buf_clear(&p->r.h.out);
	return 1;
}

/* ---- pages in progress: a piece of each in turn ------------------------- */

struct stream {
	struct web_page_studies *all;
	struct stream *next;
	struct study_page *page;
	struct web_address address;
	struct http_server_request *request; /* NULL = its client has gone */
	bool started;
};

struct web_page_studies {
	struct loop *loop;
	struct loop_timer *timer;
	struct stream *first;
};

static void
stream_free(struct stream *s)
{
	struct stream **at;

	for (at = &s->all->first; *at != s; at = &(*at)->next)
		;
	*at = s->next;
	page_end(s->page);
	web_address_fini(&s->address);
	free(s);
}

static void
on_gone(void *arg, struct http_server_request *request)
{
	struct stream *s = arg;

	(void)request;
	stream_free(s);
}

/* One more piece; a page that cannot be completed ends with a sentence. */
static void
stream_go_on(struct stream *s)
{
	struct buf b = { 0 };
	struct err e = ERR_INIT;
	int rc = page_next(s->page, &b, &e);

	if (rc == -1) {
		buf_clear(&b);
		buf_puts(&b, "\n<p>The database cannot be read.</p>\n");
	}
	if (b.len > 0) {
		if (!s->started)
			http_server_stream(s->request);
		s->started = true;
		http_server_send(s->request, b.data, b.len);
	}
	buf_free(&b);
	if (rc == 1)
		return;
	http_server_stream_end(s->request);
	stream_free(s);
}

static void
on_timer(void *arg)
{
	struct web_page_studies *all = arg;
	struct stream *s, *next;

	for (s = all->first; s != NULL; s = next) {
		next = s->next;
		stream_go_on(s);
	}
	if (all->first != NULL)
		loop_timer_set(all->timer, 0);
}

struct web_page_studies *
web_page_studies_open(struct loop *loop)
{
	struct web_page_studies *all = xcalloc(1, sizeof *all);

	all->loop = loop;
	all->timer = loop_timer_new(loop, on_timer, all);
	return all;
}

/* The clients have been disconnected: no page is in progress any more. */
void
web_page_studies_close(struct web_page_studies *all)
{
	if (all == NULL)
		return;
	loop_timer_free(all->timer);
	free(all);
}

int
web_page_study(struct web_page_studies *all, const struct web_access *access,
    const struct web_study *study, struct web_address *address,
    struct http_server_request *request, struct err *e)
{
	struct stream *s = xcalloc(1, sizeof *s);

	s->all = all;
	s->address = *address;
	if (page_begin(&s->page, access, study, &s->address, e) != 0) {
		free(s);
		return -1;
	}
	*address = (struct web_address){ 0 };
	s->request = request;
	s->next = all->first;
	all->first = s;
	http_server_watch(request, on_gone, s);
	loop_timer_set(all->timer, 0);
	return 0;
}
