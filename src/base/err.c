/* Errors as one clause of text.  Knows nothing of where they are shown. */

#include <stdarg.h>
#include <stdio.h>

#include "src/base/err.h"

int
err_set(struct err *e, enum err_kind kind, const char *fmt, ...)
{
	va_list ap;

	if (e == NULL)
		return -1;
	e->kind = kind;
	va_start(ap, fmt);
	(void)vsnprintf(e->text, sizeof e->text, fmt, ap);
	va_end(ap);
	return -1;
}

int
err_add(struct err *e, const char *fmt, ...)
{
	char old[sizeof e->text];
	va_list ap;
	int n;

	if (e == NULL)
		return -1;
	(void)snprintf(old, sizeof old, "%s", e->text);
	va_start(ap, fmt);
	n = vsnprintf(e->text, sizeof e->text, fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof e->text)
		(void)snprintf(
		    e->text + n, sizeof e->text - (size_t)n, ": %s", old);
	return -1;
}
