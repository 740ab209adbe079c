/* Error messages, and memory allocation that ends the program on failure. */

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

int
fail_set(struct fail *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->text, sizeof f->text, fmt, ap);
	va_end(ap);
	return -1;
}

void *
mem_zero(size_t count, size_t size)
{
	const size_t line = 64;
	size_t bytes;
	void *p;

	if (count > (SIZE_MAX - line) / size)
		abort();
	bytes = (count * size / line + 1) * line;
	if ((p = aligned_alloc(line, bytes)) == NULL)
		abort();
	return memset(p, 0, bytes);
}
