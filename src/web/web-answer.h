/*
 * Answers to requests: their headers, and what a reader draws, passed on to the
 * client; a sentence where the reader does not get on.
 */

#ifndef HPOTUNE_WEB_ANSWER_H
#define HPOTUNE_WEB_ANSWER_H

#include "src/web/web-request.h"

struct buf;
struct http_server_request;
struct web_access;
struct web_actions;
struct web_address;
struct web_readers;
struct web_studies;

/* What answers are made with; borrowed. */
struct web_answers {
	const struct web_access *access;
	struct web_studies *studies;
	struct web_readers *readers;
	struct web_actions *actions;
};

/* Set the headers that all answers have. */
void web_answer_headers(struct http_server_request *, const char *type);
void
web_answer_text(struct http_server_request *, int status, const char *text);
/* Takes the contents of the page. */
void
web_answer_page(struct http_server_request *, int status, struct buf *page);
/* A page of one sentence. */
void web_answer_sentence(const struct web_access *, const struct web_address *,
    struct http_server_request *, int status, const char *title,
    const char *sentence);
/*
 * Answer with what a reader draws; takes the contents of both addresses, form
 * may be NULL.
 */
void web_answer_draw(const struct web_answers *, struct http_server_request *,
    struct web_address *, struct web_address *form);

#endif /* HPOTUNE_WEB_ANSWER_H */
