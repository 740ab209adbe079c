/*
 * Arbitrary bytes as the headers of an answer, line by line, and
 * percent-encoded: found values are texts, and encoding can be reversed.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/http/http-internal.h"
#include "src/base/http/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
need(bool good)
{
	if (!good)
		abort();
}

/* Every name is found, and its value has no blanks around it. */
static void
check_names(const struct http_headers *h)
{
	const struct http_answer a = { .headers = h };
	const char *s = buf_str(&h->text), *end = s + h->text.len, *value;

	need(h->text.len <= HTTP_HEADERS_MAX);
	while (s < end) {
		value = http_header(&a, s);
		need(value != NULL && s[0] != '\0' && strchr(s, ':') == NULL);
		need(value[0] != ' ' && value[0] != '\t');
		s += strlen(s) + 1;
		need(s < end);
		s += strlen(s) + 1;
	}
	need(s == end && http_header(&a, "") == NULL);
}

static void
check_encoded(const char *text, size_t len, bool slash)
{
	struct buf b = { 0 };
	char two[3] = "";
	const char *s;
	size_t n;
	int c;

	http_put_encoded(&b, text, len, slash);
	s = buf_str(&b);
	for (n = 0; n < len; n++) {
		c = (unsigned char)*s++;
		if (c == '%') {
			memcpy(two, s, 2);
			c = (int)strtol(two, NULL, 16);
			s += 2;
		}
		need(c == (unsigned char)text[n]);
	}
	need(*s == '\0');
	buf_free(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *end = text + size, *line, *nl;
	struct http_headers h = { .text = { 0 } };

	for (line = text; line < end; line = nl) {
		nl = memchr(line, '\n', (size_t)(end - line));
		nl = nl != NULL ? nl + 1 : end;
		if (http_headers_line(&h, line, (size_t)(nl - line)) == -1)
			break;
	}
	check_names(&h);
	buf_free(&h.text);
	check_encoded(text, size, false);
	check_encoded(text, size, true);
	return 0;
}
