/* What all pages share: their head, the way back, a note for a failure. */

#ifndef HPOTUNE_WEB_FRAME_H
#define HPOTUNE_WEB_FRAME_H

#include <stddef.h>

struct html;
struct web_access;
struct web_address;

/* A step of the way from the list of studies to a page. */
struct web_step {
	const char *text;
	const char *address; /* NULL: the page itself */
};

/*
 * Begin a page: its head, and the way to it. live: address of its events, or
 * NULL.  The script gets what it needs in attributes of the body.
 */
void web_frame_begin(struct html *, const struct web_access *,
    const char *title, const char *live, const struct web_step *, size_t n);
void web_frame_end(struct html *);

/* "/s/NAME" and a rest, which is not escaped; the caller frees it. */
char *web_frame_address(const char *study, const char *rest);
/* An element <a>. */
void web_frame_link(struct html *, const char *address, const char *text);
/* A button that does an action on the study, by the script. */
void web_frame_button(struct html *, const char *action, const char *trial,
    const char *text, const char *question);

/*
 * The parameters of an address as hidden fields of a form, but for those that
 * without (a list that NULL closes) names or, with a dot at their end, begins.
 */
void web_frame_hidden(
    struct html *, const struct web_address *, const char *const *without);

#endif /* HPOTUNE_WEB_FRAME_H */
