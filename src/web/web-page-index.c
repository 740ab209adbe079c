/* The list of studies. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/html/html.h"
#include "src/model/plugin-options.h"
#include "src/view/rows.h"
#include "src/web/studies/web-studies.h"
#include "src/web/studies/web-summary.h"
#include "src/web/web-access.h"
#include "src/web/web-address.h"
#include "src/web/web-page.h"

/* A cell; head names it where the screen has no room for columns. */
static void
web_page_index_cell_put(
    struct html *h, const char *head, const char *class, const char *text)
{
	html_open(h, "td");
	if (class != NULL)
		html_attr(h, "class", class);
	if (text != NULL && *text != '\0')
		html_attr(h, "data-head", head);
	html_text(h, text);
	html_close(h, "td");
}

static void
web_page_index_heads_put(struct html *h)
{
	static const struct {
		const char *text, *class;
	} heads[] = { { "", NULL }, { "study", NULL }, { "state", NULL },
		{ "server", NULL }, { "goal", NULL }, { "best", "n" },
		{ "trials", NULL }, { "time left", "n" }, { "cost, $", "n" },
		{ "created", NULL } };
	size_t i;

	html_open(h, "thead");
	html_open(h, "tr");
	for (i = 0; i < sizeof heads / sizeof *heads; i++) {
		html_open(h, "th");
		html_attr(h, "scope", "col");
		if (heads[i].class != NULL)
			html_attr(h, "class", heads[i].class);
		html_text(h, heads[i].text);
		html_close(h, "th");
	}
	html_close(h, "tr");
	html_close(h, "thead");
}

static void
web_page_index_real_put(
    struct html *h, const char *head, double value, bool shown)
{
	struct buf b = { 0 };

	if (shown)
		rows_put_number(&b, value, 6);
	web_page_index_cell_put(h, head, "n", buf_str(&b));
	buf_free(&b);
}

/* A running study without a server was abandoned. */
static void
web_page_index_life_put(struct html *h, const struct web_summary *m, bool alive)
{
	bool runs =
	    m->state != NULL && (m->state[0] == 'r' || m->state[0] == 'p');

	if (alive)
		web_page_index_cell_put(h, "server", "alive", "alive");
	else
		web_page_index_cell_put(h, "server", runs ? "trouble" : NULL,
		    runs ? "none: hpotune start resumes it" : "");
}

/* The best value and its trial, or how many trials are on the front. */
static void
web_page_index_best_put(struct html *h, const struct web_summary *m)
{
	struct buf b = { 0 };

	if (m->best_trial > 0) {
		rows_put_number(&b, m->best, 6);
		buf_printf(&b, " in trial %" PRId64, m->best_trial);
	} else if (m->front > 0)
		buf_printf(&b, "front: %" PRId64 " trial%s", m->front,
		    m->front == 1 ? "" : "s");
	web_page_index_cell_put(h, "best", "n", buf_str(&b));
	buf_free(&b);
}

/*
 * The number of trials, a bar of how many of its limit have ended, and how they
 * have.
 */
static void
web_page_index_progress_put(struct html *h, const struct web_summary *m)
{
	const struct {
		const char *state;
		int64_t n;
	} counts[] = { { "running", m->running }, { "completed", m->completed },
		{ "stopped", m->stopped }, { "failed", m->failed } };
	const char *between = "";
	size_t i;

	html_open(h, "td");
	html_attr(h, "data-head", "trials");
	html_textf(h, "%" PRId64, m->trials);
	if (m->limit > 0) {
		html_textf(h, " of %" PRId64, m->limit);
		html_open(h, "progress");
		html_attrf(h, "max", "%" PRId64, m->limit);
		html_attrf(h, "value", "%" PRId64, m->trials - m->running);
		html_attr(h, "aria-label", "trials that have ended");
		html_text(h, "");
		html_close(h, "progress");
	}
	html_open(h, "span");
	html_attr(h, "class", "note");
	html_text(h, "");
	for (i = 0; i < sizeof counts / sizeof *counts; i++)
		if (counts[i].n > 0) {
			html_textf(h, "%s%" PRId64 " %s", between, counts[i].n,
			    counts[i].state);
			between = ", ";
		}
	html_close(h, "span");
	html_close(h, "td");
}

/* Seconds until limits.trials at the pace of ended trials; 0 = not known. */
static double
web_page_index_seconds_left(const struct web_summary *m)
{
	int64_t over = m->trials - m->running;

	/* The same as the board of hpotune watch says. */
	if (over < 3 || m->limit <= over || !(m->elapsed > 0))
		return 0;
	return m->elapsed / (double)over * (double)(m->limit - over);
}

/* Show the time left of a study that a server runs, from a second on. */
static void
web_page_index_left_put(struct html *h, const struct web_summary *m, bool alive)
{
	double left = alive ? web_page_index_seconds_left(m) : 0;
	struct buf b = { 0 };

	if (left >= 1)
		duration_put_rough(&b, left);
	web_page_index_cell_put(h, "time left", "n", buf_str(&b));
	buf_free(&b);
}

static void
web_page_index_row_put(struct html *h, const struct web_study *s,
    const struct web_summary *m, const char *trouble)
{
	bool alive = s->look.alive;
	char *address = web_page_address("./", s->id, "");
	char text[64];

	html_open(h, "tr");
	html_open(h, "td");
	html_open(h, "input");
	html_attr(h, "type", "checkbox");
	html_attr(h, "name", "study");
	html_attr(h, "value", s->id);
	html_attr(h, "form", "compare");
	html_attrf(h, "aria-label", "compare %s", s->id);
	html_close(h, "input");
	html_close(h, "td");
	html_open(h, "td");
	web_page_link(h, address, s->id);
	if (s->note != NULL)
		html_leaf(h, "div", "note", s->note);
	html_close(h, "td");
	free(address);
	if (m->state == NULL) {
		html_open(h, "td");
		html_attr(h, "colspan", "8");
		if (trouble != NULL)
			html_attr(h, "class", "trouble");
		html_text(h, trouble != NULL ? trouble : "not read yet");
		html_close(h, "td");
		html_close(h, "tr");
		return;
	}
	web_page_index_cell_put(h, "state", NULL, m->state);
	web_page_index_life_put(h, m, alive);
	web_page_index_cell_put(h, "goal", NULL, m->goal);
	web_page_index_best_put(h, m);
	web_page_index_progress_put(h, m);
	web_page_index_left_put(h, m, alive);
	web_page_index_real_put(h, "cost, $", m->cost, m->cost > 0);
	if (m->created != NULL)
		(void)snprintf(text, sizeof text, "%.10s %.5s", m->created,
		    m->created + 11);
	web_page_index_cell_put(
	    h, "created", "w", m->created != NULL ? text : NULL);
	html_close(h, "tr");
}

void
web_page_index_row(struct buf *out, const struct web_study *s,
    const struct web_summary *m, const char *trouble)
{
	struct html h = { 0 };

	web_page_index_row_put(&h, s, m, trouble);
	buf_add(out, h.out.data, h.out.len);
	buf_free(&h.out);
}

/* Whether a study's name, goal or note contains what is searched. */
static bool
web_page_index_is_found(const struct web_study *s, const char *words)
{
	return words == NULL || strcasestr(s->id, words) != NULL ||
	       (s->note != NULL && strcasestr(s->note, words) != NULL) ||
	       (s->words != NULL && strcasestr(s->words, words) != NULL);
}

static void
web_page_index_study_put(struct html *h, const struct web_study *s)
{
	const struct web_summary none = { 0 };

	if (s->row == NULL) {
		web_page_index_row_put(h, s, &none, NULL);
		return;
	}
	html_text(h, NULL); /* ends what is open */
	buf_puts(&h->out, s->row);
}

/* The other ones, archived or not, are behind a link below. */
static void
web_page_index_table_put(struct html *h, const struct web_studies *all,
    const char *words, bool archived)
{
	size_t i, shown = 0, others = 0;

	for (i = 0; i < all->n; i++) {
		if (all->studies[i]->look.archived != archived) {
			others++;
			continue;
		}
		if (!web_page_index_is_found(all->studies[i], words))
			continue;
		if (shown++ == 0) {
			html_open(h, "table");
			web_page_index_heads_put(h);
			html_open(h, "tbody");
		}
		web_page_index_study_put(h, all->studies[i]);
	}
	if (shown > 0) {
		html_close(h, "tbody");
		html_close(h, "table");
	} else
		html_leaf(h, "p", NULL,
		    all->n == 0
			? "No study here yet: hpotune start STUDY creates one."
		    : words != NULL
			? "No study has this in its name, goal or note."
			: "No study.");
	if (others == 0)
		return;
	html_open(h, "p");
	html_open(h, "a");
	html_attr(h, "href", archived ? "./" : "./?archived=1");
	html_textf(h, "%zu %sarchived", others, archived ? "not " : "");
	html_close(h, "a");
	html_close(h, "p");
}

static void
web_page_index_search_put(struct html *h, const char *words, bool archived)
{
	html_open(h, "form");
	html_attr(h, "class", "filter");
	html_attr(h, "action", "./");
	html_open(h, "input");
	html_attr(h, "name", "find");
	html_attr(h, "value", words == NULL ? "" : words);
	html_attr(h, "placeholder", "part of a name, a metric or a note");
	html_attr(h, "aria-label", "search studies");
	html_close(h, "input");
	if (archived) {
		html_open(h, "input");
		html_attr(h, "type", "hidden");
		html_attr(h, "name", "archived");
		html_attr(h, "value", "1");
		html_close(h, "input");
	}
	html_leaf(h, "button", NULL, "Search");
	html_close(h, "form");
}

void
web_page_index(struct buf *out, const struct web_access *access,
    const struct web_studies *all, const struct web_address *address, bool hung)
{
	static const struct web_step steps[] = { { "studies", NULL } };
	const char *words = web_address_param(address, "find", 0);
	bool archived = web_address_number(address, "archived", 0) == 1;
	struct html h = { 0 };

	web_page_begin(
	    &h, access, address->root, "studies", WEB_PAGE_REFETCH, steps, 1);
	html_leaf(&h, "h1", NULL, archived ? "Archived studies" : "Studies");
	web_page_index_search_put(&h, words, archived);
	html_open(&h, "div");
	html_attr(&h, "id", "part-studies");
	html_attr(&h, "class", "wide");
	if (hung)
		html_leaf(&h, "p", "trouble",
		    "A folder did not answer within a second: the list is as "
		    "it was before.");
	web_page_index_table_put(&h, all, words, archived);
	html_close(&h, "div");
	html_open(&h, "form");
	html_attr(&h, "id", "compare");
	html_attr(&h, "action", "./compare");
	html_leaf(&h, "button", NULL, "Compare the selected studies");
	html_close(&h, "form");
	web_page_end(&h);
	buf_add(out, h.out.data, h.out.len);
	buf_free(&h.out);
}
