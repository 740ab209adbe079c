/* asha: successive halving with one ladder. */

#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "strategies/stop/halving/halving-engine.h"

static const struct option asha_options[] = {
	HALVING_OPTIONS("1%", "4"),
	OPTION_COUNT("min_early_stopping_rate", 0, "0",
	    "rungs to leave out, from the first"),
	OPTION_SERIES,
	OPTION_CLOSE,
};

struct asha {
	struct halving_engine base;
	int64_t rate;
};

static void
asha_lay(struct halving_engine *r, int64_t last)
{
	struct asha *a = (struct asha *)r;

	halving_engine_lay(r, 1, halving_engine_unit(r, last), a->rate);
}

static size_t
asha_ladder(const struct halving_engine *r, int64_t trial)
{
	(void)r;
	(void)trial;
	return 0;
}

static int
asha_open(void **state, const struct option_value *values,
    const struct stopper_env *env, struct err *e)
{
	struct halving_rule rule = {
		.name = "asha",
		.lay = asha_lay,
		.rungs_of_trial = asha_ladder,
	};
	struct asha *a;

	halving_engine_read(&rule, values);
	/* The server resumes a trial by its steps of the objective. */
	if (env->series != NULL && rule.promote)
		return err_set(e, ERR_USAGE,
		    "asha with promote compares the objective by steps: omit "
		    "\"metric\" and \"by\"");
	a = xcalloc(1, sizeof(*a));
	halving_engine_init(&a->base, &rule, env);
	a->rate = plugin_option_count(values, "min_early_stopping_rate");
	if (env->max_steps > 0 || !rule.unit.is_share)
		asha_lay(&a->base, env->max_steps);
	*state = a;
	return 0;
}

extern const struct stopper stopper_asha;
const struct stopper stopper_asha = {
	.name = "asha",
	.about = "not among the best share at steps that grow by a factor",
	.source = "Li et al. 2020, as Optuna's SuccessiveHalvingPruner",
	.options = asha_options,
	.open = asha_open,
	.close = halving_engine_close,
	.observe = halving_engine_observe,
	.ended = halving_engine_ended,
	.judge = halving_engine_judge,
	.promote = halving_engine_promote,
};
