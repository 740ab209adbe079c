/*
 * The arithmetic of packed training on a device: each launch computes one layer
 * of all slots.  A thread keeps a tile of 8 x 4 numbers of a product in
 * registers and reads the operands through the L1 cache, shared with its
 * neighbours; threads do not synchronise, and the results of a slot do not
 * depend on other slots.
 */

#include "kernels/mlp-batch/mlp-batch-cuda.h"

enum { TILE_ROWS = 8, TILE_COLUMNS = 4 };

static __device__ __forceinline__ float4
four(const float *at)
{
	return *(const float4 *)at;
}

static __device__ __forceinline__ void
tile_row(float4 *c, float a, float4 b)
{
	c->x += a * b.x;
	c->y += a * b.y;
	c->z += a * b.z;
	c->w += a * b.w;
}

/* Element k of 0 to 3. */
static __device__ __forceinline__ float
part(const float4 &v, int k)
{
	return k == 0 ? v.x : k == 1 ? v.y : k == 2 ? v.z : v.w;
}

/*
 * c = the sum over k of A(m, k) B(k, n), for 8 m and 4 n: A by rows is
 * a[m lda + k], else a[k lda + m]; B by rows is b[k ldb + n], else
 * b[n ldb + k].  Lengths and leading dimensions are multiples of 4.
 */
template <bool a_rows, bool b_rows>
static __device__ __forceinline__ void
tile(const float *__restrict__ a, size_t lda, const float *__restrict__ b,
    size_t ldb, size_t length, float4 c[TILE_ROWS])
{
	float4 u[TILE_ROWS], v[4];
	size_t k;

	CUDA_EACH(i, TILE_ROWS)
	c[i] = make_float4(0, 0, 0, 0);
	for (k = 0; k < length; k += 4) {
		CUDA_EACH(i, TILE_ROWS)
		u[i] = a_rows ? four(a + (size_t)i * lda + k)
			      : four(a + (k + (size_t)(i / 2)) * lda +
				     (size_t)(i % 2) * 4);
		CUDA_EACH(j, 4)
		v[j] = b_rows ? four(b + (k + (size_t)j) * ldb)
			      : four(b + (size_t)j * ldb + k);
		CUDA_EACH(j, 4)
		{
			const float4 w =
			    b_rows ? v[j]
				   : make_float4(part(v[0], j), part(v[1], j),
					 part(v[2], j), part(v[3], j));
			CUDA_EACH(i, TILE_ROWS)
			tile_row(&c[i],
			    a_rows ? part(u[i], j)
				   : part(u[2 * j + i / 4], i % 4),
			    w);
		}
	}
}

/* Rows of a batch, filled up to whole tiles. */
static __host__ __device__ __forceinline__ size_t
tiled(size_t rows)
{
	return (rows + TILE_ROWS - 1) / TILE_ROWS * TILE_ROWS;
}

#define SLOT_OF(b)                                                \
	const struct mlp_layout_step *turn = &(b).turns[CUDA_Z];  \
	const struct mlp_view *v = &(b).views[(b).slots[CUDA_Z]]; \
	if (turn->share == 0)                                     \
	return

/* … and layer l of it, if it exists. */
#define LAYER_OF(b, l)              \
	SLOT_OF(b);                 \
	if ((l) >= v->shape.layers) \
		return;             \
	const size_t in = v->shape.in[l], out = v->shape.out[l]

/* Which pictures the rows are. */
static __global__ void
pick_kernel(struct mlp_launch b)
{
	CUDA_PLACE(row, b.rows);
	SLOT_OF(b);

	if (row < turn->rows)
		v->picture[row] = mlp_order(turn->order, (uint32_t)b.pictures,
		    turn->first + (uint32_t)row);
}

/* 8 numbers of a row. */
static __device__ __forceinline__ void
row_place(
    const struct mlp_launch &b, float *x, const uint8_t *pixels, size_t at)
{
	for (size_t j = at; j < at + 8; j++)
		x[j] = j < b.width    ? (float)pixels[j] * b.scale + b.shift
		       : j == b.width ? 1
				      : 0;
}

static __global__ void
gather_kernel(struct mlp_launch b)
{
	CUDA_PLACE(i, b.rows * b.in[0] / 8);
	SLOT_OF(b);
	const size_t groups = v->shape.in[0] / 8, row = i / groups;
	float *x = v->x + row * v->shape.in[0];

	if (row < turn->rows) {
		row_place(b, x, b.pixels + (size_t)v->picture[row] * b.width,
		    i % groups * 8);
	} else if (row < tiled(turn->rows)) {
		for (size_t j = 0; j < 8; j++)
			x[i % groups * 8 + j] = 0;
	}
}

static __global__ void
place_kernel(struct mlp_launch b, float *x, size_t n, size_t width)
{
	CUDA_PLACE(i, n * width / 8);
	const size_t row = i / (width / 8), at = i % (width / 8) * 8;

	if (row < b.pictures)
		row_place(b, x + row * width, b.pixels + row * b.width, at);
	else
		for (size_t j = at; j < at + 8; j++)
			x[row * width + j] = 0;
}

/* ReLU, dropout and the constant, as slot_bend() of mlp-batch.c. */
static __device__ __forceinline__ float
bent(const struct mlp_view *v, const struct mlp_layout_step *turn, size_t l,
    size_t row, size_t unit, float y, bool train)
{
	if (unit >= v->shape.units[l])
		return unit == v->shape.units[l] ? 1 : 0;
	y = y < 0 ? 0 : y;
	if (train && v->hyper.dropout > 0)
		y *= mlp_keep(turn, v->hyper.dropout, l, row, unit);
	return y;
}

static __global__ void
forward_kernel(struct mlp_launch b, size_t l)
{
	CUDA_PLACE(i, b.rows / TILE_ROWS * (b.out[l] / TILE_COLUMNS));
	LAYER_OF(b, l);
	const size_t across = out / TILE_COLUMNS;
	const size_t row = i / across * TILE_ROWS;
	const size_t column = i % across * TILE_COLUMNS;
	const float *x = l > 0 ? v->y[l - 1] : b.x != NULL ? b.x : v->x;
	float4 c[TILE_ROWS];

	if (row >= turn->rows)
		return;
	tile<true, true>(
	    x + row * in, in, v->params + v->shape.at[l] + column, out, in, c);
	CUDA_EACH(r, TILE_ROWS)
	{
		if (l + 1 < v->shape.layers) {
			const bool train = b.x == NULL;
			const size_t at = row + (size_t)r;

			c[r].x = bent(v, turn, l, at, column, c[r].x, train);
			c[r].y =
			    bent(v, turn, l, at, column + 1, c[r].y, train);
			c[r].z =
			    bent(v, turn, l, at, column + 2, c[r].z, train);
			c[r].w =
			    bent(v, turn, l, at, column + 3, c[r].w, train);
		}
		*(float4 *)(v->y[l] + (row + (size_t)r) * out + column) = c[r];
	}
}

/* Cross-entropies and their gradients: a thread has a row. */
static __global__ void
loss_kernel(struct mlp_launch b)
{
	CUDA_PLACE(row, b.rows);
	SLOT_OF(b);
	const size_t l = v->shape.layers - 1, out = v->shape.out[l];
	float *dy = v->dy[l] + row * out;
	size_t best, label;

	if (row >= tiled(turn->rows))
		return;
	if (row >= turn->rows) {
		for (size_t j = 0; j < out; j++)
			dy[j] = 0;
		return;
	}
	label = b.labels[b.x != NULL ? row : v->picture[row]];
	v->loss[row] = mlp_softmax(v->y[l] + row * out, dy, v->shape.units[l],
	    out, label, turn->share, &best);
	v->right[row] = best == label;
}

static __global__ void
tail_kernel(struct mlp_launch b)
{
	CUDA_PLACE(i, 1);
	SLOT_OF(b);
	float *tail = v->grads + v->shape.count;
	double sum = 0;

	for (size_t row = 0; row < turn->rows; row++)
		sum += v->loss[row];
	tail[i] = (float)sum;
	tail[1] = b.wish;
	tail[2] = tail[3] = 0;
}

static __global__ void
weights_kernel(struct mlp_launch b, size_t l)
{
	CUDA_PLACE(i, b.in[l] / TILE_ROWS * (b.out[l] / TILE_COLUMNS));
	LAYER_OF(b, l);
	const size_t across = out / TILE_COLUMNS;
	const size_t row = i / across * TILE_ROWS;
	const size_t column = i % across * TILE_COLUMNS;
	const float *x = l > 0 ? v->y[l - 1] : v->x;
	float4 c[TILE_ROWS];

	if (row >= in)
		return;
	tile<false, true>(
	    x + row, in, v->dy[l] + column, out, tiled(turn->rows), c);
	CUDA_EACH(r, TILE_ROWS)
	*(float4 *)(v->grads + v->shape.at[l] + (row + (size_t)r) * out +
		    column) = c[r];
}

/* The constant and units at 0 have no gradient. */
static __device__ __forceinline__ float
unbent(const struct mlp_view *v, size_t l, size_t unit, float y, float dy)
{
	if (unit >= v->shape.units[l] || !(y > 0))
		return 0;
	return dy * (1 / (1 - v->hyper.dropout));
}

/* From layer l to the one below. */
static __global__ void
back_kernel(struct mlp_launch b, size_t l)
{
	CUDA_PLACE(i, b.rows / TILE_ROWS * (b.in[l] / TILE_COLUMNS));
	LAYER_OF(b, l);
	const size_t across = in / TILE_COLUMNS;
	const size_t row = i / across * TILE_ROWS;
	const size_t column = i % across * TILE_COLUMNS;
	float4 c[TILE_ROWS];

	if (row >= turn->rows)
		return;
	tile<true, false>(v->dy[l] + row * out, out,
	    v->params + v->shape.at[l] + column * out, out, out, c);
	CUDA_EACH(r, TILE_ROWS)
	{
		const size_t at = (row + (size_t)r) * in + column;
		const float4 y = four(v->y[l - 1] + at);

		c[r].x = unbent(v, l - 1, column, y.x, c[r].x);
		c[r].y = unbent(v, l - 1, column + 1, y.y, c[r].y);
		c[r].z = unbent(v, l - 1, column + 2, y.z, c[r].z);
		c[r].w = unbent(v, l - 1, column + 3, y.w, c[r].w);
		*(float4 *)(v->dy[l - 1] + at) = c[r];
	}
}

/*
 * The sums of a slot so far.  All members are written back, also those that a
 * kernel does not sum, because the host reads all.
 */
static __device__ __forceinline__ struct mlp_total
total_so_far(const struct mlp_launch &b)
{
	struct mlp_total none = { 0, 0, 0 };

	return b.first ? none : b.totals[CUDA_Z];
}

static __global__ void
move_kernel(struct mlp_launch b)
{
	CUDA_PLACE(i, b.count);
	SLOT_OF(b);
	float *p = &v->params[i], *m = &v->memory[i], g;

	if (i == 0) {
		const float *tail = v->grads + v->shape.count;
		struct mlp_total t = total_so_far(b);

		t.loss += (double)tail[0];
		t.wished += (double)tail[1];
		b.totals[CUDA_Z] = t;
	}
	if (i >= v->shape.count)
		return;
	g = v->grads[i];
	if (v->hyper.optimizer == MLP_ADAM) {
		float *w = m + v->shape.count;

		*m = MLP_BETA1 * *m + (1 - MLP_BETA1) * g;
		*w = MLP_BETA2 * *w + (1 - MLP_BETA2) * g * g;
		*p = turn->shrink * *p -
		     turn->rate * *m / (sqrtf(*w * turn->unbias) + MLP_EPSILON);
	} else {
		*m = v->hyper.momentum * *m + g;
		*p = turn->shrink * *p - turn->rate * *m;
	}
}

static __global__ void
total_kernel(struct mlp_launch b)
{
	CUDA_PLACE(i, 1);
	SLOT_OF(b);
	struct mlp_total t = total_so_far(b);

	for (size_t row = 0; row < turn->rows; row++) {
		t.loss += v->loss[row];
		t.right += v->right[row];
	}
	b.totals[CUDA_Z + i] = t;
}

#define ONE ((size_t)1)

static void
forward(const struct mlp_launch &b)
{
	for (size_t l = 0; l < b.layers; l++)
		CUDA_LAUNCH(forward_kernel,
		    b.rows / TILE_ROWS * (b.out[l] / TILE_COLUMNS), ONE, b.n, b,
		    l);
	CUDA_LAUNCH(loss_kernel, b.rows, ONE, b.n, b);
}

int
mlp_network_gradient(const struct mlp_launch *given)
{
	struct mlp_launch b = *given;

	b.rows = tiled(b.rows);
	CUDA_LAUNCH(pick_kernel, b.rows, ONE, b.n, b);
	CUDA_LAUNCH(gather_kernel, b.rows * b.in[0] / 8, ONE, b.n, b);
	forward(b);
	CUDA_LAUNCH(tail_kernel, ONE, ONE, b.n, b);
	for (size_t l = b.layers; l-- > 0;) {
		CUDA_LAUNCH(weights_kernel,
		    b.in[l] / TILE_ROWS * (b.out[l] / TILE_COLUMNS), ONE, b.n,
		    b, l);
		if (l > 0)
			CUDA_LAUNCH(back_kernel,
			    b.rows / TILE_ROWS * (b.in[l] / TILE_COLUMNS), ONE,
			    b.n, b, l);
	}
	return cudaGetLastError() == cudaSuccess ? 0 : -1;
}

int
mlp_network_update_all(const struct mlp_launch *given)
{
	const struct mlp_launch b = *given;

	CUDA_LAUNCH(move_kernel, b.count, ONE, b.n, b);
	return cudaGetLastError() == cudaSuccess ? 0 : -1;
}

int
mlp_network_measure(const struct mlp_launch *given)
{
	struct mlp_launch b = *given;

	b.rows = tiled(b.rows);
	forward(b);
	CUDA_LAUNCH(total_kernel, ONE, ONE, b.n, b);
	return cudaGetLastError() == cudaSuccess ? 0 : -1;
}

int
mlp_network_pictures(const struct mlp_launch *given, float *x, size_t width)
{
	const struct mlp_launch b = *given;
	const size_t n = tiled(b.pictures);

	CUDA_LAUNCH(place_kernel, n * width / 8, ONE, ONE, b, x, n, width);
	return cudaGetLastError() == cudaSuccess ? 0 : -1;
}
