/*
 * Which slots, GPUs and nodes get no trial because they fail what other places
 * do not; and whether nothing works at all.  The rule is that of
 * src/model/places.h.
 */

#ifndef HPOTUNE_PLACE_BLAME_H
#define HPOTUNE_PLACE_BLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/model/places.h"

struct buf;
struct err;
struct backend_type;
struct slots;
struct store;

/* A backend: borrowed. */
struct place_backend {
	const struct backend_type *type;
	void *ctx;
	struct slots *slots;
};

/* An attempt. */
struct place_guest {
	int backend; /* in the order of place_blame_add */
	int slot;
	int64_t trial;
	int attempt;
	int64_t setting; /* 0: the trial has one of its own */
};

struct place_blame {
	bool off; /* limits.drain is false: nothing happens */
	struct places places; /* "BACKEND PLACE" */
	struct place_backend *backends;
	int n;
	char last[240]; /* the last failure at once: a clause, or "" */
};

void place_blame_add(struct place_blame *, const struct place_backend *);
/*
 * What earlier servers have recorded; anew: only that something worked once.
 * 0 or -1 with the error set.
 */
int place_blame_restore(
    struct place_blame *, struct store *, bool anew, struct err *);
void place_blame_close(struct place_blame *);
/*
 * An open attempt has reported for the first time, or ran long enough.  Appends
 * a line to news for each place that is drained now.
 */
void place_blame_worked(
    struct place_blame *, const struct place_guest *, struct buf *news);
/* An open attempt has failed at once; why: one clause, or NULL. */
void place_blame_failed(struct place_blame *, const struct place_guest *,
    const char *why, struct buf *news);
/* All places are used again. */
void place_blame_forgive(struct place_blame *, struct store *);
/* The slots of a backend are other machines now. */
void place_blame_new_slots(struct place_blame *, int backend);
/*
 * So many trials (or settings) have failed at once and none has ever worked that
 * nothing will: why, one clause.
 */
bool place_blame_hopeless(const struct place_blame *, struct store *,
    const char *trials, char *why, size_t n);
/* Record what has changed, inside a transaction. */
void place_blame_write(struct place_blame *, struct store *);

#endif /* HPOTUNE_PLACE_BLAME_H */
