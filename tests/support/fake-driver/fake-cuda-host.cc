/*
 * A fake GPU for tests: its memory is the host's, its threads are loops, its
 * libraries are OpenBLAS.  Fresh memory is full of one NaN; a copy to the host that
 * contains it, or a result of it, ends the program, as initcheck of
 * compute-sanitizer would report it.  Memory may run out at a test's request.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/cuda.h"

extern "C" {
#include <cblas.h>

#include "kernels/lapack.h"

extern long cuda_fake_left;
long cuda_fake_left = -1; /* allocations that work; < 0: all do */
}

struct fake_place fake_place;

/*
 * A quiet NaN as a float and, twice, as a double; arithmetic keeps its bits and
 * makes no such NaN by itself.
 */
static const uint32_t fresh = 0x7ffda1de;

extern "C" cudaError_t
cudaMalloc(void **at, size_t n)
{
	size_t i;

	if (cuda_fake_left == 0)
		return cudaErrorMemoryAllocation;
	cuda_fake_left -= cuda_fake_left > 0;
	*at = malloc(n);
	for (i = 0; i < n; i++)
		((uint8_t *)*at)[i] = (uint8_t)(fresh >> i % 4 * 8);
	return cudaSuccess;
}

extern "C" cudaError_t
cudaFree(void *at)
{
	free(at);
	return cudaSuccess;
}

extern "C" cudaError_t
cudaMemcpy(void *to, const void *from, size_t n, enum cudaMemcpyKind kind)
{
	uint32_t word;
	size_t i;

	for (i = 0; kind == cudaMemcpyDeviceToHost && i + sizeof word <= n;
	     i += sizeof word) {
		memcpy(&word, (const char *)from + i, sizeof word);
		if (word != fresh)
			continue;
		fprintf(stderr,
		    "byte %zu of %zu copied from the device was never "
		    "written\n",
		    i, n);
		abort();
	}
	memcpy(to, from, n);
	return cudaSuccess;
}

extern "C" cudaError_t
cudaStreamQuery(cudaStream_t)
{
	return cudaSuccess;
}

extern "C" cudaError_t
cudaGetLastError(void)
{
	return cudaSuccess;
}

extern "C" const char *
cudaGetErrorString(cudaError_t)
{
	return "an error";
}

extern "C" cudaError_t
cudaGetDeviceCount(int *n)
{
	*n = 1;
	return cudaSuccess;
}

extern "C" cudaError_t
cudaSetDevice(int)
{
	return cudaSuccess;
}

extern "C" cudaError_t
cudaGetDeviceProperties(struct cudaDeviceProp *about, int)
{
	memset(about, 0, sizeof *about);
	strcpy(about->name, "a GPU that is not there");
	return cudaSuccess;
}

static enum CBLAS_TRANSPOSE
turned(cublasOperation_t op)
{
	return op == CUBLAS_OP_N ? CblasNoTrans : CblasTrans;
}

static cublasStatus_t
fake_create(cublasHandle_t *h)
{
	*h = NULL;
	return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t
fake_gemm(cublasHandle_t, cublasOperation_t ta, cublasOperation_t tb, int m,
    int n, int k, const double *alpha, const double *a, int lda,
    const double *b, int ldb, const double *beta, double *c, int ldc)
{
	cblas_dgemm(CblasColMajor, turned(ta), turned(tb), m, n, k, *alpha, a,
	    lda, b, ldb, *beta, c, ldc);
	return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t
fake_trsm(cublasHandle_t, cublasSideMode_t side, cublasFillMode_t fill,
    cublasOperation_t op, cublasDiagType_t, int m, int n, const double *alpha,
    const double *a, int lda, double *b, int ldb)
{
	cblas_dtrsm(CblasColMajor,
	    side == CUBLAS_SIDE_LEFT ? CblasLeft : CblasRight,
	    fill == CUBLAS_FILL_MODE_LOWER ? CblasLower : CblasUpper,
	    turned(op), CblasNonUnit, m, n, *alpha, a, lda, b, ldb);
	return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t
fake_trsm_batched(cublasHandle_t h, cublasSideMode_t side,
    cublasFillMode_t fill, cublasOperation_t op, cublasDiagType_t diag, int m,
    int n, const double *alpha, const double *const a[], int lda,
    double *const b[], int ldb, int count)
{
	for (int i = 0; i < count; i++)
		fake_trsm(
		    h, side, fill, op, diag, m, n, alpha, a[i], lda, b[i], ldb);
	return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t
fake_trsv(cublasHandle_t, cublasFillMode_t fill, cublasOperation_t op,
    cublasDiagType_t, int n, const double *a, int lda, double *x, int step)
{
	cblas_dtrsv(CblasColMajor,
	    fill == CUBLAS_FILL_MODE_LOWER ? CblasLower : CblasUpper,
	    turned(op), CblasNonUnit, n, a, lda, x, step);
	return CUBLAS_STATUS_SUCCESS;
}

static cusolverStatus_t
fake_solver_create(cusolverDnHandle_t *h)
{
	*h = NULL;
	return CUSOLVER_STATUS_SUCCESS;
}

static cusolverStatus_t
fake_potrf_room(
    cusolverDnHandle_t, cublasFillMode_t, int n, double *, int, int *room)
{
	*room = n;
	return CUSOLVER_STATUS_SUCCESS;
}

static cusolverStatus_t
fake_potrf(cusolverDnHandle_t, cublasFillMode_t, int n, double *a, int lda,
    double *work, int room, int *info)
{
	memset(work, 0, (size_t)room * sizeof *work);
	*info = lapack_factor(a, (size_t)n, (size_t)lda) == 0 ? 0 : 1;
	return CUSOLVER_STATUS_SUCCESS;
}

static cusolverStatus_t
fake_potrf_batched(cusolverDnHandle_t, cublasFillMode_t, int n, double *a[],
    int lda, int *info, int count)
{
	for (int i = 0; i < count; i++)
		info[i] = lapack_factor(a[i], (size_t)n, (size_t)lda) == 0 ? 0 : 1;
	return CUSOLVER_STATUS_SUCCESS;
}

int
cuda_driver_open(char *, size_t)
{
	return 0;
}

int
cuda_libs_open(struct cuda_libs *libs, char *, size_t)
{
	libs->cublasCreate_v2 = fake_create;
	libs->cublasDgemm_v2 = fake_gemm;
	libs->cublasDtrsm_v2 = fake_trsm;
	libs->cublasDtrsmBatched = fake_trsm_batched;
	libs->cublasDtrsv_v2 = fake_trsv;
	libs->cusolverDnCreate = fake_solver_create;
	libs->cusolverDnDpotrf_bufferSize = fake_potrf_room;
	libs->cusolverDnDpotrf = fake_potrf;
	libs->cusolverDnDpotrfBatched = fake_potrf_batched;
	return 0;
}
