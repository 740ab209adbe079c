/*
 * A process on the device: the CUDA version of gp-fit.c and gp-predict.c. It
 * keeps its inputs, so that it can be rebuilt on the CPU when the device fails.
 */

#include <string.h>

#include "kernels/gp/gp-cuda.h"

extern "C" {
#include "kernels/alloc.h"
#include "kernels/lapack.h"
}

/* A copy of n numbers; NULL of NULL. */
static double *
copied(const double *x, size_t n)
{
	double *copy;

	if (x == NULL)
		return NULL;
	copy = kernel_alloc(n, 1);
	memcpy(copy, x, n * sizeof *copy);
	return copy;
}

static struct gp_cuda *
gp_remember(const struct gp_data *data, const double *theta)
{
	struct gp_cuda *g = (struct gp_cuda *)calloc(1, sizeof *g);
	unsigned char *category = NULL;

	if (g == NULL)
		abort();
	if (data->category != NULL) {
		category = (unsigned char *)kernel_alloc(data->d, 1);
		memcpy(category, data->category, data->d);
	}
	g->data = *data;
	g->data.x = copied(data->x, data->n * data->d);
	g->data.y = copied(data->y, data->n);
	g->data.extra = copied(data->extra, data->n);
	g->data.category = category;
	g->theta = copied(theta, data->d + 3);
	gp_coordinates_init(&g->shape, data, theta);
	g->order = gp_fit_order(&g->shape, data);
	return g;
}

static void
gp_device_free(struct gp_cuda *g)
{
	cudaFree(g->z);
	cudaFree(g->factor);
	cudaFree(g->alpha);
	cudaFree(g->weight);
	g->z = g->factor = g->alpha = g->weight = NULL;
}

/* Device memory for n points. */
static int
gp_device_make(struct gp_cuda *g, size_t n)
{
	size_t size = sizeof(double), d = g->shape.d;

	gp_device_free(g);
	TRY(cudaMalloc((void **)&g->z, (n * d + 1) * size));
	TRY(cudaMalloc((void **)&g->factor, (n * n + 1) * size));
	TRY(cudaMalloc((void **)&g->alpha, (n + 1) * size));
	TRY(cudaMalloc((void **)&g->weight, (d + 1) * size));
	return cuda_upload(g->weight, g->shape.scale, d);
}

/* All points, placed: observations in their order, then pending ones. */
static double *
gp_points(const struct gp_cuda *g)
{
	size_t i, d = g->shape.d, n = g->data.n;
	double *z = kernel_alloc(n + g->pending, d);

	for (i = 0; i < n; i++)
		gp_coordinates_place(
		    &g->shape, g->data.x + g->order[i] * d, z + i * d);
	for (i = 0; i < g->pending; i++)
		gp_coordinates_place(
		    &g->shape, g->more + i * d, z + (n + i) * d);
	return z;
}

/* The factor of all points with so much jitter. */
static int
gp_factor(struct cuda *c, struct gp_cuda *g, int step, int *info)
{
	const double *extra = g->data.extra;
	size_t n = g->rows, i;
	double *diagonal = kernel_alloc(n, 1);
	double *on_device = cuda_numbers(c, CUDA_BUFFER_SCALARS, n);
	struct cuda_points rows = gp_rows(g);
	struct cuda_covariance r = gp_reach(g);
	int bad;

	for (i = 0; i < n; i++) {
		diagonal[i] =
		    g->shape.signal * lapack_jitter(step) + g->shape.noise;
		if (i < g->data.n && extra != NULL)
			diagonal[i] += extra[g->order[i]];
	}
	bad = on_device == NULL || cuda_upload(on_device, diagonal, n) != 0 ||
	      cuda_tile_matrix(&r, &rows, g->factor, NULL, on_device) != 0 ||
	      cuda_tile_factor(c, g->factor, n, info) != 0;
	free(diagonal);
	return bad ? -1 : 0;
}

/* alpha = K^-1 y of the observations; 0 for the pending points. */
static int
gp_weigh(struct cuda *c, struct gp_cuda *g)
{
	size_t n = g->data.n, i;
	int size = (int)n, lda = (int)g->rows, bad;
	double *y = kernel_alloc(g->rows, 1);

	for (i = 0; i < g->rows; i++)
		y[i] = i < n ? g->data.y[g->order[i]] : 0;
	bad = cuda_upload(g->alpha, y, g->rows) != 0 ||
	      c->lib.cublasDtrsv_v2(c->blas, CUBLAS_FILL_MODE_LOWER,
		  CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, size, g->factor, lda,
		  g->alpha, 1) != CUBLAS_STATUS_SUCCESS ||
	      c->lib.cublasDtrsv_v2(c->blas, CUBLAS_FILL_MODE_LOWER,
		  CUBLAS_OP_T, CUBLAS_DIAG_NON_UNIT, size, g->factor, lda,
		  g->alpha, 1) != CUBLAS_STATUS_SUCCESS ||
	      cuda_download(y, g->alpha, n) != 0;
	/* A NaN means failure even if the library reported none. */
	for (i = 0; i < n && !bad; i++)
		g->broken = g->broken || !(y[i] - y[i] == 0);
	free(y);
	return bad ? -1 : 0;
}

/* 0; 1: no jitter was enough; -1: the device failed. */
static int
gp_build(struct cuda *c, struct gp_cuda *g)
{
	double *z;
	int step, info = 1, bad;

	g->rows = g->data.n + g->pending;
	g->broken = false;
	TRY(gp_device_make(g, g->rows));
	if (g->rows == 0)
		return 0;
	z = gp_points(g);
	bad = cuda_tile_place(c, z, g->rows, g->shape.d, g->z);
	free(z);
	if (bad)
		return -1;
	for (step = 0; step <= LAPACK_JITTER_STEPS && info != 0; step++)
		TRY(gp_factor(c, g, step, &info));
	if (info != 0)
		return 1;
	TRY(gp_weigh(c, g));
	return g->broken ? 1 : 0;
}

struct gp *
cuda_gp_twin(struct cuda *c, const struct gp *gp)
{
	struct gp_cuda *g = (struct gp_cuda *)gp;

	if (!c->failed)
		cuda_fail(c);
	if (g->twin == NULL) {
		g->twin = gp_fit(NULL, &g->data, g->theta);
		/* The device had a factor; so has the CPU, with more jitter. */
		if (g->twin == NULL)
			abort();
		gp_pend(NULL, g->twin, g->more, g->pending);
	}
	return g->twin;
}

extern "C" struct gp *
cuda_gp_fit(void *dev, const struct gp_data *data, const double *theta)
{
	struct cuda *c = (struct cuda *)dev;
	struct gp_cuda *g = gp_remember(data, theta);
	int built = c->failed ? -1 : gp_build(c, g);

	if (built < 0) {
		if (!c->failed)
			cuda_fail(c);
		g->twin = gp_fit(NULL, data, theta);
		built = g->twin == NULL;
	}
	if (built == 0)
		return (struct gp *)g;
	cuda_gp_free(dev, (struct gp *)g);
	return NULL;
}

extern "C" void
cuda_gp_free(void *dev, struct gp *gp)
{
	struct gp_cuda *g = (struct gp_cuda *)gp;

	if (g == NULL)
		return;
	gp_device_free(g);
	gp_free(NULL, g->twin);
	gp_coordinates_free(&g->shape);
	free((void *)g->data.x);
	free((void *)g->data.y);
	free((void *)g->data.extra);
	free((void *)g->data.category);
	free(g->theta);
	free(g->order);
	free(g->more);
	free(g);
	/* Free device memory for the trials. */
	cuda_release((struct cuda *)dev);
}

extern "C" void
cuda_gp_pend(void *dev, struct gp *gp, const double *x, size_t k)
{
	struct cuda *c = (struct cuda *)dev;
	struct gp_cuda *g = (struct gp_cuda *)gp;
	size_t d = g->shape.d, was = g->pending;
	double *more;
	int built;

	if (k == 0)
		return;
	more = kernel_alloc(was + k, d);
	if (was > 0)
		memcpy(more, g->more, was * d * sizeof *more);
	memcpy(more + was * d, x, k * d * sizeof *more);
	free(g->more);
	g->more = more;
	g->pending += k;
	if (g->twin != NULL) {
		gp_pend(NULL, g->twin, x, k);
		return;
	}
	built = gp_build(c, g);
	if (built == 1) {
		/*
		 * If the factorisation fails, the pending points are dropped.
		 */
		g->pending = was;
		built = gp_build(c, g);
	}
	if (built != 0)
		(void)cuda_gp_twin(c, gp);
}
