/*
 * Random numbers of one suggestion: deterministic, and different for each
 * redraw.
 */

#include "src/base/rng.h"
#include "strategies/strategy.h"

void
strategy_rng(struct rng *rng, const struct strategy_ask *ask)
{
	/* Trials count from the low bits, redraws from the high bits. */
	rng_init(
	    rng, ask->seed, (uint64_t)ask->trial ^ (uint64_t)ask->redraw << 48);
}
