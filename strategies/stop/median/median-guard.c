/*
 * The guard: no rule of the family stops anybody while it would have stopped
 * the best completed trial.  Knows the engine's comparison; refuses to know
 * what the best trial is best at.
 */

#include "src/model/history/history.h"
#include "strategies/stop/median/median-engine.h"

/* Whether the best trial would have been stopped at its report i. */
static bool
guard_hits(struct median *m, const struct history *h, int64_t best,
    const struct curve *c, size_t i, double own)
{
	struct pool_answer a;

	return median_judges(m, c, i) &&
	       median_is_worse(m, h, best, c, i, own, &a);
}

bool
guard_forbids(struct median *m, const struct history *h)
{
	int64_t best = history_best(h);
	struct value_run run = { 0 };
	struct curve c;
	double own;

	if (best == 0)
		return false;
	c = history_curve(h, best);
	/* Mostly the place that spoke last time speaks again. */
	if (m->witness_trial == best && m->witness < c.n &&
	    guard_hits(m, h, best, &c, m->witness,
		value_at(&m->rule.own, &c, m->witness)))
		return true;
	while (run.n < c.n) {
		own = value_next(&run, &m->rule.own, &c);
		if (!guard_hits(m, h, best, &c, run.n - 1, own))
			continue;
		m->witness_trial = best;
		m->witness = run.n - 1;
		return true;
	}
	return false;
}
