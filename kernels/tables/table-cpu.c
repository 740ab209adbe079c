/* All kernels on one core, with LAPACK and BLAS of OpenBLAS. */

#include <cblas.h>

#include "kernels/gp/gp-model.h"
#include "kernels/lapack.h"

const struct kernels *
kernels_cpu(void)
{
	static struct kernels cpu;

	cpu = *kernels_plain();
	cpu.gp_likelihood = gp_likelihood;
	cpu.gp_fit = gp_fit;
	cpu.gp_free = gp_free;
	cpu.gp_predict = gp_predict;
	cpu.gp_near = gp_near;
	cpu.gp_slope = gp_slope;
	cpu.gp_pend = gp_pend;
	cpu.gp_top = gp_top;
	cpu.gp_near_top = gp_near_top;
	cpu.sym_eigen = lapack_eigen;
	/* The other cores are the trials'. */
	openblas_set_num_threads(1);
	return &cpu;
}
