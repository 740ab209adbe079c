/*
 * The device backend of gp-sweep.c: the CUDA version of gp-predict.c. Pruning
 * is decided on the host from scores; the columns of the remaining candidates
 * are gathered into the other buffer.
 */

#include "kernels/gp/gp-cuda.h"

extern "C" {
#include "kernels/alloc.h"
#include "kernels/gp/gp-sweep.h"
}
#include "kernels/formulas.h"

/* Candidates under way have so many covariances at most. */
#define TOGETHER_NUMBERS 1.25e8
#define LEAST_VARIANCE 1e-14

enum {
	BLOCK = 64, /* rows that are solved at a time */
	TOGETHER = 65536
};

struct under_way {
	struct cuda *c;
	const struct gp_cuda *g;
	const double *x; /* candidates, by number */
	size_t m;
	double best;
	double *means; /* by number, on the host */
	/* By place: on the device and, of the same, on the host. */
	size_t n, room;
	double *columns, *other; /* n to a column */
	double *z, *z_other; /* d x n */
	double *state; /* 3 x n: mean, taken, score */
	double *state_other;
	double *host;
	size_t *which;
};

static __global__ void
score_kernel(size_t m, size_t rows, const double *v, double all, double best,
    double *state)
{
	CUDA_PLACE(i, m);
	double taken = state[m + i], left, least = LEAST_VARIANCE * all;
	size_t j;

	for (j = 0; j < rows; j++)
		taken += v[j * m + i] * v[j * m + i];
	left = all - taken;
	state[m + i] = taken;
	state[2 * m + i] =
	    log_improvement(state[i], left > least ? left : least, best);
}

/* Columns of m become columns of left. */
static __global__ void
gather_kernel(
    size_t left, size_t m, const size_t *which, const double *from, double *to)
{
	CUDA_PLACE(i, left);
	const size_t j = CUDA_Y;

	to[j * left + i] = from[j * m + which[i]];
}

static int
way_means(void *arg, double *mean)
{
	struct under_way *w = (struct under_way *)arg;
	const struct gp_cuda *g = w->g;
	struct cuda_covariance r = gp_reach(g);
	struct cuda_points rows = gp_rows(g), points = { w->z, 0 };
	size_t at, some, i, d = g->shape.d;
	double *z = kernel_alloc(w->room, d);
	int bad = 0;

	for (at = 0; at < w->m && !bad; at += some) {
		some = w->m - at < w->room ? w->m - at : w->room;
		points.n = some;
		for (i = 0; i < some; i++)
			gp_coordinates_place(
			    &g->shape, w->x + (at + i) * d, z + i * d);
		bad = cuda_tile_place(w->c, z, some, d, w->z) != 0 ||
		      cuda_tile_means(&r, &points, &rows, g->alpha, g->data.n,
			  w->state) != 0 ||
		      cuda_download(w->means + at, w->state, some) != 0;
	}
	free(z);
	for (i = 0; i < w->m && !bad; i++)
		mean[i] = w->means[i];
	return bad ? -1 : 0;
}

static int
way_load(void *arg, const size_t *number, size_t m)
{
	struct under_way *w = (struct under_way *)arg;
	const struct gp_cuda *g = w->g;
	size_t i, d = g->shape.d;
	double *z = kernel_alloc(m, d);
	int bad;

	for (i = 0; i < m; i++) {
		gp_coordinates_place(
		    &g->shape, w->x + number[i] * d, z + i * d);
		w->host[i] = w->means[number[i]];
		w->host[m + i] = 0;
	}
	w->n = m;
	bad = cuda_tile_place(w->c, z, m, d, w->z) != 0 ||
	      cuda_upload(w->state, w->host, 2 * m) != 0;
	free(z);
	return bad ? -1 : 0;
}

/* The next columns: k -= V l', then solved with the corner of the factor. */
static int
way_solve(void *arg, size_t at, size_t rows, size_t m, double *score)
{
	struct under_way *w = (struct under_way *)arg;
	const struct gp_cuda *g = w->g;
	const double one = 1, less = -1, *corner;
	double *k = w->columns + at * m;
	struct cuda_covariance r = gp_reach(g);
	struct cuda_points all = gp_rows(g), points = { w->z, m };
	int size = (int)m, lda = (int)g->rows, count = (int)rows;

	TRY(cuda_tile_cross(&r, &points, &all, at, rows, k, NULL));
	if (at > 0)
		TRY(w->c->lib.cublasDgemm_v2(w->c->blas, CUBLAS_OP_N,
		    CUBLAS_OP_T, size, count, (int)at, &less, w->columns, size,
		    g->factor + at, lda, &one, k, size));
	corner = g->factor + at * (g->rows + 1);
	TRY(w->c->lib.cublasDtrsm_v2(w->c->blas, CUBLAS_SIDE_RIGHT,
	    CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, CUBLAS_DIAG_NON_UNIT, size,
	    count, &one, corner, lda, k, size));
	CUDA_LAUNCH(score_kernel, m, (size_t)1, (size_t)1, m, rows, k,
	    g->shape.signal + g->shape.local, w->best, w->state);
	TRY(cudaGetLastError());
	return cuda_download(score, w->state + 2 * m, m);
}

static void
swap(double **a, double **b)
{
	double *kept = *a;

	*a = *b;
	*b = kept;
}

static int
way_keep(void *arg, const size_t *which, size_t left, size_t solved)
{
	struct under_way *w = (struct under_way *)arg;
	size_t d = w->g->shape.d;

	TRY(cudaMemcpy(
	    w->which, which, left * sizeof *which, cudaMemcpyHostToDevice));
	CUDA_LAUNCH(gather_kernel, left, solved, (size_t)1, left, w->n,
	    w->which, w->columns, w->other);
	CUDA_LAUNCH(gather_kernel, left, d, (size_t)1, left, w->n, w->which,
	    w->z, w->z_other);
	CUDA_LAUNCH(gather_kernel, left, (size_t)2, (size_t)1, left, w->n,
	    w->which, w->state, w->state_other);
	TRY(cudaGetLastError());
	swap(&w->columns, &w->other);
	swap(&w->z, &w->z_other);
	swap(&w->state, &w->state_other);
	w->n = left;
	return 0;
}

static int
way_rooms(struct under_way *w)
{
	size_t n = w->room, rows = w->g->rows, d = w->g->shape.d;

	w->columns = cuda_numbers(w->c, CUDA_BUFFER_COLUMNS, n * rows);
	w->other = cuda_numbers(w->c, CUDA_BUFFER_OTHER, n * rows);
	w->z = cuda_numbers(w->c, CUDA_BUFFER_POINTS, n * (2 * d + 6));
	w->which = (size_t *)cuda_bytes(
	    w->c, CUDA_BUFFER_POINTERS, n * sizeof *w->which);
	if (w->columns == NULL || w->other == NULL || w->z == NULL ||
	    w->which == NULL)
		return -1;
	w->z_other = w->z + n * d;
	w->state = w->z_other + n * d;
	w->state_other = w->state + 3 * n;
	return 0;
}

static size_t
top(struct under_way *w, size_t k, size_t *index, double *score,
    struct gp_sweep *said)
{
	struct gp_sweep_device way = {};
	size_t found = SIZE_MAX;
	double most = TOGETHER_NUMBERS / (double)(w->g->rows + 1);

	w->room = most < TOGETHER ? (size_t)most + 1 : (size_t)TOGETHER;
	w->room = w->room < w->m ? w->room : w->m + 1;
	w->means = kernel_alloc(w->m, 1);
	w->host = kernel_alloc(w->room, 2);
	way.arg = w;
	way.rows = w->g->rows;
	way.block = BLOCK;
	way.first = 256;
	way.together = w->room;
	way.signal = w->g->shape.signal + w->g->shape.local;
	way.best = w->best;
	way.means = way_means;
	way.load = way_load;
	way.solve = way_solve;
	way.keep = way_keep;
	if (way_rooms(w) == 0)
		found = gp_sweep_top(&way, w->m, k, index, score, said);
	free(w->means);
	free(w->host);
	return found;
}

extern "C" size_t
cuda_gp_top(void *dev, const struct gp *gp, const double *x, size_t m,
    double best, size_t k, size_t *index, double *score, struct gp_sweep *said)
{
	struct cuda *c = (struct cuda *)dev;
	const struct gp_cuda *g = (const struct gp_cuda *)gp;
	struct under_way w = {};
	size_t found = SIZE_MAX;

	w.c = c;
	w.g = g;
	w.x = x;
	w.m = m;
	w.best = best;
	if (!c->failed && g->twin == NULL)
		found = top(&w, k, index, score, said);
	if (found == SIZE_MAX)
		found = gp_top(NULL, cuda_gp_twin(c, gp), x, m, best, k, index,
		    score, said);
	return found;
}
