/*
 * An HTTP/1.1 server on the loop; the only module that uses libevent's evhttp.
 * It listens on a Unix socket or a TCP address.  Slow, endless and silent
 * clients are disconnected: a request must be complete within 10 seconds, its
 * head has at most 16 KiB, its body 64 KiB.  When more than 200 descriptors would
 * be open, the client that has waited longest is disconnected earlier.  No TLS: for the user's own machine.
 */

#ifndef HPOTUNE_HTTP_SERVER_H
#define HPOTUNE_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct loop;

struct http_server;
/* A request without an answer; freed by http_server_answer or _stream_end. */
struct http_server_request;

enum http_server_method {
	HTTP_SERVER_GET,
	HTTP_SERVER_HEAD, /* answered as GET; the body is not sent */
	HTTP_SERVER_POST
};

typedef void http_server_cb(void *arg, struct http_server_request *);

/*
 * Answer requests on fd, a listening socket, which the server owns from now on
 * (on failure, too).  The callback must answer each request, now or later.
 * Other methods are answered by 501.
 */
int http_server_open(struct http_server **, struct loop *, int fd,
    http_server_cb *, void *arg, struct err *);
/* Disconnect all clients; requests without an answer are freed. */
void http_server_close(struct http_server *);

enum http_server_method http_server_method(const struct http_server_request *);
/* Path and query as sent, "/a%20b?c=d"; valid until the answer. */
const char *http_server_target(const struct http_server_request *);
/* The value of a header of the request, or NULL; valid until the answer. */
const char *
http_server_header(const struct http_server_request *, const char *name);
/* The body, *len bytes; NULL when empty.  Valid until the answer. */
const char *http_server_body(struct http_server_request *, size_t *len);

/*
 * Set a header of the answer, which replaces one of this name; before the
 * answer.  No line breaks.
 */
void http_server_set(
    struct http_server_request *, const char *name, const char *value);
/* Answer with a status and a body of len bytes, copied. */
void http_server_answer(
    struct http_server_request *, int status, const void *body, size_t len);

/*
 * gone is called when the client has disconnected before the answer was
 * complete; the request may not be used from then on.  Needed by callers that
 * answer later.
 */
void http_server_watch(
    struct http_server_request *, http_server_cb *gone, void *arg);

/* Answer in pieces instead, with status 200. */
void http_server_stream(struct http_server_request *);
void
http_server_send(struct http_server_request *, const void *piece, size_t len);
/* Bytes that the client has not yet taken. */
size_t http_server_backlog(const struct http_server_request *);
void http_server_stream_end(struct http_server_request *);

#endif /* HPOTUNE_HTTP_SERVER_H */
