/* What all pages share: head and foot, links, buttons. */

#include <string.h>

#include "src/base/mem.h"
#include "src/html/html.h"
#include "src/web/web-access.h"
#include "src/web/web-address.h"
#include "src/web/web-page.h"

static void
web_page_head_put(
    struct html *h, const char *root, const char *title, bool script)
{
	html_head_open(h, "page of hpotune web");
	html_meta(h, "name", "viewport", "width=device-width, initial-scale=1");
	html_open(h, "title");
	html_textf(h, "%s: hpotune", title);
	html_close(h, "title");
	html_open(h, "link");
	html_attr(h, "rel", "stylesheet");
	html_attrf(h, "href", "%sweb.css", root);
	html_close(h, "link");
	/* No icon: browsers would ask for one. */
	html_open(h, "link");
	html_attr(h, "rel", "icon");
	html_attr(h, "href", "data:,");
	html_close(h, "link");
	if (script) {
		html_open(h, "script");
		html_attrf(h, "src", "%sweb.js", root);
		html_attr(h, "defer", "defer");
		html_text(h, "");
		html_close(h, "script");
	}
	html_close(h, "head");
}

void
web_page_begin(struct html *h, const struct web_access *access,
    const char *root, const char *title, const char *live,
    const struct web_step *steps, size_t n)
{
	size_t i;

	web_page_head_put(h, root, title, true);
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
web_page_address(const char *root, const char *study, const char *rest)
{
	struct buf b = { 0 };

	buf_puts(&b, root);
	buf_puts(&b, "s/");
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
web_page_is_without(const char *name, const char *const *without)
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
		if (web_page_is_without(a->params[i].name, without))
			continue;
		html_open(h, "input");
		html_attr(h, "type", "hidden");
		html_attr(h, "name", a->params[i].name);
		html_attr(h, "value", a->params[i].value);
		html_close(h, "input");
	}
}

void
web_page_sentence(struct buf *out, const struct web_access *access,
    const struct web_address *address, const char *title, const char *sentence)
{
	struct web_step steps[] = { { "studies", address->root },
		{ title, NULL } };
	struct html h = { 0 };

	web_page_begin(&h, access, address->root, title, NULL, steps, 2);
	html_leaf(&h, "h1", NULL, title);
	html_leaf(&h, "p", NULL, sentence);
	web_page_end(&h);
	buf_add(out, h.out.data, h.out.len);
	buf_free(&h.out);
}

void
web_page_trouble(struct buf *out, const char *sentence)
{
	struct html h = { 0 };

	html_leaf(&h, "p", "trouble", sentence);
	buf_add(out, h.out.data, h.out.len);
	buf_free(&h.out);
}

void
web_page_outside(struct buf *out, const struct web_address *address)
{
	struct html h = { 0 };

	web_page_head_put(&h, address->root, "no page", false);
	html_open(&h, "body");
	html_open(&h, "main");
	html_leaf(&h, "h1", NULL, "This address is not complete");
	html_leaf(&h, "p", NULL,
	    "The address of each page of hpotune web contains a secret, which "
	    "is another one each time it starts: an old bookmark leads here.");
	html_leaf(&h, "p", NULL,
	    "Open the address that hpotune web printed when it started; of "
	    "hpotune start --web it is also in NAME.d/server.log.");
	web_page_end(&h);
	buf_add(out, h.out.data, h.out.len);
	buf_free(&h.out);
}
