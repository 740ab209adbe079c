/* Linear algebra by OpenBLAS; of small triangles in triangle.c. */

#include <cblas.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "kernels/alloc.h"
#include "kernels/lapack.h"
#include "kernels/triangle.h"

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

	if (n <= TRIANGLE_MOST)
		return triangle_factor_inverse(a, n, stride);
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
lapack_square(double *a, size_t n, size_t stride)
{
	int lda = (int)stride, half = (int)half_of(n), rest = (int)n - half;
	double *q = a + half, *r = a + half_of(n) * (stride + 1);

	if (n <= TRIANGLE_MOST) {
		triangle_square(a, n, stride);
		return;
	}
	lapack_square(a, (size_t)half, stride);
	cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, half, rest, 1, q,
	    lda, 1, a, lda);
	cblas_dtrmm(CblasColMajor, CblasLeft, CblasLower, CblasTrans,
	    CblasNonUnit, rest, half, 1, r, lda, q, lda);
	lapack_square(r, (size_t)rest, stride);
}

void
lapack_inverse_times(double *a, size_t n, size_t stride, double *x)
{
	triangle_times(a, n, stride, x);
	lapack_square(a, n, stride);
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
