/*
 * Covariances on the device: one thread per point and a few rows.  Neighbouring
 * threads access neighbouring memory; rows are common to all.
 */

#include <string.h>

#include "kernels/cuda/cuda.h"

extern "C" {
#include "kernels/alloc.h"
#include "kernels/gp/gp-model.h"
}
#include "kernels/formulas.h"

enum {
	THREAD_ROWS = 8 /* rows for which a thread reads its point once */
};

int
cuda_tile_place(
    struct cuda *c, const double *z, size_t n, size_t d, double *device)
{
	double *turned = kernel_alloc(n, d);
	size_t i, j;
	int done;

	(void)c;
	for (i = 0; i < n; i++)
		for (j = 0; j < d; j++)
			turned[j * n + i] = z[i * d + j];
	done = cuda_upload(device, turned, n * d);
	free(turned);
	return done;
}

/*
 * Squared distances of point i to THREAD_ROWS rows from row on; those behind the
 * last row are the last row's.
 */
static __device__ __forceinline__ void
group_distance(const struct cuda_covariance &r,
    const struct cuda_points &points, size_t i, const struct cuda_points &rows,
    size_t row, double *r2)
{
	size_t last = rows.n - 1, j;
	double x, u, z;
	int q;

	for (q = 0; q < THREAD_ROWS; q++)
		r2[q] = 0;
	for (j = 0; j < r.d; j++) {
		x = points.z[j * points.n + i];
		for (q = 0; q < THREAD_ROWS; q++) {
			z = rows.z[j * rows.n +
				   (row + q < last ? row + q : last)];
			u = x - z;
			r2[q] += j < r.numbers ? u * u
				 : u != 0      ? r.weight[j]
					       : 0;
		}
	}
}

static __global__ void
cross_kernel(struct cuda_covariance r, struct cuda_points points,
    struct cuda_points rows, size_t at, size_t count, double *k, double *slope)
{
	CUDA_PLACE(i, points.n);
	const size_t group = CUDA_Y;
	const struct matern near = matern_form(0);
	double r2[THREAD_ROWS], t, e, value, by_r2;
	size_t first = group * THREAD_ROWS;
	int q;

	group_distance(r, points, i, rows, at + first, r2);
	for (q = 0; q < THREAD_ROWS && first + q < count; q++) {
		t = matern_reach(r.form, r2[q]);
		e = r.signal * kernel_exp(-t);
		value = matern_value(r.form, t, e);
		by_r2 = matern_slope(r.form, t, e);
		if (r.local > 0 && matern_is_local(r2[q])) {
			t = matern_local_reach(r2[q]);
			e = r.local * kernel_exp(-t);
			value += matern_value(near, t, e);
			by_r2 += MATERN_LOCAL * matern_slope(near, t, e);
		}
		k[(first + q) * points.n + i] = value;
		if (slope != NULL)
			slope[(first + q) * points.n + i] = by_r2;
	}
}

int
cuda_tile_cross(const struct cuda_covariance *r,
    const struct cuda_points *points, const struct cuda_points *rows, size_t at,
    size_t count, double *k, double *slope)
{
	size_t groups = (count + THREAD_ROWS - 1) / THREAD_ROWS;

	CUDA_LAUNCH(cross_kernel, points->n, groups, (size_t)1, *r, *points,
	    *rows, at, count, k, slope);
	return cudaGetLastError() == cudaSuccess ? 0 : -1;
}

static __global__ void
diagonal_kernel(size_t n, double variance, const double *diagonal, double *k)
{
	CUDA_PLACE(i, n);

	k[i * (n + 1)] = variance + diagonal[i];
}

int
cuda_tile_matrix(const struct cuda_covariance *r,
    const struct cuda_points *points, double *k, double *slope,
    const double *diagonal)
{
	TRY(cuda_tile_cross(r, points, points, 0, points->n, k, slope));
	CUDA_LAUNCH(diagonal_kernel, points->n, (size_t)1, (size_t)1, points->n,
	    r->signal + r->local, diagonal, k);
	return cudaGetLastError() == cudaSuccess ? 0 : -1;
}

static __global__ void
means_kernel(struct cuda_covariance r, struct cuda_points points,
    struct cuda_points rows, const double *alpha, size_t n_alpha, double *mean)
{
	CUDA_PLACE(i, points.n);
	const struct matern near = matern_form(0);
	double r2[THREAD_ROWS], t, value, sum = 0;
	size_t row;
	int q;

	for (row = 0; row < n_alpha; row += THREAD_ROWS) {
		group_distance(r, points, i, rows, row, r2);
		for (q = 0; q < THREAD_ROWS && row + q < n_alpha; q++) {
			t = matern_reach(r.form, r2[q]);
			value =
			    r.signal * matern_value(r.form, t, kernel_exp(-t));
			if (r.local > 0 && matern_is_local(r2[q])) {
				t = matern_local_reach(r2[q]);
				value += r.local *
					 matern_value(near, t, kernel_exp(-t));
			}
			sum += alpha[row + q] * value;
		}
	}
	mean[i] = sum;
}

int
cuda_tile_means(const struct cuda_covariance *r,
    const struct cuda_points *points, const struct cuda_points *rows,
    const double *alpha, size_t n_alpha, double *mean)
{
	CUDA_LAUNCH(means_kernel, points->n, (size_t)1, (size_t)1, *r, *points,
	    *rows, alpha, n_alpha, mean);
	return cudaGetLastError() == cudaSuccess ? 0 : -1;
}

int
cuda_tile_factor(struct cuda *c, double *a, size_t n, int *info)
{
	int size = (int)n, room = 0, *status;
	double *work;

	TRY(c->lib.cusolverDnDpotrf_bufferSize(
	    c->solver, CUBLAS_FILL_MODE_LOWER, size, a, size, &room));
	work = cuda_numbers(c, CUDA_BUFFER_WORK, (size_t)room + 1);
	if (work == NULL)
		return -1;
	status = (int *)(work + room);
	TRY(c->lib.cusolverDnDpotrf(c->solver, CUBLAS_FILL_MODE_LOWER, size, a,
	    size, work, room, status));
	TRY(cudaMemcpy(info, status, sizeof *info, cudaMemcpyDeviceToHost));
	return 0;
}
