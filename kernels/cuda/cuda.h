/*
 * Declarations shared by the CUDA versions: the device, its libraries, its
 * memory.
 *
 * After a failure of the device, including lack of memory, everything is
 * computed on the CPU; the table's name shows it.  Functions that use the
 * device return 0, or -1 when it failed.
 */

#ifndef HPOTUNE_CUDA_H
#define HPOTUNE_CUDA_H

#include <cublas_v2.h>
#include <cusolverDn.h>

#include "kernels/cuda/cuda-launch.h"
#include "kernels/formulas.h"

extern "C" {
#include "kernels/kernels.h"
}

/*
 * The functions of cuBLAS and cuSOLVER, which are loaded when there is a GPU.
 */
#define CUDA_BLAS(X)          \
	X(cublasCreate_v2)    \
	X(cublasDgemm_v2)     \
	X(cublasDtrsm_v2)     \
	X(cublasDtrsmBatched) \
	X(cublasDtrsv_v2)
#define CUDA_SOLVER(X)                 \
	X(cusolverDnCreate)            \
	X(cusolverDnDpotrf)            \
	X(cusolverDnDpotrf_bufferSize) \
	X(cusolverDnDpotrfBatched)

#define CUDA_MEMBER(name) decltype(&::name) name;
struct cuda_libs {
	CUDA_BLAS(CUDA_MEMBER)
	CUDA_SOLVER(CUDA_MEMBER)
};
#undef CUDA_MEMBER

/*
 * Memory on the device that grows on demand and is kept until a process is
 * freed.
 */
enum cuda_buffer {
	CUDA_BUFFER_MATRIX, /* covariances, factors */
	CUDA_BUFFER_INVERSE,
	CUDA_BUFFER_SLOPE,
	CUDA_BUFFER_POINTS,
	CUDA_BUFFER_SCALARS,
	CUDA_BUFFER_POINTERS,
	CUDA_BUFFER_WORK, /* of cuSOLVER */
	CUDA_BUFFER_COLUMNS, /* candidates by rows */
	CUDA_BUFFER_OTHER, /* … its other half, for gathering */
	CUDA_BUFFERS
};

struct cuda {
	struct kernels table; /* dev points to this */
	bool failed;
	struct cuda_libs lib;
	cublasHandle_t blas;
	cusolverDnHandle_t solver;
	struct {
		void *at;
		size_t bytes;
	} buffers[CUDA_BUFFERS];
	char device[256];
};

/* n numbers in that buffer, uninitialised; NULL: out of memory. */
double *cuda_numbers(struct cuda *, enum cuda_buffer, size_t n);
void *cuda_bytes(struct cuda *, enum cuda_buffer, size_t n);
void cuda_release(struct cuda *);
/* Switch to the CPU for the rest of the run. */
void cuda_fail(struct cuda *);
/* Load the libraries; -1 with the reason. */
int cuda_libs_open(struct cuda_libs *, char *why, size_t n);

/* Copies of n numbers; -1 as above. */
int cuda_upload(double *device, const double *host, size_t n);
int cuda_download(double *host, const double *device, size_t n);

/* Points on the device: coordinate by coordinate, n of each, scaled. */
struct cuda_points {
	const double *z;
	size_t n;
};

/* The covariance on the device. */
struct cuda_covariance {
	size_t d, numbers;
	const double *weight; /* d; of categories */
	double signal, local; /* variances */
	struct matern form; /* but of the local variation */
};

/* n x d placed points (row by row, on the host) to the device. */
int cuda_tile_place(
    struct cuda *, const double *z, size_t n, size_t d, double *device);
/*
 * Covariances of the points with rows rows from at on: k (and slope, unless
 * NULL) has a column of c.n for each row.
 */
int cuda_tile_cross(const struct cuda_covariance *,
    const struct cuda_points *points, const struct cuda_points *rows, size_t at,
    size_t count, double *k, double *slope);
/*
 * The full matrix with diagonal (n) added to the variances, and slopes unless
 * NULL; columns of n.
 */
int cuda_tile_matrix(const struct cuda_covariance *, const struct cuda_points *,
    double *k, double *slope, const double *diagonal);
/* Means of the points: alpha has rows->n. */
int cuda_tile_means(const struct cuda_covariance *,
    const struct cuda_points *points, const struct cuda_points *rows,
    const double *alpha, size_t n_alpha, double *mean);
/* The lower factor in place; *info != 0: not positive definite. */
int cuda_tile_factor(struct cuda *, double *a, size_t n, int *info);

/* The functions of the table. */
extern "C" {
void cuda_gp_likelihood(void *dev, const struct gp_data *, const double *theta,
    size_t r, double *value, double *gradient, int *status);
struct gp *cuda_gp_fit(void *dev, const struct gp_data *, const double *theta);
void cuda_gp_free(void *dev, struct gp *);
void cuda_gp_pend(void *dev, struct gp *, const double *x, size_t k);
void cuda_gp_predict(void *dev, const struct gp *, const double *x, size_t m,
    double *mean, double *variance);
void cuda_gp_slope(void *dev, const struct gp *, const double *x, size_t m,
    double *mean, double *variance, double *d_mean, double *d_variance);
size_t cuda_gp_top(void *dev, const struct gp *, const double *x, size_t m,
    double best, size_t k, size_t *index, double *score, struct gp_sweep *);
}

#endif /* HPOTUNE_CUDA_H */
