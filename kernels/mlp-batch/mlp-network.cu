/*
 * The arithmetic of packed training on a device, but for the first layer: each launch
 * computes one layer of all slots.  Between the first and the last layer a thread
 * keeps a tile of 8 x 4 numbers of a product in registers and reads the operands
 * through the L1 cache, shared with its neighbours.  The results of a slot do not
 * depend on other slots.
 */

#include "kernels/mlp-batch/mlp-batch-cuda.h"

enum { TILE_ROWS = MLP_TILE_ROWS, TILE_COLUMNS = 4, WARP = 32 };

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

/* Layer l of the slot, if it is between the first and the last one. */
#define LAYER_OF(b, l)                  \
	MLP_SLOT_OF(b);                 \
	if ((l) + 1 >= v->shape.layers) \
		return;                 \
	const size_t in = v->shape.in[l], out = v->shape.out[l]

static __global__ void
forward_kernel(struct mlp_launch b, size_t l)
{
	CUDA_PLACE(i, b.rows / TILE_ROWS * (b.out[l] / TILE_COLUMNS));
	LAYER_OF(b, l);
	const size_t across = out / TILE_COLUMNS;
	const size_t row = i / across * TILE_ROWS;
	const size_t column = i % across * TILE_COLUMNS;
	const bool train = !b.measures;
	float4 c[TILE_ROWS];

	if (row >= turn->rows)
		return;
	tile<true, true>(v->y[l - 1] + row * in, in,
	    v->params + v->shape.at[l] + column, out, in, c);
	CUDA_EACH(r, TILE_ROWS)
	{
		const size_t at = row + (size_t)r;

		c[r].x = mlp_bent(v, turn, l, at, column, c[r].x, train);
		c[r].y = mlp_bent(v, turn, l, at, column + 1, c[r].y, train);
		c[r].z = mlp_bent(v, turn, l, at, column + 2, c[r].z, train);
		c[r].w = mlp_bent(v, turn, l, at, column + 3, c[r].w, train);
		*(float4 *)(v->y[l] + at * out + column) = c[r];
	}
}

static __device__ __forceinline__ void
gradient_use(const struct mlp_launch &b, const struct mlp_view *v,
    const struct mlp_layout_step *turn, size_t i, float4 g)
{
	if (!b.moves) {
		*(float4 *)(v->grads + i) = g;
		return;
	}
	mlp_move(v, turn, i, g.x);
	mlp_move(v, turn, i + 1, g.y);
	mlp_move(v, turn, i + 2, g.z);
	mlp_move(v, turn, i + 3, g.w);
}

static __global__ void
weights_kernel(struct mlp_launch b, size_t l)
{
	CUDA_PLACE(i, b.in[l] / TILE_ROWS * (b.out[l] / TILE_COLUMNS));
	LAYER_OF(b, l);
	const size_t across = out / TILE_COLUMNS;
	const size_t row = i / across * TILE_ROWS;
	const size_t column = i % across * TILE_COLUMNS;
	float4 c[TILE_ROWS];

	if (row >= in)
		return;
	tile<false, true>(v->y[l - 1] + row, in, v->dy[l] + column, out,
	    mlp_tiled(turn->rows), c);
	CUDA_EACH(r, TILE_ROWS)
	gradient_use(b, v, turn,
	    v->shape.at[l] + (row + (size_t)r) * out + column, c[r]);
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
 * The last layer of a slot in one block: its numbers, the loss, the gradients of its
 * weights and of the layer below, and its update.  Here it is called L, and y are
 * its inputs.
 */
enum { TOP_THREADS = 256 };

struct top {
	size_t rows, in, out; /* rows: filled up */
	const float *y, *weights;
	float *logits, *d; /* the gradient of the logits */
	size_t at; /* of the weights */
};

static __device__ __forceinline__ struct top
top_of(const struct mlp_view *v, const struct mlp_layout_step *turn)
{
	const size_t l = v->shape.layers - 1;
	struct top top;

	top.rows = mlp_tiled(turn->rows);
	top.in = v->shape.in[l];
	top.out = v->shape.out[l];
	top.at = v->shape.at[l];
	top.y = v->y[l - 1];
	top.weights = v->params + top.at;
	top.logits = v->y[l];
	top.d = v->dy[l];
	return top;
}

/* A row, four classes. */
static __device__ __forceinline__ void
top_logits(const struct top &top, size_t i)
{
	const size_t row = i / (top.out / 4), column = i % (top.out / 4) * 4;
	const float *y = top.y + row * top.in;
	const float *w = top.weights + column;
	float4 c = make_float4(0, 0, 0, 0);

	for (size_t k = 0; k < top.in; k += 4) {
		const float4 x = four(y + k);

		CUDA_EACH(j, 4)
		tile_row(&c, part(x, j), four(w + (k + (size_t)j) * top.out));
	}
	*(float4 *)(top.logits + row * top.out + column) = c;
}

/* Cross-entropies and their gradients. */
static __device__ __forceinline__ void
top_loss(const struct mlp_launch &b, const struct mlp_view *v,
    const struct mlp_layout_step *turn, const struct top &top, size_t row)
{
	float *d = top.d + row * top.out;
	size_t best, label;

	if (row >= turn->rows) {
		for (size_t j = 0; j < top.out; j++)
			d[j] = 0;
		return;
	}
	label = b.labels[v->picture[row]];
	v->loss[row] = mlp_softmax(top.logits + row * top.out, d,
	    v->shape.units[v->shape.layers - 1], top.out, label, turn->share,
	    &best);
	v->right[row] = best == label;
}

/* Gradients of 4 x 4 weights. */
static __device__ __forceinline__ void
top_gradients(const struct mlp_view *v, const struct top &top, size_t i)
{
	const size_t row = i / (top.out / 4) * 4;
	const size_t column = i % (top.out / 4) * 4;
	float4 c[4];

	CUDA_EACH(j, 4)
	c[j] = make_float4(0, 0, 0, 0);
	for (size_t k = 0; k < top.rows; k++) {
		const float4 x = four(top.y + k * top.in + row);
		const float4 d = four(top.d + k * top.out + column);

		CUDA_EACH(j, 4)
		tile_row(&c[j], part(x, j), d);
	}
	CUDA_EACH(j, 4)
	*(float4 *)(v->grads + top.at + (row + (size_t)j) * top.out + column) =
	    c[j];
}

/* To eight rows of a unit below. */
static __device__ __forceinline__ void
top_back(const struct mlp_view *v, const struct top &top, size_t i)
{
	const size_t l = v->shape.layers - 2, unit = i % top.in;
	const size_t row = i / top.in * TILE_ROWS;
	float sum[TILE_ROWS];

	CUDA_EACH(r, TILE_ROWS)
	sum[r] = 0;
	for (size_t k = 0; k < top.out; k += 4) {
		const float4 w = four(top.weights + unit * top.out + k);

		CUDA_EACH(r, TILE_ROWS)
		{
			const float4 d =
			    four(top.d + (row + (size_t)r) * top.out + k);

			CUDA_EACH(j, 4)
			sum[r] += part(d, j) * part(w, j);
		}
	}
	CUDA_EACH(r, TILE_ROWS)
	{
		const size_t at = (row + (size_t)r) * top.in + unit;

		v->dy[l][at] = unbent(v, l, unit, top.y[at], sum[r]);
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

/* Where the sums of a step go. */
static __device__ __forceinline__ void
top_total(const struct mlp_launch &b, const struct mlp_view *v, double loss,
    uint64_t right)
{
	float *tail = v->grads + v->shape.count;
	struct mlp_total t;

	if (!b.moves && !b.measures) {
		tail[0] = (float)loss;
		tail[1] = b.wish;
		tail[2] = tail[3] = 0;
		return;
	}
	t = total_so_far(b);
	t.loss += b.measures ? loss : (double)(float)loss;
	t.right += right;
	b.totals[CUDA_Z] = t;
}

static __global__ void
CUDA_BOUNDS(TOP_THREADS, 2) top_kernel(struct mlp_launch b)
{
	MLP_SLOT_OF(b);
	CUDA_SHARED(double, loss, WARP);
	CUDA_SHARED(uint64_t, right, WARP);
	const struct top top = top_of(v, turn);
	const size_t weights = top.in * top.out;

	CUDA_ALL(t, TOP_THREADS)
	for (size_t i = t; i < top.rows * (top.out / 4); i += TOP_THREADS)
		top_logits(top, i);
	CUDA_TOGETHER();
	CUDA_ALL(t, TOP_THREADS)
	for (size_t row = t; row < top.rows; row += TOP_THREADS)
		top_loss(b, v, turn, top, row);
	CUDA_TOGETHER();
	CUDA_ALL(t, TOP_THREADS)
	{
		if (t < WARP) {
			loss[t] = 0;
			right[t] = 0;
			for (size_t row = t; row < turn->rows; row += WARP) {
				loss[t] += v->loss[row];
				right[t] += v->right[row];
			}
		}
		if (!b.measures) {
			for (size_t i = t; i < weights / 16; i += TOP_THREADS)
				top_gradients(v, top, i);
			for (size_t i = t; i < top.rows / TILE_ROWS * top.in;
			     i += TOP_THREADS)
				top_back(v, top, i);
		}
	}
	CUDA_TOGETHER();
	CUDA_ALL(t, TOP_THREADS)
	{
		if (t == 0) {
			double sum = 0;
			uint64_t all = 0;

			for (unsigned i = 0; i < WARP; i++) {
				sum += loss[i];
				all += right[i];
			}
			top_total(b, v, sum, all);
		}
		if (b.moves)
			for (size_t i = t; i < weights; i += TOP_THREADS)
				mlp_move(
				    v, turn, top.at + i, v->grads[top.at + i]);
	}
}

/* All weights, after the sums of all ranks. */
static __global__ void
move_kernel(struct mlp_launch b)
{
	CUDA_PLACE(i, b.count);
	MLP_SLOT_OF(b);

	if (i == 0) {
		const float *tail = v->grads + v->shape.count;
		struct mlp_total t = total_so_far(b);

		t.loss += (double)tail[0];
		t.wished += (double)tail[1];
		b.totals[CUDA_Z] = t;
	}
	if (i < v->shape.count)
		mlp_move(v, turn, i, v->grads[i]);
}

#define ONE ((size_t)1)

static void
forward(const struct mlp_launch &b)
{
	mlp_pixels_forward(&b);
	for (size_t l = 1; l + 1 < b.layers; l++)
		CUDA_LAUNCH_ON(b.stream, forward_kernel,
		    b.rows / TILE_ROWS * (b.out[l] / TILE_COLUMNS), ONE, b.n, b,
		    l);
	CUDA_BLOCKS_ON(b.stream, TOP_THREADS, top_kernel, ONE, ONE, b.n, b);
}

int
mlp_network_gradient(const struct mlp_launch *given)
{
	struct mlp_launch b = *given;

	b.rows = mlp_tiled(b.rows);
	forward(b);
	/* What is below a layer needs its weights before they move. */
	for (size_t l = b.layers - 2; l > 0; l--) {
		CUDA_LAUNCH_ON(b.stream, back_kernel,
		    b.rows / TILE_ROWS * (b.in[l] / TILE_COLUMNS), ONE, b.n, b,
		    l);
		CUDA_LAUNCH_ON(b.stream, weights_kernel,
		    b.in[l] / TILE_ROWS * (b.out[l] / TILE_COLUMNS), ONE, b.n,
		    b, l);
	}
	mlp_pixels_weights(&b);
	return cudaGetLastError() == cudaSuccess ? 0 : -1;
}

int
mlp_network_update_all(const struct mlp_launch *given)
{
	const struct mlp_launch b = *given;

	CUDA_LAUNCH_ON(b.stream, move_kernel, b.count, ONE, b.n, b);
	return cudaGetLastError() == cudaSuccess ? 0 : -1;
}

int
mlp_network_measure(const struct mlp_launch *given)
{
	struct mlp_launch b = *given;

	b.rows = mlp_tiled(b.rows);
	forward(b);
	return cudaGetLastError() == cudaSuccess ? 0 : -1;
}
