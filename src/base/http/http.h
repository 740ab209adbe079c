/*
 * HTTP requests on the loop; the only module that uses libcurl.  The library is
 * loaded when the first pool is opened, so that a study without a cloud does
 * not pay for it.  TLS is always verified; redirects are not followed; plain
 * http is allowed only where the caller sets it.
 */

#ifndef HPOTUNE_HTTP_H
#define HPOTUNE_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct http; /* a pool of reusable connections */
struct http_request; /* one in flight; freed when its callback returns */
struct loop;

enum http_fault { /* why there is no response */
	HTTP_FAULT_NONE, /* there is one */
	HTTP_FAULT_NAME, /* the host name cannot be resolved */
	HTTP_FAULT_CONNECT, /* connection refused or broken */
	HTTP_FAULT_TLS, /* certificate error, or no TLS on the other side */
	HTTP_FAULT_PROXY, /* the proxy cannot be resolved, or refuses */
	HTTP_FAULT_OTHER
};

struct http_send {
	const char *method; /* "GET", "HEAD", "PUT", "POST", "DELETE" */
	const char *url;
	const char *const *headers; /* "Name: value", ends with NULL; or NULL */
	const void *body; /* copied */
	size_t body_len;
	int64_t connect_ms; /* 0 = 10 s */
	int64_t timeout_ms; /* for the whole request; 0 = 60 s */
	size_t most; /* maximum bytes of a response; 0 = 16 MiB */
	bool plain; /* http:// is allowed */
	bool direct; /* no proxy (metadata services) */
};

struct http_answer {
	int status; /* HTTP status; 0: no response */
	bool unsent; /* certainly nothing reached the server */
	bool timeout;
	enum http_fault fault;
	const char *body; /* "" when empty; a NUL follows */
	size_t len;
	const char *error; /* one clause when status is 0, otherwise "" */
	const struct http_headers *headers;
};

/* The value of a header, by case-insensitive name; NULL when it is missing. */
const char *http_header(const struct http_answer *, const char *name);

/* The response is borrowed until the callback returns. */
typedef void http_cb(void *arg, const struct http_answer *);

/*
 * Open a pool. ca_bundle: a file of certificates instead of the system's, or
 * NULL. ERR_FILE when libcurl is not installed.
 */
int
http_open(struct http **, struct loop *, const char *ca_bundle, struct err *);
/* Free the pool; requests in flight are cancelled without a callback. */
void http_close(struct http *);
/*
 * Start a request.  The callback is called from the loop, never from inside
 * this call; it may start and cancel other requests.
 */
struct http_request *
http_start(struct http *, const struct http_send *, http_cb *, void *arg);
/* Cancel a request: its callback is not called. */
void http_cancel(struct http_request *);

/* Percent-encode all but letters, digits and "-_.~"; slash: "/" stays too. */
struct buf;
void http_put_encoded(struct buf *, const char *, size_t, bool slash);

#endif /* HPOTUNE_HTTP_H */
