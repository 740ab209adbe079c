/* Text for display: UTF-8, escapes, width in columns, edit distance. */

#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "src/base/mem.h"
#include "src/base/text.h"

int
text_decode(const char *text, size_t len, uint32_t *code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *s = (const unsigned char *)text;
	size_t n, i;

	if (s[0] < 0x80) {
		*code = s[0];
		return 1;
	}
	n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	*code = s[0] & (0x7fu >> n);
	for (i = 1; i < n; i++) {
		if (i == len)
			return -1;
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (s[i] & 0x3f);
	}
	if (*code < least[n] || *code > 0x10ffff ||
	    (*code >= 0xd800 && *code <= 0xdfff))
		return 0;
	return (int)n;
}

size_t
text_unfinished(const char *s, size_t len)
{
	uint32_t code;
	size_t n;

	for (n = 1; n <= 3 && n <= len; n++)
		if (text_decode(s + len - n, n, &code) == -1)
			return n;
	return 0;
}

bool
text_is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c ||
	       c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

void
text_put_harmless(
    struct buf *out, const char *s, size_t len, enum text_copy keep)
{
	uint32_t code;
	size_t i, from = 0;
	int n, k;

	for (i = 0; i < len; i += (size_t)n) {
		n = text_decode(s + i, len - i, &code);
		if (n > 0 && !text_is_control(code))
			continue;
		if (keep == TEXT_LINES && (s[i] == '\n' || s[i] == '\t'))
			continue;
		if (n <= 0)
			n = 1;
		buf_add(out, s + from, i - from);
		for (k = 0; k < n; k++)
			buf_printf(
			    out, "\\x%02x", (unsigned char)s[i + (size_t)k]);
		from = i + (size_t)n;
	}
	/* An empty text may be NULL. */
	if (from < len)
		buf_add(out, s + from, len - from);
}

/*
 * Columns of one character; one for a character that the locale cannot measure.
 */
static size_t
code_width(uint32_t code)
{
	int n = wcwidth((wchar_t)code);

	return n < 0 ? 1 : (size_t)n;
}

void
text_put_url(struct buf *b, const char *url)
{
	const char *host = strstr(url, "://"), *end, *at;

	host = host != NULL ? host + 3 : url;
	end = host + strcspn(host, "/?#");
	/* A password may have an @ of its own. */
	for (at = end; at > host && at[-1] != '@'; at--)
		continue;
	buf_add(b, url, (size_t)(host - url));
	buf_puts(b, at);
}

size_t
text_width(const char *s)
{
	size_t len = strlen(s), width = 0;
	uint32_t code;
	int n;

	while (len > 0) {
		n = text_decode(s, len, &code);
		width += n > 0 ? code_width(code) : 1;
		n = n > 0 ? n : 1;
		s += n;
		len -= (size_t)n;
	}
	return width;
}

size_t
text_fit(const char *s, size_t width)
{
	size_t len = strlen(s), at = 0, w;
	uint32_t code;
	int n;

	while (at < len) {
		n = text_decode(s + at, len - at, &code);
		w = n > 0 ? code_width(code) : 1;
		if (w > width)
			break;
		width -= w;
		at += n > 0 ? (size_t)n : 1;
	}
	return at;
}

void
text_cut(char *out, size_t n, const char *s)
{
	static const char more[] = "…";
	size_t len = strlen(s);

	if (len < n) {
		memcpy(out, s, len + 1);
		return;
	}
	len = n - sizeof more;
	while (len > 0 && ((unsigned char)s[len] & 0xc0) == 0x80)
		len--;
	(void)snprintf(out, n, "%.*s%s", (int)len, s, more);
}

bool
text_is_utf8(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static size_t
min3(size_t a, size_t b, size_t c)
{
	a = a < b ? a : b;
	return a < c ? a : c;
}

/* Edit distance: letters to insert, delete, replace or swap (Damerau). */
static size_t
text_distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), i, j, result;
	size_t *d = xcalloc((n + 1) * (m + 1), sizeof *d);
#define AT(i, j) d[(i) * (m + 1) + (j)]

	for (i = 0; i <= n; i++)
		AT(i, 0) = i;
	for (j = 0; j <= m; j++)
		AT(0, j) = j;
	for (i = 1; i <= n; i++)
		for (j = 1; j <= m; j++) {
			AT(i, j) = min3(AT(i - 1, j) + 1, AT(i, j - 1) + 1,
			    AT(i - 1, j - 1) + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] &&
			    AT(i - 2, j - 2) + 1 < AT(i, j))
				AT(i, j) = AT(i - 2, j - 2) + 1;
		}
	result = AT(n, m);
#undef AT
	free(d);
	return result;
}

const char *
text_nearest(const char *word, const char *const *words)
{
	size_t len = strlen(word), best = (len + 1) / 3, dist;
	const char *near = NULL;

	if (len > 256)
		return NULL;
	for (; *words != NULL; words++) {
		dist = text_distance(word, *words);
		if (dist < strlen(*words) &&
		    (near == NULL ? dist <= best : dist < best)) {
			best = dist;
			near = *words;
		}
	}
	return near;
}

int
text_hex4(const char *s, size_t n)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	const char *at;
	int value = 0, i;

	if (n < 4)
		return -1;
	for (i = 0; i < 4; i++) {
		at = s[i] != '\0' ? strchr(digits, s[i]) : NULL;
		if (at == NULL)
			return -1;
		value = value * 16 + (int)(at - digits) % 16;
	}
	return value;
}
