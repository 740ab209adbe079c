/*
 * Checks the rights of each request, and passes it to what answers it: pages
 * that show nothing of a study are answered here, the list by web-list.c, events
 * by web-live.c, all others by a reader.
 */

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/err.h"
#include "src/base/http/http-server.h"
#include "src/base/loop.h"
#include "src/base/mem.h"
#include "src/html/page.h"
#include "src/web/web-access.h"
#include "src/web/web-action.h"
#include "src/web/web-address.h"
#include "src/web/web-answer.h"
#include "src/web/web-list.h"
#include "src/web/web-live.h"
#include "src/web/web-page.h"
#include "src/web/web-reader.h"
#include "src/web/web-server.h"
#include "src/web/web-socket.h"
#include "src/web/studies/web-studies.h"

static const char script[] =
#include "src/web/web-script.inc"
    ;
static const char style[] =
#include "src/web/web-style.inc"
    ;

struct web_server {
	const struct web_server_options *options;
	struct loop *loop;
	struct http_server *http;
	struct web_access access;
	struct web_studies studies;
	struct web_readers *readers;
	struct web_list *list;
	struct web_live *live;
	struct web_actions *actions;
};

static void
web_server_constant_answer(struct http_server_request *r, const char *type,
    const char *a, const char *b)
{
	struct buf text = { 0 };

	buf_puts(&text, a);
	buf_puts(&text, b);
	web_answer_headers(r, type);
	http_server_answer(r, 200, buf_str(&text), text.len);
	buf_free(&text);
}

/* Whether the verdict lets the request pass; otherwise it is answered. */
static bool
web_server_passes(const struct web_address *a, struct http_server_request *r,
    bool post, enum web_verdict verdict)
{
	struct buf b = { 0 };

	switch (verdict) {
	case WEB_ALLOWED:
		return true;
	case WEB_WRONG_HOST:
		web_answer_text(r, 403,
		    "This host name is not allowed: use localhost, or "
		    "--allow-host NAME.\n");
		break;
	case WEB_WRONG_ORIGIN:
		web_answer_text(
		    r, 403, "This request does not come from our own page.\n");
		break;
	case WEB_READ_ONLY:
		web_answer_text(r, 403, "hpotune web runs with --read-only.\n");
		break;
	case WEB_NO_TOKEN:
		if (post) {
			web_answer_text(r, 403,
			    "The address lacks the secret that hpotune web "
			    "printed.\n");
			break;
		}
		web_page_outside(&b, a);
		web_answer_page(r, 403, &b);
		break;
	}
	return false;
}

/* "/SECRET" is the list, as "/SECRET/" is. */
static void
web_server_slash_answer(struct web_server *w, struct http_server_request *r)
{
	char *to = xasprintf("/%s/", w->access.token);

	http_server_set(r, "Location", to);
	free(to);
	web_answer_text(r, 303, "");
}

/* What may be seen without the secret: nothing of a study. */
static bool
web_server_public_answer(struct web_server *w, const struct web_address *a,
    const struct web_access_headers *headers, bool post,
    struct http_server_request *r)
{
	if (!post &&
	    (a->page == WEB_PAGE_STYLE || a->page == WEB_PAGE_SCRIPT)) {
		if (!web_server_passes(
			a, r, false, web_access_file(&w->access, headers)))
			return true;
		if (a->page == WEB_PAGE_STYLE)
			web_server_constant_answer(
			    r, "text/css; charset=utf-8", page_style, style);
		else
			web_server_constant_answer(r,
			    "text/javascript; charset=utf-8", page_script,
			    script);
	} else
		return false;
	return true;
}

static void
web_server_draw(struct web_server *w, struct web_address *a,
    struct web_address *form, struct http_server_request *r)
{
	const struct web_answers answers = { .access = &w->access,
		.studies = &w->studies,
		.readers = w->readers,
		.actions = w->actions };

	/* An id that is not known yet is the same in all readers to come. */
	if (a->study != NULL &&
	    web_studies_known(&w->studies, a->study) == NULL)
		web_list_look(w->list);
	web_answer_draw(&answers, r, a, form);
}

static void
web_server_get_answer(
    struct web_server *w, struct web_address *a, struct http_server_request *r)
{
	if (a->page == WEB_PAGE_INDEX)
		web_list_answer(w->list, r, a);
	else if (a->page == WEB_PAGE_LIVE &&
		 http_server_method(r) != HTTP_SERVER_HEAD)
		web_live_add(w->live, a->study, r,
		    web_address_number(a, "tick", 0) == 1);
	else if (a->page == WEB_PAGE_COMPARE ||
		 (a->study != NULL && a->page != WEB_PAGE_ACTION &&
		     a->page != WEB_PAGE_NONE))
		web_server_draw(w, a, NULL, r);
	else
		web_answer_sentence(&w->access, a, r, 404, "No such page",
		    "The list of studies leads to all pages.");
}

static void
web_server_post_answer(
    struct web_server *w, struct web_address *a, struct http_server_request *r)
{
	struct web_address form = { 0 };
	const char *body;
	size_t len;

	if (a->page != WEB_PAGE_ACTION) {
		web_answer_text(r, 404, "There is nothing to act on.\n");
		return;
	}
	body = http_server_body(r, &len);
	if (body != NULL)
		web_address_read_form(&form, body, len);
	web_server_draw(w, a, &form, r);
	web_address_fini(&form);
}

static void
web_server_on_request(void *arg, struct http_server_request *r)
{
	struct web_server *w = arg;
	struct web_access_headers headers = {
		.target = http_server_target(r),
		.host = http_server_header(r, "Host"),
		.origin = http_server_header(r, "Origin"),
		.form = http_server_header(r, "X-Hpotune-Form"),
	};
	bool post = http_server_method(r) == HTTP_SERVER_POST;
	const char *inside = web_access_inside(&w->access, headers.target);
	struct web_address a;

	web_address_read(&a, inside != NULL ? inside : headers.target);
	if (!web_server_public_answer(w, &a, &headers, post, r) &&
	    web_server_passes(&a, r, post,
		post ? web_access_act(&w->access, &headers)
		     : web_access_read(&w->access, &headers))) {
		if (post)
			web_server_post_answer(w, &a, r);
		else if (w->access.token[0] != '\0' && inside[0] != '/')
			web_server_slash_answer(w, r);
		else
			web_server_get_answer(w, &a, r);
	}
	web_address_fini(&a);
}

static void
web_server_on_stop(void *arg)
{
	struct web_server *w = arg;

	loop_stop(w->loop);
}

/* The program that started us has ended. */
static void
web_server_on_until(void *arg, int fd, bool readable, bool writable)
{
	struct web_server *w = arg;
	char byte;

	(void)readable;
	(void)writable;
	if (read(fd, &byte, 1) <= 0)
		loop_stop(w->loop);
}

static void
web_server_on_turn(void *arg)
{
	(void)arg;
}

static void
web_server_serve(struct web_server *w, int port)
{
	struct loop_signal *interrupted, *terminated;
	struct loop_fd *until = NULL;

	interrupted = loop_signal_new(w->loop, SIGINT, web_server_on_stop, w);
	terminated = loop_signal_new(w->loop, SIGTERM, web_server_on_stop, w);
	if (w->options->until_fd != -1) {
		until = loop_fd_new(
		    w->loop, w->options->until_fd, web_server_on_until, w);
		loop_fd_want(until, true, false);
	}
	w->options->ready(w->options->arg, port, w->access.token);
	web_list_look(w->list);
	loop_run(w->loop, web_server_on_turn, w);
	if (until != NULL)
		loop_fd_free(until);
	loop_signal_free(interrupted);
	loop_signal_free(terminated);
}

int
web_server_run(const struct web_server_options *options, struct err *e)
{
	struct web_server w = { .options = options,
		.studies = { .places = options->places } };
	int fd = -1, port = options->port, rc;

	(void)signal(SIGPIPE, SIG_IGN);
	if (loop_open(&w.loop, LOOP_REAL, e) != 0)
		return -1;
	web_access_init(&w.access, options->socket == NULL);
	w.access.read_only = options->read_only;
	w.access.host = options->host;
	rc = options->socket != NULL
		 ? web_socket_unix(&fd, options->socket, e)
		 : web_socket_tcp(&fd, &port, options->bind, e);
	if (rc == 0) {
		w.readers = web_readers_open(w.loop);
		w.list =
		    web_list_open(w.loop, w.readers, &w.access, &w.studies);
		w.live = web_live_open(w.loop, w.readers, &w.studies);
		w.actions = web_actions_open(w.loop);
		rc = http_server_open(
		    &w.http, w.loop, fd, web_server_on_request, &w, e);
		if (rc == 0) {
			web_server_serve(&w, port);
			http_server_close(w.http);
		}
		if (options->socket != NULL)
			(void)unlink(options->socket);
		web_actions_close(w.actions);
		web_live_close(w.live);
		web_readers_close(w.readers);
		web_list_close(w.list);
	}
	web_studies_fini(&w.studies);
	loop_close(w.loop);
	return rc;
}
