/* Fashion-MNIST: 28x28 pictures of ten classes of clothing, with labels. */

#ifndef TRAIN_DATA_H
#define TRAIN_DATA_H

#include <stddef.h>
#include <stdint.h>

#include "base.h"
#include "idx.h"

enum { DATA_PIXELS = 28 * 28, DATA_CLASSES = 10 };

/* A pixel p is the number p DATA_SCALE + DATA_SHIFT: all of those for training
 * have mean 0 and deviation 1. */
#define DATA_SCALE (1 / (255 * 0.3530f))
#define DATA_SHIFT (-0.2860f / 0.3530f)

/* One of the two sets of the folder, in memory. */
struct data {
	struct idx images, labels;
};

/* Some pictures in a row of a set; borrowed from its struct data. */
struct images {
	size_t count;
	const uint8_t *pixels; /* count x DATA_PIXELS */
	const uint8_t *labels;
};

/* Loads the set "train" (60,000) or "t10k" (10,000) of a folder; cache as for
 * cache_read(). */
int data_load(struct data *, const char *dir, const char *cache,
    const char *set, struct fail *);

void data_free(struct data *);

/* The pictures from the given one on; they must be there. */
struct images data_slice(const struct data *, size_t first, size_t count);

/* The first pictures for training, the last ones for validation. */
int data_split(const struct data *, size_t train_size, size_t validation_size,
    struct images *train, struct images *valid, struct fail *);

/*
 * Writes n pictures as numbers of mean 0 and deviation 1 into x (n x
 * DATA_PIXELS) and their labels into y. With an order it takes the pictures
 * order[0], order[1], …; with NULL those from `first` on.
 */
void data_gather(const struct images *, const uint32_t *order, size_t first,
    size_t n, float *x, uint8_t *y);

#endif
