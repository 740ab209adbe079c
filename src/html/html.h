/*
 * Writes a page: elements, attributes, text.  All contents are escaped, so that
 * nothing from a study can become markup.  The output is valid XML and HTML.
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
	const char *open[HTML_DEPTH]; /* open elements, outermost first */
	size_t depth;
	bool in_tag; /* the innermost start tag still takes attributes */
};

/*
 * Write the head of the file; about becomes a comment: a constant text, never
 * from a study.
 */
void html_begin(struct html *, const char *about);
/* Write the same, and open html and head, which has the encoding. */
void html_head_open(struct html *, const char *about);
/* A meta element: key is its attribute, name or http-equiv. */
void html_meta(
    struct html *, const char *key, const char *name, const char *content);
/*
 * Open an element.  Its name and those of attributes are constants that outlive
 * it.
 */
void html_open(struct html *, const char *name);
/* Attributes must precede the contents of the element. */
void html_attr(struct html *, const char *name, const char *value);
void html_attrf(struct html *, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/*
 * Text; NULL is empty.  Control characters and invalid UTF-8 are shown as \xNN;
 * newlines and tabs pass.
 */
void html_text(struct html *, const char *);
void html_textf(struct html *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Close the innermost element, which must have this name. */
void html_close(struct html *, const char *name);
/* An element with a class (or NULL) that contains only text. */
void
html_leaf(struct html *, const char *name, const char *class, const char *text);
/* A constant style sheet, which is not escaped. */
void html_style(struct html *, const char *css);

#endif /* HPOTUNE_HTML_H */
