/*
 * Products of bytes and single precision numbers on tensor cores, for the 32
 * threads of a warp.
 *
 * A byte less 128 has 8 significant bits, as a bfloat16 has; a number of single
 * precision is the sum of three of them, to the last bit.  So three products of
 * bfloat16 are exact, and the sum of 16 terms is rounded as often as a sum of
 * single numbers is: sums leave the tensor core, which cuts off what it cannot hold,
 * after each 16 terms.
 *
 * Bytes are rows of words, number by number along the sum; numbers are columns of
 * bfloat16 along the sum, a plane for each of the three parts.  Along the sum four
 * neighbours belong to one thread: two terms change places in both operands.
 */

#ifndef HPOTUNE_MLP_WARP_H
#define HPOTUNE_MLP_WARP_H

#include <math.h>
#include <string.h>

#include "kernels/cuda/cuda-launch.h"

enum {
	WARP = 32, /* threads */
	WARP_DEEP = 16, /* terms of a sum at a time */
	WARP_ROWS = 16,
	WARP_GROUP = 8, /* columns of one product */
	WARP_GROUPS = 4,
	WARP_COLUMNS = WARP_GROUP * WARP_GROUPS,
	WARP_PARTS = 3
};

/* Threads of a warp in one call: on the host all of them. */
#ifdef KERNELS_CUDA_FAKE
enum { WARP_HERE = WARP };
#define WARP_ALL(lane) for (unsigned lane = 0; lane < WARP; lane++)
#define WARP_MINE(lane) (lane)
/* Each of the first n warps of a block, and where what its threads own begins. */
#define WARP_EACH(w, n) for (size_t w = 0; w < (n); w++)
#define WARP_FIRST(w) ((w)*WARP)
#else
enum { WARP_HERE = 1 };
#define WARP_ALL(lane) \
	if (const unsigned lane = threadIdx.x % WARP; lane < WARP)
#define WARP_MINE(lane) 0
#define WARP_EACH(w, n) if (const size_t w = threadIdx.x / WARP; w < (n))
#define WARP_FIRST(w) 0
#endif

/*
 * A thread's part of 16 x 32 sums: of each group of columns rows lane / 4 and
 * lane / 4 + 8, columns lane % 4 * 2 and the next one.
 */
struct warp_sums {
	float at[WARP_GROUPS][4];
};

static __device__ __forceinline__ unsigned
warp_row(unsigned lane, int i)
{
	return lane / 4 + (i >= 2 ? 8 : 0);
}

static __device__ __forceinline__ unsigned
warp_column(unsigned lane, int group, int i)
{
	return (unsigned)group * WARP_GROUP + lane % 4 * 2 + (unsigned)(i % 2);
}

static __device__ __forceinline__ uint32_t
warp_bits(float x)
{
#ifdef KERNELS_CUDA_FAKE
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	return bits;
#else
	return __float_as_uint(x);
#endif
}

static __device__ __forceinline__ float
warp_float(uint32_t bits)
{
#ifdef KERNELS_CUDA_FAKE
	float x;

	memcpy(&x, &bits, sizeof x);
	return x;
#else
	return __uint_as_float(bits);
#endif
}

/* Four of the eight bytes of low and high, by the digits of which. */
static __device__ __forceinline__ uint32_t
warp_bytes(uint32_t low, uint32_t high, uint32_t which)
{
#ifdef KERNELS_CUDA_FAKE
	const uint64_t all = (uint64_t)high << 32 | low;
	uint32_t to = 0;

	for (unsigned i = 0; i < 4; i++)
		to |= (uint32_t)(all >> (which >> 4 * i & 7) * 8 & 0xff)
		      << 8 * i;
	return to;
#else
	return __byte_perm(low, high, which);
#endif
}

/* Byte i of the word less 128. */
static __device__ __forceinline__ float
warp_centred(uint32_t word, uint32_t i)
{
	/* 2^23 plus the byte */
	return warp_float(warp_bytes(word, 0x4b000000, 0x7540 | i)) - 8388736.f;
}

/* Two of the four bytes, as bfloat16. */
static __device__ __forceinline__ uint32_t
warp_pair(uint32_t word, uint32_t i)
{
	return warp_bytes(warp_bits(warp_centred(word, i)),
	    warp_bits(warp_centred(word, i + 1)), 0x7632);
}

/* Two rows of four bytes become the thread's part of 16 x 16 numbers. */
static __device__ __forceinline__ void
warp_rows_load(uint32_t a[4], uint32_t row, uint32_t row_8)
{
	a[0] = warp_pair(row, 0);
	a[1] = warp_pair(row_8, 0);
	a[2] = warp_pair(row, 2);
	a[3] = warp_pair(row_8, 2);
}

/*
 * Four numbers become two words in each of three planes, plane words apart: a
 * part of a number is what the eight bits hold that are left of it.
 */
static __device__ __forceinline__ void
warp_split(uint32_t *to, size_t plane, float4 v)
{
	float part[4] = { v.x, v.y, v.z, v.w };

	CUDA_EACH(p, WARP_PARTS)
	{
		uint32_t bits[4];

		CUDA_EACH(i, 4)
		{
			bits[i] = warp_bits(part[i]) & 0xffff0000;
			part[i] -= warp_float(bits[i]);
		}
		*(uint2 *)(to + (size_t)p * plane) =
		    make_uint2(warp_bytes(bits[0], bits[1], 0x7632),
			warp_bytes(bits[2], bits[3], 0x7632));
	}
}

#ifdef KERNELS_CUDA_FAKE
/* The sum of exact products, cut off where single precision ends. */
static float
warp_cut(double sum)
{
	float cut = (float)sum;

	if (fabs((double)cut) > fabs(sum))
		cut = nextafterf(cut, 0);
	return cut;
}

/*
 * As PTX defines mma.m16n8k16: thread (g, t) has of the first operand rows g and
 * g + 8 and terms 2 t, 2 t + 1, 2 t + 8, 2 t + 9, of the second one the same terms of
 * column g.
 */
static void
warp_multiply(
    float c[WARP][4], const uint32_t a[WARP][4], const uint32_t b[WARP][2])
{
	double x[WARP_ROWS][WARP_DEEP], y[WARP_GROUP][WARP_DEEP];

	for (unsigned k = 0; k < WARP_DEEP; k++) {
		const unsigned t = k % 8 / 2, up = 16 - k % 2 * 16;

		for (unsigned g = 0; g < 8; g++) {
			const uint32_t *of = a[g * 4 + t] + k / 8 * 2;

			x[g][k] = warp_float(of[0] << up & 0xffff0000);
			x[g + 8][k] = warp_float(of[1] << up & 0xffff0000);
			y[g][k] =
			    warp_float(b[g * 4 + t][k / 8] << up & 0xffff0000);
		}
	}
	for (unsigned lane = 0; lane < WARP; lane++)
		for (int i = 0; i < 4; i++) {
			const double *row = x[warp_row(lane, i)];
			const double *column = y[warp_column(lane, 0, i)];
			double sum = (double)c[lane][i];

			for (unsigned k = 0; k < WARP_DEEP; k++)
				sum += row[k] * column[k];
			c[lane][i] = warp_cut(sum);
		}
}
#elif __CUDA_ARCH__ >= 800
static __device__ __forceinline__ void
warp_multiply(float (*c)[4], const uint32_t (*a)[4], const uint32_t (*b)[2])
{
	asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
	    "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
	    : "+f"(c[0][0]), "+f"(c[0][1]), "+f"(c[0][2]), "+f"(c[0][3])
	    : "r"(a[0][0]), "r"(a[0][1]), "r"(a[0][2]), "r"(a[0][3]),
	    "r"(b[0][0]), "r"(b[0][1]));
}
#else
/* Processors without bfloat16 in their tensor cores hand the numbers around. */
static __device__ __forceinline__ void
warp_multiply(float (*c)[4], const uint32_t (*a)[4], const uint32_t (*b)[2])
{
	const unsigned lane = threadIdx.x % WARP, all = 0xffffffff;
	const unsigned row = lane / 4 * 4, column = lane % 4 * 8;

	CUDA_EACH(h, 2)
	CUDA_EACH(t, 4)
	{
		uint32_t x[2], y[2];

		CUDA_EACH(i, 2)
		{
			x[i] = __shfl_sync(all, a[0][2 * h + i], row + t);
			y[i] = __shfl_sync(all, b[0][h], column + 4 * i + t);
		}
		CUDA_EACH(i, 4)
		{
			const uint32_t u = x[i / 2], v = y[i % 2];

			c[0][i] += warp_float(u << 16) * warp_float(v << 16);
			c[0][i] += warp_float(u & 0xffff0000) *
				   warp_float(v & 0xffff0000);
		}
	}
}
#endif

/*
 * 16 more terms of the sums.  bytes: 16 rows, some words apart, at the first of the
 * terms; planes: 32 columns and then planes, some words apart, likewise.
 */
static __device__ __forceinline__ void
warp_step(struct warp_sums *sums, const uint32_t *bytes, size_t row_words,
    const uint32_t *planes, size_t column_words, size_t plane_words)
{
	uint32_t a[WARP_HERE][4], b[WARP_HERE][2];
	float c[WARP_HERE][4];

	WARP_ALL(lane)
	{
		const uint32_t *at = bytes + lane / 4 * row_words + lane % 4;

		warp_rows_load(a[WARP_MINE(lane)], *at, at[8 * row_words]);
	}
	CUDA_EACH(g, WARP_GROUPS)
	{
		WARP_ALL(lane)
		CUDA_EACH(i, 4)
		c[WARP_MINE(lane)][i] = 0;
		/* Small parts first. */
		CUDA_EACH(p, WARP_PARTS)
		{
			WARP_ALL(lane)
			{
				const uint2 two =
				    *(const uint2 *)(planes +
						     (size_t)(WARP_PARTS - 1 -
							      p) *
							 plane_words +
						     ((size_t)g * WARP_GROUP +
							 lane / 4) *
							 column_words +
						     lane % 4 * 2);

				b[WARP_MINE(lane)][0] = two.x;
				b[WARP_MINE(lane)][1] = two.y;
			}
			warp_multiply(c, a, b);
		}
		WARP_ALL(lane)
		CUDA_EACH(i, 4)
		sums[WARP_MINE(lane)].at[g][i] += c[WARP_MINE(lane)][i];
	}
}

#endif /* HPOTUNE_MLP_WARP_H */
