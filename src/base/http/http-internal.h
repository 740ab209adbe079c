/* The headers of a response, as http.c keeps them. */

#ifndef HPOTUNE_HTTP_INTERNAL_H
#define HPOTUNE_HTTP_INTERNAL_H

#include "src/base/mem.h"

/* "name", NUL, "value", NUL, …: the headers of the last response. */
struct http_headers {
	struct buf text;
};

enum { HTTP_HEADERS_MAX = 256 << 10 }; /* bytes */

/*
 * Append one header line, with or without its line end.  A status line clears
 * the set: the lines before it were those of an interim response. -1 when the
 * limit is exceeded.
 */
int http_headers_line(struct http_headers *, const char *, size_t);

#endif /* HPOTUNE_HTTP_INTERNAL_H */
