/*
 * Patience: stop a trial whose newest reports did not improve on the earlier
 * ones.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "strategies/stop/stop-options.h"

static const struct option patience_options[] = {
	OPTION_COUNT("steps", 1, "10",
	    "reports in a row in which nothing improved; with \"by\", that "
	    "many seconds or cents"),
	{ "min_delta", OPTION_REAL, 0, DBL_MAX, "0", NULL,
	    "smallest improvement that counts; 0 = any" },
	{ .name = "equal",
	    .type = OPTION_BOOL,
	    .def = "false",
	    .help = "as good as the best so far is an improvement, too" },
	{ "warmup_steps", OPTION_STEPS, 0, DBL_MAX, "0", NULL,
	    "smaller steps are not judged" },
	OPTION_DIVERGED("3"),
	OPTION_SERIES,
	OPTION_CLOSE,
};

struct patience {
	struct stopper_env env;
	int64_t steps, warmup, diverged_after;
	double min_delta;
	bool equal;
};

static int
patience_open(void **state, const struct option_value *values,
    const struct stopper_env *env, struct err *e)
{
	struct patience *p = xcalloc(1, sizeof(*p));

	(void)e;
	p->env = *env;
	p->steps = plugin_option_count(values, "steps");
	p->min_delta = plugin_option_number(values, "min_delta");
	p->warmup = plugin_option_steps(
	    plugin_option_get(values, "warmup_steps"), env->max_steps, 0);
	p->equal = plugin_option_is(values, "equal");
	p->diverged_after = plugin_option_count(values, "diverged_after");
	*state = p;
	return 0;
}

static void
patience_observe(
    void *state, const struct history *h, int64_t trial, int64_t step)
{
	(void)state;
	(void)h;
	(void)trial;
	(void)step;
}

static void
patience_ended(void *state, const struct history *h, int64_t trial)
{
	(void)state;
	(void)h;
	(void)trial;
}

/* Whether the best of the newest reports is progress. */
static bool
improved(const struct patience *p, double early, double late)
{
	return p->min_delta > 0 ? early - late >= p->min_delta
	       : p->equal	? late <= early
				: late < early;
}

/*
 * How many of the first n reports are before the newest ones; 0: none.
 */
static size_t
patience_before(
    const struct patience *p, const struct curve *c, size_t n, int64_t step)
{
	if (p->env.unit != NULL)
		return (size_t)(curve_at(c, step - p->steps) + 1);
	return n > (size_t)p->steps ? n - (size_t)p->steps : 0;
}

static void
patience_explain(
    const struct patience *p, struct judgement *j, double before, int64_t step)
{
	const char *what = p->env.unit == NULL	 ? "reports"
			   : *p->env.unit == 's' ? "seconds"
						 : "cents";
	char more[40] = "better than";

	if (p->min_delta > 0)
		snprintf(
		    more, sizeof(more), "better by %.6g than", p->min_delta);
	else if (p->equal)
		snprintf(more, sizeof(more), "as good as");
	snprintf(j->why, sizeof(j->why),
	    "the best of the last %lld %s, %.6g, is not %s %.6g before "
	    "them at %s %lld",
	    (long long)p->steps, what, j->value, more, before,
	    stop_unit(&p->env), (long long)step);
}

static void
patience_judge(void *state, const struct history *h, int64_t trial,
    int64_t step, struct judgement *j)
{
	struct patience *p = state;
	struct curve c = history_curve(h, trial);
	size_t n = (size_t)(curve_at(&c, step) + 1);
	size_t before = patience_before(p, &c, n, step);
	double early, late;

	*j = (struct judgement){ .verdict = VERDICT_KEEP,
		.rule = "patience",
		.value = NAN,
		.threshold = NAN };
	if (n == 0 || stop_diverged(j, &p->env, &c, n - 1, p->diverged_after) ||
	    before == 0 || step < p->warmup || stop_is_late(&p->env, &c, n - 1))
		return;
	early = stop_least(&c, 0, before);
	late = stop_least(&c, before, n);
	if (!isfinite(early))
		return;
	j->value = history_flip_sign(h, late);
	j->threshold = history_flip_sign(h, early - p->min_delta);
	if (improved(p, early, late))
		return;
	j->verdict = VERDICT_STOP;
	patience_explain(p, j, history_flip_sign(h, early), step);
}

extern const struct stopper stopper_patience;
const struct stopper stopper_patience = {
	.name = "patience",
	.about = "no improvement in a number of reports",
	.source = "Prechelt, Early stopping - but when?, 1998",
	.options = patience_options,
	.alone = true,
	.open = patience_open,
	.close = free,
	.observe = patience_observe,
	.ended = patience_ended,
	.judge = patience_judge,
};
