/*
 * Linear algebra: small triangles in copies whose rows or columns are vectors
 * of eight, larger ones by OpenBLAS.
 */

#include <cblas.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "kernels/alloc.h"
#include "kernels/kernels.h"
#include "kernels/lapack.h"
#include "kernels/target-clones.h"

/* ---- small triangles ---------------------------------------------------- */

enum {
	WIDE = 8,
	VECTORS = LAPACK_SMALL / WIDE,
	AT_ONCE = 4 /* lines of one pass: a panel */
};

typedef double vec __attribute__((vector_size(64), aligned(64), may_alias));
typedef double open_vec __attribute__((vector_size(64), aligned(8), may_alias));

/* 64 lines of vectors: columns of a factor, or rows of its inverse. */
struct lines {
	vec v[LAPACK_SMALL][VECTORS];
};

static inline double *
line(struct lines *l, size_t i)
{
	return (double *)l->v[i];
}

/* The next AT_ONCE columns and rows, from k on, complete. */
static inline __attribute__((always_inline)) int
invert_panel(struct lines *l, struct lines *x, size_t k, size_t used)
{
	size_t end = k + AT_ONCE, i, r;
	double root, part;

	for (; k < end; k++) {
		root = line(l, k)[k];
		if (!(root > 0 && isfinite(root)))
			return -1;
		root = 1 / sqrt(root);
		for (r = k / WIDE; r < used; r++)
			l->v[k][r] *= root;
		for (r = 0; r <= k / WIDE; r++)
			x->v[k][r] *= root;
		for (i = k + 1; i < end; i++) {
			part = line(l, k)[i];
			for (r = i / WIDE; r < used; r++)
				l->v[i][r] -= part * l->v[k][r];
			for (r = 0; r <= k / WIDE; r++)
				x->v[i][r] -= part * x->v[k][r];
		}
	}
	return 0;
}

/* to -= a weighted sum of AT_ONCE lines, in the vectors first to end. */
static inline __attribute__((always_inline)) void
take(vec *to, vec (*from)[VECTORS], const double *w, size_t first, size_t end)
{
	double a = w[0], b = w[1], c = w[2], d = w[3];
	size_t r;

	for (r = first; r < end; r++)
		to[r] -= a * from[0][r] + b * from[1][r] +
			 (c * from[2][r] + d * from[3][r]);
}

/*
 * A few columns of the factor after another, which are subtracted from the
 * columns behind them, and likewise the rows of the inverse.
 */
CLONES static int
invert_best(struct lines *l, struct lines *x, size_t n)
{
	size_t used = (n + WIDE - 1) / WIDE, i, k, q;
	double w[AT_ONCE];

	for (k = 0; k < n; k += AT_ONCE) {
		if (invert_panel(l, x, k, used) != 0)
			return -1;
		for (i = k + AT_ONCE; i < n; i++) {
			for (q = 0; q < AT_ONCE; q++)
				w[q] = line(l, k + q)[i];
			take(l->v[i], l->v + k, w, i / WIDE, used);
			take(x->v[i], x->v + k, w, 0, k / WIDE + 1);
		}
	}
	return 0;
}

/* The rows of the unit matrix that fill up whole panels. */
static size_t
panels_end(size_t n)
{
	return (n + AT_ONCE - 1) / AT_ONCE * AT_ONCE;
}

/* a = l l' becomes l^-1.  0, or -1 when a is not positive definite. */
static int
small_factor_inverse(double *a, size_t n, size_t stride)
{
	struct lines l, x;
	size_t i, j, end = panels_end(n);

	memset(l.v, 0, end * sizeof *l.v);
	memset(x.v, 0, end * sizeof *x.v);
	for (j = 0; j < n; j++)
		memcpy(
		    line(&l, j) + j, a + j * stride + j, (n - j) * sizeof *a);
	for (j = 0; j < end; j++)
		line(&x, j)[j] = 1;
	for (j = n; j < end; j++)
		line(&l, j)[j] = 1;
	if (invert_best(&l, &x, end) != 0)
		return -1;
	for (j = 0; j < n; j++)
		for (i = j; i < n; i++)
			a[j * stride + i] = line(&x, i)[j];
	return 0;
}

/* Columns of l' l from rows of l, subtracted. */
CLONES static void
square_best(struct lines *l, struct lines *to, size_t n)
{
	double w[AT_ONCE];
	size_t j, k, q;

	for (k = 0; k < n; k += AT_ONCE)
		for (j = 0; j < k + AT_ONCE; j++) {
			for (q = 0; q < AT_ONCE; q++)
				w[q] = -line(l, k + q)[j];
			take(to->v[j], l->v + k, w, j / WIDE, k / WIDE + 1);
		}
}

/* The lower triangle of l' l replaces l. */
static void
small_square(double *a, size_t n, size_t stride)
{
	struct lines l, to;
	size_t i, j, end = panels_end(n);

	memset(l.v, 0, end * sizeof *l.v);
	memset(to.v, 0, end * sizeof *to.v);
	for (j = 0; j < n; j++)
		for (i = j; i < n; i++)
			line(&l, i)[j] = a[j * stride + i];
	square_best(&l, &to, end);
	for (j = 0; j < n; j++)
		memcpy(
		    a + j * stride + j, line(&to, j) + j, (n - j) * sizeof *a);
}

/* to += l x, and then x = l' to. */
CLONES static void
times_best(
    const double *l, size_t n, size_t stride, double *x, double *restrict to)
{
	const double *column;
	size_t i, j;
	double sum[WIDE], all;

	for (j = 0; j < n; j++) {
		column = l + j * stride;
		for (i = j; i < n; i++)
			to[i] += column[i] * x[j];
	}
	for (j = 0; j < n; j++) {
		column = l + j * stride;
		open_vec part = { 0 };
		for (i = j; i + WIDE <= n; i += WIDE)
			part += *(const open_vec *)(column + i) *
				*(const open_vec *)(to + i);
		*(open_vec *)sum = part;
		all = ((sum[0] + sum[4]) + (sum[2] + sum[6])) +
		      ((sum[1] + sum[5]) + (sum[3] + sum[7]));
		for (; i < n; i++)
			all += column[i] * to[i];
		x[j] = all;
	}
}

/* x = l' l x, of any size. */
static void
twice_times(const double *l, size_t n, size_t stride, double *x)
{
	double *to = kernel_alloc(n, 1);

	memset(to, 0, n * sizeof *to);
	times_best(l, n, stride, x, to);
	free(to);
}

/* ---- OpenBLAS ----------------------------------------------------------- */

/* The last arguments are the lengths of texts, as Fortran passes them. */
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda,
    int *info, size_t);
void dsyevd_(const char *job, const char *uplo, const int *n, double *a,
    const int *lda, double *w, double *work, const int *lwork, int *iwork,
    const int *liwork, int *info, size_t, size_t);

double
lapack_jitter(int step)
{
	return step == 0 ? 0 : pow(10, step - 11);
}

int
lapack_factor(double *a, size_t n, size_t stride)
{
	int size = (int)n, lda = (int)stride, info = 0;

	if (n == 0)
		return 0;
	dpotrf_("L", &size, a, &lda, &info, 1);
	/* A NaN anywhere has reached the last number of the diagonal. */
	return info == 0 && isfinite(a[(n - 1) * (stride + 1)]) ? 0 : -1;
}

/* Half of a size, in whole strips of eight. */
static size_t
half_of(size_t n)
{
	return (n / 2 + 7) / 8 * 8;
}

/*
 * By halves, with products only: OpenBLAS solves with triangles at a third of
 * the speed at which it multiplies.
 *	a = | p    |  ->  | p^-1                     |
 *	    | q  r |      | -s^-1 q p^-T p^-1  s^-1  |,  s = factor of r - q p^-T ()'
 */
int
lapack_factor_inverse(double *a, size_t n, size_t stride)
{
	int lda = (int)stride, half = (int)half_of(n), rest = (int)n - half;
	double *q = a + half, *r = a + half_of(n) * (stride + 1);

	if (n <= LAPACK_SMALL)
		return small_factor_inverse(a, n, stride);
	if (lapack_factor_inverse(a, (size_t)half, stride) != 0)
		return -1;
	cblas_dtrmm(CblasColMajor, CblasRight, CblasLower, CblasTrans,
	    CblasNonUnit, rest, half, 1, a, lda, q, lda);
	cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, rest, half, -1, q,
	    lda, 1, r, lda);
	if (lapack_factor_inverse(r, (size_t)rest, stride) != 0)
		return -1;
	cblas_dtrmm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans,
	    CblasNonUnit, rest, half, -1, r, lda, q, lda);
	cblas_dtrmm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans,
	    CblasNonUnit, rest, half, 1, a, lda, q, lda);
	return 0;
}

/*
 * l' l, by halves as well.
 *	l = | p    |  ->  | p' p + q' q       |
 *	    | q  r |      | r' q         r' r |
 */
static void
square(double *a, size_t n, size_t stride)
{
	int lda = (int)stride, half = (int)half_of(n), rest = (int)n - half;
	double *q = a + half, *r = a + half_of(n) * (stride + 1);

	if (n <= LAPACK_SMALL) {
		small_square(a, n, stride);
		return;
	}
	square(a, (size_t)half, stride);
	cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, half, rest, 1, q,
	    lda, 1, a, lda);
	cblas_dtrmm(CblasColMajor, CblasLeft, CblasLower, CblasTrans,
	    CblasNonUnit, rest, half, 1, r, lda, q, lda);
	square(r, (size_t)rest, stride);
}

void
lapack_inverse_times(double *a, size_t n, size_t stride, double *x)
{
	twice_times(a, n, stride, x);
	square(a, n, stride);
}

void
lapack_solve(const double *l, size_t n, size_t stride, double *x)
{
	int size = (int)n, lda = (int)stride;

	cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, size,
	    l, lda, x, 1);
	cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, size,
	    l, lda, x, 1);
}

int
lapack_eigen(void *dev, double *a, size_t n, double *values)
{
	int size = (int)n, lda = (int)n, info = 0, lwork = -1, liwork = -1;
	int *iwork, least;
	double *work, best;

	(void)dev;
	if (n == 0)
		return 0;
	dsyevd_("V", "L", &size, a, &lda, values, &best, &lwork, &least,
	    &liwork, &info, 1, 1);
	lwork = (int)best;
	liwork = least;
	work = kernel_alloc((size_t)lwork, 1);
	iwork = reallocarray(NULL, (size_t)liwork, sizeof *iwork);
	if (iwork == NULL)
		abort();
	dsyevd_("V", "L", &size, a, &lda, values, work, &lwork, iwork, &liwork,
	    &info, 1, 1);
	free(work);
	free(iwork);
	return info == 0 ? 0 : -1;
}

/* ---- the processor for which OpenBLAS computes -------------------------- */

/* Whether OpenBLAS chose a good kernel. */

#ifdef __x86_64__
/* What OpenBLAS calls processors without AVX2. */
static bool
core_old(const char *name)
{
	static const char *const old[] = { "Prescott", "Core2", "Penryn",
		"Dunnington", "Atom", "Nehalem", "Sandybridge" };
	size_t i;

	for (i = 0; i < sizeof old / sizeof *old; i++)
		if (strcasecmp(name, old[i]) == 0)
			return true;
	return false;
}

const char *
openblas_core(void)
{
	if (!core_old(openblas_get_corename()))
		return NULL;
	if (__builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512vl"))
		return "SkylakeX";
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return "Haswell";
	return NULL;
}
#else
const char *
openblas_core(void)
{
	return NULL;
}
#endif
