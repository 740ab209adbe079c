/*
 * The density of mixtures on the device: the CUDA version of mix.c. One thread
 * per point makes two passes over all components, first for the largest term,
 * then for the sum; a component is read once for eight terms.
 */

#include <math.h>
#include <string.h>

#include "kernels/cuda/cuda.h"

extern "C" {
#include "kernels/alloc.h"
#include "kernels/mix/mix.h"
}
#include "kernels/formulas.h"

enum {
	GROUP = 8, /* divides MIX_BLOCK */
	TOGETHER = 16384 /* points on the device at a time */
};

/* Components by coordinates, all on the device. */
struct parts {
	size_t d, n;
	const double *base, *mu, *scale; /* d x n of the last two */
};

/* GROUP terms of point i from component at on; more: m to a component. */
static __device__ __forceinline__ void
group_terms(const struct parts &p, const double *x, const double *more,
    size_t m, size_t i, size_t at, double *term)
{
	double z, u;
	size_t j;
	int q;

	for (q = 0; q < GROUP; q++)
		term[q] = p.base[at + q] +
			  (more != NULL ? more[i * p.n + at + q] : 0);
	for (j = 0; j < p.d; j++) {
		z = x[j * m + i];
		for (q = 0; q < GROUP; q++) {
			u = (z - p.mu[j * p.n + at + q]) *
			    p.scale[j * p.n + at + q];
			term[q] -= u * u;
		}
	}
}

static __global__ void
density_kernel(
    struct parts p, size_t m, const double *x, const double *more, double *out)
{
	CUDA_PLACE(i, m);
	double term[GROUP], top = -INFINITY, sum = 0, u;
	size_t at;
	int q;

	for (at = 0; at < p.n; at += GROUP) {
		group_terms(p, x, more, m, i, at, term);
		for (q = 0; q < GROUP; q++)
			top = term[q] > top ? term[q] : top;
	}
	out[i] = top;
	if (isinf(top))
		return;
	for (at = 0; at < p.n; at += GROUP) {
		group_terms(p, x, more, m, i, at, term);
		for (q = 0; q < GROUP; q++) {
			u = term[q] - top;
			sum += kernel_exp(u > -KERNEL_FAR ? u : -KERNEL_FAR);
		}
	}
	out[i] = top + log(sum);
}

/* The mixture to the device. */
static int
parts_give(struct cuda *c, const struct mix *mix, struct parts *p)
{
	size_t n = mix->n, d = mix->d, j;
	double *room = cuda_numbers(c, CUDA_BUFFER_MATRIX, n * (2 * d + 1));

	if (room == NULL)
		return -1;
	p->d = d;
	p->n = n;
	p->base = room;
	p->mu = room + n;
	p->scale = room + n * (d + 1);
	TRY(cuda_upload(room, mix->base, n));
	for (j = 0; j < d; j++) {
		TRY(cuda_upload(room + n * (1 + j), mix->mu[j], n));
		TRY(cuda_upload(room + n * (1 + d + j), mix->scale[j], n));
	}
	return 0;
}

static int
some_points(struct cuda *c, const struct parts *p, const double *x,
    const double *more, size_t m, double *out)
{
	double *room = cuda_numbers(c, CUDA_BUFFER_POINTS, m * (p->d + 1));
	double *there = NULL;

	if (room == NULL || cuda_tile_place(c, x, m, p->d, room) != 0)
		return -1;
	if (more != NULL) {
		there = cuda_numbers(c, CUDA_BUFFER_COLUMNS, m * p->n);
		if (there == NULL || cuda_upload(there, more, m * p->n) != 0)
			return -1;
	}
	CUDA_LAUNCH(density_kernel, m, (size_t)1, (size_t)1, *p, m, room, there,
	    room + m * p->d);
	TRY(cudaGetLastError());
	return cuda_download(out, room + m * p->d, m);
}

static int
density(struct cuda *c, const struct mix *mix, const double *x,
    const double *more, size_t m, double *out)
{
	struct parts p;
	size_t at, some;

	TRY(parts_give(c, mix, &p));
	for (at = 0; at < m; at += some) {
		some = m - at < TOGETHER ? m - at : (size_t)TOGETHER;
		TRY(some_points(c, &p, x + at * mix->d,
		    more != NULL ? more + at * mix->n : NULL, some, out + at));
	}
	return 0;
}

extern "C" void
cuda_mix_density(void *dev, const struct mix *mix, const double *x,
    const double *more, size_t m, double *out)
{
	struct cuda *c = (struct cuda *)dev;

	if (!c->failed && density(c, mix, x, more, m, out) == 0)
		return;
	if (!c->failed)
		cuda_fail(c);
	mix_density(NULL, mix, x, more, m, out);
}
