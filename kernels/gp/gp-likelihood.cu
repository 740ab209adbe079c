/*
 * Likelihoods and gradients of several vectors of hyperparameters in lock-step:
 * the CUDA version of gp-likelihood.c. K^-1 is computed in full, from two
 * triangular solves, and sums over pairs are sums over rows, so that threads
 * need not synchronise.
 */

#include <math.h>
#include <string.h>

#include "kernels/cuda/cuda.h"

extern "C" {
#include "kernels/alloc.h"
#include "kernels/gp/gp-model.h"
#include "kernels/lapack.h"
}
#include "kernels/formulas.h"

#define LN_2PI 1.83787706640934548356
/* Memory limit of the matrices of one batch. */
#define BATCH_BYTES 4e9

enum {
	BATCH_SIZE = 512 /* larger ones fill the device alone */
};

struct batch {
	struct cuda *c;
	const struct gp_data *data;
	size_t n, d, r; /* r vectors together */
	struct gp_coordinates *shapes; /* r */
	double *host; /* staging memory on the host */
	/* On the device, one after the other for each vector. */
	double *k, *inverse, *slope; /* n x n */
	double *z, *part; /* d x n */
	double *weight, *sum; /* d */
	double *diagonal; /* n */
	/*
	 * 4 n: diagonals of factor and inverse, alpha, what each point adds to
	 * the gradient of the local variation.
	 */
	double *out;
	double *y;
	double **k_at, **inverse_at;
	int *info;
};

static struct cuda_covariance
reach_of(const struct batch *b, size_t q)
{
	struct cuda_covariance r = { b->d, b->shapes[q].numbers,
		b->weight + q * b->d, b->shapes[q].signal, b->shapes[q].local,
		b->shapes[q].form };

	return r;
}

static __global__ void
identity_kernel(size_t n, double *a)
{
	CUDA_PLACE(i, n);
	const size_t j = CUDA_Y, q = CUDA_Z;

	a[(q * n + j) * n + i] = i == j ? 1 : 0;
}

static __global__ void
alpha_kernel(size_t n, const double *k, const double *inverse, const double *y,
    double *out)
{
	CUDA_PLACE(i, n);
	const size_t q = CUDA_Z;
	const double *row = inverse + q * n * n + i;
	double *to = out + q * 4 * n, sum = 0;
	size_t j;

	for (j = 0; j < n; j++)
		sum += row[j * n] * y[j];
	to[i] = k[q * n * n + i * (n + 1)];
	to[n + i] = row[i * n];
	to[2 * n + i] = sum;
}

/* The weights of the pairs of point i times M of the local variation. */
static __global__ void
local_kernel(size_t n, size_t d, size_t numbers, const double *inverse,
    const double *z, const double *weight, double *out)
{
	CUDA_PLACE(i, n);
	const size_t q = CUDA_Z;
	const double *alpha = out + q * 4 * n + 2 * n, *x = z + q * d * n;
	const struct matern near = matern_form(0);
	double sum = 0, r2, t, u;
	size_t p, j;

	for (p = 0; p < n; p++) {
		for (r2 = 0, j = 0; j < d; j++) {
			u = x[j * n + i] - x[j * n + p];
			r2 += j < numbers ? u * u
			      : u != 0	  ? weight[q * d + j]
					  : 0;
		}
		if (p == i || !matern_is_local(r2))
			continue;
		t = matern_local_reach(r2);
		sum += (alpha[i] * alpha[p] - inverse[(q * n + p) * n + i]) *
		       matern_value(near, t, kernel_exp(-t));
	}
	out[q * 4 * n + 3 * n + i] = sum;
}

/* The weight of each pair, over its slope. */
static __global__ void
pair_kernel(size_t n, const double *inverse, const double *out, double *slope)
{
	CUDA_PLACE(i, n);
	const size_t j = CUDA_Y, q = CUDA_Z;
	const double *alpha = out + q * 4 * n + 2 * n;
	size_t at = (q * n + j) * n + i;

	slope[at] =
	    i == j ? 0 : (alpha[i] * alpha[j] - inverse[at]) * slope[at];
}

/* What point i adds for coordinate j. */
static __global__ void
reach_kernel(size_t n, size_t d, size_t numbers, const double *pairs,
    const double *z, const double *weight, double *part)
{
	CUDA_PLACE(i, n);
	const size_t j = CUDA_Y, q = CUDA_Z;
	const double *row = pairs + q * n * n + i, *x = z + (q * d + j) * n;
	double sum = 0, u;
	size_t p;

	for (p = 0; p < n; p++) {
		u = x[i] - x[p];
		sum += row[p * n] * (j < numbers ? u * u
					: u != 0 ? weight[q * d + j]
						 : 0);
	}
	part[(q * d + j) * n + i] = sum;
}

static __global__ void
sum_kernel(size_t d, size_t n, const double *part, double *sum)
{
	CUDA_PLACE(j, d);
	const size_t q = CUDA_Z;
	const double *x = part + (q * d + j) * n;
	double total = 0;
	size_t i;

	for (i = 0; i < n; i++)
		total += x[i];
	sum[q * d + j] = total / 2;
}

/* Room for r vectors at a time. */
static int
batch_rooms(struct batch *b)
{
	struct cuda *c = b->c;
	size_t n = b->n, d = b->d, r = b->r;

	b->k = cuda_numbers(c, CUDA_BUFFER_MATRIX, r * n * n);
	b->inverse = cuda_numbers(c, CUDA_BUFFER_INVERSE, r * n * n);
	b->slope = cuda_numbers(c, CUDA_BUFFER_SLOPE, r * n * n);
	b->z = cuda_numbers(c, CUDA_BUFFER_POINTS, 2 * r * d * n);
	b->weight =
	    cuda_numbers(c, CUDA_BUFFER_SCALARS, r * (2 * d + 5 * n) + n);
	b->k_at = (double **)cuda_bytes(c, CUDA_BUFFER_POINTERS,
	    r * (2 * sizeof *b->k_at + sizeof *b->info));
	if (b->k == NULL || b->inverse == NULL || b->slope == NULL ||
	    b->z == NULL || b->weight == NULL || b->k_at == NULL)
		return -1;
	b->part = b->z + r * d * n;
	b->sum = b->weight + r * d;
	b->diagonal = b->sum + r * d;
	b->out = b->diagonal + r * n;
	b->y = b->out + r * 4 * n;
	b->inverse_at = b->k_at + r;
	b->info = (int *)(b->inverse_at + r);
	return 0;
}

/* The covariance of vector q, with so much jitter. */
static int
batch_matrix(struct batch *b, size_t q, int step)
{
	const struct gp_coordinates *s = &b->shapes[q];
	const double *extra = b->data->extra;
	struct cuda_points points = { b->z + q * b->d * b->n, b->n };
	struct cuda_covariance r = reach_of(b, q);
	size_t i;

	for (i = 0; i < b->n; i++)
		b->host[i] = s->signal * lapack_jitter(step) + s->noise +
			     (extra != NULL ? extra[i] : 0);
	TRY(cuda_upload(b->diagonal + q * b->n, b->host, b->n));
	return cuda_tile_matrix(&r, &points, b->k + q * b->n * b->n,
	    b->slope + q * b->n * b->n, b->diagonal + q * b->n);
}

/* Points and weights of all vectors. */
static int
batch_points(struct batch *b)
{
	double *z = kernel_alloc(b->n, b->d);
	size_t q, i;
	int bad = 0;

	for (q = 0; q < b->r && bad == 0; q++) {
		for (i = 0; i < b->n; i++)
			gp_coordinates_place(
			    &b->shapes[q], b->data->x + i * b->d, z + i * b->d);
		bad = cuda_tile_place(
			  b->c, z, b->n, b->d, b->z + q * b->d * b->n) != 0 ||
		      cuda_upload(
			  b->weight + q * b->d, b->shapes[q].scale, b->d) != 0;
	}
	free(z);
	return bad ? -1 : cuda_upload(b->y, b->data->y, b->n);
}

/* Start addresses of the matrices of a batch, for cuSOLVER and cuBLAS. */
static int
batch_pointers(struct batch *b)
{
	double **at = (double **)b->host;
	size_t q;

	for (q = 0; q < b->r; q++) {
		at[q] = b->k + q * b->n * b->n;
		at[b->r + q] = b->inverse + q * b->n * b->n;
	}
	return cudaMemcpy(b->k_at, at, 2 * b->r * sizeof *at,
		   cudaMemcpyHostToDevice) == cudaSuccess
		   ? 0
		   : -1;
}

static int
batch_factor(struct batch *b, int *info)
{
	size_t q;

	if (b->n <= BATCH_SIZE) {
		TRY(batch_pointers(b));
		TRY(b->c->lib.cusolverDnDpotrfBatched(b->c->solver,
		    CUBLAS_FILL_MODE_LOWER, (int)b->n, b->k_at, (int)b->n,
		    b->info, (int)b->r));
		TRY(cudaMemcpy(info, b->info, b->r * sizeof *info,
		    cudaMemcpyDeviceToHost));
		return 0;
	}
	for (q = 0; q < b->r; q++)
		TRY(cuda_tile_factor(
		    b->c, b->k + q * b->n * b->n, b->n, info + q));
	return 0;
}

/* status: the steps of jitter that each vector took, or -1. */
static int
batch_factors(struct batch *b, int *status)
{
	size_t q;
	int info;

	for (q = 0; q < b->r; q++)
		TRY(batch_matrix(b, q, 0));
	TRY(batch_factor(b, status));
	for (q = 0; q < b->r; q++) {
		info = status[q];
		for (status[q] = 0; info != 0;) {
			if (status[q] == LAPACK_JITTER_STEPS) {
				status[q] = -1;
				break;
			}
			TRY(batch_matrix(b, q, ++status[q]));
			TRY(cuda_tile_factor(
			    b->c, b->k + q * b->n * b->n, b->n, &info));
		}
	}
	return 0;
}

static int
batch_solve(struct batch *b, cublasOperation_t turn)
{
	const double one = 1;
	int n = (int)b->n;
	size_t q, at;

	if (b->n <= BATCH_SIZE) {
		TRY(b->c->lib.cublasDtrsmBatched(b->c->blas, CUBLAS_SIDE_LEFT,
		    CUBLAS_FILL_MODE_LOWER, turn, CUBLAS_DIAG_NON_UNIT, n, n,
		    &one, b->k_at, n, b->inverse_at, n, (int)b->r));
		return 0;
	}
	for (q = 0; q < b->r; q++) {
		at = q * b->n * b->n;
		TRY(b->c->lib.cublasDtrsm_v2(b->c->blas, CUBLAS_SIDE_LEFT,
		    CUBLAS_FILL_MODE_LOWER, turn, CUBLAS_DIAG_NON_UNIT, n, n,
		    &one, b->k + at, n, b->inverse + at, n));
	}
	return 0;
}

static int
batch_gradient(struct batch *b)
{
	size_t n = b->n, d = b->d, r = b->r;

	CUDA_LAUNCH(identity_kernel, n, n, r, n, b->inverse);
	TRY(cudaGetLastError());
	TRY(batch_solve(b, CUBLAS_OP_N));
	TRY(batch_solve(b, CUBLAS_OP_T));
	CUDA_LAUNCH(
	    alpha_kernel, n, (size_t)1, r, n, b->k, b->inverse, b->y, b->out);
	CUDA_LAUNCH(local_kernel, n, (size_t)1, r, n, d, b->shapes[0].numbers,
	    b->inverse, b->z, b->weight, b->out);
	CUDA_LAUNCH(pair_kernel, n, n, r, n, b->inverse, b->out, b->slope);
	CUDA_LAUNCH(reach_kernel, n, d, r, n, d, b->shapes[0].numbers, b->slope,
	    b->z, b->weight, b->part);
	CUDA_LAUNCH(sum_kernel, d, (size_t)1, r, d, n, b->part, b->sum);
	TRY(cudaGetLastError());
	return 0;
}

/* Compute value and gradient of vector q from the device's results. */
static void
batch_read(const struct batch *b, size_t q, const double *out,
    const double *sum, const double *theta, double *value, double *gradient)
{
	const double *extra = b->data->extra, *alpha = out + 2 * b->n;
	const struct gp_coordinates *s = &b->shapes[q];
	double fit = 0, det = 0, trace = 0, noise = 0, local = 0, w;
	size_t i;

	for (i = 0; i < b->n; i++) {
		w = alpha[i] * alpha[i] - out[b->n + i];
		det += log(out[i]);
		fit += alpha[i] * b->data->y[i];
		trace += w;
		noise += w * (s->noise + (extra != NULL ? extra[i] : 0));
		local += s->local * (w + alpha[b->n + i]);
	}
	*value = -0.5 * fit - det - 0.5 * (double)b->n * LN_2PI;
	for (i = 0; i < b->d; i++)
		gradient[s->from[i]] = sum[i];
	gradient[b->d] = 0.5 * (fit - (double)b->n - noise - local);
	gradient[b->d + 1] = 0.5 * exp(theta[b->d + 1]) * trace;
	gradient[b->d + 2] = 0.5 * local;
}

static int
batch_take(struct batch *b, const double *theta, double *value,
    double *gradient, int *status)
{
	double *out = b->host, *sum = out + b->r * 4 * b->n;
	size_t q, width = b->d + 3;

	TRY(cuda_download(out, b->out, b->r * 4 * b->n));
	TRY(cuda_download(sum, b->sum, b->r * b->d));
	for (q = 0; q < b->r; q++) {
		if (status[q] >= 0)
			batch_read(b, q, out + q * 4 * b->n, sum + q * b->d,
			    theta + q * width, value + q, gradient + q * width);
		/* A NaN means failure even if the library reported none. */
		if (status[q] >= 0 && isfinite(value[q]))
			continue;
		status[q] = -1;
		value[q] = -INFINITY;
		memset(gradient + q * width, 0, width * sizeof *gradient);
	}
	return 0;
}

static int
batch_run(struct batch *b, const double *theta, double *value, double *gradient,
    int *status)
{
	TRY(batch_rooms(b));
	TRY(batch_points(b));
	TRY(batch_factors(b, status));
	TRY(batch_pointers(b));
	TRY(batch_gradient(b));
	return batch_take(b, theta, value, gradient, status);
}

/* r vectors that fit together. */
static int
batch_do(struct batch *b, const double *theta, double *value, double *gradient,
    int *status)
{
	size_t q;
	int done;

	b->shapes = (struct gp_coordinates *)calloc(b->r, sizeof *b->shapes);
	if (b->shapes == NULL)
		abort();
	for (q = 0; q < b->r; q++)
		gp_coordinates_init(
		    &b->shapes[q], b->data, theta + q * (b->d + 3));
	b->host = kernel_alloc(b->r, 4 * b->n + b->d + 2);
	done = batch_run(b, theta, value, gradient, status);
	for (q = 0; q < b->r; q++)
		gp_coordinates_free(&b->shapes[q]);
	free(b->shapes);
	free(b->host);
	return done;
}

extern "C" void
cuda_gp_likelihood(void *dev, const struct gp_data *data, const double *theta,
    size_t r, double *value, double *gradient, int *status)
{
	struct cuda *c = (struct cuda *)dev;
	struct batch b = {};
	double each = 24.0 * (double)data->n * (double)data->n + 1;
	size_t most = each < BATCH_BYTES ? (size_t)(BATCH_BYTES / each) : 1;
	size_t at, width = data->d + 3;

	b.c = c;
	b.data = data;
	b.n = data->n;
	b.d = data->d;
	most = most < 64 ? most : 64;
	for (at = 0; at < r; at += b.r) {
		b.r = r - at < most ? r - at : most;
		if (!c->failed && data->n > 0 &&
		    batch_do(&b, theta + at * width, value + at,
			gradient + at * width, status + at) == 0)
			continue;
		if (data->n > 0 && !c->failed)
			cuda_fail(c);
		gp_likelihood(NULL, data, theta + at * width, b.r, value + at,
		    gradient + at * width, status + at);
	}
}
