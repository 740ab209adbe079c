/* What a changed space means for the trials of the old one. */

#ifndef HPOTUNE_SPACE_CHANGE_H
#define HPOTUNE_SPACE_CHANGE_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/mem.h"

struct err;
struct json;
struct store;
struct study;
struct value;

/* A trial whose row changes. */
struct refit {
	int64_t trial;
	char *params; /* in the new space; NULL = as it is */
	char *outside; /* why it is none of the space; NULL = it is one */
};

/* All trials of a study, as the new space has them. */
struct space_change {
	const struct study *study;
	const struct json *old; /* the recorded fixed part */
	struct value *values;
	struct refit *list;
	size_t n, cap;
	int64_t trials, outside;
	struct buf numbers; /* of the first that are outside */
	struct err *err;
};

/*
 * Read all trials of the store in the space of the study; old is the recorded
 * fixed part, which is borrowed, as the study is.  ERR_USAGE: a parameter that
 * trials have is missing.  Free it with space_change_free, also after an error.
 */
int space_change_read(struct space_change *, struct store *,
    const struct study *, const struct json *old, struct err *);
void space_change_free(struct space_change *);
/*
 * A sentence on the trials that are outside, freed by the caller; NULL: all are
 * in the space.
 */
char *space_change_text(const struct space_change *);
/* In an open transaction: the changed rows, the space, and the event. */
void
space_change_write(struct store *, const struct space_change *, int64_t now_us);

#endif /* HPOTUNE_SPACE_CHANGE_H */
