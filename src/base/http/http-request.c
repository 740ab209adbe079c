/* One request of a pool: what is sent, and what its answer means. */

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/http/http-internal.h"
#include "src/base/http/http.h"
#include "src/base/text.h"

enum {
	CONNECT_MS = 10 * 1000,
	TIMEOUT_MS = 60 * 1000,
	KEPT_S = 60, /* lifetime of an unused connection */
	ANSWER_MAX = 16 << 20 /* default limit, bytes */
};

/*
 * Called when a connection stands and libcurl is about to write the request;
 * before it, nothing was sent. libcurl calls it again when a kept connection
 * turns out to be closed.  The server may have processed the first copy, so a
 * request that is not safe to repeat (POST) is aborted: the caller decides
 * whether to send it again.
 */
static int
on_send(void *arg, char *there, char *here, int there_port, int here_port)
{
	struct http_request *r = arg;

	(void)there;
	(void)here;
	(void)there_port;
	(void)here_port;
	r->sends++;
	return r->post && r->sends > 1 ? CURL_PREREQFUNC_ABORT
				       : CURL_PREREQFUNC_OK;
}

/* Not every version of libcurl removes the credentials by itself. */
static int
on_connection(void *arg, curl_socket_t fd, curlsocktype purpose)
{
	(void)arg;
	(void)purpose;
	return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 ? CURL_SOCKOPT_OK
						   : CURL_SOCKOPT_ERROR;
}

static size_t
on_body(char *data, size_t size, size_t n, void *arg)
{
	struct http_request *r = arg;

	n *= size;
	if (n > r->most - r->answer.len) {
		r->too_long = r->most;
		return CURL_WRITEFUNC_ERROR;
	}
	buf_add(&r->answer, data, n);
	return n;
}

static size_t
on_header(char *line, size_t size, size_t n, void *arg)
{
	struct http_request *r = arg;

	n *= size;
	if (http_headers_line(&r->headers, line, n) == 0)
		return n;
	r->too_long = HTTP_HEADERS_MAX;
	return CURL_WRITEFUNC_ERROR;
}

static void
add_line(struct http_request *r, const char *line)
{
	struct curl_slist *lines = r->http->lib.slist_append(r->lines, line);

	if (lines == NULL)
		mem_fail();
	r->lines = lines;
}

/*
 * Send an empty Expect: header; otherwise libcurl delays a large body by a
 * second to wait for "100 Continue".
 */
static void
set_headers(struct http_request *r, const struct http_send *s)
{
	bool typed = false;
	size_t i;

	add_line(r, "Expect:");
	for (i = 0; s->headers != NULL && s->headers[i] != NULL; i++) {
		add_line(r, s->headers[i]);
		typed |= strncasecmp(s->headers[i], "Content-Type:", 13) == 0;
	}
	/* otherwise libcurl sends the Content-Type of a form */
	if (!typed)
		add_line(r, "Content-Type:");
	r->http->lib.easy_setopt(r->easy, CURLOPT_HTTPHEADER, r->lines);
}

static void
set_method(struct http_request *r, const struct http_send *s)
{
	__typeof__(curl_easy_setopt) *set = r->http->lib.easy_setopt;

	r->post = strcmp(s->method, "POST") == 0;
	if (r->post || strcmp(s->method, "PUT") == 0 || s->body_len > 0) {
		r->body = xmalloc(s->body_len + 1);
		if (s->body_len > 0)
			memcpy(r->body, s->body, s->body_len);
		set(r->easy, CURLOPT_POST, 1L);
		set(r->easy, CURLOPT_POSTFIELDS, r->body);
		set(r->easy, CURLOPT_POSTFIELDSIZE_LARGE,
		    (curl_off_t)s->body_len);
	} else if (strcmp(s->method, "HEAD") == 0) {
		set(r->easy, CURLOPT_NOBODY, 1L);
		return;
	}
	set(r->easy, CURLOPT_CUSTOMREQUEST, s->method);
}

/*
 * Paths are sent as they were signed, dots included.  A resolver thread that
 * hangs is abandoned: waiting for it would block the loop.
 */
static void
set_transfer_rules(struct http_request *r, const struct http_send *s)
{
	__typeof__(curl_easy_setopt) *set = r->http->lib.easy_setopt;
	CURL *c = r->easy;

	set(c, CURLOPT_NOSIGNAL, 1L);
	set(c, CURLOPT_QUICK_EXIT, 1L);
	set(c, CURLOPT_PROTOCOLS_STR, s->plain ? "http,https" : "https");
	set(c, CURLOPT_DEFAULT_PROTOCOL, "https");
	set(c, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
	set(c, CURLOPT_PATH_AS_IS, 1L);
	set(c, CURLOPT_FOLLOWLOCATION, 0L);
	set(c, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	set(c, CURLOPT_SSL_VERIFYPEER, 1L);
	set(c, CURLOPT_SSL_VERIFYHOST, 2L);
	set(c, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	set(c, CURLOPT_TCP_KEEPALIVE, 1L);
	set(c, CURLOPT_MAXAGE_CONN, (long)KEPT_S);
	set(c, CURLOPT_USERAGENT, PACKAGE_NAME "/" PACKAGE_VERSION);
	if (r->http->ca_bundle != NULL)
		set(c, CURLOPT_CAINFO, r->http->ca_bundle);
	if (s->direct)
		set(c, CURLOPT_PROXY, "");
}

static void
set_callbacks(struct http_request *r)
{
	__typeof__(curl_easy_setopt) *set = r->http->lib.easy_setopt;
	CURL *c = r->easy;

	set(c, CURLOPT_PRIVATE, (void *)r);
	set(c, CURLOPT_ERRORBUFFER, r->why);
	set(c, CURLOPT_SOCKOPTFUNCTION, on_connection);
	set(c, CURLOPT_PREREQFUNCTION, on_send);
	set(c, CURLOPT_PREREQDATA, (void *)r);
	set(c, CURLOPT_WRITEFUNCTION, on_body);
	set(c, CURLOPT_WRITEDATA, (void *)r);
	set(c, CURLOPT_HEADERFUNCTION, on_header);
	set(c, CURLOPT_HEADERDATA, (void *)r);
}

/* Set libcurl's options for a request, and where it delivers the response. */
void
http_request_setup(struct http_request *r, const struct http_send *s)
{
	__typeof__(curl_easy_setopt) *set = r->http->lib.easy_setopt;

	r->most = s->most > 0 ? s->most : ANSWER_MAX;
	set_transfer_rules(r, s);
	set_callbacks(r);
	set_method(r, s);
	set_headers(r, s);
	set(r->easy, CURLOPT_CONNECTTIMEOUT_MS,
	    (long)(s->connect_ms > 0 ? s->connect_ms : CONNECT_MS));
	set(r->easy, CURLOPT_TIMEOUT_MS,
	    (long)(s->timeout_ms > 0 ? s->timeout_ms : TIMEOUT_MS));
	set(r->easy, CURLOPT_URL, s->url);
}

/* libcurl's messages begin with a capital; ours follow a colon. */
static void
put_why(struct http_request *r, CURLcode code, struct buf *text)
{
	const char *why = r->why;

	if (r->too_long > 0) {
		buf_printf(
		    text, "the answer is longer than %zu bytes", r->too_long);
		return;
	}
	if (code == CURLE_UNSUPPORTED_PROTOCOL) {
		buf_puts(text, "its address is not of the form https://host");
		return;
	}
	if (code == CURLE_ABORTED_BY_CALLBACK) {
		buf_puts(text, "the connection broke before an answer came");
		return;
	}
	if (why[0] == '\0')
		why = r->http->lib.easy_strerror(code);
	if (isupper((unsigned char)why[0]) && islower((unsigned char)why[1])) {
		buf_putc(text, (char)tolower((unsigned char)why[0]));
		why++;
	}
	text_put_harmless(text, why, strlen(why), TEXT_LINE);
}

/* A proxy that refuses the connection answers with a status of its own. */
static enum http_fault
fault_of(struct http_request *r, CURLcode code)
{
	long proxy = 0;

	(void)r->http->lib.easy_getinfo(
	    r->easy, CURLINFO_HTTP_CONNECTCODE, &proxy);
	if (proxy >= 300)
		return HTTP_FAULT_PROXY;
	switch ((int)code) {
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_PROXY:
		return HTTP_FAULT_PROXY;
	case CURLE_COULDNT_RESOLVE_HOST:
		return HTTP_FAULT_NAME;
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CIPHER:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_CRL_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
		return HTTP_FAULT_TLS;
	case CURLE_COULDNT_CONNECT:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_GOT_NOTHING:
		return HTTP_FAULT_CONNECT;
	}
	return HTTP_FAULT_OTHER;
}

/*
 * Build the response from what libcurl received; a failure's clause goes to
 * text.
 */
void
http_request_answer(struct http_request *r, CURLcode code,
    struct http_answer *a, struct buf *text)
{
	long status = 0;

	*a = (struct http_answer){ .body = "", .error = "" };
	if (code == CURLE_OK)
		(void)r->http->lib.easy_getinfo(
		    r->easy, CURLINFO_RESPONSE_CODE, &status);
	a->status = (int)status;
	if (status != 0) {
		a->body = buf_str(&r->answer);
		a->len = r->answer.len;
		a->headers = &r->headers;
		return;
	}
	put_why(r, code, text);
	a->error = buf_str(text);
	a->fault = fault_of(r, code);
	a->unsent = r->sends == 0;
	a->timeout = code == CURLE_OPERATION_TIMEDOUT;
}
