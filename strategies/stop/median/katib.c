/*
 * Katib's medianstop, which uses a mean: the best value of a trial against the
 * mean over completed trials of their first few reports.  The threshold is
 * frozen when a trial first reports (Katib: when it is created), so a trial
 * that starts before enough trials have completed is never stopped.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/model/history/history.h"
#include "strategies/stop/median/median-engine.h"

static const struct option katib_options[] = {
	OPTION_COUNT("min_trials_required", 1, "3",
	    "completed trials before a threshold is set"),
	OPTION_COUNT("start_step", 1, "4",
	    "reports that enter a mean, and the first report that is judged"),
	OPTION_DIVERGED("0"),
	OPTION_CLOSE,
};

/* What a running trial is held to. */
struct frozen {
	int64_t trial;
	double threshold; /* NaN: nothing, it will never be stopped */
	int64_t pool;
};

struct katib {
	struct median_engine base;
	struct frozen *frozen;
	size_t n, cap;
};

static int
katib_open(void **state, const struct option_value *values,
    const struct stopper_env *env, struct err *e)
{
	int64_t start = plugin_option_count(values, "start_step");
	struct median_rule rule = {
		.name = "katib",
		.own = { .kind = SUMMARY_BEST },
		.pool = {
			.value = { .kind = SUMMARY_MEAN_FIRST,
			    .count = (size_t)start },
			.key = POOL_ONCE,
			.aggregate = POOL_MEAN,
			.completed = true,
		},
		.min_trials = plugin_option_count(values, "min_trials_required"),
		.warmup_reports = start - 1,
		.interval = 1,
		.diverged_after = plugin_option_count(values, "diverged_after"),
	};
	struct katib *k = xcalloc(1, sizeof(*k));

	(void)e;
	median_engine_init(&k->base, &rule, env);
	*state = k;
	return 0;
}

static void
katib_close(void *state)
{
	struct katib *k = state;

	free(k->frozen);
	median_engine_close(k);
}

static struct frozen *
katib_find(const struct katib *k, int64_t trial)
{
	size_t i;

	for (i = k->n; i > 0; i--)
		if (k->frozen[i - 1].trial == trial)
			return &k->frozen[i - 1];
	return NULL;
}

static void
katib_freeze(struct katib *k, const struct history *h, int64_t trial)
{
	struct frozen f = { .trial = trial, .threshold = NAN };
	struct pool_answer a;

	pool_query(k->base.pool, h, 0, 0, &a);
	f.pool = a.n;
	if (a.n >= k->base.rule.min_trials)
		f.threshold = a.first;
	XGROW(k->frozen, k->n, k->cap);
	k->frozen[k->n++] = f;
}

static void
katib_observe(void *state, const struct history *h, int64_t trial, int64_t step)
{
	struct katib *k = state;

	median_engine_observe(&k->base, h, trial, step);
	if (history_state(h, trial) == TRIAL_RUNNING &&
	    katib_find(k, trial) == NULL)
		katib_freeze(k, h, trial);
}

static void
katib_ended(void *state, const struct history *h, int64_t trial)
{
	struct katib *k = state;
	struct frozen *f = katib_find(k, trial);

	median_engine_ended(&k->base, h, trial);
	if (f != NULL && history_state(h, trial) != TRIAL_RUNNING)
		*f = k->frozen[--k->n];
}

static void
katib_judge(void *state, const struct history *h, int64_t trial, int64_t step,
    struct judgement *j)
{
	struct katib *k = state;
	struct curve c = history_curve(h, trial);
	ptrdiff_t i = curve_at(&c, step);
	const struct frozen *f = katib_find(k, trial);
	double own;

	*j = (struct judgement){ .verdict = VERDICT_KEEP,
		.rule = "katib",
		.value = NAN,
		.threshold = NAN };
	if (i < 0 ||
	    stop_diverged(
		j, &k->base.env, &c, (size_t)i, k->base.rule.diverged_after) ||
	    f == NULL || !median_engine_judges(&k->base, &c, (size_t)i))
		return;
	own = curve_summary_cache_at(k->base.own, trial, &c, (size_t)i);
	j->value = history_flip_sign(h, own);
	j->threshold = history_flip_sign(h, f->threshold);
	j->pool = f->pool;
	if (isnan(f->threshold) || (isfinite(own) && own <= f->threshold))
		return;
	j->verdict = VERDICT_STOP;
	median_engine_explain(&k->base, j, step);
}

extern const struct stopper stopper_katib;
const struct stopper stopper_katib = {
	.name = "katib",
	.about = "best value worse than the mean of completed trials' "
		 "first reports",
	.source = "Katib, medianstop",
	.options = katib_options,
	.open = katib_open,
	.close = katib_close,
	.observe = katib_observe,
	.ended = katib_ended,
	.judge = katib_judge,
	.median = median_engine_view,
};
