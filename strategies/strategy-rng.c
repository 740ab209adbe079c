/* The random numbers of one question: pure, and other ones for each redraw. */

#include "src/base/rng.h"
#include "strategies/strategy.h"

void
strategy_rng(struct rng *rng, const struct strategy_ask *ask)
{
	/* Trials count from below, questions asked again from above. */
	rng_init(
	    rng, ask->seed, (uint64_t)ask->trial ^ (uint64_t)ask->redraw << 48);
}
