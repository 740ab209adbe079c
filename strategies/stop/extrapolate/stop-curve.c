/*
 * Curve: stop a trial whose probability to beat the best is small, by
 * extrapolation of its learning curve (Domhan, Springenberg, Hutter, "Speeding
 * up automatic hyperparameter optimization of deep neural networks by
 * extrapolation of learning curves", IJCAI 2015), with the bank of
 * kernels/curve-bank/curve-bank.c instead of sampling.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "strategies/stop/extrapolate/extrapolate-engine.h"

static const char *const against[] = { "all", "completed", NULL };

static const struct option curve_options[] = {
	{ "p", OPTION_REAL, 0, 1, "0.002", NULL,
	    "a trial with a smaller chance is stopped" },
	{ "against", OPTION_TEXT, 0, 0, "all", against,
	    "compare with the best value of all trials so far, or of the "
	    "completed trials" },
	{ "warmup_steps", OPTION_STEPS, 0, DBL_MAX, "20%", NULL,
	    "smaller steps are not judged" },
	OPTION_TEMPER,
	OPTION_GUARD("true"),
	OPTION_DIVERGED("3"),
	OPTION_CLOSE,
};

struct curve_rule {
	struct extrapolate_engine runner;
	double p;
	bool completed;
};

static int
curve_open(void **state, const struct option_value *values,
    const struct stopper_env *env, struct err *e)
{
	struct curve_rule *r = xcalloc(1, sizeof(*r));

	if (extrapolate_engine_init(&r->runner, "curve", values, env, e) ==
	    -1) {
		free(r);
		return -1;
	}
	r->p = plugin_option_number(values, "p");
	r->completed = plugin_option_says(values, "against", "completed");
	*state = r;
	return 0;
}

static double
curve_goal(const struct curve_rule *r, const struct history *h)
{
	int64_t best;

	if (!r->completed)
		return peer_curves_best(r->runner.field);
	best = history_best(h);
	return best == 0 ? NAN : history_loss(h, best);
}

static void
curve_judge(void *state, const struct history *h, int64_t trial, int64_t step,
    struct judgement *j)
{
	struct curve_rule *r = state;
	struct extrapolate_view v;
	struct curve_guess g;
	int64_t would;
	double goal;

	if (!extrapolate_engine_begin(&r->runner, h, trial, step, &v, j))
		return;
	goal = curve_goal(r, h);
	j->threshold = history_flip_sign(h, goal);
	j->pool = history_count(h) - 1;
	if (!extrapolate_engine_guess(
		&r->runner, v.values, v.passed, goal, &g) ||
	    g.p >= r->p)
		return;
	j->verdict = VERDICT_STOP;
	snprintf(j->why, sizeof(j->why),
	    "a chance of %.2g, below %g, to end %s %.6g, the best: it heads "
	    "for %.6g give or take %.2g at step %lld",
	    g.p, r->p, r->runner.env.maximize ? "above" : "below", j->threshold,
	    history_flip_sign(h, g.mean), g.sd, (long long)step);
	would = extrapolate_engine_guard(&r->runner, h, r->p);
	if (would != 0)
		stop_suspend(h, would, j);
}

extern const struct stopper stopper_curve;
const struct stopper stopper_curve = {
	.name = "curve",
	.about = "its learning curve is unlikely to beat the best",
	.source = "Domhan et al. 2015, with a bank of shapes",
	.options = curve_options,
	.open = curve_open,
	.close = extrapolate_engine_close,
	.observe = extrapolate_engine_observe,
	.ended = extrapolate_engine_ended,
	.judge = curve_judge,
};
