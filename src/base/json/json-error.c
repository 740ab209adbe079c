/*
 * Error messages of the JSON reader: line, column, path, and the key that was
 * probably meant.
 */

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "src/base/err.h"
#include "src/base/json/json-internal.h"
#include "src/base/mem.h"
#include "src/base/text.h"

enum {
	FILE_SHOWN = 120, /* bytes of a file's name in an error */
	KEY_SHOWN = 70 /* bytes of one key in a path */
};

/* Lines and columns count from 1; a column is a character, a tab is one. */
static void
position(const struct json_doc *doc, size_t at, size_t *line, size_t *column)
{
	size_t i;

	*line = *column = 1;
	for (i = 0; i < at && i < doc->len; i++) {
		unsigned char c = (unsigned char)doc->text[i];

		if (c == '\n') {
			++*line;
			*column = 1;
		} else if (c != '\r' && (c & 0xc0) != 0x80) {
			++*column;
		}
	}
}

static bool
key_plain(const char *p, size_t n)
{
	size_t i;

	if (n == 0 || isdigit((unsigned char)p[0]))
		return false;
	for (i = 0; i < n; i++)
		if (!isalnum((unsigned char)p[i]) && p[i] != '_' && p[i] != '-')
			return false;
	return true;
}

/* The key as written in the text: .key, or ["odd key"]. */
static void
path_put_key(struct buf *b, const struct json *j)
{
	const char *raw = j->doc->text + j->key_at;
	size_t n = j->key_end - j->key_at, cut;

	if (n < KEY_SHOWN && key_plain(raw + 1, n - 2)) {
		if (b->len > 0)
			buf_putc(b, '.');
		buf_add(b, raw + 1, n - 2);
		return;
	}
	cut = n < KEY_SHOWN ? n : KEY_SHOWN;
	while (cut < n && ((unsigned char)raw[cut] & 0xc0) == 0x80)
		cut--;
	buf_putc(b, '[');
	buf_add(b, raw, cut);
	buf_puts(b, cut < n ? "...\"]" : "]");
}

static void
path_put(struct buf *b, const struct json_doc *doc, uint32_t node)
{
	uint32_t up[JSON_DEPTH_MAX + 1], n = 0;

	for (; node != 0 && n < JSON_DEPTH_MAX + 1;
	     node = doc->nodes[node].parent)
		up[n++] = node;
	while (n-- > 0) {
		const struct json *j = &doc->nodes[up[n]];

		if (j->key_end > 0)
			path_put_key(b, j);
		else
			buf_printf(b, "[%u]", (unsigned)j->place);
	}
}

/* Append error text: control characters escaped, no character cut in half. */
static void
err_put(struct err *e, const char *text, size_t len)
{
	struct buf b = { 0 };
	size_t n;

	text_put_harmless(&b, text, len, TEXT_LINE);
	n = b.len < sizeof e->text ? b.len : sizeof e->text - 1;
	while (n < b.len && n > 0 && ((unsigned char)b.data[n] & 0xc0) == 0x80)
		n--;
	err_set(e, ERR_USAGE, "%.*s", (int)n, buf_str(&b));
	buf_free(&b);
}

/* "FILE:", shortened to FILE_SHOWN. */
static void
json_error_file_put(struct buf *b, const char *file)
{
	if (file != NULL && strlen(file) > FILE_SHOWN)
		buf_printf(b, "...%s:", file + strlen(file) - FILE_SHOWN);
	else if (file != NULL)
		buf_printf(b, "%s:", file);
}

static int __attribute__((format(printf, 5, 0)))
error_vat(const struct json_doc *doc, size_t at, uint32_t node, struct err *e,
    const char *fmt, va_list ap)
{
	struct buf b = { 0 }, path = { 0 };
	char text[sizeof e->text];
	size_t line, column;

	if (e == NULL)
		return -1;
	position(doc, at, &line, &column);
	json_error_file_put(&b, doc->file);
	path_put(&path, doc, node);
	(void)vsnprintf(text, sizeof text, fmt, ap);
	buf_printf(&b, "%zu:%zu: %s%s%s", line, column, buf_str(&path),
	    path.len > 0 ? ": " : "", text);
	err_put(e, buf_str(&b), b.len);
	buf_free(&path);
	buf_free(&b);
	return -1;
}

int
json_error_at(const struct json_doc *doc, size_t at, uint32_t node,
    struct err *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)error_vat(doc, at, node, e, fmt, ap);
	va_end(ap);
	return -1;
}

static uint32_t
node_index(const struct json *j)
{
	return (uint32_t)(j - j->doc->nodes);
}

int
json_err(const struct json *j, struct err *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (j != NULL)
		(void)error_vat(j->doc, j->at, node_index(j), e, fmt, ap);
	else if (e != NULL) {
		e->kind = ERR_USAGE;
		(void)vsnprintf(e->text, sizeof e->text, fmt, ap);
	}
	va_end(ap);
	return -1;
}

bool
json_err_placed(const struct json *j, const struct err *e)
{
	struct buf place = { 0 }, text = { 0 };
	bool placed;

	json_error_file_put(&place, j->doc->file);
	text_put_harmless(&text, place.data, place.len, TEXT_LINE);
	placed = text.len > 0 && strncmp(e->text, text.data, text.len) == 0;
	buf_free(&text);
	buf_free(&place);
	return placed;
}

int
json_err_key(const struct json *j, struct err *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)error_vat(j->doc, j->key_end > 0 ? j->key_at : j->at,
	    node_index(j), e, fmt, ap);
	va_end(ap);
	return -1;
}

/* Whether one is a prefix of the other, of three letters or more. */
static bool
json_error_begins(const char *a, const char *b)
{
	size_t n = strlen(a) < strlen(b) ? strlen(a) : strlen(b);

	return n >= 3 && strncasecmp(a, b, n) == 0;
}

const char *
json_nearest(const char *word, const char *const *words)
{
	size_t i;

	for (i = 0; words[i] != NULL; i++)
		if (json_error_begins(word, words[i]))
			return words[i];
	return text_nearest(word, words);
}

/* "; did you mean …?" or "; known: …", as much as fits into an error. */
void
json_put_hint(struct buf *b, const char *word, const char *const *words)
{
	const char *near = json_nearest(word, words);

	if (near != NULL) {
		buf_printf(b, "; did you mean \"%s\"?", near);
		return;
	}
	if (*words == NULL)
		return;
	buf_puts(b, "; known:");
	for (; *words != NULL && b->len < 250; words++)
		buf_printf(b, " %s%s", *words, words[1] != NULL ? "," : "");
	if (*words != NULL)
		buf_puts(b, " ...");
}

int
json_only(const struct json *object, const char *const *known, struct err *e)
{
	struct buf hint = { 0 };
	const struct json *j;
	size_t i;

	if (json_want(object, JSON_OBJECT, e) != 0)
		return -1;
	for (j = json_first(object); j != NULL; j = json_next(j)) {
		for (i = 0; known[i] != NULL; i++)
			if (strcmp(known[i], j->key) == 0)
				break;
		if (known[i] != NULL)
			continue;
		json_put_hint(&hint, j->key, known);
		json_err_key(j, e, "unknown key%s", buf_str(&hint));
		buf_free(&hint);
		return -1;
	}
	return 0;
}
