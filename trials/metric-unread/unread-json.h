/*
 * Looks for one name in a line of JSON that was not read: at which depth it
 * stands, and before what.  Input is untrusted, and may be no JSON at all.
 */

#ifndef HPOTUNE_UNREAD_JSON_H
#define HPOTUNE_UNREAD_JSON_H

#include <stdbool.h>
#include <stddef.h>

enum { UNREAD_JSON_DEPTH = 8 }; /* objects inside each other */

enum unread_json_value {
	UNREAD_JSON_NUMBER,
	UNREAD_JSON_STRING, /* text is without its quotes */
	UNREAD_JSON_WORD /* true, null and the like */
};

/* A member with the name; texts are parts of the line. */
struct unread_json {
	int depth; /* 1: of the outermost object */
	const char *inside; /* name of the object that has it; depth > 1 */
	size_t inside_len;
	enum unread_json_value value;
	const char *text;
	size_t len;
};

/* Whether a and the n bytes of b are equal but for case and joining marks. */
bool unread_json_same(const char *a, const char *b, size_t n);
/*
 * The first member with this name, or whose names joined from the outermost
 * object have it: "loss" and "val_loss" both find {"val": {"loss": 1}}.  At
 * depth 1 the name is compared byte by byte.  p begins with '{'.
 */
bool unread_json_find(
    struct unread_json *, const char *name, const char *p, size_t len);

#endif /* HPOTUNE_UNREAD_JSON_H */
