/*
 * The pages.  Each function reads what it shows in one transaction and appends
 * a whole document; -1: the database cannot be read, out is then incomplete.
 */

#ifndef HPOTUNE_WEB_PAGE_H
#define HPOTUNE_WEB_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct html;
struct http_server_request;
struct loop;
struct page;
struct web_access;
struct web_address;
struct web_studies;
struct web_study;

/* The list of studies; with find in the address those that contain it. */
/* It waits for summaries a moment only: some studies may be late then. */
void web_page_index(struct buf *out, const struct web_access *,
    struct web_studies *, const struct web_address *);
/* A page of one sentence, for errors. */
void web_page_sentence(struct buf *out, const struct web_access *,
    const char *title, const char *);
/* The form that asks for the token. */
void web_page_login(struct buf *out, const struct web_access *);
/*
 * The page of a study: its head, the sections of report, the table of trials.
 * It is sent piece by piece, on the loop; takes the contents of address.  -1: it
 * cannot be read, and the request has no answer then.
 */
struct web_page_studies;
struct web_page_studies *web_page_studies_open(struct loop *);
/* Call after the clients have been disconnected. */
void web_page_studies_close(struct web_page_studies *);
int web_page_study(struct web_page_studies *, const struct web_access *,
    const struct web_study *, struct web_address *,
    struct http_server_request *, struct err *);
/* One trial. */
int web_page_trial(struct buf *out, const struct web_access *,
    const struct web_study *, const struct web_address *, struct err *);
/* One trial as one line of text. */
int web_page_line(struct buf *out, const struct web_study *,
    const struct web_address *, struct err *);
/*
 * The log of an attempt, in pieces.  Append the bytes from the parameter from
 * on, at most 64 KiB, control characters escaped; without from the end of the
 * log.  *next: where the next piece begins.  *over: the attempt has ended, so
 * nothing follows.
 */
int web_page_log(struct buf *out, const struct web_study *,
    const struct web_address *, int64_t *next, bool *over, struct err *);
/* Several trials of a study side by side. */
int web_page_trials(struct buf *out, const struct web_access *,
    const struct web_study *, const struct web_address *, struct err *);
/* Several studies: their best values by trials, by time, by cost. */
int web_page_compare(struct buf *out, const struct web_access *,
    struct web_studies *, const struct web_address *, struct err *);

/*
 * What pages of a study begin and end with: open the database in a transaction
 * and read it; then close it.  Call web_page_close also after an error.
 */
int web_page_open(struct page *, const struct web_study *, struct err *);
void web_page_close(struct page *);
/* The index of a trial by its number.  ERR_USAGE: there is none. */
int web_page_find(size_t *, const struct page *, int64_t trial, struct err *);

/* ---- what all pages share: their head, the way back ---------------------- */

/* A step of the way from the list of studies to a page. */
struct web_step {
	const char *text;
	const char *address; /* NULL: the page itself */
};

/*
 * Begin a page: its head, and the way to it. live: address of its events, or
 * NULL.  The script gets what it needs in attributes of the body.
 */
void web_page_begin(struct html *, const struct web_access *, const char *title,
    const char *live, const struct web_step *, size_t n);
void web_page_end(struct html *);

/* "/s/NAME" and a rest, which is not escaped; the caller frees it. */
char *web_page_address(const char *study, const char *rest);
/* An element <a>. */
void web_page_link(struct html *, const char *address, const char *text);
/* A button that does an action on the study, by the script. */
void web_page_button(struct html *, const char *action, const char *trial,
    const char *text, const char *question);

/*
 * The parameters of an address as hidden fields of a form, but for those that
 * without (a list that NULL closes) names or, with a dot at their end, begins.
 */
void web_page_hidden(
    struct html *, const struct web_address *, const char *const *without);

#endif /* HPOTUNE_WEB_PAGE_H */
