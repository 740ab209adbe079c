/* What the two halves of the import from SageMaker share. */

#ifndef IMPORT_PARTS_H
#define IMPORT_PARTS_H

#include <stdbool.h>

#include "src/base/mem.h"

struct err;
struct json;

struct import {
	struct buf out; /* study.json */
	struct buf *notes;
	const struct json *root, *config, *def;
	bool fresh; /* nothing stands yet in the open bracket */
	bool hyperband;
};

/* Members, indented by depth. */
void import_key(struct import *, int depth, const char *key);
void import_open(struct import *, int depth, const char *key, char bracket);
void import_close(struct import *, int depth, char bracket);
/* Nothing when text is NULL. */
void import_text(struct import *, int depth, const char *key, const char *text);
/* False, and nothing is written, when it is no number. */
bool
import_number(struct import *, int depth, const char *key, const struct json *);
void import_note(struct import *, const char *);
/* j.a, or j.a.b; NULL where one is missing; j may be NULL. */
const struct json *
import_at(const struct json *j, const char *a, const char *b);

/* import-space.c: ranges and constants. */
int import_space_put(struct import *, struct err *);
/* import-job.c: the training definition. */
int import_trial_put(struct import *, struct err *);
int import_backend_put(struct import *, struct err *);

#endif /* IMPORT_PARTS_H */
