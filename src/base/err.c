/* Errors as one clause of text.  Knows nothing of where they are shown. */

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"

enum { HEAD = 160 }; /* bytes kept of the beginning of a long text */

static bool
in_character(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/*
 * What is wrong stands at the beginning of a clause and why at its end: of a
 * text that does not fit, the middle of some path, goes.
 */
static void
text_put(struct err *e, const char *text)
{
	static const char gap[] = "...";
	size_t n = strlen(text), head = HEAD, tail;

	if (n < sizeof e->text) {
		memcpy(e->text, text, n + 1);
		return;
	}
	while (in_character(text[head]))
		head--;
	tail = n - (sizeof e->text - head - sizeof gap);
	while (in_character(text[tail]))
		tail++;
	(void)snprintf(e->text, sizeof e->text, "%.*s%s%s", (int)head, text,
	    gap, text + tail);
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
		abort();
	va_end(ap);
	text_put(e, text);
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
		abort();
	va_end(ap);
	text_put(e, both);
	free(text);
	free(both);
	return -1;
}
