/*
 * Requests on the loop: libcurl names the descriptors and timeouts that it
 * waits for, and the loop reports to libcurl when they are ready.  What is
 * received is untrusted.
 */

#include <ctype.h>
#include <curl/curl.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/base/err.h"
#include "src/base/http/http-internal.h"
#include "src/base/http/http.h"
#include "src/base/loop.h"
#include "src/base/text.h"

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

/* ---- libcurl ------------------------------------------------------------ */

/*
 * libcurl is loaded at its first use.  If it were linked, each start of the
 * program would load and relocate about thirty more libraries, and most studies
 * run without a network.
 */

#define LIBRARY "libcurl.so.4"
/* 7.88, as in configure.ac */
enum { VERSION_LEAST = 0x075800 };

static const struct {
	const char *name;
	size_t at;
} functions[] = {
	{ "curl_global_init", offsetof(struct http_libcurl, global_init) },
	{ "curl_global_cleanup",
	    offsetof(struct http_libcurl, global_cleanup) },
	{ "curl_version_info", offsetof(struct http_libcurl, version_info) },
	{ "curl_easy_init", offsetof(struct http_libcurl, easy_init) },
	{ "curl_easy_setopt", offsetof(struct http_libcurl, easy_setopt) },
	{ "curl_easy_getinfo", offsetof(struct http_libcurl, easy_getinfo) },
	{ "curl_easy_strerror", offsetof(struct http_libcurl, easy_strerror) },
	{ "curl_easy_cleanup", offsetof(struct http_libcurl, easy_cleanup) },
	{ "curl_slist_append", offsetof(struct http_libcurl, slist_append) },
	{ "curl_slist_free_all",
	    offsetof(struct http_libcurl, slist_free_all) },
	{ "curl_multi_init", offsetof(struct http_libcurl, multi_init) },
	{ "curl_multi_setopt", offsetof(struct http_libcurl, multi_setopt) },
	{ "curl_multi_add_handle",
	    offsetof(struct http_libcurl, multi_add_handle) },
	{ "curl_multi_remove_handle",
	    offsetof(struct http_libcurl, multi_remove_handle) },
	{ "curl_multi_socket_action",
	    offsetof(struct http_libcurl, multi_socket_action) },
	{ "curl_multi_info_read",
	    offsetof(struct http_libcurl, multi_info_read) },
	{ "curl_multi_assign", offsetof(struct http_libcurl, multi_assign) },
	{ "curl_multi_cleanup", offsetof(struct http_libcurl, multi_cleanup) },
};

/* The library is never closed: OpenSSL's exit handlers need it. */
static int
http_libcurl_load(struct http_libcurl *lib, struct err *e)
{
	void *so = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL), *f;
	const curl_version_info_data *v;
	size_t i;

	if (so == NULL)
		return err_set(e, ERR_FILE,
		    "%s cannot be opened (Debian's package is libcurl4): %s",
		    LIBRARY, dlerror());
	for (i = 0; i < sizeof functions / sizeof *functions; i++) {
		f = dlsym(so, functions[i].name);
		if (f == NULL)
			return err_set(e, ERR_FILE, "%s has no %s", LIBRARY,
			    functions[i].name);
		memcpy((char *)lib + functions[i].at, &f, sizeof f);
	}
	v = lib->version_info(CURLVERSION_NOW);
	if (v->version_num < VERSION_LEAST)
		return err_set(e, ERR_FILE, "%s is %s, older than 7.88",
		    LIBRARY, v->version);
	if (lib->global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return err_set(
		    e, ERR_FILE, "%s cannot be initialized", LIBRARY);
	return 0;
}

/* ---- one request -------------------------------------------------------- */

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

int
http_headers_line(struct http_headers *h, const char *line, size_t len)
{
	struct buf *b = &h->text;
	const char *end = line + len, *colon, *value;

	if (len >= 5 && memcmp(line, "HTTP/", 5) == 0)
		buf_clear(b);
	if (len + 2 > HTTP_HEADERS_MAX - b->len)
		return -1;
	colon = memchr(line, ':', len);
	if (colon == NULL || colon == line || memchr(line, '\0', len) != NULL)
		return 0;
	for (value = colon + 1; value < end && is_blank(*value); value++)
		;
	while (end > value && is_blank(end[-1]))
		end--;
	buf_add(b, line, (size_t)(colon - line));
	buf_putc(b, '\0');
	buf_add(b, value, (size_t)(end - value));
	buf_putc(b, '\0');
	return 0;
}

const char *
http_header(const struct http_answer *a, const char *name)
{
	const char *s, *end, *value;

	if (a->headers == NULL || a->headers->text.len == 0)
		return NULL;
	end = a->headers->text.data + a->headers->text.len;
	for (s = a->headers->text.data; s < end;
	     s = value + strlen(value) + 1) {
		value = s + strlen(s) + 1;
		if (strcasecmp(s, name) == 0)
			return value;
	}
	return NULL;
}

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
		abort();
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
static void
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
static void
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

/* ---- the pool ----------------------------------------------------------- */

/*
 * Connections to one host (further requests are queued), and idle connections
 * kept.
 */
enum { HOST_MAX = 64, KEPT_MAX = 32 };

struct http_socket {
	struct http *http;
	struct http_socket *next, **link;
	struct loop_fd *fd;
};

static void
socket_free(struct http_socket *s)
{
	*s->link = s->next;
	if (s->next != NULL)
		s->next->link = s->link;
	loop_fd_free(s->fd);
	free(s);
}

static void
request_free(struct http_request *r)
{
	const struct http_libcurl *lib = &r->http->lib;

	*r->link = r->next;
	if (r->next != NULL)
		r->next->link = r->link;
	(void)lib->multi_remove_handle(r->http->multi, r->easy);
	lib->easy_cleanup(r->easy);
	lib->slist_free_all(r->lines);
	buf_free(&r->headers.text);
	buf_free(&r->answer);
	free(r->body);
	free(r);
}

static void
http_free(struct http *h)
{
	struct http_request *r, *next;
	struct http_socket *s, *after;

	for (r = h->first; r != NULL; r = next) {
		next = r->next;
		request_free(r);
	}
	(void)h->lib.multi_cleanup(h->multi);
	for (s = h->sockets; s != NULL; s = after) {
		after = s->next;
		socket_free(s);
	}
	h->lib.global_cleanup();
	loop_timer_free(h->timer);
	free(h->ca_bundle);
	free(h);
}

static void
request_deliver(struct http_request *r, CURLcode code)
{
	struct http_answer a;
	struct buf text = { 0 };
	http_cb *cb = r->cb;

	r->cb = NULL;
	http_request_answer(r, code, &a, &text);
	cb(r->arg, &a);
	buf_free(&text);
	request_free(r);
}

/* Deliver all completed requests.  A callback may close the pool. */
static void
deliver(struct http *h)
{
	struct http_request *r;
	CURLMsg *m;
	int left;

	h->delivering = true;
	while (!h->closed &&
	       (m = h->lib.multi_info_read(h->multi, &left)) != NULL) {
		if (m->msg != CURLMSG_DONE)
			continue;
		(void)h->lib.easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &r);
		request_deliver(r, m->data.result);
	}
	h->delivering = false;
	if (h->closed)
		http_free(h);
}

static void
on_ready(void *arg, int fd, bool readable, bool writable)
{
	struct http *h = arg;
	int what = 0, running;

	if (readable)
		what |= CURL_CSELECT_IN;
	if (writable)
		what |= CURL_CSELECT_OUT;
	(void)h->lib.multi_socket_action(h->multi, fd, what, &running);
	deliver(h);
}

static void
on_due(void *arg)
{
	struct http *h = arg;
	int running;

	(void)h->lib.multi_socket_action(
	    h->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	deliver(h);
}

static int
on_timer(CURLM *multi, long ms, void *arg)
{
	struct http *h = arg;

	(void)multi;
	if (ms < 0)
		loop_timer_stop(h->timer);
	else
		loop_timer_set(h->timer, ms);
	return 0;
}

static struct http_socket *
socket_new(struct http *h, int fd)
{
	struct http_socket *s = xcalloc(1, sizeof *s);

	s->http = h;
	s->fd = loop_fd_new(h->loop, fd, on_ready, h);
	s->next = h->sockets;
	s->link = &h->sockets;
	if (s->next != NULL)
		s->next->link = &s->next;
	h->sockets = s;
	(void)h->lib.multi_assign(h->multi, fd, s);
	return s;
}

static int
on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *socket)
{
	struct http *h = arg;
	struct http_socket *s = socket;

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		if (s != NULL)
			socket_free(s);
		return 0;
	}
	if (s == NULL)
		s = socket_new(h, fd);
	loop_fd_want(
	    s->fd, (what & CURL_POLL_IN) != 0, (what & CURL_POLL_OUT) != 0);
	return 0;
}

int
http_open(
    struct http **out, struct loop *loop, const char *ca_bundle, struct err *e)
{
	struct http *h = xcalloc(1, sizeof *h);
	__typeof__(curl_multi_setopt) *set;

	if (http_libcurl_load(&h->lib, e) != 0) {
		free(h);
		return -1;
	}
	h->loop = loop;
	h->timer = loop_timer_new(loop, on_due, h);
	h->ca_bundle = ca_bundle != NULL ? xstrdup(ca_bundle) : NULL;
	h->multi = h->lib.multi_init();
	if (h->multi == NULL)
		abort();
	set = h->lib.multi_setopt;
	set(h->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	set(h->multi, CURLMOPT_SOCKETDATA, (void *)h);
	set(h->multi, CURLMOPT_TIMERFUNCTION, on_timer);
	set(h->multi, CURLMOPT_TIMERDATA, (void *)h);
	set(h->multi, CURLMOPT_MAX_HOST_CONNECTIONS, (long)HOST_MAX);
	set(h->multi, CURLMOPT_MAXCONNECTS, (long)KEPT_MAX);
	*out = h;
	return 0;
}

void
http_close(struct http *h)
{
	if (h == NULL)
		return;
	h->closed = true;
	if (!h->delivering)
		http_free(h);
}

struct http_request *
http_start(struct http *h, const struct http_send *send, http_cb *cb, void *arg)
{
	struct http_request *r = xcalloc(1, sizeof *r);

	r->http = h;
	r->cb = cb;
	r->arg = arg;
	r->easy = h->lib.easy_init();
	if (r->easy == NULL)
		abort();
	r->next = h->first;
	r->link = &h->first;
	if (r->next != NULL)
		r->next->link = &r->next;
	h->first = r;
	http_request_setup(r, send);
	if (h->lib.multi_add_handle(h->multi, r->easy) != CURLM_OK)
		abort();
	return r;
}

void
http_cancel(struct http_request *r)
{
	/* Its callback is running: the request has already ended. */
	if (r == NULL || r->cb == NULL)
		return;
	request_free(r);
}

void
http_put_encoded(struct buf *b, const char *s, size_t len, bool slash)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz"
				    "0123456789-_.~";
	size_t i;

	for (i = 0; i < len; i++)
		if (s[i] != '\0' && strchr(plain, s[i]) != NULL)
			buf_putc(b, s[i]);
		else if (s[i] == '/' && slash)
			buf_putc(b, '/');
		else
			buf_printf(b, "%%%02X", (unsigned char)s[i]);
}
