/*
 * Rules of Ray Tune, NNI and Syne Tune as configurations of the median family,
 * with their option names and defaults; their handling of NaN is corrected, see
 * hpotune-stopping(7).
 */

#include "strategies/stop/median/median-engine.h"

static const struct option ray_options[] = {
	OPTION_COUNT("grace_period", 0, "60",
	    "smaller steps are not judged, "
	    "nor do they enter the means of other trials"),
	OPTION_COUNT(
	    "min_samples_required", 1, "3", "smallest pool that may judge"),
	OPTION_GUARD("false"),
	OPTION_DIVERGED("0"),
	OPTION_CLOSE,
};

static const struct option nni_options[] = {
	OPTION_COUNT(
	    "start_step", 0, "0", "trials with fewer reports are not judged"),
	OPTION_GUARD("false"),
	OPTION_DIVERGED("0"),
	OPTION_CLOSE,
};

static const struct option syne_tune_options[] = {
	OPTION_COUNT("grace_time", 0, "1", "smaller steps are not judged"),
	OPTION_COUNT("grace_population", 1, "5",
	    "this many trials, including the judged one, must have reported "
	    "the step"),
	{ "rank_cutoff", OPTION_REAL, 0, 1, "0.5", NULL,
	    "the share of them that may be better" },
	{ "running_average", OPTION_BOOL, 0, 0, "true", NULL,
	    "compare means so far instead of last values" },
	OPTION_GUARD("false"),
	OPTION_DIVERGED("0"),
	OPTION_CLOSE,
};

static int
ray_open(void **state, const char *name, const struct option_value *values,
    const struct stopper_env *env, struct err *e)
{
	int64_t grace = plugin_option_count(values, "grace_period");
	struct median_rule rule = {
		.name = name,
		.own = { .kind = SUMMARY_BEST },
		.pool = {
			.value = { .kind = SUMMARY_MEAN_FROM, .from = grace },
			.key = POOL_CARRY,
			.aggregate = POOL_PERCENTILE,
			.share = 0.5,
		},
		.min_trials = plugin_option_count(values, "min_samples_required"),
		.warmup_steps = grace,
		.interval = 1,
	};

	(void)e;
	median_engine_read(&rule, values);
	median_engine_open(state, &rule, env);
	return 0;
}

static int
nni_open(void **state, const char *name, const struct option_value *values,
    const struct stopper_env *env, struct err *e)
{
	struct median_rule rule = {
		.name = name,
		.own = { .kind = SUMMARY_BEST },
		.pool = {
			.value = { .kind = SUMMARY_MEAN },
			.key = POOL_INDEX,
			.aggregate = POOL_MIDDLE,
			.share = 0.5,
			.completed = true,
		},
		.min_trials = 1,
		.warmup_reports = plugin_option_count(values, "start_step") - 1,
		.interval = 1,
	};

	(void)e;
	median_engine_read(&rule, values);
	median_engine_open(state, &rule, env);
	return 0;
}

static int
syne_tune_open(void **state, const char *name,
    const struct option_value *values, const struct stopper_env *env,
    struct err *e)
{
	enum curve_summary_kind kind =
	    plugin_option_is(values, "running_average") ? SUMMARY_MEAN
							: SUMMARY_LAST;
	struct median_rule rule = {
		.name = name,
		.own = { .kind = kind },
		.pool = {
			.value = { .kind = kind },
			.key = POOL_STEP,
			.aggregate = POOL_RANK,
			.share = plugin_option_number(values, "rank_cutoff"),
		},
		.min_trials = plugin_option_count(values, "grace_population") - 1,
		.warmup_steps = plugin_option_count(values, "grace_time"),
		.interval = 1,
	};

	(void)e;
	median_engine_read(&rule, values);
	median_engine_open(state, &rule, env);
	return 0;
}

MEDIAN_FAMILY_RULE(ray, "ray", ray_options, ray_open, median_engine_judge,
    "best value worse than the median of running means after a grace period",
    "Ray Tune, MedianStoppingRule, made safe against NaN");
MEDIAN_FAMILY_RULE(nni, "nni", nni_options, nni_open, median_engine_judge,
    "best value worse than the lenient median of completed running means",
    "NNI, Medianstop assessor");
MEDIAN_FAMILY_RULE(syne_tune, "syne-tune", syne_tune_options, syne_tune_open,
    median_engine_judge,
    "mean so far ranks beyond a share of all at the same step",
    "Syne Tune, MedianStoppingRule");
