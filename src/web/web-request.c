/* Draws what a request asks for, and writes it as frames. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/web/web-address.h"
#include "src/web/web-form.h"
#include "src/web/web-page.h"
#include "src/web/web-sink.h"
#include "src/web/web-request.h"
#include "src/web/studies/web-studies.h"

#define HTML "text/html; charset=utf-8"
#define TEXT "text/plain; charset=utf-8"

static void
web_request_word_put(struct buf *b, const char *word)
{
	buf_add(b, word, strlen(word) + 1);
}

/* headers: names and values, ends with NULL; or NULL. */
static void
web_request_begin(struct web_sink *sink, int status, const char *type,
    bool pieces, const char *const *headers)
{
	struct buf b = { 0 };
	char number[16];

	(void)snprintf(number, sizeof number, "%d", status);
	web_request_word_put(&b, number);
	web_request_word_put(&b, type);
	web_request_word_put(&b, pieces ? "1" : "");
	for (; headers != NULL && *headers != NULL; headers++)
		web_request_word_put(&b, *headers);
	web_sink_put(sink, WEB_FRAME_ANSWER, b.data, b.len);
	buf_free(&b);
}

/* Takes the contents of body. */
static void
web_request_whole(
    struct web_sink *sink, int status, const char *type, struct buf *body)
{
	web_request_begin(sink, status, type, false, NULL);
	web_sink_put(sink, WEB_FRAME_BODY, buf_str(body), body->len);
	buf_free(body);
}

static void
web_request_text(struct web_sink *sink, int status, const char *text)
{
	struct buf b = { 0 };

	buf_puts(&b, text);
	web_request_whole(sink, status, TEXT, &b);
}

static void
web_request_sentence(const struct web_request *q, struct web_sink *sink,
    int status, const char *title, const char *sentence)
{
	struct buf b = { 0 };

	web_page_sentence(&b, q->access, q->address, title, sentence);
	web_request_whole(sink, status, HTML, &b);
}

static void
web_request_log(const struct web_request *q, const struct web_study *s,
    struct web_sink *sink)
{
	struct buf b = { 0 };
	struct err e = ERR_INIT;
	int64_t next;
	char number[32];
	bool over;

	if (web_page_log(&b, s, q->address, &next, &over, &e) != 0) {
		buf_free(&b);
		web_request_text(sink, 404, e.text);
		return;
	}
	(void)snprintf(number, sizeof number, "%" PRId64, next);
	web_request_begin(sink, 200, TEXT, false,
	    (const char *[]){
		"X-Next", number, "X-Over", over ? "1" : "0", NULL });
	web_sink_put(sink, WEB_FRAME_BODY, buf_str(&b), b.len);
	buf_free(&b);
}

static void
web_request_line(const struct web_request *q, const struct web_study *s,
    struct web_sink *sink)
{
	struct buf b = { 0 };
	struct err e = ERR_INIT;

	if (web_page_trial_line(&b, s, q->address, &e) == 0) {
		web_request_whole(sink, 200, TEXT, &b);
		return;
	}
	buf_free(&b);
	web_request_text(sink, 404, e.text);
}

struct web_request_pieces {
	struct web_sink *sink;
	bool begun;
};

static void
web_request_piece(void *arg, const struct buf *piece)
{
	struct web_request_pieces *p = arg;

	if (!p->begun)
		web_request_begin(p->sink, 200, HTML, true, NULL);
	p->begun = true;
	web_sink_put(p->sink, WEB_FRAME_BODY, buf_str(piece), piece->len);
}

static void
web_request_turn(void *arg)
{
	const struct web_request_pieces *p = arg;

	web_sink_beat(p->sink);
}

struct web_request_file {
	struct web_sink *sink;
	const char *type;
	bool begun;
};

static void
web_request_file_begin(void *arg)
{
	struct web_request_file *f = arg;

	web_request_begin(f->sink, 200, f->type, true,
	    (const char *[]){ "Content-Disposition", "attachment", NULL });
	f->begun = true;
}

/* A chart as a file; what ends it early cuts it off. */
static void
web_request_chart(const struct web_request *q, const struct web_study *s,
    struct web_sink *sink)
{
	struct web_request_file f = { .sink = sink,
		.type = web_page_chart_type(q->address) };
	struct err e = ERR_INIT;

	if (web_page_chart(
		s, q->address, sink, web_request_file_begin, &f, &e) != 0 &&
	    !f.begun)
		web_request_text(sink, e.kind == ERR_USAGE ? 404 : 503, e.text);
}

/* A page of a study: as a whole, or in pieces, which a sentence may end. */
static void
web_request_page(const struct web_request *q, const struct web_study *s,
    struct web_sink *sink)
{
	struct web_request_pieces pieces = { .sink = sink };
	const struct web_address *a = q->address;
	struct buf b = { 0 };
	struct err e = ERR_INIT;
	int rc;

	if (a->page == WEB_PAGE_TRIAL)
		rc = web_page_trial(&b, q->access, s, a, &e);
	else if (a->page == WEB_PAGE_TRIALS)
		rc = web_page_trials(&b, q->access, s, a, &e);
	else
		rc = web_page_study(web_request_piece, web_request_turn,
		    &pieces, q->access, s, a, &e);
	if (rc == 0 && !pieces.begun)
		web_request_whole(sink, 200, HTML, &b);
	buf_free(&b);
	if (rc == 0)
		return;
	if (!pieces.begun) {
		web_request_sentence(q, sink, e.kind == ERR_USAGE ? 404 : 503,
		    "This cannot be shown", e.text);
		return;
	}
	web_page_trouble(&b, e.text);
	web_request_piece(&pieces, &b);
	buf_free(&b);
}

static void
web_request_compare(const struct web_request *q, struct web_sink *sink)
{
	struct buf b = { 0 };
	struct err e = ERR_INIT;

	if (web_page_compare(&b, q->access, q->studies, q->address, sink, &e) ==
	    0) {
		web_request_whole(sink, 200, HTML, &b);
		return;
	}
	buf_free(&b);
	web_request_sentence(q, sink, 404, "This cannot be shown", e.text);
}

static void
web_request_form(const struct web_request *q, const struct web_study *s,
    struct web_sink *sink)
{
	struct strv argv = { 0 };
	struct buf b = { 0 };
	int status;
	size_t i;

	if (s == NULL) {
		web_request_text(sink, 404, "There is nothing to act on.\n");
		return;
	}
	status = web_form_read(&argv, &b, s, q->form);
	if (status != 0)
		web_request_whole(sink, status, TEXT, &b);
	else {
		for (i = 0; i < argv.n; i++)
			web_request_word_put(&b, argv.v[i]);
		web_sink_put(sink, WEB_FRAME_COMMAND, b.data, b.len);
		buf_free(&b);
	}
	strv_free(argv.v);
}

void
web_request_draw(const struct web_request *q, struct web_sink *sink)
{
	const struct web_address *a = q->address;
	const struct web_study *s;

	if (a->page == WEB_PAGE_COMPARE) {
		web_request_compare(q, sink);
		return;
	}
	s = web_studies_find(q->studies, a->study);
	if (q->form != NULL)
		web_request_form(q, s, sink);
	else if (s == NULL)
		web_request_sentence(q, sink, 404, "No such study",
		    "The list of studies names those that there are.");
	else if (a->page == WEB_PAGE_LIVE)
		/* The head alone: HEAD asks for no events. */
		web_request_begin(sink, 200, "text/event-stream", false, NULL);
	else if (a->page == WEB_PAGE_CHART)
		web_request_chart(q, s, sink);
	else if (a->page == WEB_PAGE_LOG)
		web_request_log(q, s, sink);
	else if (a->page == WEB_PAGE_LINE)
		web_request_line(q, s, sink);
	else
		web_request_page(q, s, sink);
}
