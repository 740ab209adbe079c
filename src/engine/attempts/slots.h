/*
 * The slots of one backend: the trial in each, and whether it gets no further
 * one.
 */

#ifndef HPOTUNE_SLOTS_H
#define HPOTUNE_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

struct slot {
	int64_t trial; /* 0 = free */
	bool held; /* only when nothing can be placed elsewhere */
	bool drained;
};

struct slots {
	struct slot *slot;
	int n; /* for new trials */
	int n_all; /* including those that adopted trials still hold */
	bool closed; /* the backend accepts nothing: none is used */
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
/* The trial in slot i has ended. */
void slots_release(struct slots *, int i);
int slots_used(const struct slots *);
/* Whether slot i is used last, or not at all; no slot: nothing. */
void slots_hold(struct slots *, int i, bool held, bool drained);
/* Whether slot i, one of slots_next, is used last. */
bool slots_held(const struct slots *, int i);
/* Whether no slot is used: drained, or closed. */
bool slots_all_drained(const struct slots *);
/* No slot is used any more; slots in use are freed as usual. */
void slots_close(struct slots *);
void slots_restore(struct slots *);

#endif /* HPOTUNE_SLOTS_H */
