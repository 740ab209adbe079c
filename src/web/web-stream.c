/* Draws a piece of each page in progress at each turn of the loop. */

#include <stdbool.h>
#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/http/http-server.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/web/web-address.h"
#include "src/web/web-page.h"
#include "src/web/web-stream.h"

struct stream {
	struct web_streams *all;
	struct stream *next;
	struct web_page_study *page;
	struct web_address address;
	struct http_server_request *request; /* NULL = its client has gone */
	bool started;
};

struct web_streams {
	struct loop *loop;
	struct loop_timer *timer;
	struct stream *first;
};

static void
stream_free(struct stream *s)
{
	struct stream **at;

	for (at = &s->all->first; *at != s; at = &(*at)->next)
		;
	*at = s->next;
	web_page_study_end(s->page);
	web_address_fini(&s->address);
	free(s);
}

static void
on_gone(void *arg, struct http_server_request *request)
{
	struct stream *s = arg;

	(void)request;
	stream_free(s);
}

/* One more piece; a page that cannot be completed ends with a sentence. */
static void
stream_go_on(struct stream *s)
{
	struct buf b = { 0 };
	struct err e = ERR_INIT;
	int rc = web_page_study_next(s->page, &b, &e);

	if (rc == -1) {
		buf_clear(&b);
		buf_puts(&b, "\n<p>The database cannot be read.</p>\n");
	}
	if (b.len > 0) {
		if (!s->started)
			http_server_stream(s->request);
		s->started = true;
		http_server_send(s->request, b.data, b.len);
	}
	buf_free(&b);
	if (rc == 1)
		return;
	http_server_stream_end(s->request);
	stream_free(s);
}

static void
on_timer(void *arg)
{
	struct web_streams *all = arg;
	struct stream *s, *next;

	for (s = all->first; s != NULL; s = next) {
		next = s->next;
		stream_go_on(s);
	}
	if (all->first != NULL)
		loop_timer_set(all->timer, 0);
}

struct web_streams *
web_streams_open(struct loop *loop)
{
	struct web_streams *all = xcalloc(1, sizeof *all);

	all->loop = loop;
	all->timer = loop_timer_new(loop, on_timer, all);
	return all;
}

/* The clients have been disconnected: no page is in progress any more. */
void
web_streams_close(struct web_streams *all)
{
	if (all == NULL)
		return;
	loop_timer_free(all->timer);
	free(all);
}

int
web_stream_study(struct web_streams *all, const struct web_access *access,
    const struct web_study *study, struct web_address *address,
    struct http_server_request *request, struct err *e)
{
	struct stream *s = xcalloc(1, sizeof *s);

	s->all = all;
	s->address = *address;
	if (web_page_study_begin(&s->page, access, study, &s->address, e) !=
	    0) {
		free(s);
		return -1;
	}
	*address = (struct web_address){ 0 };
	s->request = request;
	s->next = all->first;
	all->first = s;
	http_server_watch(request, on_gone, s);
	loop_timer_set(all->timer, 0);
	return 0;
}
