/*
 * Requests on the loop: libcurl names the descriptors and timeouts that it
 * waits for, and the loop reports to libcurl when they are ready.  What is
 * received is untrusted.
 */

#include <stdlib.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/http/http-internal.h"
#include "src/base/http/http.h"
#include "src/base/loop.h"

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
http_request_free(struct http_request *r)
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
		http_request_free(r);
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
	http_request_free(r);
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
http_on_ready(void *arg, int fd, bool readable, bool writable)
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
http_on_timer(CURLM *multi, long ms, void *arg)
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
	s->fd = loop_fd_new(h->loop, fd, http_on_ready, h);
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
		mem_fail();
	set = h->lib.multi_setopt;
	set(h->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	set(h->multi, CURLMOPT_SOCKETDATA, (void *)h);
	set(h->multi, CURLMOPT_TIMERFUNCTION, http_on_timer);
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
		mem_fail();
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
	/* A request whose callback runs has already ended. */
	if (r == NULL || r->cb == NULL)
		return;
	http_request_free(r);
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
