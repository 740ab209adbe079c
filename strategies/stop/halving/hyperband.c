/*
 * hyperband: successive halving with several ladders that begin later and later
 * (Li et al., "Hyperband", JMLR 2018).  A trial's ladder depends on its number
 * and the study's name, as in Optuna.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "strategies/stop/halving/halving-engine.h"

/* The most steps that doubles count one by one. */
#define STEPS_MAX 9007199254740992.0

static const struct option hyperband_options[] = {
	HALVING_OPTIONS("1", "3"),
	{ "max_resource", OPTION_INT, 1, STEPS_MAX, NULL, NULL,
	    "steps of a trial; when not given, trial.max_steps" },
	OPTION_CLOSE,
};

struct hyperband {
	struct halving_engine base;
	uint32_t prefix; /* checksum of the study's name and "_" */
	int64_t
	    budgets[HALVING_RUNGS_MAX]; /* shares of the trials, by ladder */
	int64_t total;
};

/* CRC-32 as in zlib, continued. */
static uint32_t
crc_add(uint32_t crc, const char *s)
{
	int bit;

	crc = ~crc;
	for (; *s != '\0'; s++) {
		crc ^= (unsigned char)*s;
		for (bit = 0; bit < 8; bit++)
			crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320u : 0);
	}
	return ~crc;
}

static size_t
hyperband_ladder(const struct halving_engine *r, int64_t trial)
{
	const struct hyperband *y = (const struct hyperband *)r;
	char number[24];
	int64_t left;
	size_t b = 0;

	/* Optuna counts trials from 0. */
	snprintf(number, sizeof(number), "%lld", (long long)(trial - 1));
	left = (int64_t)crc_add(y->prefix, number) % y->total;
	while (left >= y->budgets[b])
		left -= y->budgets[b++];
	return b;
}

/*
 * The quotient of logarithms in doubles, which at some powers of the factor
 * falls just short: that is Optuna's number of brackets.
 */
static size_t
ladders_between(int64_t unit, int64_t max, int64_t factor)
{
	double ratio = (double)max / (double)unit;

	return ratio < 1 ? 1 : (size_t)(log(ratio) / log((double)factor)) + 1;
}

/* Ladders for trials of so many steps. */
static void
hyperband_make(struct hyperband *y, int64_t max)
{
	int64_t unit = halving_engine_unit(&y->base, max);
	size_t n = ladders_between(unit, max, y->base.rule.factor), b = n;
	double power = 1;

	y->total = 0;
	while (b-- > 0) {
		y->budgets[b] =
		    (int64_t)ceil((double)n * power / (double)(n - b));
		y->total += y->budgets[b];
		power *= (double)y->base.rule.factor;
	}
	halving_engine_lay(&y->base, n, unit, 0);
}

static int64_t
steps_cap(int64_t steps)
{
	return steps < (int64_t)STEPS_MAX ? steps : (int64_t)STEPS_MAX;
}

static void
hyperband_lay(struct halving_engine *r, int64_t last)
{
	hyperband_make((struct hyperband *)r, steps_cap(last) + 1);
}

/* From the option or the study; 0 = neither. */
static int64_t
hyperband_max(const struct option_value *values, const struct stopper_env *env)
{
	const struct option_value *v =
	    plugin_option_get(values, "max_resource");

	if (v->is_set)
		return (int64_t)v->number;
	return steps_cap(env->max_steps);
}

static int
hyperband_open(void **state, const struct option_value *values,
    const struct stopper_env *env, struct err *e)
{
	int64_t max = hyperband_max(values, env);
	struct halving_rule rule = {
		.name = "hyperband",
		.lay = hyperband_lay,
		.rungs_of_trial = hyperband_ladder,
	};
	struct hyperband *y;

	halving_engine_read(&rule, values);
	if (max > 0 && !rule.unit.is_share && rule.unit.number > (double)max)
		return err_set(e, ERR_USAGE,
		    "hyperband: min_resource %.15g is above the %lld steps of "
		    "a trial",
		    rule.unit.number, (long long)max);
	y = xcalloc(1, sizeof(*y));
	halving_engine_init(&y->base, &rule, env);
	y->prefix = crc_add(crc_add(0, env->study), "_");
	if (max > 0)
		hyperband_make(y, max);
	*state = y;
	return 0;
}

extern const struct stopper stopper_hyperband;
const struct stopper stopper_hyperband = {
	.name = "hyperband",
	.about = "asha in brackets, of which each judges from a later step on",
	.source = "Li et al. 2018, as Optuna's HyperbandPruner",
	.options = hyperband_options,
	.open = hyperband_open,
	.close = halving_engine_close,
	.observe = halving_engine_observe,
	.ended = halving_engine_ended,
	.judge = halving_engine_judge,
	.promote = halving_engine_promote,
};
