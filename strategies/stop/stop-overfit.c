/*
 * Overfit: stop a trial whose metric gets worse while another one, usually the
 * same on the training data, gets better.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "strategies/stop/stop-options.h"

static const struct option overfit_options[] = {
	{ "against", OPTION_TEXT, 0, 0, NULL, NULL,
	    "the metric that improves meanwhile, such as train_loss; it "
	    "has the same goal" },
	OPTION_COUNT("steps", 2, "5",
	    "reports in a row in which the metric gets worse and the "
	    "other improves"),
	{ "warmup_steps", OPTION_STEPS, 0, DBL_MAX, "0", NULL,
	    "smaller steps are not judged" },
	OPTION_DIVERGED("3"),
	OPTION_SERIES,
	OPTION_CLOSE,
};

struct overfit {
	struct stopper_env env;
	char *name; /* of the other metric */
	int64_t steps, warmup, diverged_after;
};

static int
overfit_open(void **state, const struct option_value *values,
    const struct stopper_env *env, struct err *e)
{
	struct overfit *o;

	if (env->against == NULL)
		return err_set(e, ERR_USAGE,
		    "rule \"overfit\" compares two metrics: expected "
		    "\"against\", for example train_loss");
	o = xcalloc(1, sizeof(*o));
	o->env = *env;
	o->name = xstrdup(plugin_option_text(values, "against"));
	o->steps = plugin_option_count(values, "steps");
	o->warmup = plugin_option_steps(
	    plugin_option_get(values, "warmup_steps"), env->max_steps, 0);
	o->diverged_after = plugin_option_count(values, "diverged_after");
	*state = o;
	return 0;
}

static void
overfit_close(void *state)
{
	struct overfit *o = state;

	free(o->name);
	free(o);
}

static void
overfit_observe(
    void *state, const struct history *h, int64_t trial, int64_t step)
{
	(void)state;
	(void)h;
	(void)trial;
	(void)step;
}

static void
overfit_ended(void *state, const struct history *h, int64_t trial)
{
	(void)state;
	(void)h;
	(void)trial;
}

/*
 * The slope of the least-squares line through reports from … to - 1, of which
 * all must be finite; NaN: there are fewer than two.
 */
static double
overfit_slope(const struct curve *c, size_t from, size_t to)
{
	double x, y, mean_x = 0, mean_y = 0, xy = 0, xx = 0;
	double n = (double)(to - from);
	size_t i;

	if (to < from + 2)
		return NAN;
	for (i = from; i < to; i++) {
		mean_x += (double)(curve_step(c, i) - curve_step(c, from)) / n;
		mean_y += curve_value(c, i) / n;
	}
	for (i = from; i < to; i++) {
		x = (double)(curve_step(c, i) - curve_step(c, from)) - mean_x;
		y = curve_value(c, i) - mean_y;
		xy += x * y;
		xx += x * x;
	}
	return xy / xx;
}

/* The reports of the other metric over the same steps, from … to - 1. */
static bool
overfit_falls(const struct overfit *o, int64_t trial, int64_t first,
    int64_t step, struct curve *c, size_t *from, size_t *to)
{
	*c = (struct curve){ 0 };
	if (trial <= history_count(o->env.against))
		*c = history_curve(o->env.against, trial);
	*from = (size_t)(curve_at(c, first - 1) + 1);
	*to = (size_t)(curve_at(c, step) + 1);
	return overfit_slope(c, *from, *to) < 0;
}

static void
overfit_judge(void *state, const struct history *h, int64_t trial, int64_t step,
    struct judgement *j)
{
	struct overfit *o = state;
	struct curve c = history_curve(h, trial), other;
	size_t n = (size_t)(curve_at(&c, step) + 1), tail = (size_t)o->steps;
	size_t from, to;
	double best;

	*j = (struct judgement){ .verdict = VERDICT_KEEP,
		.rule = "overfit",
		.value = NAN,
		.threshold = NAN };
	if (n == 0 || stop_diverged(j, &o->env, &c, n - 1, o->diverged_after) ||
	    n <= tail || step < o->warmup || stop_is_late(&o->env, &c, n - 1))
		return;
	best = stop_least(&c, 0, n - tail);
	j->value = history_flip_sign(h, curve_value(&c, n - 1));
	j->threshold = history_flip_sign(h, best);
	if (!isfinite(best) || stop_least(&c, n - tail, n) < best ||
	    !(overfit_slope(&c, n - tail, n) > 0) ||
	    !overfit_falls(
		o, trial, curve_step(&c, n - tail), step, &other, &from, &to))
		return;
	j->verdict = VERDICT_STOP;
	snprintf(j->why, sizeof(j->why),
	    "%.6g after %.6g at best, worse over %lld reports in which "
	    "%.40s goes from %.6g to %.6g at %s %lld",
	    j->value, j->threshold, (long long)o->steps, o->name,
	    history_flip_sign(h, curve_value(&other, from)),
	    history_flip_sign(h, curve_value(&other, to - 1)),
	    stop_unit(&o->env), (long long)step);
}

extern const struct stopper stopper_overfit;
const struct stopper stopper_overfit = {
	.name = "overfit",
	.about = "its metric gets worse while another one gets better",
	.source = "Prechelt, Early stopping - but when?, 1998",
	.options = overfit_options,
	.alone = true,
	.open = overfit_open,
	.close = overfit_close,
	.observe = overfit_observe,
	.ended = overfit_ended,
	.judge = overfit_judge,
};
