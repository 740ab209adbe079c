/*
 * Optuna's MedianPruner and PercentilePruner, with equal decisions: the best
 * value of the trial against a percentile of what completed trials reported at
 * exactly this step.  Unlike the rest of the family, infinities are values here
 * and the percentile is NumPy's, to the last bit.
 */

#include <math.h>
#include <stdio.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "strategies/stop/median/median-engine.h"

static const struct option optuna_options[] = {
	OPTION_COUNT("n_startup_trials", 0, "5",
	    "completed trials before the rule judges"),
	OPTION_COUNT("n_warmup_steps", 0, "0", "smaller steps are not judged"),
	OPTION_COUNT("interval_steps", 1, "1",
	    "judge the first report in each interval of this many steps"),
	OPTION_COUNT("n_min_trials", 1, "1",
	    "completed trials that must have reported the step"),
	{ "percentile", OPTION_REAL, 0, 100, "50", NULL,
	    "the share, best first, that a trial must be among" },
	OPTION_DIVERGED("0"),
	OPTION_CLOSE,
};

struct optuna {
	struct median_engine base;
	int64_t startup, warmup, interval, min_trials;
};

static int
optuna_open(void **state, const char *name, const struct option_value *values,
    const struct stopper_env *env, struct err *e)
{
	double percent = plugin_option_number(values, "percentile");
	struct median_rule rule = {
		.name = name,
		.own = { .kind = SUMMARY_BEST, .infinite = true },
		.pool = {
			.value = { .kind = SUMMARY_LAST },
			.key = POOL_STEP,
			.aggregate = POOL_PERCENTILE,
			.share = (env->maximize ? 100 - percent : percent) /
			    100,
			.completed = true,
			.infinite = true,
			.mirrored = env->maximize,
		},
		.diverged_after = plugin_option_count(values, "diverged_after"),
	};
	struct optuna *o = xcalloc(1, sizeof(*o));

	(void)e;
	median_engine_init(&o->base, &rule, env);
	o->startup = plugin_option_count(values, "n_startup_trials");
	o->warmup = plugin_option_count(values, "n_warmup_steps");
	o->interval = plugin_option_count(values, "interval_steps");
	o->min_trials = plugin_option_count(values, "n_min_trials");
	*state = o;
	return 0;
}

/* Whether the newest report is the first one of its interval. */
static bool
optuna_is_due(const struct optuna *o, const struct curve *c)
{
	int64_t step = curve_step(c, c->n - 1), before, from;

	if (step < o->warmup)
		return false;
	before = c->n > 1 ? curve_step(c, c->n - 2) : -1;
	from = (step - o->warmup) / o->interval * o->interval + o->warmup;
	return before < from;
}

/* As numpy.percentile between two neighbours, where infinities may give NaN. */
static double
optuna_lerp(double a, double b, double t)
{
	double gap = b - a;

	return t >= 0.5 ? b - gap * (1 - t) : a + gap * t;
}

static void
optuna_judge(void *state, const struct history *h, int64_t trial, int64_t step,
    struct judgement *j)
{
	struct optuna *o = state;
	struct curve c = history_curve(h, trial);
	struct pool_answer a;
	double own;

	*j = (struct judgement){ .verdict = VERDICT_KEEP,
		.rule = o->base.rule.name,
		.value = NAN,
		.threshold = NAN };
	if (c.n == 0 ||
	    stop_diverged(
		j, &o->base.env, &c, c.n - 1, o->base.rule.diverged_after) ||
	    pool_members(o->base.pool) == 0 ||
	    pool_members(o->base.pool) < o->startup ||
	    stop_is_late(&o->base.env, &c, c.n - 1) || !optuna_is_due(o, &c))
		return;
	step = curve_step(&c, c.n - 1);
	own = curve_summary_cache_at(o->base.own, trial, &c, c.n - 1);
	j->value = history_flip_sign(h, own);
	pool_query(o->base.pool, h, step, trial, &a);
	j->pool = a.n;
	if (a.n > 0 && a.seen >= o->min_trials)
		j->threshold = optuna_lerp(history_flip_sign(h, a.first),
		    history_flip_sign(h, a.second), a.share);
	if (isnan(own)) {
		j->verdict = VERDICT_STOP;
		snprintf(j->why, sizeof(j->why),
		    "no report up to step %lld is a number", (long long)step);
	} else if (own > history_flip_sign(h, j->threshold)) {
		j->verdict = VERDICT_STOP;
		median_engine_explain(&o->base, j, step);
	}
}

MEDIAN_FAMILY_RULE(optuna, "optuna", optuna_options, optuna_open, optuna_judge,
    "best value worse than a percentile of completed trials, step by step",
    "Optuna, MedianPruner and PercentilePruner");
