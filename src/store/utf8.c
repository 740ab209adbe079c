/*
 * Makes any text valid for a TEXT column.  SQLite would accept any bytes;
 * programs that read them later would not.
 */

#include <string.h>

#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/store/store-internal.h"

bool
utf8_valid(const char *s)
{
	size_t len = strlen(s);
	uint32_t code;
	int n;

	for (; len > 0; s += n, len -= (size_t)n) {
		n = (unsigned char)*s < 0x80 ? 1 : text_decode(s, len, &code);
		if (n <= 0)
			return false;
	}
	return true;
}

char *
utf8_clean(const char *s)
{
	size_t len = strlen(s);
	struct buf b = { 0 };
	uint32_t code;
	int n;

	for (; len > 0; s += n, len -= (size_t)n)
		if ((n = text_decode(s, len, &code)) > 0) {
			buf_add(&b, s, (size_t)n);
		} else {
			buf_puts(&b, "\xef\xbf\xbd");
			n = 1;
		}
	return buf_take(&b);
}
