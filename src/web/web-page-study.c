/*
 * The page of a study, sent piece by piece: the first is on its way while the
 * next is drawn.
 */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/html/page.h"
#include "src/html/section.h"
#include "src/store/store.h"
#include "src/web/web-access.h"
#include "src/web/web-address.h"
#include "src/web/web-database.h"
#include "src/web/studies/web-note.h"
#include "src/web/web-page.h"
#include "src/web/studies/web-studies.h"
#include "src/web/web-table.h"
#include "src/web/web-zoom.h"

static void
web_page_study_buttons_put(struct page *r, bool archived, const char *note)
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

/* A page in progress: pieces are the head with the table, the other sections. */
struct study_page {
	struct page r;
	const struct web_access *access;
	const struct web_address *address;
	const char *id;
	bool archived;
	char *note;
	size_t piece;
};

static void
web_page_study_begin_put(struct study_page *p)
{
	struct web_step steps[] = { { "studies", p->address->root },
		{ p->id, NULL } };
	char *live = web_page_address(p->address->root, p->id, "/live");

	web_page_begin(
	    &p->r.h, p->access, p->address->root, p->id, live, steps, 2);
	free(live);
}

static int
web_page_study_section_put(
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
	web_page_chart_links_put(h, section->name, p->id, p->address);
	if (p->piece == 1 && !p->access->read_only)
		web_page_study_buttons_put(&p->r, p->archived, p->note);
	else if (p->piece == 1 && p->note != NULL)
		html_leaf(h, "p", "note", p->note);
	return 0;
}

static int
web_page_study_table_put(struct study_page *p, struct err *e)
{
	struct html *h = &p->r.h;

	html_open(h, "div");
	html_attr(h, "id", "trials");
	if (web_table_put(&p->r, p->id, p->address, e) != 0)
		return -1;
	html_close(h, "div");
	web_table_forms_put(&p->r, p->id, p->address);
	return 0;
}

/*
 * Links to all parts, which stay in sight.  The style sheet hides those of parts
 * that are empty: they may fill while the page is open.
 */
static void
web_page_study_contents_put(struct html *h)
{
	static const struct {
		const char *part, *name;
	} contents[] = { { "part-head", "Now" }, { "trials", "Trials" },
		{ "part-about", "What it took" }, { "part-history", "History" },
		{ "part-front", "Front" }, { "part-curves", "Curves" },
		{ "part-metrics", "Metrics" }, { "part-parallel", "Parallel" },
		{ "part-importance", "Parameters" }, { "part-best", "Best" },
		{ "part-stops", "Stops" }, { "part-timeline", "Timeline" },
		{ "part-failures", "Failures" }, { "part-notes", "Notes" },
		{ "part-events", "Events" }, { "part-study", "Study" } };
	char address[40];
	size_t i;

	html_open(h, "nav");
	html_attr(h, "class", "contents");
	html_attr(h, "aria-label", "parts of this page");
	for (i = 0; i < sizeof contents / sizeof *contents; i++) {
		(void)snprintf(
		    address, sizeof address, "#%s", contents[i].part);
		web_page_link(h, address, contents[i].name);
		html_text(h, " ");
	}
	html_close(h, "nav");
}

int
web_page_study(web_page_piece *piece, void (*turn)(void *arg), void *arg,
    const struct web_access *access, const struct web_study *s,
    const struct web_address *address, struct err *e)
{
	struct study_page p = { .access = access,
		.address = address,
		.id = s->id,
		.archived = web_note_archived(s->db),
		.note = web_note_read(s->db) };
	int rc;

	rc = web_database_open(&p.r, address->root, s, e);
	p.r.turn = turn;
	p.r.turn_arg = arg;
	web_zoom_read(&p.r, address);
	if (rc == 0) {
		web_page_study_begin_put(&p);
		web_page_study_contents_put(&p.r.h);
	}
	while (rc == 0 && page_sections[p.piece] != NULL) {
		rc =
		    web_page_study_section_put(&p, page_sections[p.piece++], e);
		/* The first is the head: trials are right below it. */
		if (rc == 0)
			piece(arg, &p.r.h.out);
		buf_clear(&p.r.h.out);
		if (rc == 0 && p.piece == 1)
			rc = web_page_study_table_put(&p, e);
	}
	if (rc == 0) {
		web_page_end(&p.r.h);
		piece(arg, &p.r.h.out);
	}
	web_database_close(&p.r);
	free(p.note);
	return rc;
}
