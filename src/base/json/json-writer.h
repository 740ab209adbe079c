/*
 * Writes a JSON document into a buffer, value by value: the writer puts the
 * commas, the spaces, the quotes and the closing brackets.
 */

#ifndef HPOTUNE_JSON_WRITER_H
#define HPOTUNE_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/* Objects and arrays that may be open at the same time. */
#define JSON_WRITER_DEPTH 16

enum json_spacing {
	JSON_TIGHT, /* {"a":1,"b":[2,3]} */
	JSON_SPACED, /* {"a": 1, "b": [2, 3]} */
	JSON_PADDED /* { "a": 1, "b": [2, 3] } */
};

/*
 * Start with { .out = &buffer }.  The buffer is the caller's and may already
 * hold text.  To go on inside an object that has members, and that the caller
 * opened and closes, start with .comma = true.
 */
struct json_writer {
	struct buf *out;
	enum json_spacing spacing;
	bool comma; /* the next element of the open array or object needs one */
	bool line; /* and a new line behind it */
	size_t depth;
	char ends[JSON_WRITER_DEPTH]; /* the closing bracket of each level */
};

/*
 * Each function writes one value.  key is its name in the open object; NULL in
 * an array and for the document itself.  A text of NULL and a number that is
 * not finite are written as null.
 */
void json_writer_object(struct json_writer *, const char *key);
void json_writer_array(struct json_writer *, const char *key);
void json_writer_text(struct json_writer *, const char *key, const char *);
void json_writer_number(struct json_writer *, const char *key, double);
void json_writer_integer(struct json_writer *, const char *key, int64_t);
void json_writer_bool(struct json_writer *, const char *key, bool);
void json_writer_null(struct json_writer *, const char *key);
/* A value that is JSON text already. */
void json_writer_raw(struct json_writer *, const char *key, const char *json);
/* As json_writer_raw; the caller appends the text to the returned buffer, which
 * is the writer's own. */
struct buf *json_writer_value(struct json_writer *, const char *key);

/* Close the object or array that was opened last. */
void json_writer_end(struct json_writer *);
/* The next element begins a new line, unless it is the first of its array or
 * object. */
void json_writer_line(struct json_writer *);

#endif /* HPOTUNE_JSON_WRITER_H */
