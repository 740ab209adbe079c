/*
 * Sobol points: quasi-random, evenly spread for any number of points.
 *
 * Direction numbers: Joe and Kuo, "Constructing Sobol sequences with better
 * two-dimensional projections", SIAM J.  Sci.  Comput. 30 (2008).  Scrambling:
 * nested uniform, Owen, "Randomly permuted (t,m,s)-nets and (t,s)-sequences"
 * (1995): a bit is flipped depending on all bits above it.  Parameters beyond
 * the table take the dimensions of the table again, at indexes in another
 * order: Burley, "Practical hash-based Owen scrambling", Journal of Computer
 * Graphics Techniques 9 (2020), section 4 (padding).
 */

#include <stddef.h>

#include "src/base/err.h"
#include "src/base/rng.h"
#include "src/model/plugin-options.h"
#include "src/model/prior.h"
#include "src/model/space.h"
#include "strategies/sobol.h"
#include "strategies/strategy.h"

extern const struct strategy strategy_random;

enum {
	SOBOL_BITS = 32,
	SOBOL_DEGREE = 10, /* greatest of the polynomials below */
	STREAM_POINTS = 0x4f77656e, /* random numbers of the scrambling */
	STREAM_INDEXES = 0x496e6478
};

static const struct option options[] = {
	{ .name = "scramble",
	    .type = OPTION_BOOL,
	    .def = "true",
	    .help = "shift the points at random, by the seed; without it the "
		    "first point is a corner, and there are at most 128 "
		    "parameters" },
	{ .type = OPTION_END },
};

/*
 * Dimensions 2 to 128 in turn: a primitive polynomial (its coefficients as
 * bits, both ends included), then as many initial numbers as its degree.
 */
static const uint16_t joe_kuo[] = { 3, 1, 7, 1, 3, 11, 1, 3, 1, 13, 1, 1, 1, 19,
	1, 1, 3, 3, 25, 1, 3, 5, 13, 37, 1, 1, 5, 5, 17, 41, 1, 1, 5, 5, 5, 47,
	1, 1, 7, 11, 19, 55, 1, 1, 5, 1, 1, 59, 1, 1, 1, 3, 11, 61, 1, 3, 5, 5,
	31, 67, 1, 3, 3, 9, 7, 49, 91, 1, 1, 1, 15, 21, 21, 97, 1, 3, 1, 13, 27,
	49, 103, 1, 1, 1, 15, 7, 5, 109, 1, 3, 1, 15, 13, 25, 115, 1, 1, 5, 5,
	19, 61, 131, 1, 3, 7, 11, 23, 15, 103, 137, 1, 3, 7, 13, 13, 15, 69,
	143, 1, 1, 3, 13, 7, 35, 63, 145, 1, 3, 5, 9, 1, 25, 53, 157, 1, 3, 1,
	13, 9, 35, 107, 167, 1, 3, 1, 5, 27, 61, 31, 171, 1, 1, 5, 11, 19, 41,
	61, 185, 1, 3, 5, 3, 3, 13, 69, 191, 1, 1, 7, 13, 1, 19, 1, 193, 1, 3,
	7, 5, 13, 19, 59, 203, 1, 1, 3, 9, 25, 29, 41, 211, 1, 3, 5, 13, 23, 1,
	55, 213, 1, 3, 7, 3, 13, 59, 17, 229, 1, 3, 1, 3, 5, 53, 69, 239, 1, 1,
	5, 5, 23, 33, 13, 241, 1, 1, 7, 7, 1, 61, 123, 247, 1, 1, 7, 9, 13, 61,
	49, 253, 1, 3, 3, 5, 3, 55, 33, 285, 1, 3, 1, 15, 31, 13, 49, 245, 299,
	1, 3, 5, 15, 31, 59, 63, 97, 301, 1, 3, 1, 11, 11, 11, 77, 249, 333, 1,
	3, 1, 11, 27, 43, 71, 9, 351, 1, 1, 7, 15, 21, 11, 81, 45, 355, 1, 3, 7,
	3, 25, 31, 65, 79, 357, 1, 3, 1, 1, 19, 11, 3, 205, 361, 1, 1, 5, 9, 19,
	21, 29, 157, 369, 1, 3, 7, 11, 1, 33, 89, 185, 391, 1, 3, 3, 3, 15, 9,
	79, 71, 397, 1, 3, 7, 11, 15, 39, 119, 27, 425, 1, 1, 3, 1, 11, 31, 97,
	225, 451, 1, 1, 1, 3, 23, 43, 57, 177, 463, 1, 3, 7, 7, 17, 17, 37, 71,
	487, 1, 3, 1, 5, 27, 63, 123, 213, 501, 1, 1, 3, 5, 11, 43, 53, 133,
	529, 1, 3, 5, 5, 29, 17, 47, 173, 479, 539, 1, 3, 3, 11, 3, 1, 109, 9,
	69, 545, 1, 1, 1, 5, 17, 39, 23, 5, 343, 557, 1, 3, 1, 5, 25, 15, 31,
	103, 499, 563, 1, 1, 1, 11, 11, 17, 63, 105, 183, 601, 1, 1, 5, 11, 9,
	29, 97, 231, 363, 607, 1, 1, 5, 15, 19, 45, 41, 7, 383, 617, 1, 3, 7, 7,
	31, 19, 83, 137, 221, 623, 1, 1, 1, 3, 23, 15, 111, 223, 83, 631, 1, 1,
	5, 13, 31, 15, 55, 25, 161, 637, 1, 1, 3, 13, 25, 47, 39, 87, 257, 647,
	1, 1, 1, 11, 21, 53, 125, 249, 293, 661, 1, 1, 7, 11, 11, 7, 57, 79,
	323, 675, 1, 1, 5, 5, 17, 13, 81, 3, 131, 677, 1, 1, 7, 13, 23, 7, 65,
	251, 475, 687, 1, 3, 5, 1, 9, 43, 3, 149, 11, 695, 1, 1, 3, 13, 31, 13,
	13, 255, 487, 701, 1, 3, 3, 1, 5, 63, 89, 91, 127, 719, 1, 1, 3, 3, 1,
	19, 123, 127, 237, 721, 1, 1, 5, 7, 23, 31, 37, 243, 289, 731, 1, 1, 5,
	11, 17, 53, 117, 183, 491, 757, 1, 1, 1, 5, 1, 13, 13, 209, 345, 761, 1,
	1, 3, 15, 1, 57, 115, 7, 33, 787, 1, 3, 1, 11, 7, 43, 81, 207, 175, 789,
	1, 3, 1, 1, 15, 27, 63, 255, 49, 799, 1, 3, 5, 3, 27, 61, 105, 171, 305,
	803, 1, 1, 5, 3, 1, 3, 57, 249, 149, 817, 1, 1, 3, 5, 5, 57, 15, 13,
	159, 827, 1, 1, 1, 11, 7, 11, 105, 141, 225, 847, 1, 3, 3, 5, 27, 59,
	121, 101, 271, 859, 1, 3, 5, 9, 11, 49, 51, 59, 115, 865, 1, 1, 7, 1,
	23, 45, 125, 71, 419, 875, 1, 1, 3, 5, 23, 5, 105, 109, 75, 877, 1, 1,
	7, 15, 7, 11, 67, 121, 453, 883, 1, 3, 7, 3, 9, 13, 31, 27, 449, 895, 1,
	3, 1, 15, 19, 39, 39, 89, 15, 901, 1, 1, 1, 1, 1, 33, 73, 145, 379, 911,
	1, 3, 1, 15, 15, 43, 29, 13, 483, 949, 1, 1, 7, 3, 19, 27, 85, 131, 431,
	953, 1, 3, 3, 3, 5, 35, 23, 195, 349, 967, 1, 3, 3, 7, 9, 27, 39, 59,
	297, 971, 1, 1, 3, 9, 11, 17, 13, 241, 157, 973, 1, 3, 7, 15, 25, 57,
	33, 189, 213, 981, 1, 1, 7, 1, 9, 55, 73, 83, 217, 985, 1, 3, 3, 13, 19,
	27, 23, 113, 249, 995, 1, 3, 5, 3, 23, 43, 3, 253, 479, 1001, 1, 1, 5,
	5, 11, 5, 45, 117, 217, 1019, 1, 3, 3, 7, 29, 37, 33, 123, 147, 1033, 1,
	3, 1, 15, 5, 5, 37, 227, 223, 459, 1051, 1, 1, 7, 5, 5, 39, 63, 255,
	135, 487, 1063, 1, 3, 1, 7, 9, 7, 87, 249, 217, 599, 1069, 1, 1, 3, 13,
	9, 47, 7, 225, 363, 247, 1125, 1, 3, 7, 13, 19, 13, 9, 67, 9, 737, 1135,
	1, 3, 5, 5, 19, 59, 7, 41, 319, 677, 1153, 1, 1, 5, 3, 31, 63, 15, 43,
	207, 789, 1163, 1, 1, 7, 9, 13, 39, 3, 47, 497, 169, 1221, 1, 3, 1, 7,
	21, 17, 97, 19, 415, 905, 1239, 1, 3, 7, 1, 3, 31, 71, 111, 165, 127,
	1255, 1, 1, 5, 11, 1, 61, 83, 119, 203, 847, 1267, 1, 3, 3, 13, 9, 61,
	19, 97, 47, 35, 1279, 1, 1, 7, 7, 15, 29, 63, 95, 417, 469, 1293, 1, 3,
	1, 9, 25, 9, 71, 57, 213, 385, 1305, 1, 3, 5, 13, 31, 47, 101, 57, 39,
	341, 1315, 1, 1, 3, 3, 31, 57, 125, 173, 365, 551, 1329, 1, 3, 7, 1, 13,
	57, 67, 157, 451, 707, 1341, 1, 1, 1, 7, 21, 13, 105, 89, 429, 965,
	1347, 1, 1, 5, 9, 17, 51, 45, 119, 157, 141, 1367, 1, 3, 7, 7, 13, 45,
	91, 9, 129, 741, 1387, 1, 3, 7, 1, 23, 57, 67, 141, 151, 571, 1413, 1,
	1, 3, 11, 17, 47, 93, 107, 375, 157, 1423, 1, 3, 3, 5, 11, 21, 43, 51,
	169, 915, 1431, 1, 1, 5, 3, 15, 55, 101, 67, 455, 625, 1441, 1, 3, 5, 9,
	1, 23, 29, 47, 345, 595, 1479, 1, 3, 7, 7, 5, 49, 29, 155, 323, 589,
	1509, 1, 3, 3, 7, 5, 41, 127, 61, 261, 717 };

/* Fill v for the first dimension. */
static void
directions_first(uint32_t v[SOBOL_BITS])
{
	size_t i;

	for (i = 0; i < SOBOL_BITS; i++)
		v[i] = UINT32_C(1) << (SOBOL_BITS - 1 - i);
}

/* Fill v for the dimension at row, and return the row of the next one. */
static const uint16_t *
directions_fill(uint32_t v[SOBOL_BITS], const uint16_t *row)
{
	unsigned poly = row[0], degree = 0, i, k;

	while (poly >> (degree + 1) != 0)
		degree++;
	for (i = 0; i < degree; i++)
		v[i] = (uint32_t)row[1 + i] << (SOBOL_BITS - 1 - i);
	for (; i < SOBOL_BITS; i++) {
		v[i] = v[i - degree] ^ v[i - degree] >> degree;
		for (k = 1; k < degree; k++)
			if (poly >> (degree - k) & 1)
				v[i] ^= v[i - k];
	}
	return row + 1 + degree;
}

/* Coordinate number index of the sequence (in the order of the Gray code). */
static uint32_t
sobol_bits(const uint32_t v[SOBOL_BITS], uint32_t index)
{
	uint32_t gray = index ^ index >> 1, x = 0;
	unsigned i;

	for (i = 0; gray >> i != 0; i++) {
		if (gray >> i & 1)
			x ^= v[i];
		if (i == SOBOL_BITS - 1)
			break;
	}
	return x;
}

/*
 * Flip bits, each by a random bit determined by the bits above it.  stream:
 * one of the numbers above; each dim of a stream has its own flips.
 */
static uint32_t
owen_scramble(uint32_t x, uint64_t seed, uint32_t stream, uint32_t dim)
{
	uint32_t key[2] = { (uint32_t)seed, (uint32_t)(seed >> 32) };
	uint32_t counter[4] = { 0, 0, dim, stream };
	uint32_t out[4], flips = 0;
	unsigned bit;

	for (bit = 0; bit < SOBOL_BITS; bit++) {
		counter[0] = bit == 0 ? 0 : x >> (SOBOL_BITS - bit);
		counter[1] = bit;
		rng_philox(out, counter, key);
		flips |= (out[0] & 1) << (SOBOL_BITS - 1 - bit);
	}
	return x ^ flips;
}

void
sobol_rows(double *x, size_t m, size_t d, const uint32_t *shift)
{
	const uint16_t *row = joe_kuo;
	uint32_t v[SOBOL_BITS], bits;
	size_t i, k;

	directions_first(v);
	for (i = 0; i < d && i < SOBOL_DIMS; i++) {
		if (i > 0)
			row = directions_fill(v, row);
		bits = shift[i];
		for (k = 0; k < m; k++) {
			if (k > 0)
				bits ^= v[__builtin_ctzl(k)];
			x[k * d + i] = bits * 0x1p-32;
		}
	}
}

static bool
is_scrambled(const struct option_value *values)
{
	return plugin_option_is(values, "scramble");
}

static int
sobol_check(
    const struct option_value *values, const struct space *space, struct err *e)
{
	/* values is NULL for first points of other strategies: scrambled. */
	if (space->n > SOBOL_DIMS && values != NULL && !is_scrambled(values))
		return err_set(e, ERR_USAGE,
		    "sobol: %zu parameters: without scramble there are numbers "
		    "for %d: remove \"scramble\": false",
		    space->n, SOBOL_DIMS);
	return 0;
}

static int
sobol_suggest(struct suggestion *out, const struct strategy_ask *ask,
    const struct option_value *values, struct err *e)
{
	bool scramble = is_scrambled(values);
	int64_t trial = ask->trial - 1 - ask->n_enqueued;
	const uint16_t *row = joe_kuo;
	uint32_t v[SOBOL_BITS], index = (uint32_t)trial, bits;
	size_t i;

	if (sobol_check(values, ask->space, e) != 0)
		return -1;
	/* The following points belong to the following trials. */
	if (ask->redraw > 0)
		return strategy_random.suggest(out, ask, NULL, e);
	if (trial > UINT32_MAX)
		return 1;
	for (i = 0; i < ask->space->n; i++) {
		if (i % SOBOL_DIMS == 0)
			row = joe_kuo;
		/*
		 * Scrambled, an aligned block of 2^m indexes is another one:
		 * 2^m points stay a net in each group of dimensions.
		 */
		if (i > 0 && i % SOBOL_DIMS == 0)
			index = owen_scramble((uint32_t)trial, ask->seed,
			    STREAM_INDEXES, (uint32_t)(i / SOBOL_DIMS));
		if (i % SOBOL_DIMS == 0)
			directions_first(v);
		else
			row = directions_fill(v, row);
		bits = sobol_bits(v, index);
		if (scramble)
			bits = owen_scramble(
			    bits, ask->seed, STREAM_POINTS, (uint32_t)i);
		out->x[i] = bits * 0x1p-32;
	}
	prior_move(ask->space, out->x);
	return 0;
}

const struct strategy strategy_sobol = {
	.name = "sobol",
	.about = "evenly spread quasi-random points",
	.source = "Joe and Kuo 2008; Owen 1995",
	.options = options,
	.check = sobol_check,
	.several = true,
	.suggest = sobol_suggest,
};
