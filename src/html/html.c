/* Markup and the escaping of its contents. */

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/text.h"
#include "src/html/html.h"

/* Elements that are written <name/> when empty. */
static bool
html_is_short(const char *name)
{
	static const char *const names[] = { "circle", "input", "line", "link",
		"meta", "path", "rect" };
	size_t i;

	for (i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* The escaped form of a character, or NULL when it needs none. */
static const char *
entity(uint32_t code)
{
	switch (code) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	}
	return NULL;
}

/* XML and HTML forbid U+FFFE, U+FFFF and the other noncharacters. */
static bool
html_is_shown(uint32_t code)
{
	return code == '\n' || code == '\t' ||
	       (!text_is_control(code) && (code & 0xfffe) != 0xfffe);
}

static void
escape(struct buf *out, const char *s)
{
	size_t len = strlen(s), i, k, n;
	const char *instead;
	uint32_t code;
	int size;

	for (i = 0; i < len; i += n) {
		size = text_decode(s + i, len - i, &code);
		n = size > 0 ? (size_t)size : 1;
		if (size <= 0 || !html_is_shown(code)) {
			for (k = 0; k < n; k++)
				buf_printf(
				    out, "\\x%02x", (unsigned char)s[i + k]);
			continue;
		}
		instead = entity(code);
		if (instead != NULL)
			buf_puts(out, instead);
		else
			buf_add(out, s + i, n);
	}
}

static void
tag_end(struct html *h)
{
	if (h->in_tag)
		buf_putc(&h->out, '>');
	h->in_tag = false;
}

static char *
format(const char *fmt, va_list ap)
{
	va_list again;
	char *text;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	assert(n >= 0);
	text = xmalloc((size_t)n + 1);
	(void)vsnprintf(text, (size_t)n + 1, fmt, ap);
	return text;
}

void
html_begin(struct html *h, const char *about)
{
	buf_printf(&h->out, "<!DOCTYPE html>\n<!-- %s -->\n", about);
}

void
html_open(struct html *h, const char *name)
{
	assert(h->depth < HTML_DEPTH);
	tag_end(h);
	buf_printf(&h->out, "<%s", name);
	h->open[h->depth++] = name;
	h->in_tag = true;
}

void
html_attr(struct html *h, const char *name, const char *value)
{
	assert(h->in_tag);
	buf_printf(&h->out, " %s=\"", name);
	escape(&h->out, value);
	buf_putc(&h->out, '"');
}

void
html_attrf(struct html *h, const char *name, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = format(fmt, ap);
	va_end(ap);
	html_attr(h, name, text);
	free(text);
}

void
html_text(struct html *h, const char *text)
{
	tag_end(h);
	if (text != NULL)
		escape(&h->out, text);
}

void
html_textf(struct html *h, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = format(fmt, ap);
	va_end(ap);
	html_text(h, text);
	free(text);
}

/* Block elements end a line, so that the source is readable. */
static bool
ends_line(const char *name)
{
	return strcmp(name, "a") != 0 && strcmp(name, "span") != 0 &&
	       strcmp(name, "td") != 0 && strcmp(name, "th") != 0;
}

void
html_close(struct html *h, const char *name)
{
	assert(h->depth > 0 && strcmp(h->open[h->depth - 1], name) == 0);
	h->depth--;
	if (h->in_tag && html_is_short(name))
		buf_puts(&h->out, "/>");
	else {
		tag_end(h);
		buf_printf(&h->out, "</%s>", name);
	}
	h->in_tag = false;
	if (ends_line(name))
		buf_putc(&h->out, '\n');
}

void
html_leaf(struct html *h, const char *name, const char *class, const char *text)
{
	html_open(h, name);
	if (class != NULL)
		html_attr(h, "class", class);
	html_text(h, text);
	html_close(h, name);
}

void
html_head_open(struct html *h, const char *about)
{
	html_begin(h, about);
	html_open(h, "html");
	html_attr(h, "xmlns", "http://www.w3.org/1999/xhtml");
	html_attr(h, "lang", "en");
	html_open(h, "head");
	html_open(h, "meta");
	html_attr(h, "charset", "utf-8");
	html_close(h, "meta");
}

void
html_meta(
    struct html *h, const char *key, const char *name, const char *content)
{
	html_open(h, "meta");
	html_attr(h, key, name);
	html_attr(h, "content", content);
	html_close(h, "meta");
}

void
html_style(struct html *h, const char *css)
{
	assert(strpbrk(css, "<&") == NULL);
	html_open(h, "style");
	tag_end(h);
	buf_puts(&h->out, css);
	html_close(h, "style");
}
