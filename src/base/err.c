/* Errors as one clause of text. */

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/base/text.h"

#undef err_set
#undef err_add

enum { HEAD = 160 }; /* bytes kept from the beginning of a long text */

static bool
in_character(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/*
 * Shorten and escape an error text.  The beginning of a clause states what is
 * wrong and its end why, so a text that is too long loses its middle.  It may
 * quote a name, a path or a value and is printed as it is: control characters
 * are escaped.
 */
static void
err_text_put(struct err *e, const char *raw)
{
	static const char gap[] = "...";
	struct buf harmless = { 0 };
	const char *text;
	size_t n, head = HEAD, tail;

	text_put_harmless(&harmless, raw, strlen(raw), TEXT_LINE);
	text = buf_str(&harmless);
	n = harmless.len;
	if (n < sizeof e->text) {
		memcpy(e->text, text, n + 1);
		buf_free(&harmless);
		return;
	}
	while (in_character(text[head]))
		head--;
	tail = n - (sizeof e->text - head - sizeof gap);
	while (in_character(text[tail]))
		tail++;
	(void)snprintf(e->text, sizeof e->text, "%.*s%s%s", (int)head, text,
	    gap, text + tail);
	buf_free(&harmless);
}

int
err_set(struct err *e, enum err_kind kind, const char *fmt, ...)
{
	char *text;
	va_list ap;

	if (e == NULL)
		return -1;
	e->kind = kind;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) == -1)
		mem_fail();
	va_end(ap);
	err_text_put(e, text);
	free(text);
	return -1;
}

int
err_add(struct err *e, const char *fmt, ...)
{
	char *text, *both;
	va_list ap;

	if (e == NULL)
		return -1;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) == -1 ||
	    asprintf(&both, "%s: %s", text, e->text) == -1)
		mem_fail();
	va_end(ap);
	err_text_put(e, both);
	free(text);
	free(both);
	return -1;
}
