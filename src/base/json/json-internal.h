/*
 * Inside the reader: the structure of a document.  Private to src/base/json.
 */

#ifndef HPOTUNE_JSON_INTERNAL_H
#define HPOTUNE_JSON_INTERNAL_H

#include <stdarg.h>

#include "src/base/json/json.h"

enum {
	JSON_DEPTH_MAX = 16, /* nesting of arrays and objects */
	JSON_NODES_MAX = 1000000,
	JSON_NUMBER_MAX = 63, /* characters; cJSON's limit */
	JSON_FEW =
	    8 /* nodes stored inside the document, without an allocation */
};

/* One value.  The first child of node i, when it has any, is node i + 1. */
struct json {
	struct json_doc *doc;
	const char *key; /* decoded; NULL when not a member of an object */
	const char *string; /* decoded; NULL for another type */
	double number; /* JSON_NUMBER; 0 or 1 for JSON_BOOL */
	uint32_t at, end; /* of the value in the text */
	uint32_t key_at, key_end; /* of the key, quotes included */
	uint32_t parent; /* of the root: the root itself */
	uint32_t next; /* sibling, 0 = none */
	uint32_t count; /* children */
	uint32_t place; /* among its siblings */
	enum json_type type;
};

struct json_doc {
	struct json *nodes; /* few, or allocated */
	uint32_t n_nodes, cap_nodes;
	char *file; /* or NULL */
	void *tree; /* the cJSON that owns keys and strings */
	size_t len;
	char **texts; /* of json_spaced */
	size_t n_texts, cap_texts;
	struct json few[JSON_FEW];
	char text[]; /* comments blanked, NUL-terminated */
};

/* "FILE:LINE:COLUMN: PATH: text" at an offset; the path is that of node. */
int json_error_at(const struct json_doc *, size_t at, uint32_t node,
    struct err *, const char *, ...) __attribute__((format(printf, 5, 6)));
/*
 * Scan doc's text, check its syntax and fill its nodes except for their values.
 */
int json_scan(struct json_doc *, struct err *);

#endif /* HPOTUNE_JSON_INTERNAL_H */
