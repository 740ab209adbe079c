/*
 * Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw:
 * "Parallel random numbers: as easy as 1, 2, 3", SC 2011).  The same seed and
 * stream always give the same numbers, also after a restart.
 */

#ifndef HPOTUNE_RNG_H
#define HPOTUNE_RNG_H

#include <stddef.h>
#include <stdint.h>

struct rng {
	uint32_t key[2]; /* the seed */
	uint32_t counter[4]; /* [0..1] position, [2..3] stream */
	uint32_t out[4];
	unsigned used; /* words of out already used; 4 = all */
};

/* Start stream number stream (for example a trial number) of this seed. */
void rng_init(struct rng *, uint64_t seed, uint64_t stream);
uint32_t rng_u32(struct rng *);
uint64_t rng_u64(struct rng *);
/* Uniform in [0, 1), 53 bits. */
double rng_uniform(struct rng *);
/* Uniform in 0 .. n-1, without bias; n > 0. */
uint64_t rng_below(struct rng *, uint64_t n);
/* Standard normal (Box-Muller, one of the pair). */
double rng_normal(struct rng *);
/*
 * Fill order with the indexes of all elements: the first n are a random sample
 * without replacement (Fisher and Yates).
 */
void
rng_sample(size_t *order, size_t all, size_t n, uint64_t seed, uint64_t stream);
/* One block of the generator: ten rounds on counter with key. */
void
rng_philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]);
/*
 * Fill n bytes from the operating system: for seeds and names, never for
 * strategies.
 */
void rng_system(void *, size_t);
/* A version 4 UUID as text, of the same; the caller frees it. */
char *rng_uuid(void);

#endif /* HPOTUNE_RNG_H */
