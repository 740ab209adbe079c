/* Inside the client: libcurl, the pool and its requests, and headers. */

#ifndef HPOTUNE_HTTP_INTERNAL_H
#define HPOTUNE_HTTP_INTERNAL_H

#include <curl/curl.h>
#include <stdbool.h>

#include "src/base/http/http.h"
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
/* libcurl's functions, loaded with dlopen. */
struct http_libcurl {
	__typeof__(curl_global_init) *global_init;
	__typeof__(curl_global_cleanup) *global_cleanup;
	__typeof__(curl_version_info) *version_info;
	__typeof__(curl_easy_init) *easy_init;
	__typeof__(curl_easy_setopt) *easy_setopt;
	__typeof__(curl_easy_getinfo) *easy_getinfo;
	__typeof__(curl_easy_strerror) *easy_strerror;
	__typeof__(curl_easy_cleanup) *easy_cleanup;
	__typeof__(curl_slist_append) *slist_append;
	__typeof__(curl_slist_free_all) *slist_free_all;
	__typeof__(curl_multi_init) *multi_init;
	__typeof__(curl_multi_setopt) *multi_setopt;
	__typeof__(curl_multi_add_handle) *multi_add_handle;
	__typeof__(curl_multi_remove_handle) *multi_remove_handle;
	__typeof__(curl_multi_socket_action) *multi_socket_action;
	__typeof__(curl_multi_info_read) *multi_info_read;
	__typeof__(curl_multi_assign) *multi_assign;
	__typeof__(curl_multi_cleanup) *multi_cleanup;
};

struct http {
	struct http_libcurl lib;
	struct loop *loop;
	struct loop_timer *timer;
	CURLM *multi;
	char *ca_bundle;
	struct http_request *first; /* all requests in flight */
	struct http_socket *sockets;
	bool delivering; /* http_close must not free the pool yet */
	bool closed;
};

struct http_request {
	struct http *http;
	struct http_request *next, **link;
	CURL *easy;
	struct curl_slist *lines;
	char *body;
	http_cb *cb; /* NULL once it has been called */
	void *arg;
	bool post;
	int sends; /* how often libcurl began to send the request */
	size_t most;
	size_t too_long; /* the limit that was exceeded, bytes; 0 = none */
	struct http_headers headers;
	struct buf answer;
	char why[CURL_ERROR_SIZE];
};

/* The library is never closed: OpenSSL's exit handlers need it. */
int http_libcurl_load(struct http_libcurl *lib, struct err *e);
/* Set libcurl's options for a request, and where it delivers the response. */
void http_request_setup(struct http_request *r, const struct http_send *s);
/*
 * Build the response from what libcurl received; a failure's clause goes to
 * text.
 */
void http_request_answer(struct http_request *r, CURLcode code,
    struct http_answer *a, struct buf *text);

#endif /* HPOTUNE_HTTP_INTERNAL_H */
