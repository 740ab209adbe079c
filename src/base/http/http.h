/*
 * The wire: HTTP requests on the loop, the only door to libcurl.  The library
 * is opened when the first pool is, so that a study without a cloud does not
 * pay for it.  TLS is always verified; no redirects are followed; plain http
 * is spoken only where the caller says so.
 */

#ifndef HPOTUNE_HTTP_H
#define HPOTUNE_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct http; /* connections that are kept and used again */
struct http_request; /* one in flight; gone when its callback returns */
struct loop;

enum http_fault { /* why no answer came */
	HTTP_FAULT_NONE, /* one came */
	HTTP_FAULT_NAME, /* the host's name is not known */
	HTTP_FAULT_CONNECT, /* nobody takes the connection, or it broke */
	HTTP_FAULT_TLS, /* certificates, or no TLS on the other side */
	HTTP_FAULT_PROXY, /* the proxy is not known, or refuses */
	HTTP_FAULT_OTHER
};

struct http_send {
	const char *method; /* "GET", "HEAD", "PUT", "POST", "DELETE" */
	const char *url;
	const char *const *headers; /* "Name: value", ends with NULL; or NULL */
	const void *body; /* copied */
	size_t body_len;
	int64_t connect_ms; /* 0 = 10 s */
	int64_t timeout_ms; /* for all of it; 0 = 60 s */
	size_t most; /* bytes of an answer; 0 = 16 MiB */
	bool plain; /* http:// is allowed */
	bool direct; /* no proxy (metadata services) */
};

struct http_answer {
	int status; /* 0: none came */
	bool unsent; /* certainly nothing reached the other side */
	bool timeout;
	enum http_fault fault;
	const char *body; /* "" when empty; a NUL follows */
	size_t len;
	const char *error; /* one clause when status is 0, else "" */
	const struct http_headers *headers;
};

/* The value of a header, whatever its case; NULL when it did not come. */
const char *http_header(const struct http_answer *, const char *name);

/* The answer is borrowed until the callback returns. */
typedef void http_cb(void *arg, const struct http_answer *);

/*
 * ca_bundle: a file of certificates instead of the system's, or NULL.
 * ERR_FILE when the library is not installed.
 */
int
http_open(struct http **, struct loop *, const char *ca_bundle, struct err *);
/* What is in flight is dropped without a callback. */
void http_close(struct http *);
/*
 * Begin a request.  The callback comes from the loop, never from inside this
 * call; it may start and cancel others.
 */
struct http_request *
http_start(struct http *, const struct http_send *, http_cb *, void *arg);
/* Drop it: its callback is not called. */
void http_cancel(struct http_request *);

/* Percent-encode all but letters, digits and "-_.~"; slash: "/" stays too. */
struct buf;
void http_put_encoded(struct buf *, const char *, size_t, bool slash);

#endif /* HPOTUNE_HTTP_H */
