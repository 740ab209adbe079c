/* Philox4x32-10 and the distributions drawn from it. */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "src/base/mem.h"
#include "src/base/rng.h"

#define PHILOX_M0 0xD2511F53u
#define PHILOX_M1 0xCD9E8D57u
#define PHILOX_W0 0x9E3779B9u
#define PHILOX_W1 0xBB67AE85u

void
rng_philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2])
{
	uint32_t c[4], k0 = key[0], k1 = key[1];
	uint64_t p0, p1;
	int round;

	memcpy(c, counter, sizeof c);
	for (round = 0; round < 10; round++) {
		p0 = (uint64_t)PHILOX_M0 * c[0];
		p1 = (uint64_t)PHILOX_M1 * c[2];
		c[0] = (uint32_t)(p1 >> 32) ^ c[1] ^ k0;
		c[1] = (uint32_t)p1;
		c[2] = (uint32_t)(p0 >> 32) ^ c[3] ^ k1;
		c[3] = (uint32_t)p0;
		k0 += PHILOX_W0;
		k1 += PHILOX_W1;
	}
	memcpy(out, c, sizeof c);
}

void
rng_init(struct rng *r, uint64_t seed, uint64_t stream)
{
	*r = (struct rng){
		.key = { (uint32_t)seed, (uint32_t)(seed >> 32) },
		.counter = { 0, 0, (uint32_t)stream, (uint32_t)(stream >> 32) },
		.used = 4,
	};
}

uint32_t
rng_u32(struct rng *r)
{
	if (r->used == 4) {
		rng_philox(r->out, r->counter, r->key);
		if (++r->counter[0] == 0)
			r->counter[1]++;
		r->used = 0;
	}
	return r->out[r->used++];
}

uint64_t
rng_u64(struct rng *r)
{
	uint64_t hi = rng_u32(r);

	return hi << 32 | rng_u32(r);
}

double
rng_uniform(struct rng *r)
{
	return (double)(rng_u64(r) >> 11) * 0x1p-53;
}

uint64_t
rng_below(struct rng *r, uint64_t n)
{
	uint64_t x, limit = UINT64_MAX - UINT64_MAX % n;

	do
		x = rng_u64(r);
	while (x >= limit);
	return x % n;
}

double
rng_normal(struct rng *r)
{
	double u = 1 - rng_uniform(r), v = rng_uniform(r);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

void
rng_sample(size_t *order, size_t all, size_t n, uint64_t seed, uint64_t stream)
{
	struct rng rng;
	size_t i, k, t;

	rng_init(&rng, seed, stream);
	for (i = 0; i < all; i++)
		order[i] = i;
	for (i = 0; i < n; i++) {
		k = i + (size_t)rng_below(&rng, all - i);
		t = order[i];
		order[i] = order[k];
		order[k] = t;
	}
}

void
rng_system(void *p, size_t n)
{
	unsigned char *b = p;
	ssize_t got;

	while (n > 0) {
		got = getrandom(b, n, 0);
		if (got < 0) {
			if (errno == EINTR)
				continue;
			perror("hpotune: getrandom");
			abort();
		}
		b += got;
		n -= (size_t)got;
	}
}

char *
rng_uuid(void)
{
	unsigned char b[16];

	rng_system(b, sizeof b);
	b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
	b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
	return xasprintf("%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
			 "%02x%02x%02x%02x%02x%02x",
	    b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10],
	    b[11], b[12], b[13], b[14], b[15]);
}
