/* Repeated suggestions of gp, with the kernels of this CPU. */

#ifndef HPOTUNE_GP_RUN_H
#define HPOTUNE_GP_RUN_H

#include "kernels/kernels.h"
#include "tests/support/strategy-run.h"

#define FEW "{\"candidates\": 4096}"

static void
gp_open(struct strategy_run *r, const char *space, const char *options,
    uint64_t seed)
{
	strategy_run_open(r, "gp", space, options, seed);
	r->kernels = kernels_cpu();
}

#endif /* HPOTUNE_GP_RUN_H */
