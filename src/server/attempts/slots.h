/*
 * The slots of one backend: the trial in each, and whether it is drained
 * because several trials in a row failed there at once.
 */

#ifndef HPOTUNE_SLOTS_H
#define HPOTUNE_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	SLOTS_FAST_MS = 5000, /* an attempt that failed sooner failed at once */
	SLOTS_DRAIN_AFTER = 3 /* different trials in a row */
};

struct slot {
	int64_t trial; /* 0 = free */
	int fast_failures; /* of different trials, in a row */
	int64_t last_failed; /* the trial that failed last */
	bool drained;
};

struct slots {
	struct slot *slot;
	int n; /* for new trials */
	int n_all; /* including those that adopted trials still hold */
};

void slots_init(struct slots *, int n);
void slots_fini(struct slots *);
/*
 * Set the number of slots for new trials; trials in slots beyond n keep them.
 */
void slots_resize(struct slots *, int n);
/* A free slot that is not drained, or -1. */
int slots_free(const struct slots *);
/* The next free slot after slot i that is not drained, or -1. */
int slots_next(const struct slots *, int i);
/* Give slot i to a trial; i may be n or more for an adopted one. */
void slots_take(struct slots *, int i, int64_t trial);
int slots_used(const struct slots *);
/*
 * An attempt ended in slot i.  True when this drained the slot. bad: it failed,
 * without a report, within SLOTS_FAST_MS.
 */
bool slots_ended(struct slots *, int i, int64_t trial, bool bad);
bool slots_all_drained(const struct slots *);
/* None is used any more; those that are in use are freed as usual. */
void slots_drain(struct slots *);
void slots_restore(struct slots *);

#endif /* HPOTUNE_SLOTS_H */
