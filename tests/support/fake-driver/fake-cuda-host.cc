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

/* Launches that a stream captures, in their order. */
struct fake_part {
	struct fake_part *next;
	void (*run)(const void *);
	void *of;
};
struct CUgraph_st {
	struct fake_part *first;
};
struct CUgraphExec_st {
	struct fake_part *first;
};

static struct fake_part *captured;
static bool capturing;

/*
 * A quiet NaN as a float and, twice, as a double; arithmetic keeps its bits and
 * makes no such NaN by itself.
 */
static const uint32_t fresh = 0x7ffda1de;

static void
fresh_fill(void *at, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		((uint8_t *)at)[i] = (uint8_t)(fresh >> i % 4 * 8);
}

void
fake_shared(void *at, size_t bytes)
{
	fresh_fill(at, bytes);
}

static void
fake_run(void (*run)(const void *), const void *f)
{
	static unsigned launches;

	/* Not the parity: a step has as many launches as the last one. */
	launches = launches * 1664525 + 1013904223;
	fake_place.backward = launches >> 31 != 0;
	run(f);
}

void
fake_launch(void (*run)(const void *), const void *f, size_t size)
{
	struct fake_part **at = &captured, *part;

	if (!capturing) {
		fake_run(run, f);
		return;
	}
	while (*at != NULL)
		at = &(*at)->next;
	part = (struct fake_part *)malloc(sizeof *part);
	part->next = NULL;
	part->run = run;
	part->of = memcpy(malloc(size), f, size);
	*at = part;
}

extern "C" cudaError_t
cudaStreamCreate(cudaStream_t *stream)
{
	*stream = (cudaStream_t)malloc(1);
	return cudaSuccess;
}

extern "C" cudaError_t
cudaStreamDestroy(cudaStream_t stream)
{
	free(stream);
	return cudaSuccess;
}

extern "C" cudaError_t
cudaStreamBeginCapture(cudaStream_t, enum cudaStreamCaptureMode)
{
	capturing = true;
	return cudaSuccess;
}

extern "C" cudaError_t
cudaStreamEndCapture(cudaStream_t, cudaGraph_t *graph)
{
	*graph = (cudaGraph_t)malloc(sizeof **graph);
	(*graph)->first = captured;
	captured = NULL;
	capturing = false;
	return cudaSuccess;
}

extern "C" cudaError_t
cudaGraphInstantiateWithFlags(cudaGraphExec_t *run, cudaGraph_t graph, unsigned long long)
{
	*run = (cudaGraphExec_t)malloc(sizeof **run);
	(*run)->first = graph->first;
	return cudaSuccess;
}

/* The launches are those of the executable one. */
extern "C" cudaError_t
cudaGraphDestroy(cudaGraph_t graph)
{
	free(graph);
	return cudaSuccess;
}

extern "C" cudaError_t
cudaGraphExecDestroy(cudaGraphExec_t run)
{
	struct fake_part *part, *next;

	for (part = run->first; part != NULL; part = next) {
		next = part->next;
		free(part->of);
		free(part);
	}
	free(run);
	return cudaSuccess;
}

extern "C" cudaError_t
cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t)
{
	for (struct fake_part *p = graph->first; p != NULL; p = p->next)
		fake_run(p->run, p->of);
	return cudaSuccess;
}

extern "C" cudaError_t
cudaMalloc(void **at, size_t n)
{
	if (cuda_fake_left == 0)
		return cudaErrorMemoryAllocation;
	cuda_fake_left -= cuda_fake_left > 0;
	*at = malloc(n);
	fresh_fill(*at, n);
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
cudaMemcpy2D(void *to, size_t across, const void *from, size_t pitch,
    size_t width, size_t n, enum cudaMemcpyKind)
{
	for (size_t i = 0; i < n; i++)
		memcpy((char *)to + i * across, (const char *)from + i * pitch,
		    width);
	return cudaSuccess;
}

extern "C" cudaError_t
cudaMemset(void *at, int byte, size_t n)
{
	memset(at, byte, n);
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
