/*
 * Random numbers with 64 bits of state, so that a checkpoint can hold all of
 * it: SplitMix64 (Steele, Lea, Flood 2014).
 */

#ifndef TRAIN_RNG_H
#define TRAIN_RNG_H

#include <stddef.h>
#include <stdint.h>

struct rng {
	uint64_t state;
};

/* What a stream is for; streams of one seed do not touch each other. */
enum rng_use { RNG_WEIGHTS, RNG_ORDER, RNG_DROPOUT };

/* The stream of one seed, use and index (the epoch, where there is one). */
struct rng rng_stream(uint64_t seed, enum rng_use, uint64_t index);

uint64_t rng_next(struct rng *);

/* A float in [0, 1), a multiple of 2^-24. */
float rng_unit(struct rng *);

/* The numbers 0 to n-1 in random order. */
void rng_order(struct rng *, uint32_t *order, size_t n);

#endif
