/* Passes what readers draw on to the clients. */

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/http/http-server.h"
#include "src/base/mem.h"
#include "src/web/web-access.h"
#include "src/web/web-action.h"
#include "src/web/web-address.h"
#include "src/web/web-answer.h"
#include "src/web/web-page.h"
#include "src/web/web-reader.h"

struct web_answer {
	struct web_answers all;
	struct http_server_request *http;
	struct web_request request; /* with our address and form */
	struct web_address address, form;
	struct web_reader *reader;
	int status; /* 0 = there is no answer yet */
	bool pieces, started;
	struct buf body;
	struct strv command;
};

void
web_answer_headers(struct http_server_request *r, const char *type)
{
	http_server_set(r, "Content-Type", type);
	http_server_set(r, "Content-Security-Policy",
	    "default-src 'none'; script-src 'self'; style-src 'self'; "
	    "img-src 'self' data:; connect-src 'self'; form-action 'self'; "
	    "frame-ancestors 'none'; base-uri 'none'");
	http_server_set(r, "X-Content-Type-Options", "nosniff");
	http_server_set(r, "Referrer-Policy", "no-referrer");
	http_server_set(r, "Cross-Origin-Resource-Policy", "same-origin");
	http_server_set(r, "Cache-Control", "no-store");
}

void
web_answer_text(struct http_server_request *r, int status, const char *text)
{
	web_answer_headers(r, "text/plain; charset=utf-8");
	http_server_answer(r, status, text, strlen(text));
}

void
web_answer_page(struct http_server_request *r, int status, struct buf *page)
{
	web_answer_headers(r, "text/html; charset=utf-8");
	http_server_answer(r, status, buf_str(page), page->len);
	buf_free(page);
}

void
web_answer_sentence(const struct web_access *access,
    const struct web_address *a, struct http_server_request *r, int status,
    const char *title, const char *sentence)
{
	struct buf b = { 0 };

	web_page_sentence(&b, access, a, title, sentence);
	web_answer_page(r, status, &b);
}

static void
web_answer_free(struct web_answer *w)
{
	web_address_fini(&w->address);
	web_address_fini(&w->form);
	buf_free(&w->body);
	strv_free(w->command.v);
	free(w);
}

/* Status, type, whether in pieces, and more headers. */
static void
web_answer_begin(struct web_answer *w, const char *text, size_t len)
{
	const char *end = text + len, *name;

	w->status = (int)strtol(text, NULL, 10);
	text += strlen(text) + 1;
	web_answer_headers(w->http, text);
	text += strlen(text) + 1;
	w->pieces = *text != '\0';
	text += strlen(text) + 1;
	while (text < end) {
		name = text;
		text += strlen(text) + 1;
		http_server_set(w->http, name, text);
		text += strlen(text) + 1;
	}
}

static void
web_answer_body(struct web_answer *w, const char *bytes, size_t len)
{
	if (!w->pieces) {
		buf_add(&w->body, bytes, len);
		return;
	}
	if (!w->started)
		http_server_stream(w->http);
	w->started = true;
	http_server_send(w->http, bytes, len);
}

static void
web_answer_on_frame(void *arg, char kind, const char *bytes, size_t len)
{
	struct web_answer *w = arg;
	const char *end = bytes + len;

	switch ((enum web_request_frame)kind) {
	case WEB_FRAME_ANSWER:
		web_answer_begin(w, bytes, len);
		break;
	case WEB_FRAME_BODY:
		web_answer_body(w, bytes, len);
		break;
	case WEB_FRAME_COMMAND:
		for (; bytes < end; bytes += strlen(bytes) + 1)
			strv_add(&w->command, xstrdup(bytes));
		break;
	}
}

/* The study that was read: of a comparison that with this number. */
static const char *
web_answer_study(const struct web_answer *w, int64_t at)
{
	const char *id;

	if (w->address.page != WEB_PAGE_COMPARE)
		return w->address.study;
	id =
	    at < 0 ? NULL : web_address_param(&w->address, "study", (size_t)at);
	return id == NULL ? "a study" : id;
}

/* What the reader did not get done, in a sentence. */
static void
web_answer_fail(struct web_answer *w, const char *why, int64_t at)
{
	struct buf b = { 0 };
	char *sentence =
	    xasprintf("The database of %s %s; other pages do not wait for it. "
		      "hpotune report takes the time that it needs.",
		web_answer_study(w, at), why);

	if (w->started) {
		web_page_trouble(&b, sentence);
		http_server_send(w->http, buf_str(&b), b.len);
		buf_free(&b);
		http_server_stream_end(w->http);
	} else if (w->address.page == WEB_PAGE_LOG ||
		   w->address.page == WEB_PAGE_LINE ||
		   w->address.page == WEB_PAGE_ACTION)
		web_answer_text(w->http, 503, sentence);
	else
		web_answer_sentence(w->all.access, &w->address, w->http, 503,
		    "This cannot be shown", sentence);
	free(sentence);
}

static void
web_answer_on_end(void *arg, const char *why, int64_t at)
{
	struct web_answer *w = arg;

	if (why != NULL)
		web_answer_fail(w, why, at);
	else if (w->command.n > 0) {
		web_answer_headers(w->http, "text/plain; charset=utf-8");
		/* The client may go from now on: it is the action's. */
		web_action_run(w->all.actions, w->command.v, w->http);
	} else if (w->started)
		http_server_stream_end(w->http);
	else
		http_server_answer(
		    w->http, w->status, buf_str(&w->body), w->body.len);
	web_answer_free(w);
}

static void
web_answer_on_gone(void *arg, struct http_server_request *http)
{
	struct web_answer *w = arg;

	(void)http;
	web_reader_kill(w->reader);
	web_answer_free(w);
}

static void
web_answer_work(void *arg, struct web_sink *sink)
{
	struct web_answer *w = arg;

	web_request_draw(&w->request, sink);
}

void
web_answer_draw(const struct web_answers *all, struct http_server_request *http,
    struct web_address *address, struct web_address *form)
{
	struct web_answer *w = xcalloc(1, sizeof *w);

	w->all = *all;
	w->http = http;
	w->address = *address;
	*address = (struct web_address){ 0 };
	if (form != NULL) {
		w->form = *form;
		*form = (struct web_address){ 0 };
	}
	w->request = (struct web_request){ .access = all->access,
		.studies = all->studies,
		.address = &w->address,
		.form = form != NULL ? &w->form : NULL };
	http_server_watch(http, web_answer_on_gone, w);
	w->reader = web_reader_start(all->readers,
	    &(struct web_reader_spec){ .work = web_answer_work,
		.frame = web_answer_on_frame,
		.end = web_answer_on_end,
		.arg = w,
		.study = w->address.study != NULL ? w->address.study : "?" });
}
