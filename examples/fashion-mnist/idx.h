/*
 * IDX files: the format of MNIST and its relatives. A big-endian magic number
 * (type and number of dimensions), the dimensions, then the bytes.
 */

#ifndef TRAIN_IDX_H
#define TRAIN_IDX_H

#include <stddef.h>
#include <stdint.h>

#include "base.h"

enum { IDX_DIMS_MAX = 3 };

/* One file of unsigned bytes; size[0] counts the items. */
struct idx {
	size_t dims, size[IDX_DIMS_MAX];
	uint8_t *bytes;
	void *map; /* of mapped bytes that bytes are in; NULL: allocated */
	size_t mapped;
};

/* Reads a file, gzipped or plain, that must have so many dimensions. */
int idx_read(struct idx *, const char *path, size_t dims, struct fail *);

void idx_free(struct idx *);

#endif
