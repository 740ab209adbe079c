/*
 * Asynchronous successive halving (Li et al., "A system for massively parallel
 * hyperparameter tuning", MLSys 2020) in the form that stops trials, as in
 * Optuna: a trial not among the best share at a rung is stopped at once. asha.c
 * and hyperband.c set up the ladders.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "strategies/stop/halving/halving-engine.h"
#include "strategies/stop/halving/halving-rungs.h"

void
halving_engine_read(
    struct halving_rule *rule, const struct option_value *values)
{
	rule->unit = *plugin_option_get(values, "min_resource");
	rule->factor = plugin_option_count(values, "reduction_factor");
	rule->bootstrap = plugin_option_count(values, "bootstrap_count");
	rule->promote = plugin_option_is(values, "promote");
	rule->guard = plugin_option_count(values, "guard");
	rule->diverged_after = plugin_option_count(values, "diverged_after");
}

void
halving_engine_init(struct halving_engine *r, const struct halving_rule *rule,
    const struct stopper_env *env)
{
	r->rule = *rule;
	r->env = *env;
	r->longest = -1;
}

int64_t
halving_engine_unit(const struct halving_engine *r, int64_t steps)
{
	const struct option_value *v = &r->rule.unit;
	int64_t unit;

	if (!v->is_share)
		return (int64_t)v->number;
	unit = (int64_t)floor(v->number * (double)steps + 1e-9);
	return unit < 1 ? 1 : unit;
}

void
halving_engine_lay(
    struct halving_engine *r, size_t n, int64_t unit, int64_t rate)
{
	size_t b;

	r->n = n;
	r->ladders = xcalloc(n, sizeof(*r->ladders));
	for (b = 0; b < n; b++)
		halving_rungs_init(
		    &r->ladders[b], unit, r->rule.factor, rate + (int64_t)b);
}

void
halving_engine_close(void *state)
{
	struct halving_engine *r = state;
	size_t b;

	for (b = 0; b < r->n; b++)
		halving_rungs_free(&r->ladders[b]);
	free(r->ladders);
	free(r);
}

/* Put the existing trials on their rungs. */
static void
halving_engine_load(struct halving_engine *r, const struct history *h)
{
	int64_t t;

	r->rule.lay(r, r->longest);
	for (t = 1; t <= history_count(h); t++)
		halving_rungs_load(
		    &r->ladders[r->rule.rungs_of_trial(r, t)], h, t);
}

void
halving_engine_observe(
    void *state, const struct history *h, int64_t trial, int64_t step)
{
	struct halving_engine *r = state;

	if (r->n > 0)
		halving_rungs_observe(
		    &r->ladders[r->rule.rungs_of_trial(r, trial)], h, trial,
		    step);
	else if (r->longest >= 0)
		halving_engine_load(r, h);
}

/* Only learns the length of trials, if unknown. */
void
halving_engine_ended(void *state, const struct history *h, int64_t trial)
{
	struct halving_engine *r = state;
	struct curve c = history_curve(h, trial);

	if (r->n == 0 && history_state(h, trial) == TRIAL_COMPLETED &&
	    c.n > 0 && curve_step(&c, c.n - 1) > r->longest)
		r->longest = curve_step(&c, c.n - 1);
}

/* Whether value v, which is on this rung unless it is NaN, is stopped there. */
static bool
rung_stops(
    const struct halving_engine *r, const struct top_quantile *c, double v)
{
	return isnan(v) || top_quantile_count(c) <= (size_t)r->rule.bootstrap ||
	       v > top_quantile_worst(c);
}

/* Whether the best completed trial would be stopped by the current rungs. */
static bool
halving_engine_forbid(void *engine, const struct history *h, int64_t best)
{
	const struct halving_engine *r = engine;
	const struct halving_rungs *l;
	struct curve c;
	size_t i, k;

	l = &r->ladders[r->rule.rungs_of_trial(r, best)];
	c = history_curve(h, best);
	for (k = 0; k < l->n; k++) {
		i = (size_t)(curve_at(&c, l->steps[k] - 1) + 1);
		if (i >= c.n || stop_is_late(&r->env, &c, i))
			return false;
		if (rung_stops(r, &l->cuts[k], curve_value(&c, i)))
			return true;
	}
	return false;
}

static void
halving_engine_explain(const struct halving_engine *r, struct judgement *j,
    size_t b, size_t best, int64_t rung)
{
	char of[40] = "";

	if (r->n > 1)
		snprintf(of, sizeof(of), " of bracket %zu", b);
	if (isnan(j->value))
		snprintf(j->why, sizeof(j->why),
		    "the value at rung %lld%s is not a number", (long long)rung,
		    of);
	else if (j->pool < r->rule.bootstrap)
		snprintf(j->why, sizeof(j->why),
		    "number %lld of the first %lld at rung %lld%s, which "
		    "all end there",
		    (long long)j->pool + 1, (long long)r->rule.bootstrap,
		    (long long)rung, of);
	else
		snprintf(j->why, sizeof(j->why),
		    "%.6g is %s %.6g, the last of the best %zu among it and "
		    "%lld other%s at rung %lld%s",
		    j->value, r->env.maximize ? "below" : "above", j->threshold,
		    best, (long long)j->pool, j->pool == 1 ? "" : "s",
		    (long long)rung, of);
}

/* Judge report i at the rungs it stands on, up to the one that it fails. */
static void
halving_engine_compare(const struct halving_engine *r, const struct history *h,
    size_t b, const struct curve *c, size_t i, struct judgement *j)
{
	const struct halving_rungs *l = &r->ladders[b];
	const struct top_quantile *cut;
	double v = curve_value(c, i);
	size_t k, to;

	for (halving_rungs_span(l, c, i, &k, &to);
	     k < to && j->verdict == VERDICT_KEEP; k++) {
		cut = &l->cuts[k];
		j->value = history_flip_sign(h, v);
		j->threshold = history_flip_sign(h, top_quantile_worst(cut));
		j->pool = (int64_t)top_quantile_count(cut) - !isnan(v);
		if (!rung_stops(r, cut, v))
			continue;
		j->diverged = isnan(v);
		j->verdict = r->rule.promote && !j->diverged ? VERDICT_PAUSE
							     : VERDICT_STOP;
		halving_engine_explain(
		    r, j, b, top_quantile_best(cut), l->steps[k]);
	}
}

void
halving_engine_judge(void *state, const struct history *h, int64_t trial,
    int64_t step, struct judgement *j)
{
	struct halving_engine *r = state;
	struct curve c = history_curve(h, trial);
	ptrdiff_t i = curve_at(&c, step);
	int64_t would;

	*j = (struct judgement){ .verdict = VERDICT_KEEP,
		.rule = r->rule.name,
		.value = NAN,
		.threshold = NAN };
	if (i < 0 ||
	    stop_diverged(j, &r->env, &c, (size_t)i, r->rule.diverged_after) ||
	    r->n == 0 || stop_is_late(&r->env, &c, (size_t)i))
		return;
	halving_engine_compare(
	    r, h, r->rule.rungs_of_trial(r, trial), &c, (size_t)i, j);
	if (j->verdict == VERDICT_KEEP || j->diverged)
		return;
	would = stop_guard_find(h, r->rule.guard, halving_engine_forbid, r);
	if (would != 0)
		stop_suspend(h, would, j);
}

/* A paused trial that would continue now. */
struct lifted {
	int64_t trial;
	size_t ladder, rung; /* the highest that it has reached */
	double value; /* value at the rung */
};

/*
 * Whether a paused trial passes the rungs from the one on which it was paused
 * to the highest it has reached: it may have continued before the stop took
 * effect.
 */
static bool
paused_lifts(const struct halving_engine *r, const struct history *h,
    const struct stopper_paused *p, struct lifted *up)
{
	size_t b = r->rule.rungs_of_trial(r, p->trial), i, k, to;
	struct curve c = history_curve(h, p->trial);
	const struct halving_rungs *l = &r->ladders[b];
	ptrdiff_t at = curve_at(&c, p->step);
	bool any = false;

	if (at < 0)
		return false;
	halving_rungs_span(l, &c, (size_t)at, &k, &to);
	*up = (struct lifted){ .trial = p->trial, .ladder = b };
	for (; k < l->n; k++) {
		i = (size_t)(curve_at(&c, l->steps[k] - 1) + 1);
		if (i >= c.n)
			break;
		if (rung_stops(r, &l->cuts[k], curve_value(&c, i)))
			return false;
		up->rung = k;
		up->value = curve_value(&c, i);
		any = true;
	}
	return any;
}

/* The higher rung first, as the paper does; then the better value. */
static bool
lifted_before(const struct halving_engine *r, const struct lifted *a,
    const struct lifted *b)
{
	int64_t x = r->ladders[a->ladder].steps[a->rung];
	int64_t y = r->ladders[b->ladder].steps[b->rung];

	if (x != y)
		return x > y;
	if (a->value != b->value)
		return a->value < b->value;
	return a->trial < b->trial;
}

static void
lifted_explain(const struct halving_engine *r, const struct history *h,
    const struct lifted *up, struct judgement *j)
{
	const struct halving_rungs *l = &r->ladders[up->ladder];
	const struct top_quantile *cut = &l->cuts[up->rung];
	char of[40] = "";

	if (r->n > 1)
		snprintf(of, sizeof(of), " of bracket %zu", up->ladder);
	*j = (struct judgement){ .verdict = VERDICT_KEEP,
		.rule = r->rule.name,
		.value = history_flip_sign(h, up->value),
		.threshold = history_flip_sign(h, top_quantile_worst(cut)),
		.pool = (int64_t)top_quantile_count(cut) - 1 };
	snprintf(j->why, sizeof(j->why),
	    "%.6g is among the best %zu of it and %lld other%s at rung "
	    "%lld%s now",
	    j->value, top_quantile_best(cut), (long long)j->pool,
	    j->pool == 1 ? "" : "s", (long long)l->steps[up->rung], of);
}

int64_t
halving_engine_promote(void *state, const struct history *h,
    const struct stopper_paused *paused, size_t n, struct judgement *j)
{
	const struct halving_engine *r = state;
	struct lifted best = { 0 }, one;
	size_t i;

	if (!r->rule.promote || r->n == 0)
		return 0;
	for (i = 0; i < n; i++)
		if (paused_lifts(r, h, &paused[i], &one) &&
		    (best.trial == 0 || lifted_before(r, &one, &best)))
			best = one;
	if (best.trial != 0)
		lifted_explain(r, h, &best, j);
	return best.trial;
}
