/*
 * The first layer of packed training on a device, which has nearly all of its
 * arithmetic.  Pictures stay bytes until they are operands: a block gathers those
 * of its rows, and sums of products are sums over bytes less 128, which the scale of
 * the pictures and the sums of the other operand turn into those over their numbers.
 * The gradient of a weight is used where it is computed.
 */

#include <math.h>

#include "kernels/mlp-batch/mlp-batch-cuda.h"
#include "kernels/mlp-batch/mlp-warp.h"

enum {
	PIXELS_THREADS = 256,
	PIXELS_WARPS = PIXELS_THREADS / WARP,
	PIXELS_ROWS = 128, /* pictures of a block */
	PIXELS_DEEP = 112, /* pixels of a block; 7 of them are 784 */
	/* Words: no two threads of a warp need the same bank of memory. */
	PIXELS_ROW_WORDS = PIXELS_DEEP / 4,
	PIXELS_WEIGHT_WORDS = PIXELS_DEEP / 2,
	PIXELS_TURNED_WORDS = PIXELS_ROWS / 4 + 4,
	PIXELS_SLOPE_WORDS = PIXELS_ROWS / 2 + 8,
	PIXELS_PIECES = PIXELS_DEEP / 16, /* of 16 bytes, in a row */
	PIXELS_LOADS = 4, /* of each thread, for either operand */
	PIXELS_SHARES = 8 /* threads that share the sum of a column */
};

/* What a thread has fetched for the next part of a sum. */
struct pixels_next {
	uint4 bytes[PIXELS_LOADS];
	float4 numbers[PIXELS_LOADS];
	float sum; /* of all numbers so far; they are of one column */
};

static __device__ __forceinline__ unsigned
pixels_column(unsigned t)
{
	return t / WARP % 4 * 8 + t % 8;
}

/* Which four rows of the numbers load i is. */
static __device__ __forceinline__ unsigned
pixels_four(unsigned t, int i)
{
	return 4 * (t / WARP / 4 + 2 * (unsigned)i) + t % WARP / 8;
}

/* A matrix of rows x columns, and where in it a part begins. */
struct pixels_matrix {
	const float *at;
	unsigned rows, columns;
	unsigned column;
};

static __device__ __forceinline__ void
pixels_numbers_fetch(struct pixels_next *next, const struct pixels_matrix &m,
    unsigned row, unsigned deep, unsigned t)
{
	const unsigned column = m.column + pixels_column(t);

	CUDA_EACH(i, PIXELS_LOADS)
	{
		const unsigned four = 4 * pixels_four(t, i);
		const unsigned first = row + four;
		const float *at = m.at + (size_t)first * m.columns + column;
		float x[4];

		CUDA_EACH(j, 4)
		x[j] = four < deep && first + (unsigned)j < m.rows &&
			       column < m.columns
			   ? at[(unsigned)j * m.columns]
			   : 0;
		next->numbers[i] = make_float4(x[0], x[1], x[2], x[3]);
		next->sum += (x[0] + x[1]) + (x[2] + x[3]);
	}
}

static __device__ __forceinline__ void
pixels_numbers_place(uint32_t *planes, size_t words,
    const struct pixels_next *next, size_t deep, unsigned t)
{
	CUDA_EACH(i, PIXELS_LOADS)
	if (4 * pixels_four(t, i) < deep)
		warp_split(
		    planes + pixels_column(t) * words + 2 * pixels_four(t, i),
		    WARP_COLUMNS * words, next->numbers[i]);
}

/* 16 bytes of a picture; beyond its end they do not matter. */
static __device__ __forceinline__ uint4
pixels_piece(const struct mlp_launch &b, uint32_t picture, size_t at)
{
	if (at >= b.across)
		return make_uint4(0, 0, 0, 0);
	return *(const uint4 *)(b.pixels + (size_t)picture * b.across + at);
}

static __device__ __forceinline__ void
pixels_rows_fetch(struct pixels_next *next, const struct mlp_launch &b,
    const uint32_t *picture, size_t pixel, unsigned t)
{
	CUDA_EACH(i, PIXELS_LOADS)
	{
		const unsigned piece = t + PIXELS_THREADS * (unsigned)i;

		if (piece < PIXELS_ROWS * PIXELS_PIECES)
			next->bytes[i] =
			    pixels_piece(b, picture[piece / PIXELS_PIECES],
				pixel + 16 * (piece % PIXELS_PIECES));
	}
}

static __device__ __forceinline__ void
pixels_rows_place(uint32_t *bytes, const struct pixels_next *next, unsigned t)
{
	CUDA_EACH(i, PIXELS_LOADS)
	{
		const unsigned piece = t + PIXELS_THREADS * (unsigned)i;

		if (piece < PIXELS_ROWS * PIXELS_PIECES)
			*(uint4 *)(bytes +
				   piece / PIXELS_PIECES * PIXELS_ROW_WORDS +
				   piece % PIXELS_PIECES * 4) = next->bytes[i];
	}
}

/* Sums over the columns of all numbers, from those of the threads, in one order. */
static __device__ __forceinline__ float
pixels_sum(const float *shares, unsigned column)
{
	float sum = 0;

	for (unsigned i = 0; i < PIXELS_SHARES; i++)
		sum += shares[column * PIXELS_SHARES + i];
	return sum;
}

static __device__ __forceinline__ void
pixels_share(float *shares, const struct pixels_next *next, unsigned t)
{
	shares[pixels_column(t) * PIXELS_SHARES + t / WARP / 4 * 4 +
	       t % WARP / 8] = next->sum;
}

/* Numbers of the rows of a block that have been summed up. */
static __device__ __forceinline__ void
forward_store(const struct mlp_launch &b, const struct mlp_view *v,
    const struct mlp_layout_step *turn, size_t first_row, size_t first_column,
    const struct warp_sums *sums, const float *constants, unsigned t)
{
	const size_t out = v->shape.out[0], units = v->shape.units[0];
	const unsigned lane = t % WARP;

	CUDA_EACH(g, WARP_GROUPS)
	CUDA_EACH(i, 4)
	{
		const size_t row =
		    first_row + t / WARP * WARP_ROWS + warp_row(lane, i);
		const unsigned column = warp_column(lane, g, i);
		const size_t unit = first_column + column;

		if (row < mlp_tiled(turn->rows) && unit < units)
			v->y[0][row * out + unit] = mlp_bent(v, turn, 0, row,
			    unit, b.scale * sums->at[g][i] + constants[column],
			    !b.measures);
	}
}

/* A block: 128 pictures, 32 units of a slot. */
static __global__ void
CUDA_BOUNDS(PIXELS_THREADS, 2) pixels_forward_kernel(struct mlp_launch b)
{
	MLP_SLOT_OF(b);
	CUDA_SHARED(uint4, bytes, PIXELS_ROWS * PIXELS_PIECES);
	CUDA_SHARED(
	    uint2, planes, WARP_PARTS * WARP_COLUMNS * PIXELS_WEIGHT_WORDS / 2);
	CUDA_SHARED(float, shares, WARP_COLUMNS *PIXELS_SHARES);
	CUDA_SHARED(float, constants, WARP_COLUMNS);
	CUDA_SHARED(uint32_t, picture, PIXELS_ROWS);
	const size_t first_row = CUDA_X * PIXELS_ROWS;
	const size_t units = v->shape.units[0], out = v->shape.out[0];
	const unsigned pixels = (unsigned)b.width;
	const struct pixels_matrix weights = { v->params + v->shape.at[0],
		pixels, (unsigned)out, (unsigned)CUDA_Y * WARP_COLUMNS };
	struct pixels_next next[CUDA_OWN(PIXELS_THREADS)];
	struct warp_sums sums[CUDA_OWN(PIXELS_THREADS)];

	if (first_row >= turn->rows || weights.column >= units)
		return;
	CUDA_ALL(t, PIXELS_THREADS)
	{
		const size_t row = first_row + t;

		memset(&sums[CUDA_MINE(t)], 0, sizeof *sums);
		next[CUDA_MINE(t)].sum = 0;
		if (t < PIXELS_ROWS) {
			/* Rows that are filled up are some picture. */
			picture[t] =
			    row >= turn->rows ? 0
			    : b.measures
				? turn->first + (uint32_t)row
				: mlp_order(turn->order, (uint32_t)b.pictures,
				      turn->first + (uint32_t)row);
			if (row < turn->rows && CUDA_Y == 0)
				v->picture[row] = picture[t];
		}
	}
	CUDA_TOGETHER();
	CUDA_ALL(t, PIXELS_THREADS)
	{
		pixels_rows_fetch(&next[CUDA_MINE(t)], b, picture, 0, t);
		pixels_numbers_fetch(
		    &next[CUDA_MINE(t)], weights, 0, PIXELS_DEEP, t);
	}
	for (unsigned pixel = 0; pixel < pixels; pixel += PIXELS_DEEP) {
		CUDA_ALL(t, PIXELS_THREADS)
		{
			pixels_rows_place(
			    (uint32_t *)bytes, &next[CUDA_MINE(t)], t);
			pixels_numbers_place((uint32_t *)planes,
			    PIXELS_WEIGHT_WORDS, &next[CUDA_MINE(t)],
			    PIXELS_DEEP, t);
		}
		CUDA_TOGETHER();
		if (pixel + PIXELS_DEEP < pixels)
			CUDA_ALL(t, PIXELS_THREADS)
			{
				pixels_rows_fetch(&next[CUDA_MINE(t)], b,
				    picture, pixel + PIXELS_DEEP, t);
				pixels_numbers_fetch(&next[CUDA_MINE(t)],
				    weights, pixel + PIXELS_DEEP, PIXELS_DEEP,
				    t);
			}
		WARP_EACH(w, PIXELS_WARPS)
		CUDA_LOOP(k, PIXELS_DEEP / WARP_DEEP)
		warp_step(sums + WARP_FIRST(w),
		    (const uint32_t *)bytes + w * WARP_ROWS * PIXELS_ROW_WORDS +
			k * WARP_DEEP / 4,
		    PIXELS_ROW_WORDS,
		    (const uint32_t *)planes + k * WARP_DEEP / 2,
		    PIXELS_WEIGHT_WORDS, WARP_COLUMNS * PIXELS_WEIGHT_WORDS);
		CUDA_TOGETHER();
	}
	CUDA_ALL(t, PIXELS_THREADS)
	pixels_share(shares, &next[CUDA_MINE(t)], t);
	CUDA_TOGETHER();
	CUDA_ALL(t, PIXELS_THREADS)
	if (t < WARP_COLUMNS && weights.column + t < units)
		constants[t] = b.centre * pixels_sum(shares, t) +
			       weights.at[pixels * out + weights.column + t];
	CUDA_TOGETHER();
	CUDA_ALL(t, PIXELS_THREADS)
	forward_store(b, v, turn, first_row, weights.column,
	    &sums[CUDA_MINE(t)], constants, t);
	/* After the units the constant, and what the width is filled up with. */
	if (weights.column + WARP_COLUMNS < units)
		return;
	CUDA_ALL(t, PIXELS_THREADS)
	for (size_t i = t; i < PIXELS_ROWS * (out - units);
	     i += PIXELS_THREADS) {
		const size_t row = first_row + i / (out - units);
		const size_t unit = units + i % (out - units);

		if (row < mlp_tiled(turn->rows))
			v->y[0][row * out + unit] = unit == units;
	}
}

/* Four rows of 16 bytes, for their transpose: 16 rows of four bytes. */
static __device__ __forceinline__ void
turned_place(uint32_t *to, size_t words, const uint4 row[4])
{
	const uint32_t from[4][4] = {
		{ row[0].x, row[1].x, row[2].x, row[3].x },
		{ row[0].y, row[1].y, row[2].y, row[3].y },
		{ row[0].z, row[1].z, row[2].z, row[3].z },
		{ row[0].w, row[1].w, row[2].w, row[3].w },
	};

	CUDA_EACH(i, 4)
	{
		const uint32_t *f = from[i];
		const uint32_t low = warp_bytes(f[0], f[1], 0x5140);
		const uint32_t low_2 = warp_bytes(f[2], f[3], 0x5140);
		const uint32_t high = warp_bytes(f[0], f[1], 0x7362);
		const uint32_t high_2 = warp_bytes(f[2], f[3], 0x7362);
		uint32_t *at = to + (size_t)i * 4 * words;

		at[0] = warp_bytes(low, low_2, 0x5410);
		at[words] = warp_bytes(low, low_2, 0x7632);
		at[2 * words] = warp_bytes(high, high_2, 0x5410);
		at[3 * words] = warp_bytes(high, high_2, 0x7632);
	}
}

/* Thread t: four rows, 16 of their pixels. */
static __device__ __forceinline__ void
turned_fetch(struct pixels_next *next, const struct mlp_launch &b,
    const struct mlp_view *v, size_t rows, size_t row, size_t pixel, unsigned t)
{
	CUDA_EACH(i, PIXELS_LOADS)
	{
		const size_t at = row + t % WARP * 4 + (size_t)i;

		if (t / WARP < PIXELS_PIECES)
			next->bytes[i] =
			    pixels_piece(b, at < rows ? v->picture[at] : 0,
				pixel + 16 * (t / WARP));
	}
}

static __device__ __forceinline__ void
pixels_gradient_use(const struct mlp_launch &b, const struct mlp_view *v,
    const struct mlp_layout_step *turn, size_t row, size_t unit, float g)
{
	const size_t i = v->shape.at[0] + row * v->shape.out[0] + unit;

	if (b.moves)
		mlp_move(v, turn, i, g);
	else
		v->grads[i] = g;
}

/* A block: 112 pixels, 32 units; the first one has the biases. */
static __global__ void
CUDA_BOUNDS(PIXELS_THREADS, 2) pixels_weights_kernel(struct mlp_launch b)
{
	MLP_SLOT_OF(b);
	CUDA_SHARED(uint4, turned, PIXELS_DEEP * PIXELS_TURNED_WORDS / 4);
	CUDA_SHARED(
	    uint2, planes, WARP_PARTS * WARP_COLUMNS * PIXELS_SLOPE_WORDS / 2);
	CUDA_SHARED(float, shares, WARP_COLUMNS *PIXELS_SHARES);
	CUDA_SHARED(float, biases, WARP_COLUMNS);
	const size_t pixel = CUDA_X * PIXELS_DEEP, pixels = b.width;
	const size_t units = v->shape.units[0];
	const struct pixels_matrix slopes = { v->dy[0], turn->rows,
		(unsigned)v->shape.out[0], (unsigned)CUDA_Y * WARP_COLUMNS };
	struct pixels_next next[CUDA_OWN(PIXELS_THREADS)];
	struct warp_sums sums[CUDA_OWN(PIXELS_THREADS)];

	if (slopes.column >= units)
		return;
	CUDA_ALL(t, PIXELS_THREADS)
	{
		memset(&sums[CUDA_MINE(t)], 0, sizeof *sums);
		next[CUDA_MINE(t)].sum = 0;
	}
	for (unsigned row = 0; row < turn->rows; row += PIXELS_ROWS) {
		CUDA_ALL(t, PIXELS_THREADS)
		{
			struct pixels_next *n = &next[CUDA_MINE(t)];

			turned_fetch(n, b, v, turn->rows, row, pixel, t);
			pixels_numbers_fetch(n, slopes, row, PIXELS_ROWS, t);
			if (t / WARP < PIXELS_PIECES)
				turned_place(
				    (uint32_t *)turned +
					t / WARP * 16 * PIXELS_TURNED_WORDS +
					t % WARP,
				    PIXELS_TURNED_WORDS, n->bytes);
			pixels_numbers_place((uint32_t *)planes,
			    PIXELS_SLOPE_WORDS, n, PIXELS_ROWS, t);
		}
		CUDA_TOGETHER();
		WARP_EACH(w, PIXELS_DEEP / WARP_ROWS)
		CUDA_LOOP(k, PIXELS_ROWS / WARP_DEEP)
		warp_step(sums + WARP_FIRST(w),
		    (const uint32_t *)turned +
			w * WARP_ROWS * PIXELS_TURNED_WORDS + k * WARP_DEEP / 4,
		    PIXELS_TURNED_WORDS,
		    (const uint32_t *)planes + k * WARP_DEEP / 2,
		    PIXELS_SLOPE_WORDS, WARP_COLUMNS * PIXELS_SLOPE_WORDS);
		CUDA_TOGETHER();
	}
	CUDA_ALL(t, PIXELS_THREADS)
	pixels_share(shares, &next[CUDA_MINE(t)], t);
	CUDA_TOGETHER();
	CUDA_ALL(t, PIXELS_THREADS)
	if (t < WARP_COLUMNS && slopes.column + t < units) {
		biases[t] = pixels_sum(shares, t);
		if (CUDA_X == 0)
			pixels_gradient_use(
			    b, v, turn, pixels, slopes.column + t, biases[t]);
	}
	CUDA_TOGETHER();
	CUDA_ALL(t, PIXELS_DEEP / WARP_ROWS * WARP)
	CUDA_EACH(g, WARP_GROUPS)
	CUDA_EACH(i, 4)
	{
		const unsigned column = warp_column(t % WARP, g, i);
		const size_t row =
		    pixel + t / WARP * WARP_ROWS + warp_row(t % WARP, i);

		if (row < pixels && slopes.column + column < units)
			pixels_gradient_use(b, v, turn, row,
			    slopes.column + column,
			    b.scale * sums[CUDA_MINE(t)].at[g][i] +
				b.centre * biases[column]);
	}
}

static size_t
pixels_pieces(size_t n, size_t of)
{
	return (n + of - 1) / of;
}

void
mlp_pixels_forward(const struct mlp_launch *given)
{
	const struct mlp_launch b = *given;

	CUDA_BLOCKS_ON(b.stream, PIXELS_THREADS, pixels_forward_kernel,
	    pixels_pieces(b.rows, PIXELS_ROWS),
	    pixels_pieces(b.units, WARP_COLUMNS), b.n, b);
}

void
mlp_pixels_weights(const struct mlp_launch *given)
{
	const struct mlp_launch b = *given;

	CUDA_BLOCKS_ON(b.stream, PIXELS_THREADS, pixels_weights_kernel,
	    pixels_pieces(b.width, PIXELS_DEEP),
	    pixels_pieces(b.units, WARP_COLUMNS), b.n, b);
}
