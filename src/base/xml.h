/*
 * Small XML documents as a tree; the only module that uses expat.  Names lose
 * their prefix; entities declared by the document, and documents nested deeper
 * than 32 or with more than 100,000 elements, are errors.
 */

#ifndef HPOTUNE_XML_H
#define HPOTUNE_XML_H

#include <stddef.h>

struct err;
struct xml; /* one element */

/*
 * Parse a document; the caller frees the root.  ERR_REMOTE when it is not XML.
 */
int xml_parse(struct xml **, const char *text, size_t len, struct err *);
void xml_free(struct xml *); /* the root, or NULL */
const char *xml_name(const struct xml *);
/* The text directly inside the element, "" when there is none. */
const char *xml_text(const struct xml *);
/* The first child, or the next sibling, of this name (NULL = any); or NULL. */
const struct xml *xml_first(const struct xml *, const char *name);
const struct xml *xml_next(const struct xml *, const char *name);
/*
 * The text of the element at a path such as "Error/Code" (the first name is
 * that of a child); NULL if missing.
 */
const char *xml_get(const struct xml *, const char *path);

#endif /* HPOTUNE_XML_H */
