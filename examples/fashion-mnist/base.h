/*
 * Helpers for every file of the trainer: error messages, and memory allocation
 * that ends the program on failure.
 */

#ifndef TRAIN_BASE_H
#define TRAIN_BASE_H

#include <stddef.h>

/* The reason of a failure: one clause for the user. */
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
