/*
 * Means, variances and gradients on the device: the CUDA version of
 * gp-predict.c. One column per row of the factor, with candidates next to each
 * other.
 */

#include "kernels/gp/gp-cuda.h"

extern "C" {
#include "kernels/alloc.h"
}
#include "kernels/formulas.h"

/* Candidates that are together have so many covariances at most. */
#define TOGETHER_NUMBERS 2.5e8
#define LEAST_VARIANCE 1e-14

static __global__ void
variance_kernel(
    size_t m, size_t rows, const double *v, double all, double *variance)
{
	CUDA_PLACE(i, m);
	double taken = 0, left;
	size_t j;

	for (j = 0; j < rows; j++)
		taken += v[j * m + i] * v[j * m + i];
	left = all - taken;
	variance[i] = left > LEAST_VARIANCE * all ? left : LEAST_VARIANCE * all;
}

/*
 * Coordinate j of both slopes of point i, by the scaled coordinate; u: K^-1 k.
 */
static __global__ void
slope_kernel(struct cuda_points points, struct cuda_points rows,
    const double *slope, const double *u, const double *alpha, double *d_mean,
    double *d_variance)
{
	CUDA_PLACE(i, points.n);
	const size_t j = CUDA_Y;
	const double *z = rows.z + j * rows.n;
	double x = points.z[j * points.n + i], mean = 0, variance = 0, pull;
	size_t row, at;

	for (row = 0; row < rows.n; row++) {
		at = row * points.n + i;
		pull = slope[at] * (x - z[row]);
		mean += pull * alpha[row];
		variance += pull * u[at];
	}
	d_mean[j * points.n + i] = 2 * mean;
	d_variance[j * points.n + i] = -4 * variance;
}

struct asked {
	struct cuda *c;
	const struct gp_cuda *g;
	struct cuda_points points;
	double *k, *slope; /* covariances, and theirs */
	double *mean, *variance; /* on the device */
};

static size_t
asked_together(const struct gp_cuda *g, size_t m)
{
	double most = TOGETHER_NUMBERS / (double)(g->rows + 1);
	size_t some = most > 1 ? (size_t)most : 1;

	return some < m ? some : m;
}

/* m points to the device. */
static int
asked_points(struct asked *a, const double *x, size_t m)
{
	size_t d = a->g->shape.d, i;
	double *z = kernel_alloc(m, d), *room;
	int bad;

	for (i = 0; i < m; i++)
		gp_coordinates_place(&a->g->shape, x + i * d, z + i * d);
	room = cuda_numbers(a->c, CUDA_BUFFER_POINTS, m * (3 * d + 2));
	bad = room == NULL || cuda_tile_place(a->c, z, m, d, room) != 0;
	a->points.z = room;
	a->points.n = m;
	a->mean = room + m * d;
	a->variance = a->mean + m;
	free(z);
	return bad ? -1 : 0;
}

/* Multiply the covariances by L^-1 or, transposed, by K^-1. */
static int
asked_solve(struct asked *a, cublasOperation_t turn)
{
	const double one = 1;
	int m = (int)a->points.n, rows = (int)a->g->rows;

	if (rows == 0)
		return 0;
	return a->c->lib.cublasDtrsm_v2(a->c->blas, CUBLAS_SIDE_RIGHT,
		   CUBLAS_FILL_MODE_LOWER, turn, CUBLAS_DIAG_NON_UNIT, m, rows,
		   &one, a->g->factor, rows, a->k, m) == CUBLAS_STATUS_SUCCESS
		   ? 0
		   : -1;
}

/* Means; with_variance: variances, and a->k becomes L^-1 k. */
static int
asked_run(struct asked *a, int with_slope, int with_variance)
{
	const struct gp_cuda *g = a->g;
	struct cuda_covariance r = gp_reach(g);
	struct cuda_points rows = gp_rows(g);
	size_t m = a->points.n;

	TRY(cuda_tile_means(
	    &r, &a->points, &rows, g->alpha, g->data.n, a->mean));
	if (!with_variance)
		return 0;
	a->k = cuda_numbers(a->c, CUDA_BUFFER_COLUMNS, m * g->rows);
	a->slope = with_slope
		       ? cuda_numbers(a->c, CUDA_BUFFER_OTHER, m * g->rows)
		       : NULL;
	if (a->k == NULL || (with_slope && a->slope == NULL))
		return -1;
	if (g->rows > 0)
		TRY(cuda_tile_cross(
		    &r, &a->points, &rows, 0, g->rows, a->k, a->slope));
	TRY(asked_solve(a, CUBLAS_OP_T));
	CUDA_LAUNCH(variance_kernel, m, (size_t)1, (size_t)1, m, g->rows, a->k,
	    r.signal + r.local, a->variance);
	return cudaGetLastError() == cudaSuccess ? 0 : -1;
}

static int
predict(struct cuda *c, const struct gp_cuda *g, const double *x, size_t m,
    double *mean, double *variance)
{
	struct asked a = { c, g, { NULL, 0 }, NULL, NULL, NULL, NULL };
	size_t at, some, together = asked_together(g, m);

	for (at = 0; at < m; at += some) {
		some = m - at < together ? m - at : together;
		TRY(asked_points(&a, x + at * g->shape.d, some));
		TRY(asked_run(&a, 0, variance != NULL));
		TRY(cuda_download(mean + at, a.mean, some));
		if (variance != NULL)
			TRY(cuda_download(variance + at, a.variance, some));
	}
	return 0;
}

/* Slopes on the device, by scaled coordinates, to the user's. */
static int
slopes_take(const struct asked *a, const double *on_device, double *out)
{
	const struct gp_coordinates *s = &a->g->shape;
	size_t i, j, m = a->points.n;
	double *by = kernel_alloc(m, s->d);
	int bad = cuda_download(by, on_device, m * s->d);

	for (i = 0; i < m && !bad; i++)
		for (j = 0; j < s->d; j++)
			out[i * s->d + s->from[j]] =
			    j < s->numbers ? s->scale[j] * by[j * m + i] : 0;
	free(by);
	return bad;
}

static int
slope(struct cuda *c, const struct gp_cuda *g, const double *x, size_t m,
    double *mean, double *variance, double *d_mean, double *d_variance)
{
	struct asked a = { c, g, { NULL, 0 }, NULL, NULL, NULL, NULL };
	struct cuda_points rows = gp_rows(g);
	size_t at, some, together = asked_together(g, m), d = g->shape.d;
	double *by_mean, *by_variance;

	for (at = 0; at < m; at += some) {
		some = m - at < together ? m - at : together;
		TRY(asked_points(&a, x + at * d, some));
		TRY(asked_run(&a, 1, 1));
		TRY(asked_solve(&a, CUBLAS_OP_N));
		by_mean = a.variance + some;
		by_variance = by_mean + some * d;
		CUDA_LAUNCH(slope_kernel, some, d, (size_t)1, a.points, rows,
		    a.slope, a.k, g->alpha, by_mean, by_variance);
		TRY(cudaGetLastError());
		TRY(cuda_download(mean + at, a.mean, some));
		TRY(cuda_download(variance + at, a.variance, some));
		TRY(slopes_take(&a, by_mean, d_mean + at * d));
		TRY(slopes_take(&a, by_variance, d_variance + at * d));
	}
	return 0;
}

extern "C" void
cuda_gp_predict(void *dev, const struct gp *gp, const double *x, size_t m,
    double *mean, double *variance)
{
	struct cuda *c = (struct cuda *)dev;
	const struct gp_cuda *g = (const struct gp_cuda *)gp;

	if (c->failed || g->twin != NULL ||
	    predict(c, g, x, m, mean, variance) != 0)
		gp_predict(NULL, cuda_gp_twin(c, gp), x, m, mean, variance);
}

extern "C" void
cuda_gp_slope(void *dev, const struct gp *gp, const double *x, size_t m,
    double *mean, double *variance, double *d_mean, double *d_variance)
{
	struct cuda *c = (struct cuda *)dev;
	const struct gp_cuda *g = (const struct gp_cuda *)gp;

	if (c->failed || g->twin != NULL ||
	    slope(c, g, x, m, mean, variance, d_mean, d_variance) != 0)
		gp_slope(NULL, cuda_gp_twin(c, gp), x, m, mean, variance,
		    d_mean, d_variance);
}
