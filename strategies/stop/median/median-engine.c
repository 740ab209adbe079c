/*
 * The median family (Golovin et al., "Google Vizier", KDD 2017, and later
 * variants): a trial is stopped when its value is strictly worse than an
 * aggregate of what other trials had at the same step. median.c has the
 * defaults.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "strategies/stop/median/median-engine.h"

static stop_guard_test median_guard_forbids;

void
median_engine_read(struct median_rule *rule, const struct option_value *values)
{
	rule->guard = plugin_option_count(values, "guard");
	rule->diverged_after = plugin_option_count(values, "diverged_after");
}

void
median_engine_init(struct median_engine *m, const struct median_rule *rule,
    const struct stopper_env *env)
{
	m->rule = *rule;
	m->env = *env;
	m->pool = pool_new(&rule->pool);
	m->own = curve_summary_cache_new(&rule->own);
	if (rule->spare > 0)
		m->ranks = best_ranks_new(
		    (size_t)rule->spare, &rule->own, &rule->pool.value);
}

void
median_engine_open(
    void **state, const struct median_rule *rule, const struct stopper_env *env)
{
	*state = xcalloc(1, sizeof(struct median_engine));
	median_engine_init(*state, rule, env);
}

void
median_engine_close(void *state)
{
	struct median_engine *m = state;

	pool_free(m->pool);
	curve_summary_cache_free(m->own);
	best_ranks_free(m->ranks);
	free(m);
}

void
median_engine_observe(
    void *state, const struct history *h, int64_t trial, int64_t step)
{
	struct median_engine *m = state;
	struct curve c;
	double old;

	if (m->ranks != NULL)
		best_ranks_observe(m->ranks, h, trial, step);
	/* As in a start: nothing of the curve is needed before it is compared. */
	if (!pool_asked(m->pool)) {
		curve_summary_cache_forget(m->own, trial);
		pool_observe(m->pool, h, trial, step);
		return;
	}
	c = history_curve(h, trial);
	if (c.n == 0 || curve_step(&c, c.n - 1) != step ||
	    history_replaced_value(h, &old))
		curve_summary_cache_forget(m->own, trial);
	pool_observe(m->pool, h, trial, step);
}

void
median_engine_ended(void *state, const struct history *h, int64_t trial)
{
	struct median_engine *m = state;

	pool_ended(m->pool, h, trial);
	if (m->ranks != NULL)
		best_ranks_ended(m->ranks, h, trial);
}

bool
median_engine_view(void *state, const struct history *h, int64_t step,
    int64_t *trials, double *median)
{
	struct median_engine *m = state;
	const struct pool_rule *r = &m->rule.pool;
	struct pool_answer a;

	if (r->value.kind != SUMMARY_LAST || r->key != POOL_CARRY ||
	    r->aggregate != POOL_PERCENTILE || r->share != 0.5 || r->completed)
		return false;
	pool_query_share(m->pool, h, step, 0.5, &a);
	if (a.n == 0)
		return false;
	*trials = a.n;
	*median = history_flip_sign(h, pool_threshold(&a));
	if (isinf(*median))
		*median = NAN;
	return true;
}

bool
median_engine_judges(
    const struct median_engine *m, const struct curve *c, size_t i)
{
	const struct median_rule *r = &m->rule;
	ptrdiff_t first = 0;

	if (stop_is_late(&m->env, c, i))
		return false;
	if (r->warmup_steps > 0)
		first = curve_at(c, r->warmup_steps - 1) + 1;
	if (first < r->warmup_reports)
		first = (ptrdiff_t)r->warmup_reports;
	return (ptrdiff_t)i >= first &&
	       ((ptrdiff_t)i - first) % r->interval == 0;
}

/*
 * Compare own, the trial's value at report i, with a, the values of the
 * others.  Stop if it is strictly worse.
 */
static bool
median_engine_is_worse(struct median_engine *m, const struct history *h,
    int64_t trial, const struct curve *c, size_t i, double own,
    struct pool_answer *a)
{
	int64_t key =
	    m->rule.pool.key == POOL_INDEX ? (int64_t)i + 1 : curve_step(c, i);

	pool_query(m->pool, h, key, trial, a);
	if (a->n == 0 || a->n < m->rule.min_trials)
		return false;
	return !isfinite(own) || own > pool_threshold(a);
}

/*
 * Of pool.begun: whether a trial that is behind continues, because one of the
 * best completed trials, *by, was hardly less far behind at this step or later;
 * *by is 0 when so few are better that none need have been.
 */
static bool
median_engine_spares(struct median_engine *m, const struct history *h,
    int64_t trial, int64_t step, double own, int64_t *by)
{
	int64_t better, need;
	int exact;

	*by = 0;
	if (m->ranks == NULL || !isfinite(own))
		return false;
	for (exact = 0; exact < 2; exact++) {
		better = pool_better(m->pool, h, step, trial, own, exact > 0);
		/* The least n with better <= 3 / 2 * (1 + n). */
		need = (2 * better + 2) / 3 - 1;
		*by = need > 0 ? best_ranks_find(m->ranks, h, step, need) : 0;
		if (need > 0 && *by == 0)
			return false;
	}
	return true;
}

static const char *
aggregate_words(const struct pool_rule *r, char *buf, size_t n)
{
	switch (r->aggregate) {
	case POOL_PERCENTILE:
	case POOL_RANK:
		if (r->share == 0.5)
			return "median";
		snprintf(buf, n, "%g %% quantile", 100 * r->share);
		return buf;
	case POOL_MEAN:
		return "mean";
	case POOL_MIDDLE:
		return "median";
	}
	return "";
}

/* "0.712 is above 0.65, the worst of the best 23 % of 60 trials begun, …". */
static void
explain_begun(const struct median_engine *m, struct judgement *j, int64_t step)
{
	const char *own = curve_summary_text(&m->rule.own);
	double share = pool_share_at(&m->rule.pool, step);
	char place[48] = "the median";

	if (share != 0.5)
		snprintf(place, sizeof(place), "the worst of the best %.3g %%",
		    100 * share);
	snprintf(j->why, sizeof(j->why),
	    "%s%s%.6g is %s %.6g, %s of the %lld trials begun, at %s %lld", own,
	    *own != '\0' ? " " : "", j->value,
	    !isfinite(j->value) ? "no match for"
	    : m->env.maximize	? "below"
				: "above",
	    j->threshold, place, (long long)j->pool, stop_unit(&m->env),
	    (long long)step);
}

void
median_engine_explain(
    const struct median_engine *m, struct judgement *j, int64_t step)
{
	const struct pool_rule *r = &m->rule.pool;
	const char *own = curve_summary_text(&m->rule.own);
	const char *of = curve_summary_text(&r->value);
	char words[48];

	if (r->begun) {
		explain_begun(m, j, step);
		return;
	}
	snprintf(j->why, sizeof(j->why),
	    "%s%s%.6g is %s the %s %.6g of %lld %s%s%s%s at %s %lld", own,
	    *own != '\0' ? " " : "", j->value,
	    !isfinite(j->value) ? "no match for"
	    : m->env.maximize	? "below"
				: "above",
	    aggregate_words(r, words, sizeof(words)), j->threshold,
	    (long long)j->pool, r->completed ? "completed " : "",
	    j->pool == 1 ? "trial" : "trials", *of != '\0' ? " by " : "", of,
	    stop_unit(&m->env), (long long)step);
}

/* A trial that is worse: stop it, unless the best completed ones object. */
static void
median_engine_stop(struct median_engine *m, const struct history *h,
    int64_t trial, int64_t step, double own, struct judgement *j)
{
	char why[sizeof(j->why)];
	int64_t by;

	if (median_engine_spares(m, h, trial, step, own, &by)) {
		if (by == 0)
			return;
		median_engine_explain(m, j, step);
		memcpy(why, j->why, sizeof(why));
		snprintf(j->why, sizeof(j->why),
		    "%.130s, but trial %lld, %s, was as far behind", why,
		    (long long)by,
		    by == history_best(h) ? "the best" : "one of the best");
		j->verdict = VERDICT_SUSPENDED;
		return;
	}
	j->verdict = VERDICT_STOP;
	median_engine_explain(m, j, step);
	if (!isfinite(j->threshold))
		j->threshold = NAN;
	by = stop_guard_find(h, m->rule.guard, median_guard_forbids, m);
	if (by != 0)
		stop_suspend(h, by, j);
}

void
median_engine_judge(void *state, const struct history *h, int64_t trial,
    int64_t step, struct judgement *j)
{
	struct median_engine *m = state;
	struct curve c = history_curve(h, trial);
	ptrdiff_t i = curve_at(&c, step);
	struct pool_answer a;
	double own;
	bool worse;

	*j = (struct judgement){ .verdict = VERDICT_KEEP,
		.rule = m->rule.name,
		.value = NAN,
		.threshold = NAN };
	if (i < 0 ||
	    stop_diverged(j, &m->env, &c, (size_t)i, m->rule.diverged_after) ||
	    !median_engine_judges(m, &c, (size_t)i))
		return;
	own = curve_summary_cache_at(m->own, trial, &c, (size_t)i);
	worse = median_engine_is_worse(m, h, trial, &c, (size_t)i, own, &a);
	j->value = history_flip_sign(h, own);
	j->threshold = history_flip_sign(h, pool_threshold(&a));
	j->pool = a.n;
	if (worse)
		median_engine_stop(m, h, trial, step, own, j);
}

/*
 * The guard: no rule of the family stops a trial while it would also have
 * stopped the best completed trial, or one of the best.
 */

/* Whether the best trial would have been stopped at its report i. */
static bool
median_guard_hits(struct median_engine *m, const struct history *h,
    int64_t best, const struct curve *c, size_t i, double own)
{
	struct pool_answer a;

	return median_engine_judges(m, c, i) &&
	       median_engine_is_worse(m, h, best, c, i, own, &a);
}

/* Whether the rule in its current state would have stopped this trial. */
static bool
median_guard_forbids(void *engine, const struct history *h, int64_t best)
{
	struct median_engine *m = engine;
	struct curve c = history_curve(h, best);
	struct curve_summary_run run = { 0 };
	double own;

	/* Test the step of the last hit first: it usually hits again. */
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
