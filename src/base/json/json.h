/*
 * The JSON reader; the only module that uses cJSON. A document stores the
 * position of each of its values, so that an error can name file, line, column
 * and path.
 *
 * Stricter than cJSON: duplicate keys, leading zeros, raw control characters,
 * invalid UTF-8, \u0000, numbers outside the range of a double or of more than
 * 63 characters, trailing text, nesting deeper than 16 and more than a million
 * values are errors; keys are case-sensitive.  A byte order mark at the
 * beginning is skipped.
 */

#ifndef HPOTUNE_JSON_H
#define HPOTUNE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct json; /* one value, borrowed from its document */
struct json_doc;

enum json_type {
	JSON_NULL,
	JSON_BOOL,
	JSON_NUMBER,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT
};

/*
 * Parse len bytes of text; the caller frees the document. file names the text
 * in errors and may be NULL. Comments of the forms // and C count as white
 * space.
 */
int json_parse(struct json_doc **, const char *text, size_t len,
    const char *file, bool comments, struct err *);
/* Read and parse a file of at most 16 MiB, comments allowed. */
int json_load(struct json_doc **, const char *path, struct err *);
/* Append the text of such a file, or the first bytes of a longer one. */
int json_load_text(struct buf *, const char *path, struct err *);
void json_free(struct json_doc *);
const struct json *json_root(const struct json_doc *);

enum json_type json_type(const struct json *);
/* "a number", "an object": for errors. */
const char *json_type_name(enum json_type);
/* Elements of an array or members of an object; 0 for anything else, or NULL. */
size_t json_count(const struct json *);
/* Iterate: first child or NULL, then the next one or NULL.  NULL has none. */
const struct json *json_first(const struct json *);
const struct json *json_next(const struct json *);
/* The key of a member, NULL for anything else. */
const char *json_key(const struct json *);
/* The member with this key, or NULL, also of NULL. */
const struct json *json_get(const struct json *, const char *key);
/*
 * The value, or false when it has another type (or is no whole number).  These
 * and json_string accept NULL, so that json_get can be nested.
 */
bool json_number(const struct json *, double *);
bool json_integer(const struct json *, int64_t *);
bool json_bool(const struct json *, bool *);
/* Whether a value is a number written with a point or an exponent: 1.0. */
bool json_is_decimal(const struct json *);
/* The string, or NULL when it is of another type. */
const char *json_string(const struct json *);
/*
 * The text of a value without comments, as json.dumps of Python writes it,
 * "[64, 0.5]"; it belongs to the document.
 */
const char *json_spaced(const struct json *);
/* Where the value stands in the text that was parsed: the bytes [at, end). */
void json_span(const struct json *, size_t *at, size_t *end);
/* Append the value, written without white space. */
void json_write(struct buf *, const struct json *);
/* Whether json_write writes the same text for both. */
bool json_same(const struct json *, const struct json *);

/*
 * An ERR_USAGE at this value: "FILE:LINE:COLUMN: PATH: text", where PATH is for
 * example parameters.lr.min or stopping[1].rule.  Without a value (NULL) only
 * the text.
 */
int json_err(const struct json *, struct err *, const char *, ...)
    __attribute__((format(printf, 3, 4)));
/* Whether an error already names a place in this value's file. */
bool json_err_placed(const struct json *, const struct err *);
/* As json_err, at the key of a member. */
int json_err_key(const struct json *, struct err *, const char *, ...)
    __attribute__((format(printf, 3, 4)));
/*
 * Fail when an object has a key that is not in known (ends with NULL): the
 * error names the key and suggests the nearest known one.
 */
int json_only(const struct json *, const char *const *known, struct err *);
/* The nearest of words (ends with NULL) by edit distance, or NULL if none is near. */
const char *json_nearest(const char *word, const char *const *words);

/* Append "; did you mean …?", or all words when none is near. */
void json_put_hint(struct buf *, const char *word, const char *const *words);

/*
 * Readers of one value of a required type: the error states what was expected.
 * Bounds are inclusive.
 */
int json_want(const struct json *, enum json_type, struct err *);
int json_read_string(const struct json *, const char **, struct err *);
int json_read_bool(const struct json *, bool *, struct err *);
int json_read_number(
    const struct json *, double min, double max, double *, struct err *);
int json_read_integer(
    const struct json *, int64_t min, int64_t max, int64_t *, struct err *);
/* One of words (ends with NULL): its index. */
int json_read_word(
    const struct json *, const char *const *words, size_t *index, struct err *);
/* The member with this key; NULL with err filled when it is missing. */
const struct json *
json_need(const struct json *object, const char *key, struct err *);

/* Append one JSON string, number (shortest text that reads back the same;
 * null when not finite) to text being written. */
void json_put_string(struct buf *, const char *);
void json_put_number(struct buf *, double);

#endif /* HPOTUNE_JSON_H */
