/*
 * The two things every file of the trainer needs: a sentence that says why
 * something failed, and memory that is never refused.
 */

#ifndef TRAIN_BASE_H
#define TRAIN_BASE_H

#include <stddef.h>

/* Why something failed: one clause for the person who reads it. */
struct fail {
	char text[512];
};

/* Writes the clause and returns -1, so that a caller can return it at once. */
int fail_set(struct fail *, const char *, ...)
    __attribute__((format(printf, 2, 3)));

/* Zeroed memory on a cache line, to be given to free(); aborts when there is
 * none. */
void *mem_zero(size_t count, size_t size);

#endif
