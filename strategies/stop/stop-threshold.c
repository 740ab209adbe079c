/*
 * Threshold: stop a trial whose value leaves a given range, or is not a number.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "strategies/stop/stop-options.h"

static const struct option threshold_options[] = {
	{ "lower", OPTION_REAL, 0, 0, NULL, NULL,
	    "smaller values stop a trial" },
	{ "upper", OPTION_REAL, 0, 0, NULL, NULL,
	    "greater values stop a trial" },
	{ "warmup_steps", OPTION_STEPS, 0, DBL_MAX, "0", NULL,
	    "smaller steps are not judged" },
	OPTION_COUNT(
	    "interval_steps", 1, "1", "judge one in this many reports"),
	OPTION_SERIES,
	OPTION_CLOSE,
};

struct threshold {
	struct stopper_env env;
	double lower, upper; /* in the user's sign; infinite = none */
	int64_t warmup, interval;
};

static int
threshold_open(void **state, const struct option_value *values,
    const struct stopper_env *env, struct err *e)
{
	const struct option_value *lower, *upper;
	struct threshold *t;

	lower = plugin_option_get(values, "lower");
	upper = plugin_option_get(values, "upper");
	if (!lower->is_set && !upper->is_set)
		return err_set(e, ERR_USAGE,
		    "threshold needs \"lower\", \"upper\" or both");
	if (lower->is_set && upper->is_set && lower->number > upper->number)
		return err_set(e, ERR_USAGE,
		    "threshold: lower %g is above upper %g", lower->number,
		    upper->number);
	t = xcalloc(1, sizeof(*t));
	t->env = *env;
	t->lower = lower->is_set ? lower->number : -INFINITY;
	t->upper = upper->is_set ? upper->number : INFINITY;
	t->warmup = plugin_option_steps(
	    plugin_option_get(values, "warmup_steps"), env->max_steps, 0);
	t->interval = plugin_option_count(values, "interval_steps");
	*state = t;
	return 0;
}

static void
threshold_observe(
    void *state, const struct history *h, int64_t trial, int64_t step)
{
	(void)state;
	(void)h;
	(void)trial;
	(void)step;
}

static void
threshold_ended(void *state, const struct history *h, int64_t trial)
{
	(void)state;
	(void)h;
	(void)trial;
}

/* Whether report i is past the warm-up and due by the interval. */
static bool
threshold_judges(const struct threshold *t, const struct curve *c, ptrdiff_t i)
{
	ptrdiff_t first = 0;

	if (i < 0 || stop_is_late(&t->env, c, (size_t)i))
		return false;
	if (t->warmup > 0)
		first = curve_at(c, t->warmup - 1) + 1;
	return i >= first && (i - first) % t->interval == 0;
}

static void
threshold_judge(void *state, const struct history *h, int64_t trial,
    int64_t step, struct judgement *j)
{
	struct threshold *t = state;
	struct curve c = history_curve(h, trial);
	ptrdiff_t i = curve_at(&c, step);
	double v;

	*j = (struct judgement){ .verdict = VERDICT_KEEP,
		.rule = "threshold",
		.value = NAN,
		.threshold = NAN };
	if (!threshold_judges(t, &c, i))
		return;
	v = j->value = history_flip_sign(h, curve_value(&c, i));
	if (v >= t->lower && v <= t->upper)
		return;
	j->verdict = VERDICT_STOP;
	if (isnan(v)) {
		j->diverged = true;
		snprintf(j->why, sizeof(j->why),
		    "the value is not a number at %s %lld", stop_unit(&t->env),
		    (long long)step);
		return;
	}
	j->threshold = v < t->lower ? t->lower : t->upper;
	snprintf(j->why, sizeof(j->why), "%.6g is %s %.6g at %s %lld", v,
	    v < t->lower ? "below the lower threshold"
			 : "above the upper threshold",
	    j->threshold, stop_unit(&t->env), (long long)step);
}

extern const struct stopper stopper_threshold;
const struct stopper stopper_threshold = {
	.name = "threshold",
	.about = "the value leaves a stated range, or is not a number",
	.source = NULL,
	.options = threshold_options,
	.alone = true,
	.open = threshold_open,
	.close = free,
	.observe = threshold_observe,
	.ended = threshold_ended,
	.judge = threshold_judge,
};
