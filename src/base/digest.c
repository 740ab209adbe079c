/*
 * SHA-256 (FIPS 180-4, section 6.2) and HMAC (RFC 2104).  Our own, because
 * linked to a library that knows every cipher each start of the program would
 * take half as long again, for these few lines.
 */

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "src/base/digest.h"
#include "src/base/err.h"

enum { BLOCK = 64, PIECE = 1 << 16 };

struct sum {
	uint32_t h[8];
	uint64_t len; /* bytes so far */
	unsigned char block[BLOCK]; /* the last len % BLOCK of them */
};

/* The first 32 bits of the fractions of the cube roots of the first primes. */
static const uint32_t round_constants[64] = { 0x428a2f98, 0x71374491,
	0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
	0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d,
	0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb,
	0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
	0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
	0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb,
	0xbef9a3f7, 0xc67178f2 };

static inline uint32_t
turn(uint32_t x, int bits)
{
	return x >> bits | x << (32 - bits);
}

static void
schedule(uint32_t w[64], const unsigned char block[BLOCK])
{
	uint32_t a, b;
	size_t i;

	for (i = 0; i < 16; i++, block += 4)
		w[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 |
		       (uint32_t)block[2] << 8 | block[3];
	for (; i < 64; i++) {
		a = w[i - 15];
		b = w[i - 2];
		w[i] = w[i - 16] + w[i - 7] +
		       (turn(a, 7) ^ turn(a, 18) ^ a >> 3) +
		       (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
	}
}

/*
 * One round.  The eight words move down a place each time, so that round i
 * finds the word that was at k at (k - i) mod 8.
 */
static inline void
one_round(uint32_t s[8], size_t i, uint32_t in)
{
	uint32_t a = s[(0 - i) & 7], b = s[(1 - i) & 7], c = s[(2 - i) & 7];
	uint32_t e = s[(4 - i) & 7], f = s[(5 - i) & 7], g = s[(6 - i) & 7];
	uint32_t t;

	t = s[(7 - i) & 7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
	    ((e & f) ^ (~e & g)) + in;
	s[(3 - i) & 7] += t;
	s[(7 - i) & 7] = t + (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) +
			 ((a & b) ^ (a & c) ^ (b & c));
}

static void
compress(uint32_t h[8], const unsigned char block[BLOCK])
{
	uint32_t w[64], s[8];
	size_t i;

	schedule(w, block);
	memcpy(s, h, sizeof s);
	for (i = 0; i < 64; i += 8) {
		one_round(s, 0, w[i] + round_constants[i]);
		one_round(s, 1, w[i + 1] + round_constants[i + 1]);
		one_round(s, 2, w[i + 2] + round_constants[i + 2]);
		one_round(s, 3, w[i + 3] + round_constants[i + 3]);
		one_round(s, 4, w[i + 4] + round_constants[i + 4]);
		one_round(s, 5, w[i + 5] + round_constants[i + 5]);
		one_round(s, 6, w[i + 6] + round_constants[i + 6]);
		one_round(s, 7, w[i + 7] + round_constants[i + 7]);
	}
	for (i = 0; i < 8; i++)
		h[i] += s[i];
}

static void
sum_begin(struct sum *s)
{
	static const uint32_t start[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372,
		0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

	memcpy(s->h, start, sizeof s->h);
	s->len = 0;
}

static void
sum_add(struct sum *s, const void *data, size_t len)
{
	const unsigned char *p = data;
	size_t held = s->len % BLOCK, n;

	s->len += len;
	while (len > 0) {
		if (held == 0 && len >= BLOCK) {
			compress(s->h, p);
			n = BLOCK;
		} else {
			n = BLOCK - held < len ? BLOCK - held : len;
			memcpy(s->block + held, p, n);
			held = (held + n) % BLOCK;
			if (held == 0)
				compress(s->h, s->block);
		}
		p += n;
		len -= n;
	}
}

/* A one bit, zeros up to the last eight bytes of a block, the bits' number. */
static void
sum_end(struct sum *s, unsigned char out[DIGEST_LEN])
{
	static const unsigned char pad[BLOCK] = { 0x80 };
	unsigned char tail[8];
	uint64_t bits = s->len * 8;
	size_t i;

	for (i = 0; i < 8; i++)
		tail[i] = (unsigned char)(bits >> (56 - 8 * i));
	sum_add(s, pad, 1 + (BLOCK + 55 - s->len % BLOCK) % BLOCK);
	sum_add(s, tail, sizeof tail);
	for (i = 0; i < DIGEST_LEN; i++)
		out[i] = (unsigned char)(s->h[i / 4] >> (24 - 8 * (i % 4)));
}

void
sha256(unsigned char out[DIGEST_LEN], const void *data, size_t len)
{
	struct sum s;

	sum_begin(&s);
	sum_add(&s, data, len);
	sum_end(&s, out);
}

void
hmac_sha256(unsigned char out[DIGEST_LEN], const void *key, size_t key_len,
    const void *data, size_t len)
{
	unsigned char block[BLOCK] = { 0 };
	struct sum s;
	size_t i;

	if (key_len > BLOCK)
		sha256(block, key, key_len);
	else if (key_len > 0)
		memcpy(block, key, key_len);
	for (i = 0; i < BLOCK; i++)
		block[i] ^= 0x36;
	sum_begin(&s);
	sum_add(&s, block, BLOCK);
	sum_add(&s, data, len);
	sum_end(&s, out);
	for (i = 0; i < BLOCK; i++)
		block[i] ^= 0x36 ^ 0x5c;
	sum_begin(&s);
	sum_add(&s, block, BLOCK);
	sum_add(&s, out, DIGEST_LEN);
	sum_end(&s, out);
	explicit_bzero(block, sizeof block);
}

void
digest_hex(char out[DIGEST_HEX], const unsigned char d[DIGEST_LEN])
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < DIGEST_LEN; i++) {
		out[2 * i] = digits[d[i] >> 4];
		out[2 * i + 1] = digits[d[i] & 15];
	}
	out[2 * DIGEST_LEN] = '\0';
}

void
sha256_hex(char out[DIGEST_HEX], const void *data, size_t len)
{
	unsigned char d[DIGEST_LEN];

	sha256(d, data, len);
	digest_hex(out, d);
}

int
sha256_file(char out[DIGEST_HEX], const char *path, struct err *e)
{
	unsigned char d[DIGEST_LEN];
	char piece[PIECE];
	struct sum s;
	FILE *f = fopen(path, "re");
	size_t n;
	int rc = 0;

	if (f == NULL)
		return err_set(e, ERR_FILE, "%s: %s", path, strerror(errno));
	sum_begin(&s);
	while ((n = fread(piece, 1, sizeof piece, f)) > 0)
		sum_add(&s, piece, n);
	if (ferror(f))
		rc = err_set(e, ERR_FILE, "%s: %s", path, strerror(errno));
	sum_end(&s, d);
	digest_hex(out, d);
	(void)fclose(f);
	return rc;
}
