/* Writes a JSON document value by value: commas, keys, brackets, escapes. */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/json-internal.h"
#include "src/base/json/json-writer.h"
#include "src/base/json/json.h"
#include "src/base/mem.h"

/* The text of a value without the white space between its tokens. */
void
json_write(struct buf *b, const struct json *j)
{
	const char *p = j->doc->text + j->at, *end = j->doc->text + j->end;
	const char *start = p;
	bool quoted = false;

	for (; p < end; p++) {
		if (*p == '"')
			quoted = !quoted;
		else if (quoted && *p == '\\')
			p++;
		else if (!quoted && (unsigned char)*p <= ' ') {
			buf_add(b, start, (size_t)(p - start));
			start = p + 1;
		}
	}
	buf_add(b, start, (size_t)(end - start));
}

void
json_put_string(struct buf *b, const char *s)
{
	static const char hex[] = "0123456789abcdef";
	const char *start = s;
	unsigned char c;

	buf_putc(b, '"');
	for (; (c = (unsigned char)*s) != '\0'; s++) {
		if (c >= ' ' && c != '"' && c != '\\' && c != 0x7f)
			continue;
		buf_add(b, start, (size_t)(s - start));
		start = s + 1;
		buf_putc(b, '\\');
		if (c == '"' || c == '\\') {
			buf_putc(b, (char)c);
		} else if (c == '\n') {
			buf_putc(b, 'n');
		} else if (c == '\t') {
			buf_putc(b, 't');
		} else {
			buf_puts(b, "u00");
			buf_putc(b, hex[c >> 4]);
			buf_putc(b, hex[c & 15]);
		}
	}
	buf_add(b, start, (size_t)(s - start));
	buf_putc(b, '"');
}

void
json_put_number(struct buf *b, double x)
{
	char text[40];
	int digits, n = 0;

	if (!isfinite(x)) {
		buf_puts(b, "null");
		return;
	}
	for (digits = 15; digits <= 17; digits++) {
		n = snprintf(text, sizeof text, "%.*g", digits, x);
		if (strtod(text, NULL) == x)
			break;
	}
	buf_add(b, text, (size_t)n);
}

/* A number as it is written, or in its shortest form where it has a point. */
static void
spaced_put_number(struct buf *b, const struct json *j)
{
	size_t at = b->len;

	if (!json_is_decimal(j)) {
		json_write(b, j);
		return;
	}
	json_put_number(b, j->number);
	if (strpbrk(b->data + at, ".e") == NULL)
		buf_puts(b, ".0");
}

static void
spaced_put(struct json_writer *w, const char *key, const struct json *j)
{
	const struct json *child;

	switch (json_type(j)) {
	case JSON_NULL:
	case JSON_BOOL:
		json_write(json_writer_value(w, key), j);
		return;
	case JSON_NUMBER:
		spaced_put_number(json_writer_value(w, key), j);
		return;
	case JSON_STRING:
		json_writer_text(w, key, j->string);
		return;
	case JSON_ARRAY:
		json_writer_array(w, key);
		break;
	case JSON_OBJECT:
		json_writer_object(w, key);
		break;
	}
	for (child = json_first(j); child != NULL; child = json_next(child))
		spaced_put(w, json_key(child), child);
	json_writer_end(w);
}

const char *
json_spaced(const struct json *j)
{
	struct json_doc *doc = j->doc;
	struct buf text = { 0 };
	struct json_writer w = { .out = &text, .spacing = JSON_SPACED };

	spaced_put(&w, NULL, j);
	XGROW(doc->texts, doc->n_texts, doc->cap_texts);
	doc->texts[doc->n_texts] = buf_take(&text);
	return doc->texts[doc->n_texts++];
}

bool
json_same(const struct json *a, const struct json *b)
{
	struct buf x = { 0 }, y = { 0 };
	bool same;

	json_write(&x, a);
	json_write(&y, b);
	same = strcmp(buf_str(&x), buf_str(&y)) == 0;
	buf_free(&x);
	buf_free(&y);
	return same;
}

struct buf *
json_writer_value(struct json_writer *w, const char *key)
{
	bool spaced = w->spacing != JSON_TIGHT;

	if (w->comma)
		buf_puts(w->out, w->line ? ",\n" : spaced ? ", " : ",");
	w->comma = true;
	w->line = false;
	if (key != NULL) {
		json_put_string(w->out, key);
		buf_puts(w->out, spaced ? ": " : ":");
	}
	return w->out;
}

static void
level_open(struct json_writer *w, const char *key, const char *start, char end)
{
	if (w->depth == JSON_WRITER_DEPTH)
		abort();
	buf_puts(json_writer_value(w, key), start);
	w->ends[w->depth++] = end;
	w->comma = false;
}

void
json_writer_object(struct json_writer *w, const char *key)
{
	level_open(w, key, w->spacing == JSON_PADDED ? "{ " : "{", '}');
}

void
json_writer_array(struct json_writer *w, const char *key)
{
	level_open(w, key, "[", ']');
}

void
json_writer_end(struct json_writer *w)
{
	char end;

	if (w->depth == 0)
		abort();
	end = w->ends[--w->depth];
	if (w->spacing == JSON_PADDED && end == '}' && w->comma)
		buf_putc(w->out, ' ');
	buf_putc(w->out, end);
	w->comma = true;
	w->line = false;
}

void
json_writer_line(struct json_writer *w)
{
	w->line = true;
}

void
json_writer_raw(struct json_writer *w, const char *key, const char *json)
{
	buf_puts(json_writer_value(w, key), json);
}

void
json_writer_null(struct json_writer *w, const char *key)
{
	json_writer_raw(w, key, "null");
}

void
json_writer_text(struct json_writer *w, const char *key, const char *text)
{
	if (text != NULL)
		json_put_string(json_writer_value(w, key), text);
	else
		json_writer_null(w, key);
}

void
json_writer_number(struct json_writer *w, const char *key, double x)
{
	json_put_number(json_writer_value(w, key), x);
}

void
json_writer_integer(struct json_writer *w, const char *key, int64_t n)
{
	buf_printf(json_writer_value(w, key), "%" PRId64, n);
}

void
json_writer_bool(struct json_writer *w, const char *key, bool on)
{
	json_writer_raw(w, key, on ? "true" : "false");
}
