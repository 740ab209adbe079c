/*
 * The complete state of a run in one file, so that it continues with identical
 * results.
 */

#ifndef TRAIN_CHECKPOINT_H
#define TRAIN_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "base.h"

enum { CHECKPOINT_PARTS = 2 };

/* The floats are borrowed: writing reads them, reading fills them. */
struct checkpoint {
	const char *identity; /* what shapes the numbers: "NAME=VALUE …" */
	uint64_t epoch, position; /* pictures of this epoch already seen */
	uint64_t steps; /* of the optimizer */
	uint64_t rng; /* state of the dropout stream */
	double loss_sum; /* over this epoch so far */
	struct {
		float *at;
		size_t count;
	} part[CHECKPOINT_PARTS];
};

enum checkpoint_found {
	CHECKPOINT_NONE,
	CHECKPOINT_GOOD,
	CHECKPOINT_DAMAGED, /* cut, altered, or not of this program */
	CHECKPOINT_FOREIGN, /* good, but of a run with other options */
};

/* Replaces the checkpoint of a folder, so that at every moment either the old
 * one or the new one is there in full. */
int checkpoint_write(const struct checkpoint *, const char *dir, struct fail *);

/*
 * Reads the checkpoint of a folder for a run with the identity and the part
 * sizes given. Only with CHECKPOINT_GOOD anything is changed; DAMAGED and
 * FOREIGN say why.
 */
enum checkpoint_found
checkpoint_read(struct checkpoint *, const char *dir, struct fail *);

#endif
