/* The headers of a response. */

#include <string.h>
#include <strings.h>

#include "src/base/http/http-internal.h"
#include "src/base/http/http.h"

static bool
http_headers_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

int
http_headers_line(struct http_headers *h, const char *line, size_t len)
{
	struct buf *b = &h->text;
	const char *end = line + len, *colon, *value;

	if (len >= 5 && memcmp(line, "HTTP/", 5) == 0)
		buf_clear(b);
	if (len + 2 > HTTP_HEADERS_MAX - b->len)
		return -1;
	colon = memchr(line, ':', len);
	if (colon == NULL || colon == line || memchr(line, '\0', len) != NULL)
		return 0;
	for (value = colon + 1; value < end && http_headers_is_blank(*value);
	     value++)
		;
	while (end > value && http_headers_is_blank(end[-1]))
		end--;
	buf_add(b, line, (size_t)(colon - line));
	buf_putc(b, '\0');
	buf_add(b, value, (size_t)(end - value));
	buf_putc(b, '\0');
	return 0;
}

const char *
http_header(const struct http_answer *a, const char *name)
{
	const char *s, *end, *value;

	if (a->headers == NULL || a->headers->text.len == 0)
		return NULL;
	end = a->headers->text.data + a->headers->text.len;
	for (s = a->headers->text.data; s < end;
	     s = value + strlen(value) + 1) {
		value = s + strlen(s) + 1;
		if (strcasecmp(s, name) == 0)
			return value;
	}
	return NULL;
}
