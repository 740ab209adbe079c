/* A Gaussian process on the device, for the files that query it. */

#ifndef HPOTUNE_GP_CUDA_H
#define HPOTUNE_GP_CUDA_H

#include "kernels/cuda/cuda.h"

extern "C" {
#include "kernels/gp/gp-model.h"
}

struct gp_cuda {
	struct gp_data data; /* copies */
	double *theta;
	struct gp_coordinates shape;
	size_t *order; /* of the observations */
	double *more; /* pending points */
	size_t pending;
	size_t rows; /* observations and pending points */
	bool broken; /* its weights are not finite */
	struct gp *twin; /* the CPU version, after the device failed */
	/* On the device. */
	double *z; /* d x rows */
	double *factor; /* rows x rows, the lower triangle */
	double *alpha; /* rows; 0 for the pending ones */
	double *weight; /* d */
};

static inline struct cuda_points
gp_rows(const struct gp_cuda *g)
{
	struct cuda_points t = { g->z, g->rows };

	return t;
}

static inline struct cuda_covariance
gp_reach(const struct gp_cuda *g)
{
	struct cuda_covariance r = { g->shape.d, g->shape.numbers, g->weight,
		g->shape.signal, g->shape.local, g->shape.form };

	return r;
}

/* After a failure of the device: the process rebuilt on the CPU. */
struct gp *cuda_gp_twin(struct cuda *, const struct gp *);

#endif /* HPOTUNE_GP_CUDA_H */
