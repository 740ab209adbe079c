/* What all pages share: head and foot, and the database of a study, read once. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/html/html.h"
#include "src/html/page-data.h"
#include "src/store/store.h"
#include "src/web/web-access.h"
#include "src/web/web-address.h"
#include "src/web/web-page.h"
#include "src/web/web-studies.h"

/* ---- head and foot ------------------------------------------------------ */

static void
head_put(struct html *h, const char *title)
{
	html_head_open(h, "page of hpotune web");
	html_meta(h, "name", "viewport", "width=device-width, initial-scale=1");
	html_open(h, "title");
	html_textf(h, "%s: hpotune", title);
	html_close(h, "title");
	html_open(h, "link");
	html_attr(h, "rel", "stylesheet");
	html_attr(h, "href", "/web.css");
	html_close(h, "link");
	/* No icon: browsers would ask for one. */
	html_open(h, "link");
	html_attr(h, "rel", "icon");
	html_attr(h, "href", "data:,");
	html_close(h, "link");
	html_open(h, "script");
	html_attr(h, "src", "/web.js");
	html_attr(h, "defer", "defer");
	html_text(h, "");
	html_close(h, "script");
	html_close(h, "head");
}

void
web_page_begin(struct html *h, const struct web_access *access,
    const char *title, const char *live, const struct web_step *steps, size_t n)
{
	size_t i;

	head_put(h, title);
	html_open(h, "body");
	if (live != NULL)
		html_attr(h, "data-live", live);
	if (!access->read_only)
		html_attr(h, "data-form", access->form);
	html_open(h, "nav");
	html_attr(h, "aria-label", "the way to this page");
	for (i = 0; i < n; i++) {
		if (steps[i].address != NULL)
			web_page_link(h, steps[i].address, steps[i].text);
		else
			html_leaf(h, "span", NULL, steps[i].text);
		if (i + 1 < n)
			html_text(h, " / ");
	}
	html_open(h, "span");
	html_attr(h, "class", "live");
	html_attr(h, "role", "status");
	html_text(h, "");
	html_close(h, "span");
	html_open(h, "a"); /* where the script puts trials that are chosen */
	html_attr(h, "id", "chosen");
	html_attr(h, "hidden", "hidden");
	html_text(h, "");
	html_close(h, "a");
	html_close(h, "nav");
	html_open(h, "main");
}

void
web_page_end(struct html *h)
{
	html_close(h, "main");
	html_close(h, "body");
	html_close(h, "html");
}

char *
web_page_address(const char *study, const char *rest)
{
	struct buf b = { 0 };

	buf_puts(&b, "/s/");
	web_address_put(&b, study);
	buf_puts(&b, rest);
	return buf_take(&b);
}

void
web_page_link(struct html *h, const char *address, const char *text)
{
	html_open(h, "a");
	html_attr(h, "href", address);
	html_text(h, text);
	html_close(h, "a");
}

void
web_page_button(struct html *h, const char *action, const char *trial,
    const char *text, const char *question)
{
	html_open(h, "button");
	html_attr(h, "type", "button");
	html_attr(h, "data-do", action);
	if (trial != NULL)
		html_attr(h, "data-trial", trial);
	if (question != NULL)
		html_attr(h, "data-ask", question);
	html_text(h, text);
	html_close(h, "button");
}

static bool
is_without(const char *name, const char *const *without)
{
	size_t len;

	for (; *without != NULL; without++) {
		len = strlen(*without);
		if (strcmp(name, *without) == 0 ||
		    (len > 0 && (*without)[len - 1] == '.' &&
			strncmp(name, *without, len) == 0))
			return true;
	}
	return false;
}

void
web_page_hidden(
    struct html *h, const struct web_address *a, const char *const *without)
{
	size_t i;

	for (i = 0; i < a->n_params; i++) {
		if (is_without(a->params[i].name, without))
			continue;
		html_open(h, "input");
		html_attr(h, "type", "hidden");
		html_attr(h, "name", a->params[i].name);
		html_attr(h, "value", a->params[i].value);
		html_close(h, "input");
	}
}

/* ---- the database, read once -------------------------------------------- */

int
web_page_open(struct page *r, const struct web_study *s, struct err *e)
{
	struct store *store;

	*r = (struct page){ .zoomable = true,
		.links = web_page_address(s->id, "") };
	if (store_open(&store, s->db, STORE_READ, e) != 0)
		return -1;
	r->store = store;
	if (web_study_alive(s))
		r->now = (double)time(NULL);
	if (store_begin(store, e) != 0)
		return -1;
	return page_data_read(r, store, e);
}

void
web_page_close(struct page *r)
{
	struct store *store = r->store;

	page_data_fini(r);
	free(r->zooms);
	free(r->links);
	if (store == NULL)
		return;
	if (store_in_transaction(store))
		store_rollback(store);
	store_close(store);
}

int
web_page_find(size_t *at, const struct page *r, int64_t trial, struct err *e)
{
	/* Trial numbers have no gaps. */
	*at = (size_t)trial - 1;
	if (trial >= 1 && (uint64_t)trial <= r->n)
		return 0;
	return err_set(e, ERR_USAGE, "there is no trial %" PRId64, trial);
}
