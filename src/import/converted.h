/*
 * What a conversion makes: an indented JSON document, such as study.json or a tuning
 * job, and notes for the user, a line each.
 */

#ifndef HPOTUNE_CONVERTED_H
#define HPOTUNE_CONVERTED_H

#include <stdbool.h>

#include "src/base/json/json-writer.h"
#include "src/base/mem.h"

struct json;

/* Start with { .notes = ..., .fresh = true }; the owner frees out. */
struct converted {
	struct buf out;
	struct buf *notes;
	int shift; /* added to each depth */
	bool fresh; /* nothing was written after the open bracket */
};

/* Write members, indented by depth. */
void converted_key(struct converted *, int depth, const char *key);
void
converted_open(struct converted *, int depth, const char *key, char bracket);
void converted_close(struct converted *, int depth, char bracket);
/* An object on one line; json_writer_end closes it. */
struct json_writer
converted_object(struct converted *, int depth, const char *key);
/* Writes nothing when text is NULL. */
void converted_text(
    struct converted *, int depth, const char *key, const char *text);
/* False, and writes nothing, when it is not a number. */
bool converted_number(
    struct converted *, int depth, const char *key, const struct json *);
/* Copy a value; writes nothing when it is NULL. */
void converted_copy(
    struct converted *, int depth, const char *key, const struct json *);
void converted_note(struct converted *, const char *);

#endif /* HPOTUNE_CONVERTED_H */
