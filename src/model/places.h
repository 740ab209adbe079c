/*
 * The places of one backend (slots, GPUs or nodes), and which of them fail
 * trials that neither other places nor the settings explain.  Pure: the caller
 * says what happened where, and asks for verdicts.
 *
 * A trial fails at once when an attempt of it ends with an error, or without a
 * report, before it has reported and within PLACES_AT_ONCE_MS; it works when it
 * reports or runs for longer.  The row of a place has the trials that failed at
 * once there since the last one that worked there.  A trial that fails at once
 * in two places is in no row: its setting explains it.
 */

#ifndef HPOTUNE_PLACES_H
#define HPOTUNE_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

enum {
	PLACES_AT_ONCE_MS = 5000,
	PLACES_ROW = 7, /* a shorter row says nothing of a place */
	PLACES_KEPT = 64, /* trials that are remembered of a place */
	/* trials that fail at once when none has ever worked: nothing will */
	PLACES_HOPELESS = 20
};

enum place_verdict {
	PLACE_USED,
	/* place no trial there while others can be placed elsewhere */
	PLACE_HELD,
	PLACE_DRAINED /* place no trial there until places_forgive */
};

struct place {
	char *name;
	/* Failed at once, the oldest first; negative: in no row any more. */
	int64_t trials[PLACES_KEPT];
	int n_trials;
	/* Trials elsewhere since the row began. */
	int64_t worked, failed;
	bool works; /* a trial has worked here, ever */
	bool drained;
	bool dirty; /* not stored yet; its owner clears it */
	bool noted; /* its owner's: that it is to be avoided */
};

/* Zeroed: no places.  In the order of their names. */
struct places {
	struct place *list;
	size_t n;
};

void places_free(struct places *);
/* The place of this name, or NULL; valid until the next call that adds one. */
struct place *places_find(const struct places *, const char *name);
/* A trial works there: its row is over, and it is not drained any more. */
void places_worked(struct places *, const char *name);
/* A trial has failed at once there. */
void places_failed(struct places *, const char *name, int64_t trial);
/*
 * A place that has become PLACE_DRAINED by what happened since the last call,
 * or NULL.
 */
const struct place *places_next_drained(struct places *);
/* The length of the place's row of failures. */
int places_row(const struct place *);
enum place_verdict places_verdict(const struct place *);
/* A place was examined and is in order: its row begins again. */
void places_settle(struct places *, const char *name);
/* All rows begin again, and no place is drained. */
void places_forgive(struct places *);
/* Different trials that failed at once, wherever that was. */
int places_count_failed(const struct places *);
/* Whether a trial has ever worked anywhere. */
bool places_any_works(const struct places *);

/* What is remembered of the trials of a place, as text, and read back. */
void places_put_trials(struct buf *, const struct place *);
/* Add a place as it was recorded; what is not readable counts as nothing. */
void places_restore(
    struct places *, const struct place *recorded, const char *trials);

#endif /* HPOTUNE_PLACES_H */
