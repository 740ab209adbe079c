/*
 * A page being written: elements, attributes, text.  All that goes in is
 * escaped on its way, there is no other; so nothing that a study holds can
 * become markup.  What comes out is XML as well as HTML.
 */

#ifndef HPOTUNE_HTML_H
#define HPOTUNE_HTML_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/mem.h"

enum { HTML_DEPTH = 24 };

/* Start with { 0 }. */
struct html {
	struct buf out; /* the owner frees it */
	const char *open[HTML_DEPTH]; /* elements, from the outermost on */
	size_t depth;
	bool in_tag; /* the innermost takes attributes still */
};

/* The first line; about stands in it as a comment: ours, never a study's. */
void html_begin(struct html *, const char *about);
/* Begin an element.  Its name is ours and outlives it; so are those of attributes. */
void html_open(struct html *, const char *name);
/* Attributes come before what is in the element. */
void html_attr(struct html *, const char *name, const char *value);
void html_attrf(struct html *, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/*
 * Text, NULL is none.  Characters that would be obeyed and bytes that are not
 * UTF-8 are shown as \xNN; lines and tabs pass.
 */
void html_text(struct html *, const char *);
void html_textf(struct html *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* End the innermost element, which must have this name. */
void html_close(struct html *, const char *name);
/* An element with a class (or NULL) that holds text alone. */
void
html_leaf(struct html *, const char *name, const char *class, const char *text);
/* A style sheet of ours: no element may stand in it, so none is escaped. */
void html_style(struct html *, const char *css);

#endif /* HPOTUNE_HTML_H */
