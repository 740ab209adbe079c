/* Random numbers.  The same seed gives the same numbers on every machine. */

#include "rng.h"

uint64_t
rng_next(struct rng *r)
{
	uint64_t z;

	z = (r->state += UINT64_C(0x9e3779b97f4a7c15));
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Each part goes through the mixer, so neighbouring seeds have nothing in
 * common. */
struct rng
rng_stream(uint64_t seed, enum rng_use use, uint64_t index)
{
	struct rng r = { seed };

	r.state = rng_next(&r) ^ (uint64_t)use;
	r.state = rng_next(&r) ^ index;
	r.state = rng_next(&r);
	return r;
}

float
rng_unit(struct rng *r)
{
	return (float)(rng_next(r) >> 40) * 0x1p-24f;
}

/* Fisher and Yates from the last place down. The high half of a product picks
 * the place; its bias, n / 2^32, is far below what training could notice. */
void
rng_order(struct rng *r, uint32_t *order, size_t n)
{
	size_t i, j;
	uint32_t swap;

	for (i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	for (i = n; i > 1; i--) {
		j = (size_t)(((rng_next(r) >> 32) * (uint64_t)i) >> 32);
		swap = order[i - 1];
		order[i - 1] = order[j];
		order[j] = swap;
	}
}
