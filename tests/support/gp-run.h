/* gp asked again and again, with the kernels of this CPU. */

#ifndef TESTS_GP_RUN_H
#define TESTS_GP_RUN_H

#include "kernels/kernels.h"
#include "tests/strategy-run.h"

#define FEW "{\"candidates\": 4096}"

static void
gp_open(struct run *r, const char *space, const char *options, uint64_t seed)
{
	run_open(r, "gp", space, options, seed);
	r->kernels = kernels_cpu();
}

#endif /* TESTS_GP_RUN_H */
