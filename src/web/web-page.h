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
struct web_access;
struct web_address;
struct web_sink;
struct web_studies;
struct web_study;
struct web_summary;

/*
 * The list of studies, as web-list.c knows them, which touches no file; with
 * find in the address those that contain it.  hung: its folders do not answer.
 */
void web_page_index(struct buf *out, const struct web_access *,
    const struct web_studies *, const struct web_address *, bool hung);
/* The line of a study there; trouble: why it cannot be read, or NULL. */
void web_page_index_row(struct buf *out, const struct web_study *,
    const struct web_summary *, const char *trouble);
/* A sentence that ends a page which cannot be completed. */
void web_page_trouble(struct buf *out, const char *sentence);
/* A page of one sentence, for errors. */
void web_page_sentence(struct buf *out, const struct web_access *,
    const struct web_address *, const char *title, const char *);
/* What a client sees whose address lacks the secret: what to do. */
void web_page_outside(struct buf *out, const struct web_address *);
/*
 * The page of a study: its head, the sections of report, the table of trials.
 * Each piece is passed on as soon as it is drawn; -1 may come after some.  turn
 * is called with arg in the middle of long ones.
 */
typedef void web_page_piece(void *arg, const struct buf *);
int web_page_study(web_page_piece *, void (*turn)(void *arg), void *arg,
    const struct web_access *, const struct web_study *,
    const struct web_address *, struct err *);
/* One trial. */
int web_page_trial(struct buf *out, const struct web_access *,
    const struct web_study *, const struct web_address *, struct err *);
/* One trial as one line of text. */
int web_page_trial_line(struct buf *out, const struct web_study *,
    const struct web_address *, struct err *);
/*
 * The log of an attempt, in pieces.  Append the bytes from the parameter from
 * on, at most 64 KiB, control characters escaped; without from the end of the
 * log.  *next: where the next piece begins.  *over: the attempt has ended, so
 * nothing follows.
 */
int web_page_log(struct buf *out, const struct web_study *,
    const struct web_address *, int64_t *next, bool *over, struct err *);
/* The type of the file that /chart asks for, or NULL. */
const char *web_page_chart_type(const struct web_address *);
/*
 * The file, as frames of the sink: begin is called with arg before the first.
 * After an error without begin nothing is sent.
 */
int web_page_chart(const struct web_study *, const struct web_address *,
    struct web_sink *, void (*begin)(void *), void *arg, struct err *);
/* Links to the charts of a section as files; nothing when it has none. */
void web_page_chart_links_put(struct html *, const char *section,
    const char *study, const struct web_address *);
/* Several trials of a study side by side. */
int web_page_trials(struct buf *out, const struct web_access *,
    const struct web_study *, const struct web_address *, struct err *);
/*
 * Several studies: their best values by trials, by time, by cost.  The sink is
 * told the number of each before it is read.
 */
int web_page_compare(struct buf *out, const struct web_access *,
    struct web_studies *, const struct web_address *, struct web_sink *,
    struct err *);

/* A step of the way from the list of studies to a page. */
struct web_step {
	const char *text;
	const char *address; /* NULL: the page itself */
};

/*
 * Begin a page: its head, and the way to it; root: of its address. live: address
 * of its events, WEB_PAGE_REFETCH: it fetches itself again, NULL: it stays as it
 * is.  The script gets what it needs in attributes of the body.
 */
#define WEB_PAGE_REFETCH "refetch"
void web_page_begin(struct html *, const struct web_access *, const char *root,
    const char *title, const char *live, const struct web_step *, size_t n);
void web_page_end(struct html *);

/* ROOTs/NAME and a rest, which is not escaped; the caller frees it. */
char *web_page_address(const char *root, const char *study, const char *rest);
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
