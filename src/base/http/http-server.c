/* The only file that uses evhttp: listening, requests, answers, streams. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>

#include "src/base/err.h"
#include "src/base/http/http-server.h"
#include "src/base/log.h"
#include "src/base/loop-internal.h"
#include "src/base/loop.h"
#include "src/base/mem.h"

enum {
	TIMEOUT_S = 10, /* for a request, and for the client to take bytes */
	HEAD_MOST = 16384,
	BODY_MOST = 65536,
	FD_MOST = 200, /* descriptors; more clients wait to be accepted */
	DROPPED = 50, /* of those that wait longest, when there are more */
	SWEEP_MS = 500,
	ACCEPT_SOON_MS = 10, /* some are disconnected in the meantime */
	ACCEPT_PAUSE_MS = 500
};

/*
 * evhttp's timeout begins again with each byte; this one does not.  Holding a
 * reference is how one learns that evhttp has freed a connection: it has no
 * callbacks any more.
 */
struct client {
	struct client *next; /* the newest is the first */
	struct bufferevent *bev;
	bool waiting; /* for a complete request, */
	int64_t since_ms; /* from then on */
};

struct http_server {
	struct loop *loop;
	struct client *clients;
	struct loop_timer *sweep;
	struct evhttp *http;
	struct evconnlistener *listener;
	struct loop_timer *accept_again;
	http_server_cb *cb;
	void *arg;
	struct http_server_request *first; /* without an answer */
};

struct http_server_request {
	struct http_server *server;
	struct http_server_request *prev, *next;
	struct evhttp_request *req;
	http_server_cb *gone;
	void *gone_arg;
};

static void
http_server_request_free(struct http_server_request *r)
{
	if (r->prev != NULL)
		r->prev->next = r->next;
	else
		r->server->first = r->next;
	if (r->next != NULL)
		r->next->prev = r->prev;
	free(r);
}

/* The client has disconnected before the end of the answer. */
static void
http_server_on_gone(struct evhttp_connection *connection, void *arg)
{
	struct http_server_request *r = arg;

	evhttp_connection_set_closecb(connection, NULL, NULL);
	if (r->gone != NULL)
		r->gone(r->gone_arg, r);
	/* evhttp leaves us a request whose connection has failed. */
	if (evhttp_request_get_connection(r->req) == NULL)
		evhttp_request_free(r->req);
	http_server_request_free(r);
}

static void
client_disconnect(struct client *c)
{
	int fd = bufferevent_getfd(c->bev);

	/* evhttp sees the end of the stream and frees the connection. */
	c->waiting = false;
	if (fd != -1)
		(void)shutdown(fd, SHUT_RDWR);
}

static bool
client_is_gone(const struct client *c)
{
	bufferevent_event_cb on_event;

	bufferevent_getcb(c->bev, NULL, NULL, &on_event, NULL);
	return on_event == NULL;
}

/* Forget those that are gone; disconnect those that take too long. */
static void
clients_sweep(struct http_server *s)
{
	int64_t now = loop_now_ms(s->loop);
	struct client **at = &s->clients, *c;

	while ((c = *at) != NULL) {
		if (client_is_gone(c)) {
			*at = c->next;
			(void)bufferevent_decref(c->bev);
			free(c);
			continue;
		}
		if (c->waiting && now - c->since_ms >= TIMEOUT_S * 1000)
			client_disconnect(c);
		at = &c->next;
	}
}

static void
on_sweep(void *arg)
{
	struct http_server *s = arg;

	clients_sweep(s);
	if (s->clients != NULL)
		loop_timer_set(s->sweep, SWEEP_MS);
}

static void
client_add(struct http_server *s, struct bufferevent *bev)
{
	struct client *c = xcalloc(1, sizeof *c);

	bufferevent_incref(bev);
	c->bev = bev;
	c->waiting = true;
	c->since_ms = loop_now_ms(s->loop);
	c->next = s->clients;
	s->clients = c;
	if (!loop_timer_pending(s->sweep))
		loop_timer_set(s->sweep, SWEEP_MS);
}

static void
client_set(struct http_server *s, struct evhttp_request *req, bool waiting)
{
	struct bufferevent *bev = evhttp_connection_get_bufferevent(
	    evhttp_request_get_connection(req));
	struct client *c;

	for (c = s->clients; c != NULL; c = c->next)
		if (c->bev == bev) {
			c->waiting = waiting;
			c->since_ms = loop_now_ms(s->loop);
		}
}

/* The answer has been sent: the next request may come. */
static void
on_complete(struct evhttp_request *req, void *arg)
{
	client_set(arg, req, true);
}

/* Disconnect clients that have waited longest; whether there is one. */
static bool
clients_drop(struct http_server *s)
{
	struct client *c;
	size_t n = 0, kept;

	for (c = s->clients; c != NULL; c = c->next)
		n += c->waiting;
	kept = n > DROPPED ? n - DROPPED : n / 2;
	for (c = s->clients; c != NULL; c = c->next)
		if (c->waiting && (kept == 0 || kept-- == 0))
			client_disconnect(c);
	return n > 0;
}

static void
clients_free(struct http_server *s)
{
	struct client *c;

	while ((c = s->clients) != NULL) {
		s->clients = c->next;
		(void)bufferevent_decref(c->bev);
		free(c);
	}
}

/*
 * Whether a header that decides something is there twice: programs between us
 * and the client may believe the other one.
 */
static bool
is_ambiguous(struct evhttp_request *req)
{
	static const char *const once[] = { "Host", "Origin",
		"Content-Length" };
	struct evkeyvalq *headers = evhttp_request_get_input_headers(req);
	const struct evkeyval *header;
	size_t i, n;

	for (i = 0; i < sizeof once / sizeof *once; i++) {
		n = 0;
		for (header = TAILQ_FIRST(headers); header != NULL;
		     header = TAILQ_NEXT(header, next))
			n += strcasecmp(header->key, once[i]) == 0;
		if (n > 1)
			return true;
	}
	return false;
}

static void
http_server_on_request(struct evhttp_request *req, void *arg)
{
	struct http_server *s = arg;
	struct http_server_request *r;

	if (is_ambiguous(req)) {
		evhttp_send_reply(req, 400, NULL, NULL);
		return;
	}
	r = xcalloc(1, sizeof *r);
	r->server = s;
	r->req = req;
	r->next = s->first;
	if (r->next != NULL)
		r->next->prev = r;
	s->first = r;
	evhttp_connection_set_closecb(
	    evhttp_request_get_connection(req), http_server_on_gone, r);
	client_set(s, req, false);
	evhttp_request_set_on_complete_cb(req, on_complete, s);
	s->cb(s->arg, r);
}

/* Out of descriptors: wait, since the socket stays readable. */
static void
on_accept_error(struct evconnlistener *listener, void *arg)
{
	struct http_server *s = arg;

	(void)evconnlistener_disable(listener);
	loop_timer_set(s->accept_again, ACCEPT_PAUSE_MS);
}

static void
http_server_on_accept_again(void *arg)
{
	struct http_server *s = arg;

	(void)evconnlistener_enable(s->listener);
}

/*
 * Called for each new connection: the default buffers.  When too many
 * descriptors are open, those that have not sent a request for longest are
 * disconnected, and the listener pauses.
 */
static struct bufferevent *
http_server_on_connect(struct event_base *base, void *arg)
{
	struct http_server *s = arg;
	struct bufferevent *bev =
	    bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
	int probe;

	clients_sweep(s);
	probe = dup(STDERR_FILENO);
	if (probe >= FD_MOST || probe == -1) {
		(void)evconnlistener_disable(s->listener);
		loop_timer_set(s->accept_again,
		    clients_drop(s) ? ACCEPT_SOON_MS : ACCEPT_PAUSE_MS);
	}
	if (probe != -1)
		(void)close(probe);
	if (bev != NULL)
		client_add(s, bev);
	return bev;
}

int
http_server_open(struct http_server **out, struct loop *loop, int fd,
    http_server_cb *cb, void *arg, struct err *e)
{
	struct evhttp_bound_socket *bound;
	struct http_server *s = xcalloc(1, sizeof *s);

	s->loop = loop;
	s->cb = cb;
	s->arg = arg;
	s->http = evhttp_new(loop_base(loop));
	if (s->http == NULL) {
		(void)close(fd);
		free(s);
		return err_set(e, ERR_FILE, "the web server: out of memory");
	}
	evhttp_set_gencb(s->http, http_server_on_request, s);
	evhttp_set_bevcb(s->http, http_server_on_connect, s);
	evhttp_set_timeout(s->http, TIMEOUT_S);
	evhttp_set_max_headers_size(s->http, HEAD_MOST);
	evhttp_set_max_body_size(s->http, BODY_MOST);
	evhttp_set_allowed_methods(
	    s->http, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD | EVHTTP_REQ_POST);
	bound = evhttp_accept_socket_with_handle(s->http, fd);
	if (bound == NULL) {
		(void)close(fd);
		evhttp_free(s->http);
		free(s);
		return err_set(e, ERR_FILE, "the web server's socket: %s",
		    strerror(errno));
	}
	s->listener = evhttp_bound_socket_get_listener(bound);
	s->accept_again = loop_timer_new(loop, http_server_on_accept_again, s);
	s->sweep = loop_timer_new(loop, on_sweep, s);
	evconnlistener_set_error_cb(s->listener, on_accept_error);
	*out = s;
	return 0;
}

void
http_server_close(struct http_server *s)
{
	if (s == NULL)
		return;
	/*
	 * Frees the connections; those with a request call
	 * http_server_on_gone.
	 */
	evhttp_free(s->http);
	clients_free(s);
	loop_timer_free(s->sweep);
	loop_timer_free(s->accept_again);
	free(s);
}

enum http_server_method
http_server_method(const struct http_server_request *r)
{
	switch (evhttp_request_get_command(r->req)) {
	case EVHTTP_REQ_POST:
		return HTTP_SERVER_POST;
	case EVHTTP_REQ_HEAD:
		return HTTP_SERVER_HEAD;
	default:
		return HTTP_SERVER_GET;
	}
}

const char *
http_server_target(const struct http_server_request *r)
{
	return evhttp_request_get_uri(r->req);
}

const char *
http_server_header(const struct http_server_request *r, const char *name)
{
	return evhttp_find_header(
	    evhttp_request_get_input_headers(r->req), name);
}

const char *
http_server_body(struct http_server_request *r, size_t *len)
{
	struct evbuffer *in = evhttp_request_get_input_buffer(r->req);

	*len = evbuffer_get_length(in);
	return *len == 0 ? NULL : (const char *)evbuffer_pullup(in, -1);
}

void
http_server_set(
    struct http_server_request *r, const char *name, const char *value)
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(r->req);

	(void)evhttp_remove_header(headers, name);
	(void)evhttp_add_header(headers, name, value);
}

static struct evbuffer *
bytes(const void *data, size_t len)
{
	struct evbuffer *b = evbuffer_new();

	if (b == NULL || (len > 0 && evbuffer_add(b, data, len) != 0))
		log_bug("the web server: out of memory");
	return b;
}

/* The answer is complete, or will be: libevent owns the request from now on. */
static struct evhttp_request *
request_take(struct http_server_request *r)
{
	struct evhttp_request *req = r->req;

	evhttp_connection_set_closecb(
	    evhttp_request_get_connection(req), NULL, NULL);
	http_server_request_free(r);
	return req;
}

void
http_server_answer(
    struct http_server_request *r, int status, const void *body, size_t len)
{
	struct evbuffer *b = bytes(body, len);

	evhttp_send_reply(request_take(r), status, NULL, b);
	evbuffer_free(b);
}

void
http_server_watch(
    struct http_server_request *r, http_server_cb *gone, void *arg)
{
	r->gone = gone;
	r->gone_arg = arg;
}

void
http_server_stream(struct http_server_request *r)
{
	evhttp_send_reply_start(r->req, 200, NULL);
}

void
http_server_send(struct http_server_request *r, const void *piece, size_t len)
{
	struct evbuffer *b = bytes(piece, len);

	evhttp_send_reply_chunk(r->req, b);
	evbuffer_free(b);
}

size_t
http_server_backlog(const struct http_server_request *r)
{
	return evbuffer_get_length(
	    bufferevent_get_output(evhttp_connection_get_bufferevent(
		evhttp_request_get_connection(r->req))));
}

void
http_server_stream_end(struct http_server_request *r)
{
	evhttp_send_reply_end(request_take(r));
}
