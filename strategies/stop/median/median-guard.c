/*
 * The guard: no rule of the family stops a trial while it would also have
 * stopped the best completed trial.
 */

#include "src/model/history/history.h"
#include "strategies/stop/median/median-engine.h"

/* Whether the best trial would have been stopped at its report i. */
static bool
median_guard_hits(struct median_engine *m, const struct history *h,
    int64_t best, const struct curve *c, size_t i, double own)
{
	struct pool_answer a;

	return median_engine_judges(m, c, i) &&
	       median_engine_is_worse(m, h, best, c, i, own, &a);
}

bool
median_guard_forbids(struct median_engine *m, const struct history *h)
{
	int64_t best = history_best(h);
	struct curve_summary_run run = { 0 };
	struct curve c;
	double own;

	if (best == 0)
		return false;
	c = history_curve(h, best);
	/* Mostly the place that spoke last time speaks again. */
	if (m->witness_trial == best && m->witness < c.n &&
	    median_guard_hits(m, h, best, &c, m->witness,
		curve_summary_at(&m->rule.own, &c, m->witness)))
		return true;
	while (run.n < c.n) {
		own = curve_summary_next(&run, &m->rule.own, &c);
		if (!median_guard_hits(m, h, best, &c, run.n - 1, own))
			continue;
		m->witness_trial = best;
		m->witness = run.n - 1;
		return true;
	}
	return false;
}
