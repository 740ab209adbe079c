/* Writes JSON: values of a document, strings and numbers. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/json-internal.h"
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
