/*
 * Definitions common to both versions of packed training: memory layout of the
 * weights, contents of a step, random numbers.
 *
 * Layer l maps rows of in[l] numbers to rows of out[l] by one row-major
 * matrix.  The inputs are followed by the constant 1, so that row of the matrix
 * is the bias; the padding of a width to a multiple of MLP_WIDTH is 0 and stays
 * 0, because its gradient is.
 */

#ifndef HPOTUNE_MLP_INTERNAL_H
#define HPOTUNE_MLP_INTERNAL_H

#include <math.h>

#include "kernels/mlp-batch/mlp-batch.h"

#ifdef __CUDACC__
#define MLP_INLINE static __host__ __device__ __forceinline__
#else
#define MLP_INLINE static inline __attribute__((always_inline, unused))
#endif

enum {
	MLP_LAYERS = 3, /* matrices, at most */
	MLP_WIDTH = 8,
	MLP_LAST_WIDTH =
	    4, /* the width of the last layer is a multiple of this */
	MLP_ROWS = 256, /* pictures measured at a time */
	MLP_TAIL = 4, /* after the gradient: loss, wish */
};

struct mlp_layout {
	size_t layers; /* matrices */
	size_t inputs[MLP_LAYERS], units[MLP_LAYERS]; /* without padding */
	size_t in[MLP_LAYERS], out[MLP_LAYERS]; /* widths */
	size_t at[MLP_LAYERS]; /* offset of the matrix */
	size_t count, memory;
	size_t rows; /* the largest batch of a rank */
};

/* One step: its pictures, and the factors of the optimizer. */
struct mlp_layout_step {
	uint64_t order, mask; /* keys */
	uint32_t first; /* position in the epoch of this rank's first picture */
	uint32_t rows; /* of this rank */
	uint32_t above; /* rows of this batch in ranks before this one */
	float share; /* 1 / pictures of the whole batch */
	float shrink, rate, unbias;
};

#define MLP_BETA1 0.9f
#define MLP_BETA2 0.999f
#define MLP_EPSILON 1e-8f

/* The finalizer of SplitMix64 (Steele, Lea, Flood 2014) on a counter. */
MLP_INLINE uint64_t
mlp_chance(uint64_t key, uint64_t i)
{
	uint64_t z = key + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* [0, 1), a multiple of 2^-24. */
MLP_INLINE float
mlp_unit(uint64_t key, uint64_t i)
{
	return (float)(mlp_chance(key, i) >> 40) * 0x1p-24f;
}

/*
 * Element i of a permutation of the numbers below n, selected by a key, without
 * a table: a Feistel network over the next power of two, iterated until the
 * result is below n.
 */
MLP_INLINE uint32_t
mlp_order(uint64_t key, uint32_t n, uint32_t i)
{
	uint32_t bits = 0, low, high, a, b;
	int r;

	while (bits < 32 && ((n - 1) >> bits) != 0)
		bits++;
	low = bits / 2;
	high = bits - low;
	do {
		a = i & ((UINT32_C(1) << low) - 1);
		b = i >> low;
		for (r = 0; r < 8; r += 2) {
			b ^= (uint32_t)mlp_chance(key ^ (uint64_t)r, a) &
			     ((UINT32_C(1) << high) - 1);
			a ^= (uint32_t)mlp_chance(key ^ (uint64_t)(r + 1), b) &
			     ((UINT32_C(1) << low) - 1);
		}
		i = b << low | a;
	} while (i >= n);
	return i;
}

/* The dropout factor of a hidden unit: 0 or 1 / (1 - dropout). */
MLP_INLINE float
mlp_keep(const struct mlp_layout_step *turn, float dropout, size_t layer,
    size_t row, size_t unit)
{
	uint64_t place = ((uint64_t)layer << 60) |
			 ((uint64_t)(turn->above + row) << 24) | (uint64_t)unit;

	return mlp_unit(turn->mask, place) < dropout ? 0 : 1 / (1 - dropout);
}

/*
 * Softmax of one row: returns the cross-entropy and sets dy to its gradient x
 * share. best: the predicted class, or n when the result is not finite.
 */
MLP_INLINE double
mlp_softmax(const float *y, float *dy, size_t n, size_t out, size_t label,
    float share, size_t *best)
{
	double sum = 0;
	size_t i, top = 0;

	for (i = 1; i < n; i++)
		if (y[i] > y[top])
			top = i;
	for (i = 0; i < n; i++) {
		dy[i] = expf(y[i] - y[top]);
		sum += (double)dy[i];
	}
	for (i = 0; i < n; i++)
		dy[i] = ((float)((double)dy[i] / sum) - (i == label)) * share;
	for (; i < out; i++)
		dy[i] = 0;
	*best = isfinite(sum) ? top : n;
	return log(sum) - (double)(y[label] - y[top]);
}

/* Compute the shape for a data set and settings, with this many ranks. */
void mlp_layout(struct mlp_layout *, const struct mlp_data *,
    const struct mlp_hyper *, size_t ranks);
/* Initial weights for ReLU (He et al. 2015), uniform; biases 0. */
void mlp_layout_draw(
    const struct mlp_layout *, const struct mlp_hyper *, float *params);
/*
 * Compute the next step from a place and advance it; ranks may be NULL.  After
 * the end of an epoch the next one starts.
 */
void mlp_layout_step(struct mlp_layout_step *, const struct mlp_hyper *,
    struct mlp_place *, size_t pictures, const struct mlp_ranks *);

#endif /* HPOTUNE_MLP_INTERNAL_H */
