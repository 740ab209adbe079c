/* An HTTP server on the test's own loop, for small scripted answers. */

#ifndef HPOTUNE_HTTP_LOOP_SERVER_H
#define HPOTUNE_HTTP_LOOP_SERVER_H

#include <stddef.h>

struct buf;
struct fake;
struct loop;

struct http_loop_server_request {
	const char *method, *path; /* path: with its query */
	const char *head; /* all header lines */
	const char *body;
	size_t len;
};
/* The value of a header, a new text; NULL when it did not come. */
char *http_loop_server_header(
    const struct http_loop_server_request *, const char *name);

/*
 * Append header lines ("Name: value\r\n") and body; the status is returned: 0
 * closes the connection without an answer, -1 never answers.
 */
typedef int
http_loop_server_cb(void *arg, const struct http_loop_server_request *,
    struct buf *head, struct buf *body);
struct fake *
http_loop_server_new(struct loop *, http_loop_server_cb *, void *arg);
int http_loop_server_port(const struct fake *);
void http_loop_server_free(struct fake *);

#endif /* HPOTUNE_HTTP_LOOP_SERVER_H */
