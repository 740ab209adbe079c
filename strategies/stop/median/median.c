/*
 * The rules that are configurations of the median family: our own default, the
 * general form, and those of other tools.
 */

#include <float.h>
#include <stddef.h>
#include <string.h>

#include "src/base/err.h"
#include "src/model/plugin-options.h"
#include "strategies/stop/median/median-engine.h"

static const char *const value_choices[] = { "last", "best", "recent", "mean",
	"window:", NULL };
static const char *const pool_choices[] = { "begun", "reached", "completed",
	NULL };
static const char *const aggregate_choices[] = { "percentile", "mean", "rank",
	NULL };

/* The options of the family itself; the arguments are their defaults. */
#define FAMILY_OPTIONS(                                                       \
    own, reference, who, p, end, min, warmup, guarded, diverged)              \
	{                                                                     \
		{ "value", OPTION_TEXT, 0, 0, own, value_choices,             \
			"value of the judged trial" },                        \
		    { "reference", OPTION_TEXT, 0, 0, reference,              \
			    value_choices, "value of each other trial" },     \
		    { "pool", OPTION_TEXT, 0, 0, who, pool_choices,           \
			    "which other trials count" },                     \
		    { "aggregate", OPTION_TEXT, 0, 0, "percentile",           \
			    aggregate_choices,                                \
			    "how their values are combined" },                \
		    { "percentile", OPTION_REAL, 0, 100, p, NULL,             \
			    "the share, best first, that a trial must be "    \
			    "among" },                                        \
		    { "narrow", OPTION_REAL, 0, 100, end, NULL,               \
			    "at the step narrow_steps that share has fallen " \
			    "to this; 0 = it stays" },                        \
		    { "narrow_steps", OPTION_STEPS, 1, DBL_MAX, "60%", NULL,  \
			    "the step from which on it is that of narrow" },  \
		    { "min_trials", OPTION_INT, 1, DBL_MAX, min, NULL,        \
			    "smallest pool that may judge" },                 \
		    { "warmup_steps", OPTION_STEPS, 0, DBL_MAX, warmup, NULL, \
			    "smaller steps are not judged; when not given, "  \
			    "nor "                                            \
			    "are the first 5 reports" },                      \
		    { "interval_steps", OPTION_INT, 1, DBL_MAX, "1", NULL,    \
			    "judge one in this many reports" },               \
		    OPTION_GUARD(guarded), OPTION_DIVERGED(diverged),         \
		    OPTION_SERIES, OPTION_CLOSE                               \
	}

/* Default warm-up in reports; of the rule begun. */
enum { WARMUP_REPORTS = 5, BEGUN_REPORTS = 4 };

static const struct option median_options[] = FAMILY_OPTIONS(
    "last", "last", "reached", "50", NULL, "5", "20%", "true", "3");
static const struct option begun_options[] =
    FAMILY_OPTIONS("best", "last", "begun", "50", "10", "5", "10%", "3", "3");
static const struct option percentile_options[] = FAMILY_OPTIONS(
    "last", "last", "reached", "25", NULL, "5", "20%", "true", "3");
static const struct option vizier_options[] = FAMILY_OPTIONS(
    "best", "mean", "completed", "50", NULL, "5", NULL, "false", "0");
static const struct option sagemaker_options[] = FAMILY_OPTIONS(
    "last", "mean", "completed", "50", NULL, "3", "0", "false", "0");

/* reports: of these the first are not judged when steps are not given. */
static void
read_warmup(struct median_rule *rule, const struct option_value *values,
    int64_t max_steps, int64_t reports)
{
	const struct option_value *v;
	int64_t steps;

	v = plugin_option_get(values, "warmup_steps");
	steps = plugin_option_steps(v, max_steps, -1);
	if (steps >= 0)
		rule->warmup_steps = steps;
	if (steps < 0)
		rule->warmup_reports = WARMUP_REPORTS;
	else if (!v->given && steps > 0)
		rule->warmup_reports = reports;
}

/* The share that a trial must be among, and how it falls. */
static void
read_share(struct pool_rule *pool, const struct option_value *values,
    const struct median_rule *rule, int64_t max_steps)
{
	const struct option_value *narrow = plugin_option_get(values, "narrow");
	int64_t until = plugin_option_steps(
	    plugin_option_get(values, "narrow_steps"), max_steps, -1);

	pool->share = plugin_option_number(values, "percentile") / 100;
	if (!narrow->is_set || narrow->number / 100 >= pool->share || until < 0)
		return;
	pool->narrow_share = narrow->number / 100;
	pool->narrow_from = rule->warmup_steps;
	pool->narrow_to = until;
}

static int
family_open_after(void **state, const char *name,
    const struct option_value *values, const struct stopper_env *env,
    int64_t reports, struct err *e)
{
	struct median_rule rule = { .name = name };
	const char *aggregate = plugin_option_text(values, "aggregate");

	if (!curve_summary_parse(
		&rule.own, plugin_option_text(values, "value")) ||
	    !curve_summary_parse(
		&rule.pool.value, plugin_option_text(values, "reference")))
		return err_set(e, ERR_USAGE,
		    "a window is a share of the reports from 0 to 100 %%");
	rule.pool.key = POOL_CARRY;
	rule.pool.completed = plugin_option_says(values, "pool", "completed");
	rule.pool.aggregate = strcmp(aggregate, "mean") == 0 ? POOL_MEAN
			      : strcmp(aggregate, "rank") == 0
				  ? POOL_RANK
				  : POOL_PERCENTILE;
	rule.pool.begun = plugin_option_says(values, "pool", "begun");
	if (rule.pool.begun && rule.pool.aggregate == POOL_MEAN)
		return err_set(e, ERR_USAGE,
		    "rule \"%s\": a trial that was stopped before has no value "
		    "for a mean: with pool \"begun\", expected aggregate "
		    "\"percentile\" or \"rank\"",
		    name);
	rule.min_trials = plugin_option_count(values, "min_trials");
	rule.interval = plugin_option_count(values, "interval_steps");
	read_warmup(&rule, values, env->max_steps, reports);
	read_share(&rule.pool, values, &rule, env->max_steps);
	median_engine_read(&rule, values);
	if (rule.pool.begun) {
		rule.spare = rule.guard;
		rule.guard = 0;
	}
	median_engine_open(state, &rule, env);
	return 0;
}

static int
family_open(void **state, const char *name, const struct option_value *values,
    const struct stopper_env *env, struct err *e)
{
	return family_open_after(state, name, values, env, WARMUP_REPORTS, e);
}

static int
begun_open(void **state, const char *name, const struct option_value *values,
    const struct stopper_env *env, struct err *e)
{
	return family_open_after(state, name, values, env, BEGUN_REPORTS, e);
}

MEDIAN_FAMILY_RULE(median, "median", median_options, family_open,
    median_engine_judge,
    "worse than the running median of the other trials at the same step",
    "Golovin et al. 2017, compared value by value");
MEDIAN_FAMILY_RULE(begun, "begun", begun_options, begun_open,
    median_engine_judge,
    "not among the best share of all trials begun, half and later a tenth, "
    "and further behind than the best ones were",
    NULL);
MEDIAN_FAMILY_RULE(percentile, "percentile", percentile_options, family_open,
    median_engine_judge,
    "not among the best share of the other trials at the same step",
    "the general form of median");
MEDIAN_FAMILY_RULE(vizier, "vizier", vizier_options, family_open,
    median_engine_judge,
    "best value worse than the median of completed trials' running means",
    "Golovin et al. 2017, section 3.2.2");
MEDIAN_FAMILY_RULE(sagemaker, "sagemaker", sagemaker_options, family_open,
    median_engine_judge,
    "last value worse than the median of completed trials' running means",
    "Amazon SageMaker, automatic model tuning, early stopping");
